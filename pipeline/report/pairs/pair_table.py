"""The table of the pairs of one family: its columns depend on what the family has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from pipeline.procedures.registry import PROCEDURES, formula_of
from pipeline.report.document import Report
from pipeline.report.families.adjustment import title_of
from pipeline.report.layout.view import View
from pipeline.report.pairs.cube_facts import NO_SPREAD, NOT_TESTABLE
from pipeline.report.pairs.intervals import BELONGS_TO
from pipeline.report.pairs.listing import WHICH, choose_pairs
from pipeline.report.pairs.notes import is_clustered
from pipeline.report.pairs.pair_rows import exact_procedures
from pipeline.report.pairs.pairs import Pairs, as_pairs
from pipeline.report.presets import add_tool_column
from pipeline.report.rows import BoardRow, FamilyKey, PairRow, family_of
from pipeline.report.trust.doubts import say_missing
from pipeline.report.values import MISSING, format_ends, format_number, format_p

__all__ = ["MARKS", "MOST_PAIRS", "mark_of", "pair_table"]

MOST_PAIRS = 400
MARKS = {
    "*": "the verdict is so near α that another random seed could change it",
    "†": "fewer than 20 units on which the two systems differ: p adjusted is at least that of an exact test",
    "§": "items are drawn though they stand together in documents, and the gain varies more for it: p is too small",
    "‡": "equivalent, and yet separated from zero: a difference within the margin",
}
"""What stands behind a verdict, and what it means."""

_Rows: TypeAlias = Sequence[PairRow]
"""Few rows, which are shown; all pairs of a family are `Pairs`."""
_LATER = frozenset({"tail", "one-sided", "Holm", "BH"})
"""Columns that decide nothing, beside others that do."""


def mark_of(row: PairRow) -> str:
    """Return the marks behind a pair's verdict, keys of `MARKS`."""
    marks = {"*": row.stable is False, "†": row.few_discordant, "§": is_clustered(row), "‡": row.differs_within_margin}
    return "".join(mark for mark, holds in marks.items() if holds)


