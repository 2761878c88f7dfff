"""What the numbers say, in sentences written from the document's own rows.

A verdict and the number beside it come from one place: the two-sided p, adjusted as `pipeline.report.families.adjustment` chooses
for the family, against the study's α.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from pipeline.inference.unit_diagnostics.undecided import explain_undecided
from pipeline.report.document import Report
from pipeline.report.families.adjustment import title_of
from pipeline.report.pairs.cube_facts import NO_SPREAD, NOT_TESTABLE
from pipeline.report.pairs.detectable_text import describe_detectable
from pipeline.report.pairs.notes import beside_exact
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.rows import BoardRow, FamilyKey, PairRow, Verdict, family_of
from pipeline.report.trust.doubts import (
    MOST_NAMED,
    describe_agreement,
    doubts_of_many,
    doubts_of_one,
    is_against,
    replicates_needed,
    say_missing,
    say_p,
    tests_gain,
)
from pipeline.report.trust.units import count_size, describe_design_effect, name_units
from pipeline.report.values import format_ends, format_gain, format_number, format_p

__all__ = ["all_phrase", "count_phrase", "describe_verdict", "say_standing"]


def all_phrase(count: int) -> str:
    """Return how all of several are called.

    Examples
    --------
    >>> all_phrase(2), all_phrase(2000)
    ('Both', 'All 2,000')
    """
    return "Both" if count == 2 else f"All {count:,}"


def count_phrase(count: int) -> str:
    """Return a number with its verb.

    Examples
    --------
    >>> count_phrase(0), count_phrase(1), count_phrase(2000)
    ('none is', '1 is', '2,000 are')
    """
    return f"{count:,} {'is' if count == 1 else 'are'}" if count else "none is"


def describe_verdict(report: Report, place: FamilyKey) -> Verdict:
    """Return a few sentences on one family: what its pairs show, what analyses add, and whether other procedures agree."""
    pairs = report.pairs_of[place]
    if report.family.baseline is not None:
        pairs = pairs.where(pairs.holds("in_family"))
    return Verdict(*place, sentences=[*_judge(report, place, pairs), *describe_agreement(report, place)])


def _judge(report: Report, place: FamilyKey, pairs: Pairs) -> Iterator[str]:
    baseline, alpha, digits = report.family.baseline, report.alpha, report.decimals(place.metric)
    if not pairs:
        yield f"There is no pair to compare{'' if baseline is None else f' with {baseline}'}."
        return
    test_set = report.test_set(place.test_set)
    falling = report.falls(place)
    size = count_size(test_set.items, test_set.units, test_set.unit)
    if len(pairs) == 1:
        yield from _two(pairs, alpha, digits, falling, size)
    else:
        yield from _many(pairs, report.board_of[place], baseline, alpha, digits, falling, size)
    noun = name_units(test_set.unit, test_set.format)
    yield from filter(None, [describe_design_effect(pairs, test_set), describe_detectable(pairs, digits, noun)])
    # An analysis that was asked twice may say the same twice.
    yield from dict.fromkeys(row.sentence for finding in report.findings for row in finding.headlines if family_of(row) == place)


def _two(pairs: Sequence[PairRow], alpha: float, digits: int, falling: bool, size: str) -> Iterator[str]:
    row = pairs[0]
    a, b, verdict = row.system_a, row.system_b, row.verdict
    if row.identical:
        yield f"{a} and {b} are identical on every unit: there is no difference to test."
        return
    if verdict == NOT_TESTABLE:
        yield (
            f"{a} is ahead of {b} by {format_gain(row.delta, digits)}, but {row.p_reason}: there is no spread to resample, "
            f"and {row.procedure} cannot test the difference{beside_exact(row)}."
        )
        return
    if verdict == "not measured":
        lost = [name for name, score in ((a, row.score_a), (b, row.score_b)) if score is None]
        why = f"the score of {' and of '.join(lost)} is undefined" if lost else "no replicate gives both a score"
        told = f"by {row.procedure}: {row.p_reason}" if row.p_reason and not lost else f"on this test set: {why}"
        yield f"{a} and {b} cannot be compared {told}."
        return
    p = f"{say_p(row)}, {row.procedure}, α = {alpha:g}"
    ends = [format_ends(row.interval, digits)] if row.interval else []
    gain = " ".join([format_gain(row.delta, digits), *ends])
    scores = [format_number(score, digits) for score in (row.score_a, row.score_b)]
    order = f" (scores {scores[0]} and {scores[1]}, lower is better)" if falling else ""
    if verdict == "equivalent":
        within = f"p of equivalence = {format_p(row.p_equivalence_holm)}; {p}"
        yield f"{a} and {b} differ by {gain}{order}: equivalent within the margin of {row.margin:g} ({within})."
        if row.differs_within_margin:
            yield f"The difference is separated from zero all the same: {a} is better, by less than the margin."
    elif verdict == "not decided":
        ahead = f"{a} is ahead of {b} by {gain}{order}" if row.delta else f"{a} and {b} have the same score, {scores[0]}"
        yield f"{ahead}; not decided: {explain_undecided(row.undecided or '', units=row.units)} ({p})."
    elif row.delta == 0:
        units = f" on {row.discordant:,} units" if row.discordant is not None else ""
        own = "p = 1" if row.p == 1 else f"and the p of {row.procedure} is not about the score ({p})"
        yield f"{a} and {b} have the same score, {scores[0]}, though they differ{units}: neither is ahead, {own}."
    elif verdict == "better" and tests_gain(row):
        yield f"{a} is better than {b} by {gain}{order}; the difference is separated from zero ({p})."
    elif verdict == "better":
        yield (
            f"{a} is ahead of {b} by {gain}{order}, and the test, whose null is not about the gain, rejects in favour of {a} "
            f"({p}): {a} is called better."
        )
    elif is_against(row, alpha):
        yield (
            f"{a} is ahead of {b} by {gain}{order}, and yet the test, whose null is not about the gain, rejects in favour of {b} "
            f"({p}): {a} is not called better, nor {b}."
        )
    else:
        yield f"{a} is ahead of {b} by {gain}{order}; the two are not separated at this {size} ({p})."
    if row.p_equivalence_holm is not None and verdict != "equivalent":
        yield _say_margin(row, alpha)
    yield from doubts_of_one(row, alpha)


def _say_margin(row: PairRow, alpha: float) -> str:
    """Say what is not shown against the margin, or not decided, and both p of non-inferiority."""
    a, b, p = row.system_a, row.system_b, (row.p_equivalence_holm, row.p_behind, row.p_ahead)
    equivalent, behind, ahead = map(format_p, p)
    sides = f"that {b} is not worse by the margin has p = {behind}, that {a} is not p = {ahead}"
    if row.undecided is not None and any(of is not None and of <= alpha for of in p):
        why = "" if row.verdict == "not decided" else f": {explain_undecided(row.undecided, units=row.units)}"
        return f"Nor is anything decided about the margin of {row.margin:g}{why} (p of equivalence = {equivalent}; {sides})."
    return f"Equivalence within the margin of {row.margin:g} is not shown (p = {equivalent}); {sides}."


def _many(
    pairs: Pairs,
    board: Sequence[BoardRow],
    baseline: str | None,
    alpha: float,
    digits: int,
    falling: bool,
    size: str,
) -> Iterator[str]:
    family = pairs[0].adjustment.family_size
    among = f"{title_of(pairs)}, two-sided {pairs[0].procedure}, α = {alpha:g}"
    if baseline is None:
        yield _leaders(pairs, [row for row in board if row.rank is not None], among, alpha, digits, falling)
    else:
        yield _against(board, baseline, among, digits, falling)
    needed = replicates_needed(pairs, alpha)
    if not family:
        yield f"No pair could be measured: {say_missing(pairs)}."
        return
    if needed:
        b = int(np.nanmax(pairs.floats("replicates")))
        yield (
            f"No pair can be separated with b = {b:,}: Holm over {family:,} pairs at α = {alpha:g} needs at least {needed:,} "
            "replicates."
        )
    else:
        yield _counts(pairs, family, size)
    yield from doubts_of_many(pairs, alpha)


def _leaders(pairs: Pairs, ranked: Sequence[BoardRow], among: str, alpha: float, digits: int, falling: bool) -> str:
    best = [row.name for row in ranked if row.rank == 1]
    if not best:
        return "No system has a defined score."
    score = format_number(ranked[0].score, digits) + (" (lower is better)" if falling else "")
    others = len(ranked) - len(best)
    if len(best) == 1:
        head, verb = f"{best[0]} has the best score, {score}", "is"
    else:
        more = len(best) - MOST_NAMED
        shown = [*best[:MOST_NAMED], f"{more:,} more"] if more > 1 else best
        head, verb = f"{', '.join(shown[:-1])} and {shown[-1]} share the best score, {score}", "are each"
    if not others:
        return f"{head} ({among})."
    won = Counter(pairs.where(pairs.holds("separated")).values("system_a").tolist())
    beaten = [won[name] for name in best]
    with np.errstate(invalid="ignore"):
        # With a margin a pair may be not decided where equivalence alone would have been claimed.
        held = pairs.where(pairs.equal("verdict", "not decided") & (pairs.floats("p_adjusted") <= alpha))
    either = Counter(chain.from_iterable(held.values(side).tolist() for side in ("system_a", "system_b")))
    unknown = [either[name] for name in best]
    return f"{head}, and {verb} {say_standing(beaten, unknown, others)} ({among})."


def say_standing(beaten: Sequence[int], unknown: Sequence[int], others: int, *, noun: str = "") -> str:
    """Say from how many of the others each of the best is separated, and against how many that is not decided.

    Examples
    --------
    >>> say_standing([0], [0], 5), say_standing([5], [0], 5)
    ('not separated from any of the 5 others', 'separated from all others')
    >>> say_standing([0], [0], 2, noun=" model"), say_standing([0], [0], 1)
    ('not separated from either of the 2 other models', 'not separated from the other')
    >>> say_standing([2], [1], 5)
    'separated from 2 of the 5 others; against 1 of them the difference is not decided, however small its p'
    >>> say_standing([0], [5], 5)
    'not separated from any of the 5 others; against none of them is the difference decided, however small its p'
    """
    the_others = f"the other{noun}" if others == 1 else f"the {others:,} other{noun}s"
    every = f"the other{noun}" if others == 1 else f"all other{noun}s"
    if min(beaten) == others:
        return f"separated from {every}"
    found = f"separated from {_range(beaten)} of {the_others}"
    if max(beaten) == 0:
        found = f"not separated from {('', 'either of ')[others - 1] if others <= 2 else 'any of '}{the_others}"
    if max(unknown) == 0:
        return found
    if others == 1:
        return f"{found}; the difference is not decided, however small its p"
    if min(unknown) == others:
        return f"{found}; against none of them is the difference decided, however small its p"
    return f"{found}; against {_range(unknown)} of them the difference is not decided, however small its p"


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"


def _against(board: Sequence[BoardRow], baseline: str, among: str, digits: int, falling: bool) -> str:
    (own,) = (row for row in board if row.name == baseline)
    count = Counter(row.against_baseline for row in board)
    others = sum(row.against_baseline is not None for row in board)
    score = format_number(own.score, digits) + (", lower is better" if falling else "")
    told = [
        f"{count_phrase(count[name])} {name}" for name in ("better", "worse", "not decided") if count[name] or name != "not decided"
    ]
    found = f"{', '.join(told[:-1])} and {told[-1]}"
    end = "Other pairs have no verdict, and there are no ranks."
    return f"Of {others:,} systems compared with {baseline} ({score}), {found} ({among}). {end}"


def _counts(pairs: Pairs, family: int, size: str) -> str:
    separated, identical = int(pairs.holds("separated").sum()), pairs.holds("identical")
    count = Counter(pairs.where(~identical).values("verdict").tolist())
    count["identical"] = int(identical.sum())
    count["not separated"] += count["inconclusive"]
    if separated == family:
        parts = [f"{all_phrase(family)} pairs are separated" if family > 1 else "The one pair that could be measured is separated"]
    elif not separated and family > 1 and count["not separated"] == family:  # and nothing else is to be said of them
        none = "Neither of the 2" if family == 2 else f"None of the {family:,}"
        return f"{none} pairs is separated at this {size}, which does not show that they are equal."
    elif separated or not count["not separated"]:
        parts = [f"{separated:,} of {family:,} pair{'' if family == 1 else 's'} {'is' if separated == 1 else 'are'} separated"]
    else:
        parts = []
    if alike := count["not separated"]:
        told = count_phrase(alike) if parts else f"{alike:,} of {family:,} pairs {'is' if alike == 1 else 'are'}"
        equal = "the two are equal" if alike == 1 else "they are equal"
        parts.append(f"{told} not separated at this {size}, which does not show that {equal}")
    if count["not decided"]:
        reasons, units = pairs.where(pairs.equal("verdict", "not decided")).values("undecided").tolist(), pairs[0].units
        why = Counter(explain_undecided(reason or "", units=units) for reason in reasons)
        parts += [f"{count_phrase(number)} not decided: {reason}" for reason, number in why.items()]
    if count["equivalent"]:
        both = int(pairs.holds("differs_within_margin").sum())
        besides = f" ({both:,} of them separated from zero all the same)" if both else ""
        parts.append(f"{count_phrase(count['equivalent'])} equivalent within the margin of {pairs[0].margin:g}{besides}")
    if count[NOT_TESTABLE]:
        of_them = pairs.where(pairs.equal("verdict", NOT_TESTABLE))
        beside = "; their exact sign-flip p stands beside" if of_them.known("p_exact").all() else ""
        parts.append(f"{count_phrase(count[NOT_TESTABLE])} not testable by resampling: {NO_SPREAD}{beside}")
    if count["identical"]:
        parts.append(f"{count_phrase(count['identical'])} identical on every unit")
    if count["not measured"]:
        parts.append(f"{count['not measured']:,} more could not be measured: {say_missing(pairs)}")
    return "; ".join(parts) + "."
