"""The notes of pairs, in words beside their numbers, and which pairs have the same note.

A note is written from a row. Of many pairs rows would take longer than all else that is written of them, so that they are made of
those alone that have another note than any before (`tell_apart`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.interfaces import Procedure
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.pairs.cube_facts import NO_SPREAD
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.rows import PairRow
from pipeline.report.values import format_p

if TYPE_CHECKING:
    from pipeline.report.pairs.pair_set import PairSet

__all__ = [
    "NOTICEABLE",
    "are_biased",
    "are_clustered",
    "beside_exact",
    "exact_test",
    "is_clustered",
    "may_remark",
    "name_exact",
    "tell_apart",
    "write_note",
]

NOTICEABLE = 1.1
"""Design effect above which items are not drawn without a remark: a test at .05 then rejects 6.2 % of true nulls."""


@cache
def _reading(procedure: str) -> Procedure:
    """Return a procedure; asked of every pair, a catalogue would take longer than all else."""
    return PROCEDURES[procedure]


def exact_test(metric: str) -> str:
    """Name the test that does not depend on many units; McNemar's is for scores that are 0 or 1."""
    return "an exact sign or McNemar test" if metric == "accuracy" else "an exact test of swaps"


def name_exact(metric: str) -> str:
    """Name the exact test whose p is the floor of pairs with few discordant units."""
    return "McNemar's exact test" if metric == "accuracy" else "the exact test of all swaps"


def are_biased(pairs: Pairs) -> NDArray[np.bool_]:
    """Tell of each pair whether the bias of the bootstrap is above a quarter of the standard error."""
    se = pairs.floats("se")
    with np.errstate(invalid="ignore"):
        return np.asarray((se > 0) & (np.abs(pairs.floats("bias")) > 0.25 * se))


def is_clustered(row: PairRow) -> bool:
    """Tell whether items are drawn though they are known to stand together, and the gain varies more for it."""
    return row.units == row.items and row.design_effect is not None and row.design_effect > NOTICEABLE


def are_clustered(pairs: Pairs) -> NDArray[np.bool_]:
    """Tell of each pair whether items are drawn though they stand together, and the gain varies more for it."""
    with np.errstate(invalid="ignore"):
        return np.asarray((pairs.floats("units") == pairs.floats("items")) & (pairs.floats("design_effect") > NOTICEABLE))


def _say_exact(row: PairRow) -> str:
    """Say which p of an exact test a pair with few discordant units is not judged below."""
    if row.p_exact is None:
        return f"p_adjusted is at least {format_p(row.p_floor)}, the smallest p of {exact_test(row.metric)}"
    return f"p_adjusted is at least that of {name_exact(row.metric)}, {format_p(row.p_exact, log10=row.log10_p_exact)}"


def beside_exact(row: PairRow) -> str:
    """Say what the exact sign-flip test of a pair without spread finds; nothing where it has no p."""
    if row.p_exact is None:
        return ""
    return f"; the exact sign-flip test has p = {format_p(row.p_exact, log10=row.log10_p_exact)}"


def write_note(row: PairRow, against: bool, held_back: bool, *, family: FamilyOf, uncounted: str | None) -> str:
    """Return the note on what the numbers of a pair leave in doubt, empty where they leave nothing."""
    return "; ".join(_remarks(row, against, held_back, family, uncounted))


def _remarks(row: PairRow, against: bool, held_back: bool, family: FamilyOf, uncounted: str | None) -> Iterator[str]:
    """Say what the numbers of a pair leave in doubt."""
    if not row.in_family:
        yield f"not with {family.baseline}, so not in the family: no adjusted p, verdict or interval beside it"
    if against:
        yield f"{row.procedure} rejects in favour of {row.system_b}, though {row.system_a} scores better"
    if uncounted:
        yield uncounted
    yield from _notes(row, held_back)


def may_remark(pairs: Pairs, *, gives_interval: bool, uncounted: str | None) -> NDArray[np.bool_]:
    """Tell which pairs may have a remark, of those whose test does not reject in favour of the system that is behind.

    It is asked of all pairs, so that rows are made of those alone that may have a note.
    """
    if uncounted is not None or not pairs.known("effective_units").all():
        return np.ones(len(pairs), np.bool_)
    silent = pairs.holds("in_family") & pairs.known("p") & pairs.known("se") & pairs.known("monte_carlo_error")
    silent &= pairs.floats("delta") > 0
    if gives_interval:
        silent &= pairs.known("interval")
    doubtful = [pairs.holds(name) for name in ("identical", "few_discordant", "differs_within_margin")]
    doubtful += [pairs.equal("verdict", word) for word in ("not decided", "inconclusive")]
    doubtful += [pairs.equal("stable", False), pairs.known("p_reason"), pairs.floats("empty_replicates") > 0]
    doubtful += [are_biased(pairs), are_clustered(pairs)]
    return np.asarray(~silent | np.any(doubtful, axis=0))


