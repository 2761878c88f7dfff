"""The table of the pairs of one family: its columns depend on what the family has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.procedures.registry import PROCEDURES, formula_of
from pipeline.report.document import Report
from pipeline.report.families.adjustment import title_of
from pipeline.report.layout.view import View
from pipeline.report.pairs.cube_facts import NO_SPREAD, NOT_TESTABLE
from pipeline.report.pairs.intervals import BELONGS_TO
from pipeline.report.pairs.listing import WHICH, choose_pairs
from pipeline.report.pairs.notes import are_clustered
from pipeline.report.pairs.pair_parts import MinimumDetectableEffect
from pipeline.report.pairs.pair_rows import exact_procedures
from pipeline.report.pairs.pair_set import names_of
from pipeline.report.pairs.pairs import Pairs, as_pairs, join_pairs
from pipeline.report.presets import add_tool_column
from pipeline.report.rows import BoardRow, FamilyKey, PairRow, Tail, family_of
from pipeline.report.trust.doubts import say_missing
from pipeline.report.values import MISSING, format_end, format_gain, format_p, write_all

__all__ = ["MARKS", "MOST_PAIRS", "OPEN_END", "has_open_end", "marks_of", "pair_table"]

MOST_PAIRS = 400
MARKS = {
    "*": "the verdict is so near α that another random seed could change it",
    "†": "fewer than 20 units on which the two systems differ: p adjusted is at least that of an exact test",
    "§": "items are drawn though they stand together in documents, and the gain varies more for it: p is too small",
    "‡": "equivalent, and yet separated from zero: a difference within the margin",
}
"""The marks after a verdict, and what they mean."""

OPEN_END = "a round bracket at 0: the interval leaves out 0 itself, as the pair is separated by the step-down procedure"
"""What such an end of an interval means, where one is shown."""

_LATER = frozenset({"tail", "one-sided", "Holm", "BH"})
"""Columns that decide nothing, beside others that do."""


_HOLDS: Mapping[str, Callable[[Pairs], NDArray[np.bool_]]] = {
    "*": lambda pairs: pairs.equal("stable", False),
    "†": lambda pairs: pairs.holds("few_discordant"),
    "§": are_clustered,
    "‡": lambda pairs: pairs.holds("differs_within_margin"),
}
"""Which pairs have each of `MARKS`."""

_Tell: TypeAlias = Callable[[Pairs], Iterable[str]]
"""Gives the cells of a column: of many pairs rows would take longer to make than all cells."""


def marks_of(pairs: Pairs) -> list[str]:
    """Return the marks behind each pair's verdict, keys of `MARKS`."""
    held = [(mark, holds(pairs)) for mark, holds in _HOLDS.items()]
    found = [[mark if of else "" for of in where.tolist()] for mark, where in held if where.any()]
    return list(map("".join, zip(*found, strict=True))) if found else [""] * len(pairs)


def has_open_end(pairs: Pairs) -> bool:
    """Tell whether an interval of some pairs leaves 0 out at its end."""
    return bool((pairs.known("interval") & pairs.holds("interval.open")).any())


