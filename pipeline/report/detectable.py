"""What the pairs of a family could have shown, and on which single units they hang, as rows and in sentences.

All of it is about the test that decides. Where max-T does, a gain is found beyond ``critical`` standard errors, the 1 − α quantile
of the largest |t*| of the family; max-T steps down, and so finds at least what this single step does. Where Holm does, a pair has
level α over the number of pairs that are not separated, which is where its last step stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.binomial_power import exact_detectable_gain, exact_units_for_gain
from pipeline.inference.few_units import FEW_DISCORDANT
from pipeline.inference.power import POWER, critical_value, detectable_gain, level_of, units_for_gain
from pipeline.inference.studentised_max_t import critical_value as max_t_critical
from pipeline.inference.undecided import FEWEST_EFFECTIVE, FEWEST_UNITS, units_to_decide
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.cube_facts import FULL, read_floats, read_variable
from pipeline.report.pair_parts import Leverage, MinimumDetectableEffect
from pipeline.report.rows import FamilyKey, PairRow
from pipeline.report.values import format_number, plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["OPEN", "SHOWN", "add_detectable", "describe_detectable", "name_discordant", "spread_of", "why_no_gain"]

OPEN = ("not separated", "not decided", "inconclusive")
"""Verdicts beside which the smallest gain that could have been shown is told."""

SHOWN = f"{100 * POWER:.0f} % power"

_NO_VERDICT = {
    "few units": f"graded scores get no verdict from fewer than {FEWEST_UNITS} units, or from units worth fewer than "
    f"{FEWEST_EFFECTIVE:g} of equal size",
    "rare losses": "a gain that comes with large losses on a few units gets no verdict, however large it is",
    "failures of others": "where other systems fail on single units, so few units give no verdict, however large the gain is",
}
_NO_BOUND = "max-T separates nothing at this level: too few replicates are kept, or too many are without scores or their spread"
_FEW_DISCORDANT = "so few discordant units can show none"
_FEW_AT_FIRST = "so few discordant units can show none before other pairs are separated"
_FIRST_STEP = "are not beyond the critical value"

_ENDLESS = 1e200  # standard errors of replicates that have no spread

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Test:
    """The test that decides a family: of each pair gain and standard error, of all the critical value and what it is worth.

    ``level`` is two-sided, by the law with ``freedom`` degrees, if any; ``mcnemar`` what an exact p of scores of two values is held
    against. ``by_t`` tells whether t decides about these too, or McNemar's exact test alone does; ``bounded`` whether any gain is
    large enough for max-T.
    """

    gain: _Floats
    se: _Floats
    critical: float
    level: float
    mcnemar: float
    freedom: float | None
    by_t: bool
    bounded: bool = True


def add_detectable(rows: Sequence[PairRow], cube: xr.Dataset, place: FamilyKey, *, alpha: float) -> list[PairRow]:
    """Return the rows of one family with the minimum detectable effect, acceleration and leverage of each pair.

    Parameters
    ----------
    rows : sequence of PairRow
    cube : Dataset
    place : FamilyKey
    alpha : float
        Level of the family.
    """
    if not rows:
        return []
    names = [(str(a), str(b)) for a, b in zip(cube["system_a"].values, cube["system_b"].values, strict=True)]
    position = {frozenset(pair): k for k, pair in enumerate(names)}
    order = [position[frozenset((row.system_a, row.system_b))] for row in rows]
    sign = np.array([1.0 if names[k][0] == row.system_a else -1.0 for k, row in zip(order, rows, strict=True)])
    where = {"metric": place.metric, "test_size": FULL}
    share, unit, without, win, bend = (
        read_floats(cube, name, **where)[order]
        for name in ("largest_share", "largest_unit", "delta_without", "gain_of_a_win", "acceleration")
    )
    strata = int((cube.attrs.get("strata") or {}).get("count", 1))
    critical = _critical(rows, cube, place, alpha)
    own = read_floats(cube, "max_t_se", procedure=place.procedure, **where)[order]
    test = _test_of(rows, place.procedure, strata, alpha, critical, own)
    bends = plain(sign * bend)
    effects = _effects(rows, test, np.full(len(rows), np.nan) if cube.attrs.get("strata") else win, bends)
    there = np.isfinite(share) & np.isfinite(without)
    return [
        replace(
            row,
            acceleration=bends[k],
            leverage=Leverage(int(unit[k]), float(share[k]), float(sign[k] * without[k])) if there[k] else None,
            minimum_detectable_effect=effects[k],
        )
        for k, row in enumerate(rows)
    ]


def _critical(rows: Sequence[PairRow], cube: xr.Dataset, place: FamilyKey, alpha: float) -> float | None:
    """Return how many standard errors max-T asks of a gain at a level; None where Holm decides, infinite where none is enough."""
    where = {"metric": place.metric, "test_size": FULL, "procedure": place.procedure}
    largest = read_variable(cube, "max_t_largest", **where) if rows[0].adjustment.by == "max_t" else None
    if largest is None:
        return None
    found = max_t_critical(np.asarray(largest, np.float64), alpha)
    return found if found < _ENDLESS else math.inf


def _test_of(
    rows: Sequence[PairRow], procedure: str, strata: int, alpha: float, critical: float | None, max_t_se: _Floats
) -> _Test:
    worth = rows[0].effective_units
    freedom = max(worth - strata, 0.0) if worth is not None and PROCEDURES[procedure].few_units else None
    gain, own = (_floats(of) for of in ([row.delta for row in rows], [row.se for row in rows]))
    if critical is not None and math.isfinite(critical):
        return _Test(gain, max_t_se, critical, float(level_of(np.array(critical), freedom)), alpha, freedom, by_t=True)
    still = sum(_is_tested(row) and not row.separated and row.verdict != "not decided" for row in rows)
    level = alpha / max(still, 1)
    asked = float(critical_value(level, freedom))
    return _Test(gain, own, asked, level, level, freedom, by_t=False, bounded=critical is None)


def _floats(values: Iterable[float | None]) -> _Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _is_tested(row: PairRow) -> bool:
    return row.in_family and row.p is not None and not row.identical


def _effects(
    rows: Sequence[PairRow], test: _Test, win: _Floats, acceleration: Sequence[float | None]
) -> list[MinimumDetectableEffect | None]:
    units, discordant = (np.array(of) for of in ([row.units for row in rows], [row.discordant or 0 for row in rows]))
    exact = np.isfinite(win) & (discordant > 0)
    critical = test.critical if test.by_t else None
    gains = detectable_gain(test.se, level=test.level, freedom=test.freedom)
    needed = units_for_gain(test.gain, test.se, units, level=test.level, student=test.freedom is not None)
    if exact.any():
        m, n = discordant[exact], units[exact]
        gains[exact] = exact_detectable_gain(m, n, level=test.mcnemar, critical=critical) * n * win[exact]
        wins = np.rint((m + test.gain[exact] / win[exact]) / 2)
        needed[exact] = exact_units_for_gain(wins, m - wins, n, level=test.mcnemar, critical=critical)
    # No p of few discordant units is below that of an exact test, whatever the law of the gain.
    floor = np.where([row.few_discordant for row in rows], 2.0 ** (1 - discordant), 0.0)
    barred = np.where(exact, np.isnan(gains), floor > test.level)
    enough = np.ceil(1 - np.log2(test.level)) / np.maximum(discordant, 1)  # discordant units with 2^(1 − m) at the level
    needed = np.where(barred & ~exact, np.fmax(needed, np.ceil(units * enough)), needed)
    level = np.where(exact, _level_of_wins(test, units, discordant), test.level)
    law: Literal["Gaussian", "Student"] = "Gaussian" if test.freedom is None else "Student"
    found: list[MinimumDetectableEffect | None] = []
    for k, row in enumerate(rows):
        by_floor = bool(floor[k] > (test.mcnemar if exact[k] else test.level))
        reason = _why_none(row, barred=bool(barred[k]), by_floor=by_floor, steps=test.by_t and len(rows) > 1)
        reason = reason if test.bounded or row.undecided else _NO_BOUND
        if not _is_tested(row) or (reason is None and not np.isfinite(gains[k])):
            found.append(None)
            continue
        found.append(
            MinimumDetectableEffect(
                gain=None if reason else float(gains[k]),
                power=POWER,
                level=plain(level[k]),
                critical=plain(critical if exact[k] else test.critical) if test.bounded else None,
                law="binomial" if exact[k] else law,
                units_needed=_at_least(needed[k], row, exact=bool(exact[k]), acceleration=acceleration[k]),
                reason=reason,
            )
        )
    return found


def _level_of_wins(test: _Test, units: NDArray[np.int64], discordant: NDArray[np.int64]) -> _Floats:
    """Return the two-sided level of a binomial test of each pair: of many wins by their Gaussian t, of few by their exact p."""
    if not test.by_t:
        return np.full(len(units), test.mcnemar)
    critical = np.full(len(units), test.critical)
    return np.where(discordant < FEW_DISCORDANT, level_of(critical, np.asarray(units - 1, np.float64)), level_of(critical))


def _why_none(row: PairRow, *, barred: bool, by_floor: bool, steps: bool) -> str | None:
    """Say why no gain could have been shown on these units, at the first step down if there are ``steps``; None where one could."""
    m = row.discordant or 0
    if row.undecided is not None:
        return _NO_VERDICT[row.undecided]
    if by_floor:
        return f"with {name_discordant(m)} no exact p is below {2.0 ** (1 - m):.2g}"
    if not barred:
        return None
    wins = f"{m:,} win{'' if m == 1 else 's'} on {name_discordant(m)}"
    return (
        f"{wins} {_FIRST_STEP} of all pairs together, which falls once others are separated" if steps else f"{wins} {_FIRST_STEP}"
    )


def _at_least(needed: float, row: PairRow, *, exact: bool, acceleration: float | None) -> int | None:
    """Return how many units a gain needs that has a verdict: no fewer than those below which there is none."""
    if not np.isfinite(needed):
        return None
    reasons = set() if row.undecided is None else {row.undecided}
    if not exact and PROCEDURES[row.procedure].needs_units:
        reasons.add("few units")
    least = (
        units_to_decide(reason, units=row.units, effective=row.effective_units, acceleration=acceleration) for reason in reasons
    )
    return max(math.ceil(needed), *least, 0)


def describe_detectable(rows: Sequence[PairRow], digits: int, unit: str) -> str:
    """Return a sentence on what pairs that are not separated could have shown; nothing where that is not known."""
    known = [(row, row.minimum_detectable_effect) for row in rows if row.minimum_detectable_effect and row.verdict in OPEN]
    noun = f"{unit}s" if unit in ("item", "document") else f"units of {unit}"
    if not known:
        return ""
    if len(known) > 1:
        return _describe_many(known, digits, noun)
    ((row, effect),) = known
    whose = f" of {row.system_a} over {row.system_b}" if len(rows) > 1 else ""
    needed = f"; a true gain of {format_number(row.delta, digits)}{whose} needs about {effect.units_needed or 0:,} {noun}"
    needed = needed if effect.units_needed else ""
    if effect.gain is None:
        return f"No gain could have been shown: {effect.reason}{needed and f'{needed} for {SHOWN}'}."
    return f"The smallest gain shown here with {SHOWN} (minimum detectable effect) is {format_number(effect.gain, digits)}{needed}."


def _describe_many(known: Sequence[tuple[PairRow, MinimumDetectableEffect]], digits: int, noun: str) -> str:
    gains = [effect.gain for _, effect in known if effect.gain is not None]
    none = [(row, effect) for row, effect in known if effect.gain is None]
    why = "; ".join(dict.fromkeys(_why_at_first(row, effect) for row, effect in none))
    needed = [effect.units_needed for _, effect in none if effect.units_needed]
    if needed:
        least, most = f"{min(needed):,}", f"{max(needed):,}"
        spread = least if least == most else f"{least} to {most} (median {math.ceil(median(needed)):,})"
        why += f"; their gains, if true, need about {spread} {noun} for {SHOWN}"
    if not gains:
        return f"None of these pairs could have shown a gain: {why}."
    told = f"The smallest gains that these pairs show with {SHOWN} (minimum detectable effects)"
    return f"{told} are {spread_of(gains, digits)}{f'; {len(none):,} could have shown none: {why}' if none else ''}."


def _why_at_first(row: PairRow, effect: MinimumDetectableEffect) -> str:
    steps = row.undecided is None and effect.critical is not None and _FIRST_STEP in (effect.reason or "")
    return _FEW_AT_FIRST if steps else why_no_gain([row.undecided])


def name_discordant(m: int) -> str:
    """Return a number of discordant units with their name.

    Examples
    --------
    >>> name_discordant(1), name_discordant(1200)
    ('1 discordant unit', '1,200 discordant units')
    """
    return f"{m:,} discordant unit{'' if m == 1 else 's'}"


def why_no_gain(undecided: Iterable[str | None]) -> str:
    """Say why pairs can show no gain: each reason once, of those that are not decided, and of others that too few units differ."""
    return "; ".join(dict.fromkeys(_NO_VERDICT.get(reason or "", _FEW_DISCORDANT) for reason in undecided))


def spread_of(gains: Sequence[float], digits: int) -> str:
    """Return the smallest, largest and median of several gains, or the one that all of them are."""
    least, most = (format_number(end, digits) for end in (min(gains), max(gains)))
    return f"{least} to {most} (median {format_number(median(gains), digits)})" if least != most else least
