"""What to know beside a verdict, in sentences.

Which p it rests on and why a pair has none; few units, few replicates, tests that are not about the gain; and whether further
procedures decide as the first one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT, FEW_EFFECTIVE
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.document import Report
from pipeline.report.families.adjustment import ACROSS_TITLES, name_adjustment
from pipeline.report.pairs.notes import exact_test, name_exact
from pipeline.report.pairs.pair_rows import counted_p, is_exact, path_of_counted_p
from pipeline.report.pairs.pairs import ListedPairs, Pairs, as_pairs
from pipeline.report.rows import FamilyKey, PairRow
from pipeline.report.values import format_p

__all__ = [
    "MOST_NAMED",
    "describe_agreement",
    "doubts_of_many",
    "doubts_of_one",
    "is_against",
    "replicates_needed",
    "say_missing",
    "say_p",
    "tests_gain",
]

MOST_NAMED = 5
"""Systems or pairs that a sentence names; it counts the others."""


def replicates_needed(pairs: Sequence[PairRow], alpha: float) -> int | None:
    """Return how many replicates a family needs before Holm can separate anything, or None where it has them.

    The smallest p there can be is 1/(b + 1), and Holm multiplies the smallest of K by K. Max-T does not, and is the basis only
    where its own smallest p is at most α.
    """
    everybody = as_pairs(pairs)
    members = everybody.where(everybody.holds("in_family") & everybody.known("p"))
    if not len(members) or members[0].adjustment.by == "max_t":
        return None
    if members[0].replicates is None:
        return None  # p-values that no replicate was drawn for have no floor of this kind
    most = np.nanmax(members.floats("replicates"))
    return math.ceil(len(members) / alpha) if len(members) / (most + 1) > alpha else None


def is_against(row: PairRow, alpha: float) -> bool:
    """Tell whether the test rejects in favour of the system that is behind: its null is not about the gain."""
    p, side = row.p_adjusted, row.p_raw.one_sided
    return p is not None and side is not None and p <= alpha and side > 0.5


def doubts_of_one(row: PairRow, alpha: float) -> Iterator[str]:
    """Say what to know beside the verdict of a single pair."""
    across = row.adjustment.across
    if across is not None and across.within is not None:
        by = f"{ACROSS_TITLES[across.by]} over {across.families:,} families"
        yield f"That p is corrected by {by}; within its own family the pair has p = {format_p(across.within)}."
    yield from _why_larger(row)
    if row.se is None:
        yield "The standard error is undefined, as a score without one of the units is 0/0: no difference is claimed."
    if row.empty_replicates:
        defined = row.replicates or 0
        total = defined + row.empty_replicates
        yield f"p is conditional on the {defined:,} of {total:,} replicates in which both scores are defined."
    needed = replicates_needed([row], alpha)
    if needed:
        b = row.replicates
        yield f"Nothing can be separated with b = {b:,} at α = {alpha:g}; at least {needed:,} replicates are needed."


def doubts_of_many(pairs: Sequence[PairRow], alpha: float) -> Iterator[str]:
    """Say what to know beside the verdicts of a family."""
    pairs = as_pairs(pairs)
    separated, few_discordant, exact_p = pairs.holds("separated"), pairs.holds("few_discordant"), pairs.known("p_exact")
    with np.errstate(invalid="ignore"):
        against = int(((pairs.floats("p_adjusted") <= alpha) & (pairs.floats("p_raw.one_sided") > 0.5)).sum())
    if against:
        which = "one pair" if against == 1 else f"{against:,} pairs"
        yield f"Of {which} the test, whose null is not about the gain, rejects in favour of the system that is behind: no verdict."
    few = int((separated & few_discordant).sum())
    if few:
        known = bool((few_discordant & exact_p).any())
        exact = "that of the exact test of all swaps" if known else "the smallest p of an exact test"
        rest = "rests" if few == 1 else "rest"
        yield (
            f"{few:,} of the separated pairs {rest} on fewer than {FEW_DISCORDANT} discordant units (†): "
            f"the p that decides is at least {exact}."
        )
    held = _count_held(pairs, alpha)
    if held:
        one, more = held == 1, " more" if separated.any() else ""
        own = "an exact" if is_exact(pairs[0]) else "a counted"
        yield (
            f"{held:,}{more} {'has' if one else 'have'} {own} p ≤ α and {'is' if one else 'are'} not called better: so few "
            "units differ that an exact test does not reject."
        )
    empty = int(((pairs.floats("empty_replicates") > 0) & pairs.known("p")).sum())
    if empty:
        yield f"{empty:,} p-value{' is' if empty == 1 else 's are'} conditional on the replicates in which both scores are defined."


def _why_larger(row: PairRow) -> Iterator[str]:
    """Say why the p that decides is larger than that of the procedure, where few units make it so, and what else to ask."""
    p, decides, floor = counted_p(row), row.p_adjusted, row.p_floor
    if p is None or decides is None or row.identical:
        return
    few = f"The systems differ on {row.discordant:,} unit{'' if row.discordant == 1 else 's'} only" if row.few_discordant else ""
    if decides <= p:
        if few and row.p_exact is None:
            yield f"{few}: {exact_test(row.metric)} is safer."
        return
    own = f"{row.procedure} by itself {'has' if row.replicates is None else 'counts'} p = {format_p(p)}"
    if row.few_discordant and floor is not None and decides == floor:
        if row.p_exact == decides:
            yield f"{few}: the p that decides is that of {name_exact(row.metric)}; {own}."
        else:
            yield f"{few}: {exact_test(row.metric)} of so few has no smaller p; {own}."
    elif row.p_few_units is not None and (row.effective_units or math.inf) < FEW_EFFECTIVE:
        how = "takes few units into account" if row.adjustment.by == "max_t" else "is corrected for few units"
        yield f"The p that decides {how} ({row.effective_units:.3g} effective ones); {own}."
    elif few and row.p_exact is None:
        yield f"{few}: {exact_test(row.metric)} is safer."


def _count_held(pairs: Pairs, alpha: float) -> int:
    """Count the pairs whose own p is at most α, and which the floor of few discordant units keeps from being called better."""
    p, floor = pairs.floats(path_of_counted_p(pairs[0].procedure)), pairs.floats("p_floor")
    with np.errstate(invalid="ignore"):
        return int((pairs.holds("in_family") & pairs.holds("few_discordant") & (p <= alpha) & (floor > alpha)).sum())


def say_missing(rows: Sequence[PairRow]) -> str | None:
    """Say why rows have no p: each reason with its number of pairs, where there are several. None where all have one."""
    pairs = as_pairs(rows)
    lacking = Counter(why or "nothing was written" for why in pairs.where(~pairs.known("p")).values("p_reason").tolist())
    if len(lacking) <= 1:
        return next(iter(lacking), None)
    return "; ".join(f"{why} ({count:,})" for why, count in lacking.most_common())


def say_p(row: PairRow) -> str:
    """Say the p that a pair is judged by; its own where it is in no family."""
    decides, own = row.p_adjusted, row.p
    if decides is None or decides == own:
        return f"two-sided p = {format_p(own, log10=row.log10_p)}"
    return f"two-sided p = {format_p(decides)}"


def describe_agreement(report: Report, where: FamilyKey) -> Iterator[str]:
    """Compare the pairs that other procedures separate with those of ``where``'s, at the same α, each by its own adjustment."""
    judged = report.pairs_of[where]
    first = _by_systems(judged)
    for procedure in report.procedures:
        if procedure == where.procedure:
            continue
        rows = report.pairs_of.get(where._replace(procedure=procedure), ListedPairs([]))
        tested = rows.where(rows.holds("in_family") & rows.known("p") & ~rows.holds("identical"))
        if not len(tested):
            missing = say_missing(rows)
            if missing:
                yield f"By {procedure} no pair could be measured: {missing}."
            continue
        separated = int(tested.holds("separated").sum())
        # Pairs without an order stand in the order of the cube under every procedure: the names are the same.
        mine = _by_systems(tested)
        turned = tested.where(np.array([is_so != first[names] for names, is_so in mine.items()], np.bool_))
        # Two procedures may be adjusted in two ways: then the way is told, as it may be why they differ.
        by = procedure if name_adjustment(rows) == name_adjustment(judged) else f"{procedure} ({name_adjustment(rows)})"
        if int(rows.holds("in_family").sum()) == 1:
            yield _one(procedure, tested[0], judged.where(judged.holds("in_family"))[0], agrees=not len(turned))
            continue
        family = rows[0].adjustment.family_size
        count = f"{separated:,} of {family:,} pair{'' if family == 1 else 's'} {'is' if separated == 1 else 'are'}"
        if not len(turned):
            same = ", the same ones" if separated > 1 else ", the same one" if separated else ""
            yield f"By {by} {count} separated{same}."
            continue
        named = ", ".join(f"{row.system_a} – {row.system_b}" for row in turned[:MOST_NAMED])
        more = f" and {len(turned) - MOST_NAMED:,} more" if len(turned) > MOST_NAMED else ""
        verb = "verdict differs" if len(turned) == 1 else "verdicts differ"
        yield f"By {by} {count} separated; {len(turned):,} {verb} from those of {where.procedure}: {named}{more}."


def _by_systems(pairs: Pairs) -> dict[tuple[str, str], bool]:
    """Return whether each pair is separated, by its systems, the better one first."""
    names = zip(pairs.values("system_a").tolist(), pairs.values("system_b").tolist(), strict=True)
    return dict(zip(names, pairs.holds("separated").tolist(), strict=True))


def _one(procedure: str, row: PairRow, judged: PairRow, *, agrees: bool) -> str:
    found, first = map(_say_difference, (row, judged))
    also = (" as well" if row.separated else " either") if found == first else ""
    return f"By {procedure} ({say_p(row)}) the difference is {found}{also if agrees else ', which is another verdict'}."


def tests_gain(row: PairRow) -> bool:
    """Tell whether the null of a test is that there is no gain; of right and wrong answers that of signs and ranks is, too."""
    return PROCEDURES[row.procedure].of_gain or row.minimum_detectable_effect is not None


def _say_difference(row: PairRow) -> str:
    if row.separated:
        return "separated from zero" if tests_gain(row) else "separated, though the null is not about the gain"
    return "not decided" if row.verdict == "not decided" else "not separated"