def pair_table(
    report: Report, where: FamilyKey, pairs: Sequence[PairRow], title: str, *, digits: int, tables: int, most: int | None = None
) -> View:
    """Return the pairs of one family: ``most`` of them, or so many that a page of ``tables`` such tables can be read."""
    rows = as_pairs(pairs)
    shown = _choose(rows, report.board_of[where], report.alpha, max(20, MOST_PAIRS // max(1, tables)) if most is None else most)
    columns = dict(_columns(report, where, rows, shown, digits))
    heads, cells = tuple(columns), tuple(zip(*(tell(shown) for tell in columns.values()), strict=True))
    heads, cells = add_tool_column(report, shown, heads, cells)
    caption = " ".join(_caption(report, where, rows, shown))
    words = frozenset({"better", "worse", "verdict"})
    won = rows.where(rows.holds("separated"))
    shows_gain = PROCEDURES[where.procedure].of_gain or bool(won.known("minimum_detectable_effect").all())
    return View("pairs", title, heads, cells, caption, words, first=words | {"gain"}, later=_LATER, shows_gain=shows_gain)


def _columns(report: Report, where: FamilyKey, rows: Pairs, shown: Pairs, digits: int) -> Iterator[tuple[str, _Tell]]:
    whole, number = PROCEDURES[where.procedure].gives_interval, partial(_gains, digits=digits)
    yield "better", _cells(str, "system_a")
    yield "worse", _cells(str, "system_b")
    yield "gain", partial(number, path="delta")
    if whole:
        yield f"{100 * (1 - report.alpha):g} % interval", partial(_intervals, digits=digits)
    yield "p", _cells(_p, "p", "log10_p")
    yield "p adjusted", _cells(_adjusted, "p_adjusted", "p", "log10_p")
    # What is decided comes before what stands beside it: a screen may show the first columns alone.
    yield "verdict", _verdicts
    yield "se", partial(number, path="se")
    if shown.known("minimum_detectable_effect").any():
        yield "MDE", partial(number, path="minimum_detectable_effect.gain")
    if shown.known("helped").any():
        yield "helped", _cells(_count, "helped")
        yield "hurt", _cells(_count, "hurt")
    else:
        yield "m", _cells(_count, "discordant")
    if shown.known("tail").any():
        yield "tail", _cells(_tail, *(f"tail.two_sided.{name}" for name in names_of(Tail)))
    # A strict one-sided p of swaps is no test.
    if whole:
        yield "one-sided", _cells(format_p, "p_raw.one_sided", "replicates")
    if _are_exact_told(shown).any():
        yield "exact", _cells(_p, "p_exact", "log10_p_exact")
    if len(rows) > 1:
        if _by_max_t(rows):
            yield "Holm", _cells(format_p, "adjustment.others.holm")
        yield "BH", _cells(format_p, "adjustment.others.benjamini_hochberg")
    if _margin(rows) is not None:
        yield "p eq.", _cells(format_p, "p_equivalence")
        yield "Holm eq.", _cells(format_p, "p_equivalence_holm")
        yield "n.i. better", _cells(format_p, "p_ahead")
        yield "n.i. worse", _cells(format_p, "p_behind")


def _cells(write: Callable[..., str], *paths: str) -> _Tell:
    """Return what writes a cell from the values of some fields: once for all pairs that have the same."""

    def tell(pairs: Pairs) -> list[str]:
        once: dict[tuple[Any, ...], str] = {}
        values = zip(*(pairs.values(path).tolist() for path in paths), strict=True)
        return [once[of] if of in once else once.setdefault(of, write(*of)) for of in values]

    return tell


def _p(p: float | None, log10: float | None) -> str:
    return format_p(p, log10=log10)


def _adjusted(adjusted: float | None, p: float | None, log10: float | None) -> str:
    return format_p(adjusted, log10=log10 if adjusted == p else None)


def _count(number: int | None) -> str:
    return MISSING if number is None else f"{number:,}"


def _gains(pairs: Pairs, path: str, digits: int) -> list[str]:
    return write_all(format_gain, pairs.floats(path), digits)


def _intervals(pairs: Pairs, digits: int) -> list[str]:
    ends = (write_all(format_end, pairs.floats(f"interval.{name}"), digits) for name in ("lo", "hi"))
    opens = ("(" if is_open else "[" for is_open in pairs.holds("interval.open").tolist())
    there = pairs.known("interval").tolist()
    return [f"{left}{lo}, {hi}]" if known else MISSING for left, lo, hi, known in zip(opens, *ends, there, strict=True)]


def _are_exact_told(pairs: Pairs) -> NDArray[np.bool_]:
    return pairs.known("p_exact") & (pairs.holds("few_discordant") | pairs.equal("verdict", NOT_TESTABLE))


_OF_TWO_DIGITS = 0.01
"""Of a number, beyond which its second digit is not known: an enclosure is as wide on few units."""


def _tail(p: float | None, log10_p: float | None, error: float | None, method: str | None, label: str | None) -> str:
    """Return the two-sided tail with its error, where it was estimated or is wide, and its label."""
    if p is None:
        return MISSING
    is_told = error and (method == "tilted" or error > _OF_TWO_DIGITS * p)
    return f"{format_p(p, log10=log10_p)}{f' ± {format_p(error)}' if is_told else ''} {label}"


def _verdicts(pairs: Pairs) -> list[str]:
    told = zip(pairs.values("verdict").tolist(), pairs.holds("identical").tolist(), marks_of(pairs), strict=True)
    return [f"{_verdict(verdict, identical)} {marks}".rstrip() for verdict, identical, marks in told]


def _verdict(verdict: str | None, identical: bool) -> str:
    return "equivalent (identical)" if verdict == "equivalent" and identical else verdict or MISSING


def _caption(report: Report, where: FamilyKey, rows: Pairs, shown: Pairs) -> Iterator[str]:
    if PROCEDURES[where.procedure].gives_interval:
        one_sided = "counted on all replicates; if none counts, the upper end of its 95 % interval"
        if _is_exact(rows):
            one_sided = "exact: of infinitely many replicates"
        yield (
            f"The better system comes first; p is two-sided, {_say_p(rows)}; one-sided is the strict p of Berg-Kirkpatrick et al., "
            f"{one_sided}."
        )
        methods = {*shown.values("interval.method").tolist()}
        told = "; ".join(words for method, words in BELONGS_TO.items() if method in methods)
        if told:
            yield f"The interval belongs to p adjusted, and is held to the verdict: {told}{_say_critical(shown)}."
            if rows[0].adjustment.family_size > 1:
                level = next(filter(None, shown.values("interval.level").tolist()))
                yield f"Intervals are simultaneous: {100 * level:g} % is the level of all pairs of the family together."
        if has_open_end(shown):
            yield f"{OPEN_END[0].upper()}{OPEN_END[1:]}."
        if len(rows) and rows[0].intervals:  # as all pairs of a family have
            yield "Intervals by other methods are in tables/pairs.csv."
    else:
        yield f"The better system comes first; p is two-sided, {formula_of(where.procedure, exact=_is_exact(rows))}."
    effect = _first(shown, shown.known("minimum_detectable_effect"))
    if effect is not None:
        exactly = ", by binomial sums over the discordant units" if effect.law == "binomial" else ""
        yield f"MDE: minimum detectable effect, the smallest gain found with {100 * effect.power:.0f} % power{exactly}."
    yield from _beside(rows, shown)
    if _are_exact_told(shown).any():
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
    for mark in dict.fromkeys(mark for marks in marks_of(shown) for mark in marks):
        yield f"{mark} {MARKS[mark]}."
    if len(shown) < len(rows):
        yield (f"Shown are {len(shown):,} of {len(rows):,} pairs: {WHICH}; tables/pairs.csv has them all.")


def _say_critical(shown: Pairs) -> str:
    """Return the c of max-T, which all pairs of a family share; nothing where it is not known."""
    known = shown.equal("interval.method", "max-t") & shown.known("minimum_detectable_effect.critical")
    effect = _first(shown, known)
    return "" if effect is None or effect.critical is None else f"; c = {effect.critical:.3g}"


def _first(pairs: Pairs, known: NDArray[np.bool_]) -> MinimumDetectableEffect | None:
    """Return the minimum detectable effect of the first of the pairs of which something is known; None where that is none."""
    return pairs[int(known.argmax())].minimum_detectable_effect if known.any() else None


def _beside(rows: Pairs, shown: Pairs) -> Iterator[str]:
    """Say what p is worth, and what else stands beside it."""
    labels = dict.fromkeys(filter(None, rows.values("p_label").tolist()))
    if labels:
        yield f"p: {'; '.join(labels)}."
    missing = say_missing(rows)
    if missing:
        yield f"No p: {missing}."
    if shown.known("tail").any():
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


def _choose(pairs: Pairs, board: Sequence[BoardRow], alpha: float, most: int) -> Pairs:
    """Return the pairs that a page shows: all of them, those of the family first; of too many those that matter."""
    if len(pairs) > most:
        pairs = pairs.where(choose_pairs(pairs, board, alpha, most))
    member = pairs.holds("in_family")
    return pairs if member.all() else join_pairs([pairs.where(member), pairs.where(~member)])