def pair_table(
    report: Report, where: FamilyKey, pairs: _Rows, title: str, *, digits: int, tables: int, most: int | None = None
) -> View:
    """Return the pairs of one family: ``most`` of them, or so many that a page of ``tables`` such tables can be read."""
    rows = as_pairs(pairs)
    shown = _choose(rows, report.board_of[where], report.alpha, max(20, MOST_PAIRS // max(1, tables)) if most is None else most)
    columns = dict(_columns(report, where, rows, shown, digits))
    heads, cells = tuple(columns), tuple(tuple(tell(row) for tell in columns.values()) for row in shown)
    heads, cells = add_tool_column(report, shown, heads, cells)
    caption = " ".join(_caption(report, where, rows, shown))
    words = frozenset({"better", "worse", "verdict"})
    return View("pairs", title, heads, cells, caption, words, first=words | {"gain"}, later=_LATER)


def _columns(
    report: Report, where: FamilyKey, rows: Pairs, shown: _Rows, digits: int
) -> Iterator[tuple[str, Callable[[PairRow], str]]]:
    whole = PROCEDURES[where.procedure].gives_interval
    yield "better", lambda row: str(row.system_a)
    yield "worse", lambda row: str(row.system_b)
    yield "gain", lambda row: format_number(row.delta, digits)
    if whole:
        yield f"{100 * (1 - report.alpha):g} % interval", lambda row: format_ends(row.interval, digits)
    yield "p", lambda row: format_p(row.p, log10=row.log10_p)
    yield "p adjusted", lambda row: format_p(row.p_adjusted, log10=row.log10_p if row.p_adjusted == row.p else None)
    # What is decided comes before what stands beside it: a screen may show the first columns alone.
    yield "verdict", lambda row: f"{_verdict(row)} {mark_of(row)}".rstrip()
    yield "se", lambda row: format_number(row.se, digits)
    if any(row.minimum_detectable_effect for row in shown):
        yield "MDE", lambda row: format_number(_detectable(row), digits)
    if any(row.helped is not None for row in shown):
        yield "helped", lambda row: MISSING if row.helped is None else f"{row.helped:,}"
        yield "hurt", lambda row: MISSING if row.hurt is None else f"{row.hurt:,}"
    else:
        yield "m", lambda row: MISSING if row.discordant is None else f"{row.discordant:,}"
    if any(row.tail for row in shown):
        yield "tail", lambda row: _tail(row) or MISSING
    # A strict one-sided p of swaps is no test.
    if whole:
        yield "one-sided", lambda row: format_p(row.p_raw.one_sided, row.replicates)
    if any(_is_exact_told(row) for row in shown):
        yield "exact", lambda row: format_p(row.p_exact, log10=row.log10_p_exact)
    if len(rows) > 1:
        if _by_max_t(rows):
            yield "Holm", lambda row: format_p(row.adjustment.others.holm)
        yield "BH", lambda row: format_p(row.adjustment.others.benjamini_hochberg)
    if _margin(rows) is not None:
        yield "p eq.", lambda row: format_p(row.p_equivalence)
        yield "Holm eq.", lambda row: format_p(row.p_equivalence_holm)
        yield "n.i. better", lambda row: format_p(row.p_ahead)
        yield "n.i. worse", lambda row: format_p(row.p_behind)


def _is_exact_told(row: PairRow) -> bool:
    return row.p_exact is not None and (row.few_discordant or row.verdict == NOT_TESTABLE)


def _detectable(row: PairRow) -> float | None:
    return row.minimum_detectable_effect.gain if row.minimum_detectable_effect else None


_OF_TWO_DIGITS = 0.01
"""Of a number, beyond which its second digit is not known: an enclosure is as wide on few units."""


def _tail(row: PairRow) -> str:
    """Return the two-sided tail with its error, where it was estimated or is wide, and its label; nothing where there is none."""
    tail = row.tail and row.tail.two_sided
    if not tail:
        return ""
    is_told = tail.error and (tail.method == "tilted" or tail.error > _OF_TWO_DIGITS * (tail.p or 0.0))
    error = f" ± {format_p(tail.error)}" if is_told else ""
    return f"{format_p(tail.p, log10=tail.log10_p)}{error} {tail.label}"


def _verdict(row: PairRow) -> str:
    return "equivalent (identical)" if row.verdict == "equivalent" and row.identical else row.verdict or MISSING


def _caption(report: Report, where: FamilyKey, rows: Pairs, shown: _Rows) -> Iterator[str]:
    if PROCEDURES[where.procedure].gives_interval:
        one_sided = "counted on all replicates; if none counts, the upper end of its 95 % interval"
        if _is_exact(rows):
            one_sided = "exact: of infinitely many replicates"
        yield (
            f"The better system comes first; p is two-sided, {_say_p(rows)}; one-sided is the strict p of Berg-Kirkpatrick et al., "
            f"{one_sided}."
        )
        methods = {row.interval.method for row in shown if row.interval}
        told = "; ".join(words for method, words in BELONGS_TO.items() if method in methods)
        if told:
            yield f"The interval belongs to p adjusted, and is held to the verdict: {told}{_say_critical(shown)}."
        if any(row.interval and row.interval.open for row in shown):
            yield "A round bracket at 0: separated, by a step down; 0 itself is outside."
        if len(rows) and rows[0].intervals:  # as all pairs of a family have
            yield "Intervals by other methods are in tables/pairs.csv."
    else:
        yield f"The better system comes first; p is two-sided, {formula_of(where.procedure, exact=_is_exact(rows))}."
    effect = next((row.minimum_detectable_effect for row in shown if row.minimum_detectable_effect), None)
    if effect is not None:
        exactly = ", by binomial sums over the discordant units" if effect.law == "binomial" else ""
        yield f"MDE: minimum detectable effect, the smallest gain found with {100 * effect.power:.0f} % power{exactly}."
    yield from _beside(rows, shown)
    if any(_is_exact_told(row) for row in shown):
        yield "Exact: the test of all 2^m swaps, on 0/1 scores McNemar's, unadjusted."
    yield f"p adjusted is the p that decides: by {title_of(rows)}{_say_corrections(where.procedure, by_max_t=_by_max_t(rows))}."
    if rows.equal("verdict", NOT_TESTABLE).any():
        yield f"{NOT_TESTABLE.capitalize()}: {NO_SPREAD}, and there is nothing to resample; the adjusted p is 1."
    baseline, margin = report.family.baseline, _margin(rows)
    if baseline is not None:
        yield f"Pairs without {baseline} are not in the family: they have no adjusted p and no verdict."
    if margin is not None:
        yield (
            f"p eq., Holm eq.: of equivalence within the margin of {margin:g}, unadjusted and by Holm. n.i. better, n.i. worse: "
            "p of non-inferiority, that the better (worse) of the two is not worse than the other by the margin, unadjusted. "
            "Inconclusive: neither equivalent nor separated at this n."
        )
    if rows.equal("verdict", "not decided").any():
        p, claim = ("p", "a difference is not") if margin is None else ("a p", "neither a difference nor equivalence is")
        yield (
            f"Not decided: {p} is at most α, and {claim} claimed, as no test holds its level here, nor would an interval; "
            "`undecided` says why."
        )
    for mark in dict.fromkeys(mark for row in shown for mark in mark_of(row)):
        yield f"{mark} {MARKS[mark]}."
    if len(shown) < len(rows):
        yield (f"Shown are {len(shown):,} of {len(rows):,} pairs: {WHICH}; tables/pairs.csv has them all.")


def _say_critical(shown: _Rows) -> str:
    """Return the c of max-T, which all pairs of a family share; nothing where it is not known."""
    effects = (row.minimum_detectable_effect for row in shown if row.interval and row.interval.method == "max-t")
    critical = next((effect.critical for effect in effects if effect and effect.critical is not None), None)
    return "" if critical is None else f"; c = {critical:.3g}"


def _beside(rows: Pairs, shown: _Rows) -> Iterator[str]:
    """Say what p is worth, and what else stands beside it."""
    labels = dict.fromkeys(filter(None, rows.values("p_label").tolist()))
    if labels:
        yield f"p: {'; '.join(labels)}."
    missing = say_missing(rows)
    if missing:
        yield f"No p: {missing}."
    if any(row.tail for row in shown):
        yield (
            "Tail: the two-sided p computed where fewer than ten replicates count against a gain; below 1e-6 it is one of the "
            "resampling model, which the data cannot tell from another. No verdict uses it."
        )


def _say_p(rows: Pairs) -> str:
    """Say what test the p of a pair by itself is of."""
    if _by_max_t(rows):
        return "the share of replicates whose t* is as large as t, each with a standard error of its own, or exact where few differ"
    return "exact, corrected for few units" if _is_exact(rows) else "as (s + 1)/(b + 1), corrected for few units"


def _is_exact(rows: Pairs) -> bool:
    return len(rows) > 0 and bool(exact_procedures({family_of(rows[0]): rows}))


def _margin(rows: Pairs) -> float | None:
    return rows[0].margin if len(rows) else None


def _by_max_t(rows: Pairs) -> bool:
    return len(rows) > 0 and rows[0].adjustment.by != "holm"


def _say_corrections(procedure: str, *, by_max_t: bool) -> str:
    reading = PROCEDURES[procedure]
    few = "with a standard error of each replicate" if by_max_t else "corrected for few units"
    told = [few] * reading.few_units
    told += ["at least the p of an exact test where fewer than 20 units differ"] * reading.needs_units
    return f", {' and '.join(told)}" if told else ""


def _choose(pairs: Pairs, board: Sequence[BoardRow], alpha: float, most: int) -> _Rows:
    """Return the rows that a page shows: all of them, those of the family first; of too many those that matter."""
    if len(pairs) > most:
        pairs = pairs.where(choose_pairs(pairs, board, alpha, most))
    return sorted(pairs.bare(), key=lambda row: not row.in_family)
