"""What to know beside a verdict, in sentences.

Which p it rests on and why a pair has none; few units, few replicates, tests that are not about the gain; and whether further
procedures decide as the first one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.inference.few_units import FEW_DISCORDANT, FEW_EFFECTIVE
from pipeline.report.adjustment import ACROSS_TITLES, name_adjustment
from pipeline.report.document import Report
from pipeline.report.pair_rows import counted_p, exact_test, is_exact, name_exact
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
]

MOST_NAMED = 5
"""Systems or pairs that a sentence names; it counts the others."""


def replicates_needed(pairs: Sequence[PairRow], alpha: float) -> int | None:
    """Return how many replicates a family needs before Holm can separate anything, or None where it has them.

    The smallest p there can be is 1/(b + 1), and Holm multiplies the smallest of K by K. Max-T does not, and is the basis only
    where its own smallest p is at most α.
    """
    members = [row for row in pairs if row.in_family and row.p is not None]
    if members and members[0].adjustment.by == "max_t":
        return None
    most = max((row.replicates or 0 for row in members), default=0)
    if members and members[0].replicates is None:
        return None  # p-values that no replicate was drawn for have no floor of this kind
    return math.ceil(len(members) / alpha) if members and len(members) / (most + 1) > alpha else None


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
    against = sum(is_against(row, alpha) for row in pairs)
    if against:
        which = "one pair" if against == 1 else f"{against:,} pairs"
        yield f"Of {which} the test, whose null is not about the gain, rejects in favour of the system that is behind: no verdict."
    few = sum(row.separated and row.few_discordant for row in pairs)
    if few:
        known = any(row.few_discordant and row.p_exact is not None for row in pairs)
        exact = "that of the exact test of all swaps" if known else "the smallest p of an exact test"
        rest = "rests" if few == 1 else "rest"
        yield (
            f"{few:,} of the separated pairs {rest} on fewer than {FEW_DISCORDANT} discordant units (†): "
            f"the p that decides is at least {exact}."
        )
    held = sum(_is_held(row, alpha) for row in pairs)
    if held:
        one, more = held == 1, " more" if any(row.separated for row in pairs) else ""
        own = "an exact" if is_exact(pairs[0]) else "a counted"
        yield (
            f"{held:,}{more} {'has' if one else 'have'} {own} p ≤ α and {'is' if one else 'are'} not called better: so few "
            "units differ that an exact test does not reject."
        )
    empty = sum(bool(row.empty_replicates) and row.p is not None for row in pairs)
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


def _is_held(row: PairRow, alpha: float) -> bool:
    """Tell whether the floor of few discordant units keeps a pair from being called better whose own p is at most α."""
    p, floor = counted_p(row), row.p_floor
    return bool(row.in_family and row.few_discordant and p is not None and p <= alpha < (floor or 0.0))


def say_missing(rows: Sequence[PairRow]) -> str | None:
    """Say why rows have no p: each reason with its number of pairs, where there are several. None where all have one."""
    lacking = Counter(row.p_reason or "nothing was written" for row in rows if row.p is None)
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
    first = {(row.system_a, row.system_b): row.separated for row in judged}
    for procedure in report.procedures:
        rows = report.pairs_of[where._replace(procedure=procedure)]
        tested = [row for row in rows if row.in_family and row.p is not None and not row.identical]
        if procedure == where.procedure:
            continue
        if not tested:
            missing = say_missing(rows)
            if missing:
                yield f"By {procedure} no pair could be measured: {missing}."
            continue
        separated = [row for row in tested if row.separated]
        # Pairs without an order stand in the order of the cube under every procedure: the names are the same.
        turned = [row for row in tested if row.separated != first[row.system_a, row.system_b]]
        # Two procedures may be adjusted in two ways: then the way is told, as it may be why they differ.
        by = procedure if name_adjustment(rows) == name_adjustment(judged) else f"{procedure} ({name_adjustment(rows)})"
        if sum(row.in_family for row in rows) == 1:
            yield _one(procedure, tested[0], next(row for row in judged if row.in_family), agrees=not turned)
            continue
        family = rows[0].adjustment.family_size
        count = f"{len(separated):,} of {family:,} pair{'' if family == 1 else 's'} {'is' if len(separated) == 1 else 'are'}"
        if not turned:
            same = ", the same ones" if len(separated) > 1 else ", the same one" if separated else ""
            yield f"By {by} {count} separated{same}."
            continue
        named = ", ".join(f"{row.system_a} – {row.system_b}" for row in turned[:MOST_NAMED])
        more = f" and {len(turned) - MOST_NAMED:,} more" if len(turned) > MOST_NAMED else ""
        verb = "verdict differs" if len(turned) == 1 else "verdicts differ"
        yield f"By {by} {count} separated; {len(turned):,} {verb} from those of {where.procedure}: {named}{more}."


def _one(procedure: str, row: PairRow, judged: PairRow, *, agrees: bool) -> str:
    found, first = map(_say_difference, (row, judged))
    also = (" as well" if row.separated else " either") if found == first else ""
    return f"By {procedure} ({say_p(row)}) the difference is {found}{also if agrees else ', which is another verdict'}."


def _say_difference(row: PairRow) -> str:
    if row.separated:
        return "separated from zero"
    return "not decided" if row.verdict == "not decided" else "not separated"
