"""How far the numbers can be trusted: one line a check, also for those that found nothing and those that were not made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.errors import name_some
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.interfaces import Check
from pipeline.interfaces.wording import name_metric
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.alignment import count_missing
from pipeline.report.document import Report
from pipeline.report.facts import TestSetRow
from pipeline.report.families.adjustment import ACROSS_TITLES, name_adjustment, replicates_of_max_t
from pipeline.report.families.experiment_wise import describe_errors
from pipeline.report.pairs.notes import are_biased, exact_test
from pipeline.report.pairs.pair_rows import exact_procedures
from pipeline.report.pairs.pairs import Pairs, join_pairs
from pipeline.report.trainings import count_failures
from pipeline.report.trust.doubts import replicates_needed, say_missing
from pipeline.report.trust.influence import check_influence
from pipeline.report.trust.units import check_units, count_units, trust_independence
from pipeline.report.values import format_p

__all__ = ["FAMILIES", "FEW_UNITS", "describe_trust"]

FEW_UNITS = 50
MOST_COPIES = 6
"""Names of identical systems that are given; more are counted."""
DRAFT = 100_000
FAMILIES = "Families"
"""The check that says what p-values are corrected for and what not: every report has it, and so has the terminal."""
FAMILIES_OF_RUNS = "Families of single runs"
"""The same of pairs of runs, where verdicts are about models."""
LEVEL = "Calibration of the test"
"""The check that no report goes without: whether the tests hold their level on the study's own data."""


def describe_trust(report: Report) -> list[Check]:
    """Return each check with its outcome: ok, check, or not checked."""
    rows = [Check(name, "check" if bad else "ok", detail) for name, bad, detail in _checks(report)]
    for procedure in report.procedures:
        supposed = PROCEDURES[procedure].unchecked
        if supposed is not None:
            rows.append(Check(f"What {procedure} supposes", "not checked", supposed))
    brought = [check for finding in report.findings for check in finding.checks]
    if not any(check.check == LEVEL for check in brought):
        why = "No analysis that was asked for checked it on this study's own outputs."
        brought.append(Check(LEVEL, "not checked", why))
    return [*rows, *trust_independence(report), *brought]


def _checks(report: Report) -> Iterator[tuple[str, bool, str]]:
    pairs, sets = join_pairs(report.pairs_of.values()), report.test_sets
    of_runs = " pairs of single runs" if report.model_pairs else ""  # of which no verdict is
    total = f"of {len(pairs):,}{of_runs}"
    missing = count_missing(report.alignment)
    aligned = "; ".join(f"{t.name}: {count_units(t.items, t.units, t.unit, t.format)}, {t.systems} systems" for t in sets)
    yield "Items aligned", bool(missing), f"{aligned}. {missing:,} missing outputs{' filled or dropped' if missing else ''}."
    yield "Identical outputs", *_identical(pairs.where(pairs.holds("identical")), [test_set.name for test_set in sets])
    lacking = list(_missing(report))
    if lacking:
        yield "Missing p-values", True, " ".join(lacking)
    judged = pairs.holds("in_family") & pairs.known("p")
    untested = int((judged & ~pairs.holds("identical") & pairs.known("margin") & ~pairs.known("p_equivalence")).sum())
    if untested:
        yield (
            "Margin",
            True,
            f"Equivalence was not tested for {untested:,} pairs: nothing was counted against this margin (see notes).",
        )
    yield "Monte-Carlo error", *_monte_carlo(report, pairs)
    yield "Enough replicates", *_enough(report)
    family = pairs.where(pairs.holds("in_family"))
    unstable = int(family.equal("stable", False).sum())
    unknown = int((judged & ~pairs.known("stable")).sum())
    whose = f"{unstable:,} of {len(family):,}{of_runs or ' pairs'}"
    detail = f"Another random seed could change the verdict on {whose} (*): those with p very near α."
    yield "Unstable verdicts", bool(unstable), detail + (f" Not known for {unknown:,}." if unknown else "")
    yield FAMILIES_OF_RUNS if report.model_pairs else FAMILIES, *_families(report)
    errors = describe_errors(report)
    if errors:
        yield "Without adjustment", False, errors
    yield "Few units", *_few_units(report)
    yield from check_units(report)
    yield "Few discordant units", *_few_discordant(pairs, total)
    yield from check_influence(pairs, noun=of_runs)
    if any(PROCEDURES[procedure].centred_at_gain for procedure in report.procedures):
        yield "Bias of the bootstrap", *_bias(pairs, total)
    yield "Empty replicates", *_empty(pairs)
    failures = count_failures(report)
    yield "Failures", bool(failures), f"Tasks or systems that failed and are not in these numbers: {failures}."


def _missing(report: Report) -> Iterator[str]:
    """Say of each family why some of its pairs have no p."""
    for key, rows in report.pairs_of.items():
        lacking = int((~rows.known("p")).sum())
        if lacking:
            place = f"{key.test_set}, {name_metric(key.metric)}, {key.procedure}"
            yield f"{place}: {lacking:,} of {len(rows):,} pairs have no p; {say_missing(rows)}."


