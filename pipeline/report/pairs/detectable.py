"""The minimum detectable effects of a family's pairs, and the single units on which they depend.

All of it is about the test that decides. Where max-T does, a gain is found beyond ``critical`` standard errors, the 1 − α quantile
of the largest |t*| of the family; max-T steps down, and so finds at least what this single step does. Where Holm does, a pair has
level α over the number of pairs that are not separated, which is where its last step stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.standard_errors import prefer_replicates
from pipeline.dataclass import dataclass
from pipeline.inference.multiple_comparisons.studentised_max_t import critical_maximum
from pipeline.inference.sample_size.binomial_power import exact_detectable_gain, exact_units_for_gain, units_with_discordant
from pipeline.inference.sample_size.power import POWER, critical_value, detectable_gain, level_of, units_for_gain
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.inference.unit_diagnostics.undecided import units_to_decide
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.pairs.columns import Column, coded, counts, numbers, unless
from pipeline.report.pairs.cube_facts import pair_positions, read_floats, read_variable
from pipeline.report.pairs.detectable_text import FIRST_STEP, NO_VERDICT, name_discordant
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.rows import FamilyKey

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["add_detectable"]

_NO_BOUND = "max-T separates nothing at this level: too few replicates are kept, or too many are without scores or their spread"
_ENDLESS = 1e200  # standard errors of replicates that have no spread

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Test:
    """The test that decides a family: of each pair the gain, what divides it and how far it varies, of all the critical value.

    ``level`` is two-sided, by the law with ``freedom`` degrees, if any; ``mcnemar`` what an exact p of scores of two values is held
    against. ``by_t`` tells whether t decides about these too, or McNemar's exact test alone does; ``bounded`` whether any gain is
    large enough for max-T.
    """

    gain: _Floats
    divisor: _Floats
    se: _Floats
    critical: float
    level: float
    mcnemar: float
    freedom: float | None
    by_t: bool
    bounded: bool = True


def add_detectable(pairs: PairSet, cube: xr.Dataset, place: FamilyKey, *, alpha: float) -> PairSet:
    """Return the pairs of one family with the minimum detectable effect, acceleration and leverage of each.

    Parameters
    ----------
    pairs : PairSet
    cube : Dataset
    place : FamilyKey
    alpha : float
        Level of the family.
    """
    if not len(pairs):
        return pairs
    columns, where = pairs.columns, {"metric": place.metric, "test_size": FULL}
    sign = np.where(columns["system_a"].values == pair_positions(cube)[0], 1.0, -1.0)
    names = ("largest_share", "largest_unit", "delta_without", "gain_of_a_win", "acceleration")
    share, unit, without, win, bend = (read_floats(cube, name, **where) for name in names)
    test = _test_of(pairs, cube, place, alpha)
    win = np.full(len(win), np.nan) if cube.attrs.get("strata") else win
    there = np.isfinite(share) & np.isfinite(without)
    number = partial(numbers, pairs=len(win))
    return pairs.with_columns(
        {
            "acceleration": number(sign * bend),
            "leverage.unit": counts(np.where(there, unit, -1), len(win)),
            "leverage.share": number(np.where(there, share, np.nan)),
            "leverage.delta_without": number(np.where(there, sign * without, np.nan)),
            **_effects(_Known.of(columns), test, win, sign * bend, place.procedure),
        }
    )


def _critical(pairs: PairSet, cube: xr.Dataset, place: FamilyKey, alpha: float) -> float | None:
    """Return how many standard errors max-T asks of a gain at a level; None where Holm decides, infinite where none is enough."""
    where = {"metric": place.metric, "test_size": FULL, "procedure": place.procedure}
    by_max_t = pairs.columns["adjustment.by"].words == ("max_t",)
    largest = read_variable(cube, "max_t_largest", **where) if by_max_t else None
    found = None if largest is None else critical_maximum(np.asarray(largest, np.float64), alpha)
    return found if found is None or found < _ENDLESS else math.inf


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of all pairs of a family, in the order of the cube."""

    units: int
    effective_units: float | None
    discordant: NDArray[np.int64]
    few_discordant: NDArray[np.bool_]
    tested: NDArray[np.bool_]
    undecided: Column

    @classmethod
    def of(cls, columns: Mapping[str, Column]) -> _Known:
        everything = slice(None)
        (units,), (effective,) = (columns[name].words or (None,) for name in ("units", "effective_units"))
        return cls(
            units=units,
            effective_units=effective,
            discordant=np.maximum(columns["discordant"].values, 0),
            few_discordant=columns["few_discordant"].equal(everything, True),
            tested=_are_tested(columns),
            undecided=columns["undecided"],
        )