def tell_apart(pairs: PairSet, against: NDArray[np.bool_], held_back: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Give pairs numbers by what their notes are written from: those with one number have one note.

    What `write_note` reads of a row has to be here: as it is or, where only a part of it is told, as that part.
    """
    clustered = are_clustered(pairs)
    exact = pairs.holds("few_discordant") | pairs.equal("p_reason", NO_SPREAD)  # whose notes have numbers of their own
    parts: list[NDArray[np.generic]] = [held_back, are_biased(pairs)]
    parts += [pairs.codes(path) for path in _TOLD]
    parts += [pairs.known(path) for path in ("p", "se", "monte_carlo_error", "effective_units", "interval", "margin")]
    parts += [pairs.floats(path) == value for path, value in (("delta", 0), ("se", 0), ("p", 1))]
    parts += [np.where(clustered, pairs.floats("design_effect"), 0)]
    parts += [np.where(exact, pairs.floats(path), 0) for path in ("discordant", "p_exact", "log10_p_exact", "p_floor")]
    parts += [np.where(against, pairs.codes(side), -1) for side in ("system_a", "system_b")]
    number = np.zeros(len(pairs), np.int64)
    for part in parts:
        if len(part) and (part != part[0]).any():
            _, own = np.unique(part, return_inverse=True)
            _, number = np.unique(number * (own.max() + 1) + own, return_inverse=True)
    return number


_TOLD = (
    *("in_family", "p_reason", "identical", "empty_replicates", "replicates", "stable", "adjustment.by", "differs_within_margin"),
    *("few_discordant", "verdict", "undecided"),
)


def _notes(row: PairRow, held_back: bool) -> Iterator[str]:
    if row.p is None:
        drawn = "nothing was written for this pair, or its score is undefined in every replicate"
        computed = f"{row.procedure} is not defined for this score, or the score is undefined"
        yield f"there is no p-value: {row.p_reason or (drawn if _reading(row.procedure).draws else computed)}"
        return
    if row.identical:
        yield "identical: every unit statistic is equal, p = 1 by definition, no count, bias or interval"
    elif row.delta == 0:
        own = "= 1 by definition" if row.p == 1 else "is the test's own and not about the score"
        yield f"no order: the scores are equal, two-sided p {own}, no one-sided p, count or bias"
    yield from _doubts(row, held_back)
    if row.empty_replicates:
        replicates = row.replicates or 0
        all_of_them = replicates + row.empty_replicates
        yield f"p is conditional on the {replicates:,} defined replicates of {all_of_them:,}"
    if row.monte_carlo_error is None:
        yield "monte_carlo_error: not in the cube"
    if row.stable is False:
        counted = row.replicates is not None or row.adjustment.by == "max_t"
        yield (
            "another random seed could change the verdict at α"
            if counted
            else "p is known within bounds that lie on both sides of α"
        )
    if row.effective_units is None:
        yield "effective_units: the sizes of the clusters are not in the cube"
    if row.bias is not None and row.se is not None and abs(row.bias) > 0.25 * row.se > 0:
        yield "bias above a quarter of the standard error"
    if row.differs_within_margin:
        yield "differs, within the margin"
    if row.verdict == "not decided":
        claim = "no difference is" if row.margin is None else "neither a difference nor equivalence is"
        yield f"not decided ({row.undecided}): {claim} claimed, however small p is"
    if row.verdict == "inconclusive":
        yield "not separated at this n, and not shown to be equivalent"


def _doubts(row: PairRow, held_back: bool) -> Iterator[str]:
    """Say what keeps a difference of one pair from being believed."""
    if row.identical:
        return
    if row.p_reason == NO_SPREAD:
        yield f"no spread: {NO_SPREAD}, and resampling cannot test it{beside_exact(row)}"
    if row.se is None:
        yield "se: undefined, as the score without one of the units is 0/0; no verdict of a difference"
    elif row.interval is None and row.in_family and _reading(row.procedure).gives_interval:
        if held_back:
            yield "interval: none is shown, as none would hold its level where no test does"
        else:
            yield f"interval: {'the standard error is 0' if row.se == 0 else 'an end of it would be infinite'}"
    if is_clustered(row):
        yield f"design effect {row.design_effect:.2f}: items are drawn though they stand together, and p is too small"
    if row.few_discordant:
        m = row.discordant
        yield f"few discordant units (m = {m} < {FEW_DISCORDANT}): {_say_exact(row)}"