def _bias(pairs: Pairs, total: str) -> tuple[bool, str]:
    biased = int(are_biased(pairs).sum())
    return bool(biased), f"Tests with a bias above a quarter of the standard error: {biased:,} {total}."


def _identical(rows: Pairs, test_sets: Sequence[str]) -> tuple[bool, str]:
    """Name systems that agree on every unit, all copies of one together, and say on which test sets they do."""
    found = _list_copies(rows)
    if not found:
        return False, "No two systems agree on every unit."
    everywhere = f" (on {'both' if len(test_sets) == 2 else f'all {len(test_sets)}'} test sets)" if len(test_sets) > 1 else ""
    told = []
    for group, there in sorted(found.items()):
        rest = f" and {len(group) - MOST_COPIES} more" if len(group) > MOST_COPIES else ""
        where = everywhere if len(there) == len(test_sets) else f" ({name_some([*there])})"
        told.append(f"{' = '.join(group[:MOST_COPIES])}{rest}{where}")
    return True, f"{name_some(told, 5)}. p = 1; analyses of all pairs count each group of copies once."


def _list_copies(rows: Pairs) -> dict[tuple[str, ...], dict[str, None]]:
    """Return groups of systems that agree with one another by a metric, each with the test sets on which they do."""
    groups: dict[tuple[str, str], list[set[str]]] = {}
    cells = (rows.values(name).tolist() for name in ("test_set", "metric", "system_a", "system_b"))
    for test_set, metric, a, b in zip(*cells, strict=True):
        there = groups.setdefault((test_set, metric), [])
        met = [group for group in there if a in group or b in group]
        there[:] = [*(group for group in there if group not in met), {a, b}.union(*met)]
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for (test_set, _), there in groups.items():
        for group in there:
            found.setdefault(tuple(sorted(group)), {})[test_set] = None
    return found


def _monte_carlo(report: Report, pairs: Pairs) -> tuple[bool, str]:
    replicates = min((t.replicates for t in report.test_sets if t.replicates), default=0)
    exact = bool(exact_procedures(report.pairs_of))
    counted = f"b = {replicates:,}{' where p is counted, and exact elsewhere' if exact else ''}" if replicates or not exact else ""
    errors = pairs.floats("monte_carlo_error")
    errors = errors[np.isfinite(errors)]
    if not len(errors):
        return True, f"{counted or 'p is exact'}; the error of the p-values is not known."
    largest = float(errors.max())
    of_runs = " of single runs" if report.model_pairs else ""
    accurate = f"every two-sided p{of_runs} is accurate to ± {format_p(largest)} (95 %, Clopper-Pearson)"
    half = accurate if largest > 0 else "every two-sided p that a pair is judged by is exact"
    by_max_t = any(len(of) and of[0].adjustment.by == "max_t" for of in report.pairs_of.values())
    is_draft = 0 < replicates < DRAFT and not report.model_pairs
    again = _say_again(report, replicates, is_draft=is_draft) if by_max_t else ""
    if not counted and not by_max_t:
        bounds = f" but for bounds of ± {format_p(largest)}" if largest > 0 else ""
        return False, f"None: the p-values are exact laws of resampling, for which nothing was counted{bounds}."
    if not counted:
        return False, f"p by the procedure's own convention is exact; {half}{again}."
    models = "; the p-values of models are computed, and have no such error" if report.model_pairs else ""
    return is_draft, f"{counted}; {half}{again}{models}."


def _say_again(report: Report, replicates: int, *, is_draft: bool) -> str:
    """Say on how many replicates max-T counts: all, as far as there are no more than it draws again; and what more would do."""
    again = replicates_of_max_t(report.test_sets)
    if again == replicates:
        more = f"; b = {DRAFT:,} makes both more accurate" if is_draft else ""
        return f"; p adjusted by max-T is counted on all {again:,} replicates{more}"
    if is_draft:
        return f"; b = {DRAFT:,} makes p more accurate, but p adjusted by max-T still uses the first {again:,} replicates"
    return f"; p adjusted by max-T is counted on the first {again:,} replicates, however large b is"


def _enough(report: Report) -> tuple[bool, str]:
    alpha, lacking = report.alpha, []
    for where in report.places:
        rows = report.pairs_of[where]
        needed = replicates_needed(rows, alpha)
        if needed:
            b, family = int(np.nanmax(rows.floats("replicates"))), rows[0].adjustment.family_size
            place = f"{where.test_set}, {name_metric(where.metric)}{report.name_procedure(where.procedure)}"
            lacking.append(
                f"{place}: no pair can be separated with b = {b:,}; Holm over {family:,} "
                f"pair{'' if family == 1 else 's'} needs at least {needed:,} replicates"
            )
    return bool(lacking), (
        "; ".join(lacking) or "There are enough replicates for every family: a pair with the smallest possible p would be separated"
    ) + "."