def _are_tested(columns: Mapping[str, Column]) -> NDArray[np.bool_]:
    everything = slice(None)
    member, same = (columns[name].equal(everything, True) for name in ("in_family", "identical"))
    return member & ~same & columns["p"].known(everything)


def _test_of(pairs: PairSet, cube: xr.Dataset, place: FamilyKey, alpha: float) -> _Test:
    columns, everything, procedure = pairs.columns, slice(None), PROCEDURES[place.procedure]
    strata, critical = int((cube.attrs.get("strata") or {}).get("count", 1)), _critical(pairs, cube, place, alpha)
    units, worth = ((columns[name].words or (None,))[0] for name in ("units", "effective_units"))
    # Those of the correction for few units; of a procedure that has none those of a t-test, which swaps come near to.
    worth, lost = (worth, strata) if procedure.few_units else (units, 1)
    freedom = None if worth is None else max(worth - lost, 0.0)
    gain, where = columns["delta"].floats(everything), {"metric": place.metric, "test_size": FULL}
    if critical is not None and math.isfinite(critical):
        own = read_floats(cube, "max_t_se", procedure=place.procedure, **where)
        se, level = prefer_replicates(cube, own, **where), float(level_of(np.array(critical), freedom))
        return _Test(gain, own, se, critical, level, alpha, freedom, by_t=True)
    own, se = read_floats(cube, "se", **where), columns["se"].floats(everything)
    own = np.maximum(own, se) if procedure.centred_at_gain else own  # both are asked: the replicates, and the t of few units
    # Copies are among those that Holm counts, and last of them.
    counted = columns["in_family"].equal(everything, True) & columns["p"].known(everything)
    open_ = ~columns["separated"].equal(everything, True) & ~columns["verdict"].equal(everything, "not decided")
    still = int((counted & open_).sum())
    level = alpha / max(still, 1)
    asked = float(critical_value(level, freedom))
    return _Test(gain, own, se, asked, level, level, freedom, by_t=False, bounded=critical is None)