def _families(report: Report) -> tuple[bool, str]:
    """Say what p-values are corrected for and what not, and whether that is left to the reader."""
    counts, alpha = report.families, report.alpha
    judged = [rows for place, rows in report.pairs_of.items() if place.procedure == report.procedures[0]]
    pairs, by = sum(int(rows.known("p_adjusted").sum()) for rows in judged), dict.fromkeys(map(name_adjustment, judged))
    others = counts.total - counts.judged
    are = "is" if others == 1 else "are"
    rest = f" {others:,} more, at smaller test sizes or by further procedures, {are} not among them." if others > 0 else ""
    if counts.judged <= 1:
        corrected = f"p adjusted is corrected for its {pairs:,} pairs by {' or '.join(by)}"
        none = "no pair could be tested" if pairs == 0 else "one pair is tested, and there is nothing to correct for"
        return False, f"1 family of tests (test set × metric): {none if pairs <= 1 else corrected}.{rest}"
    head = (
        f"{counts.judged:,} families of tests (test set × metric) with {pairs:,} pairs: p adjusted is corrected by "
        f"{' or '.join(by)} within each family"
    )
    if counts.across == "none":
        if report.model_pairs:
            return False, f"{head}, not across families.{rest}"
        chance, most = counts.any_false_if_independent, min(1.0, counts.judged * alpha)
        return True, (
            f"{head}, not across families. If no systems differed, some pair would be separated with a chance of {chance:.2g} "
            f"if the families were independent (1 − {1 - alpha:g}^{counts.judged}), and of {most:.2g} at most; "
            f"`resampling.across_families` (`--across-families` of `compare`) corrects for that.{rest}"
        )
    promise = {
        "holm": f"the chance of any false verdict is at most about {alpha:g}",
        "benjamini-bogomolov": (
            f"of the families with any verdict a share of at most about {alpha:g} is expected to have a false one"
        ),
    }[counts.across]
    differ = sum(row.p is not None and row.p <= alpha for row in counts.differing if row.procedure == report.procedures[0])
    return False, (
        f"{head}, and by {ACROSS_TITLES[counts.across]} across families, which tests each at {counts.level:.3g}: {promise}. "
        f"In {differ:,} of them some pair differs. Intervals are not corrected across families.{rest}"
    )


def _few_units(report: Report) -> tuple[bool, str]:
    sets, procedures = report.test_sets, report.procedures
    resting = [procedure for procedure in procedures if PROCEDURES[procedure].needs_units]
    if not resting:
        return False, f"The level of {' and '.join(procedures)} does not need many units, where the null holds."
    few = {_name_size(t): t.expected_rejection for t in sets if _worth(t) < FEW_UNITS}
    if not few:
        return False, f"Every test set has {FEW_UNITS} units or more."
    told, too_small = [], [procedure for procedure in resting if PROCEDURES[procedure].few_units]
    if too_small:
        of = f" of {' and '.join(too_small)}" if len(too_small) < len(procedures) else ""
        rates = (f"{size}: {_say_rate(share)}" for size, share in few.items())
        told.append(
            f"With fewer than {FEW_UNITS} units, counted p-values{of} are too small: {'; '.join(rates)}. "
            "The p-values that decide are corrected for that."
        )
    others = [procedure for procedure in resting if procedure not in too_small]
    if others:
        so_few, where = ("so few", "") if told else (f"fewer than {FEW_UNITS}", f": {'; '.join(few)}")
        told.append(
            f"With {so_few} units, {' and '.join(others)} may miss its level unless the differences of units are near to "
            f"Gaussian{where}."
        )
    return True, " ".join(told)


def _worth(test_set: TestSetRow) -> float:
    return test_set.units if test_set.effective_units is None else test_set.effective_units


def _name_size(test_set: TestSetRow) -> str:
    worth, units = _worth(test_set), test_set.units
    equal = f", worth {worth:.3g} of equal size" if worth < 0.995 * units else ""
    return f"{test_set.name} ({units:,} {test_set.unit}s{equal})"


def _say_rate(share: float | None) -> str:
    return "no test is possible" if share is None else f"about {100 * share:.1f} % of true nulls are rejected at .05"


def _few_discordant(pairs: Pairs, total: str) -> tuple[bool, str]:
    few = pairs.where(pairs.holds("few_discordant"))
    detail = f"Tests that rest on fewer than {FEW_DISCORDANT} units on which the systems differ (†): {len(few):,} {total}"
    if len(few):
        exact = few.known("p_exact")
        tests = sorted({exact_test(metric) for metric in set(few.where(~exact).values("metric").tolist())})
        known = int(exact.sum())
        told = [f"that of the exact test of all swaps ({known:,})"] * bool(known) + [f"the smallest p of {t}" for t in tests]
        detail += f"; the p that decides is at least {' or '.join(told)}"
    return bool(len(few)), detail + "."


def _empty(pairs: Pairs) -> tuple[bool, str]:
    empty = pairs.floats("empty_replicates")
    touched = int((empty > 0).sum())
    undefined = int((~pairs.known("se") & ~pairs.holds("identical")).sum())
    detail = "Both scores are defined in every replicate of every pair."
    if touched:
        most = int(np.nanmax(empty))
        detail = f"{touched:,} p-values are conditional on the replicates with both scores defined; at most {most:,} are not."
    if undefined:
        detail += f" The standard error of {undefined:,} pairs is undefined: they are never called better."
    return bool(touched or undefined), detail