def _effects(known: _Known, test: _Test, win: _Floats, acceleration: _Floats, procedure: str) -> dict[str, Column]:
    """Return the columns of the minimum detectable effect; none where a pair is not tested."""
    pairs, discordant = len(win), known.discordant
    units = np.full(pairs, known.units)
    exact = np.isfinite(win) & (discordant > 0)
    critical = test.critical if test.by_t else None
    student, divisor = test.freedom is not None, test.divisor
    gains = detectable_gain(test.se, level=test.level, freedom=test.freedom, divisor=divisor)
    needed = units_for_gain(test.gain, test.se, units, level=test.level, student=student, divisor=divisor)
    if exact.any():
        m, n = discordant[exact], units[exact]
        gains[exact] = exact_detectable_gain(m, n, level=test.mcnemar, critical=critical) * n * win[exact]
        wins = np.rint((m + test.gain[exact] / win[exact]) / 2)
        needed[exact] = exact_units_for_gain(wins, m - wins, n, level=test.mcnemar, critical=critical)
    # No p of few discordant units is below that of an exact test, whatever the law of the gain.
    floor = np.where(known.few_discordant, 2.0 ** (1 - discordant), 0.0)
    barred = np.where(exact, np.isnan(gains), floor > test.level)
    bare = barred & ~exact & (discordant > 0)
    enough = np.full(int(bare.sum()), np.ceil(1 - np.log2(test.level)))  # discordant units with 2^(1 − m) at the level
    needed[bare] = np.fmax(needed[bare], units_with_discordant(enough, discordant[bare] / units[bare]))
    level = np.where(exact, _level_of_wins(test, units, discordant), test.level)
    reason = _why_none(known, barred=barred, by_floor=floor > np.where(exact, test.mcnemar, test.level), test=test)
    there = known.tested & (exact | PROCEDURES[procedure].of_gain) & (reason.known(slice(None)) | np.isfinite(gains))
    law = "Gaussian" if test.freedom is None else "Student"
    least = _fewest_units(known, exact=exact, acceleration=acceleration, procedure=procedure)
    asked = np.where(there & np.isfinite(needed), np.maximum(np.ceil(needed), least), np.nan)
    by_law = np.where(exact, np.nan if critical is None else critical, test.critical)
    number = partial(numbers, pairs=pairs)
    columns = {
        "gain": number(np.where(there & ~reason.known(slice(None)), gains, np.nan)),
        "power": coded(np.where(there, 0, -1).astype(np.int8), (POWER,)),
        "level": number(np.where(there, level, np.nan)),
        "critical": number(np.where(there & test.bounded, by_law, np.nan)),
        "law": coded(np.where(there, exact, -1).astype(np.int8), (law, "binomial")),
        "units_needed": number(asked, whole=True),
        "reason": unless(~there, reason),
    }
    return {f"minimum_detectable_effect.{name}": column for name, column in columns.items()}


def _level_of_wins(test: _Test, units: NDArray[np.int64], discordant: NDArray[np.int64]) -> _Floats:
    """Return the two-sided level of a binomial test of each pair: of many wins by their Gaussian t, of few by their exact p."""
    if not test.by_t:
        return np.full(len(units), test.mcnemar)
    critical = np.full(len(units), test.critical)
    return np.where(discordant < FEW_DISCORDANT, level_of(critical, np.asarray(units - 1, np.float64)), level_of(critical))


def _why_none(known: _Known, *, barred: NDArray[np.bool_], by_floor: NDArray[np.bool_], test: _Test) -> Column:
    """Say why no gain could have been shown on these units, where there are steps down at the first; nothing where one could."""
    m, undecided = known.discordant, known.undecided.known(slice(None))
    said = Column(known.undecided.values, tuple(NO_VERDICT.get(word) for word in known.undecided.words or ()))
    if not test.bounded:
        return unless(~undecided, said, _NO_BOUND)
    steps = " of all pairs together, which falls once others are separated" if test.by_t and len(m) > 1 else ""
    floored, barred = by_floor & ~undecided, barred & ~by_floor & ~undecided
    for few in np.unique(m[floored]).tolist():
        words = f"with {name_discordant(few)} no exact p is below {2.0 ** (1 - few):.2g}"
        said = unless(floored & (m == few), said, words)
    for few in np.unique(m[barred]).tolist():
        words = f"{few:,} win{'' if few == 1 else 's'} on {name_discordant(few)} {FIRST_STEP}{steps}"
        said = unless(barred & (m == few), said, words)
    return said


def _fewest_units(known: _Known, *, exact: NDArray[np.bool_], acceleration: _Floats, procedure: str) -> _Floats:
    """Return below how many units there is no verdict, whatever the gain is."""
    least = np.zeros(len(exact))
    graded = ~exact & PROCEDURES[procedure].needs_units
    of_few = units_to_decide("few units", units=known.units, effective=known.effective_units, acceleration=None)
    for word in filter(None, known.undecided.words or ()):
        here = np.flatnonzero(known.undecided.equal(slice(None), word))
        bends = [0.0 if math.isnan(bend) else bend for bend in acceleration[here].tolist()]
        least[here] = [
            units_to_decide(word, units=known.units, effective=known.effective_units, acceleration=bend) for bend in bends
        ]
    return np.where(graded, np.maximum(least, of_few), least)
