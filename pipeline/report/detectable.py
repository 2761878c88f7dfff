"""What the pairs of a family could have shown, and on which single units they hang, as rows and in sentences.

The level of a pair is that of the decision: α where it is tested alone; in a family that of its simultaneous interval, else α
over the number of pairs that are not separated, which is where Holm's last step stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.inference.power import (
    POWER,
    critical_value,
    detectable_gain,
    exact_detectable_gain,
    exact_units_for_gain,
    level_of,
    units_for_gain,
)
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.cube_facts import FULL, read_floats
from pipeline.report.model_rows import ModelPairRow
from pipeline.report.pair_parts import Interval, Leverage, MinimumDetectableEffect
from pipeline.report.rows import FamilyKey, PairRow
from pipeline.report.values import format_number, plain

__all__ = ["add_detectable", "describe_detectable", "describe_detectable_of_models"]

_OPEN = ("not separated", "not decided", "inconclusive")
"""Verdicts beside which the smallest gain that could have been shown is told."""

_SAME = 1e-12  # levels that are 1 − α, but for rounding

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Asked:
    """Of each pair its gain, se, the critical value in standard errors and its level; of all the degrees of freedom, if any."""

    gain: _Floats
    se: _Floats
    critical: _Floats
    level: _Floats
    freedom: float | None


def add_detectable(rows: Sequence[PairRow], cube: xr.Dataset, place: FamilyKey, *, alpha: float) -> list[PairRow]:
    """Return the rows of one family with the minimum detectable effect, acceleration and leverage of each pair."""
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
    asked = _ask(rows, cube, place.procedure, alpha)
    effects = _effects(rows, asked, np.full(len(rows), np.nan) if cube.attrs.get("strata") else win)
    leverages = _leverages(rows, asked, share, unit, sign * without)
    bends = plain(sign * bend)
    return [
        replace(row, acceleration=bends[k], leverage=leverages[k], minimum_detectable_effect=effects[k])
        for k, row in enumerate(rows)
    ]


def _ask(rows: Sequence[PairRow], cube: xr.Dataset, procedure: str, alpha: float) -> _Asked:
    strata = int((cube.attrs.get("strata") or {}).get("count", 1))
    worth = rows[0].effective_units
    freedom = max(worth - strata, 0.0) if worth is not None and PROCEDURES[procedure].few_units else None
    se, gain = (np.array([np.nan if x is None else x for x in of]) for of in ([r.se for r in rows], [r.delta for r in rows]))
    ends = [row.interval if row.interval and _is_of_the_family(row.interval, alpha) else None for row in rows]
    half = np.array([np.nan if end is None else (end.hi - end.lo) / 2 for end in ends])
    still = sum(row.in_family and row.p is not None and not row.identical and not row.separated for row in rows)
    critical = np.divide(half, se, out=np.full(len(rows), np.nan), where=se > 0)
    critical = np.where(np.isfinite(critical), critical, critical_value(alpha / max(still, 1), freedom))
    return _Asked(gain, se, critical, level_of(critical, freedom), freedom)


def _is_of_the_family(interval: Interval, alpha: float) -> bool:
    return interval.method.startswith("simultaneous") and abs(interval.level - (1 - alpha)) < _SAME


def _effects(rows: Sequence[PairRow], asked: _Asked, win: _Floats) -> list[MinimumDetectableEffect | None]:
    units = np.array([row.units for row in rows])
    gains = detectable_gain(asked.se, level=asked.level, freedom=asked.freedom)
    needed = units_for_gain(asked.gain, asked.se, units, level=asked.level, student=asked.freedom is not None)
    discordant = np.array([row.discordant or 0 for row in rows])
    exact = np.isfinite(win) & (discordant > 0)
    if exact.any():
        m, n, level = discordant[exact], units[exact], asked.level[exact]
        gains[exact] = exact_detectable_gain(m, n, level=level) * n * win[exact]
        wins = np.rint((m + asked.gain[exact] / win[exact]) / 2)
        needed[exact] = exact_units_for_gain(wins, m - wins, n, level=level)
    # No p of few discordant units is below that of an exact test, whatever the law of the gain.
    floor = np.where([row.few_discordant for row in rows], 2.0 ** (1 - discordant), 0.0)
    hopeless = floor > asked.level
    known = [row.in_family and not row.identical and row.p is not None for row in rows] & (np.isfinite(gains) | hopeless)
    law: Literal["Gaussian", "Student"] = "Gaussian" if asked.freedom is None else "Student"
    return [
        MinimumDetectableEffect(
            gain=None if hopeless[k] else float(gains[k]),
            power=POWER,
            level=float(asked.level[k]),
            law="binomial" if exact[k] else law,
            units_needed=int(needed[k]) if np.isfinite(needed[k]) else None,
            reason=f"with {row.discordant:,} discordant units no exact p is below {floor[k]:.2g}" if hopeless[k] else None,
        )
        if known[k]
        else None
        for k, row in enumerate(rows)
    ]


def _leverages(rows: Sequence[PairRow], asked: _Asked, share: _Floats, unit: _Floats, without: _Floats) -> list[Leverage | None]:
    """Return the unit that each pair hangs on most, and whether the pair would be judged otherwise without it.

    se² without the unit is n/(n − 2) · (1 − share · n/(n − 1)) times se², exactly of means; the gain over it is held against the
    pair's critical value.
    """
    n = np.array([row.units for row in rows], np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        left = asked.se * np.sqrt(np.maximum(1 - share * n / (n - 1), 0.0) * n / (n - 2))
        beyond = without > asked.critical * left
    judged = [row.verdict in _OPEN or row.separated for row in rows] & (left > 0)
    return [
        Leverage(int(unit[k]), float(share[k]), float(without[k]), bool(beyond[k]) != row.separated if judged[k] else None)
        if np.isfinite(share[k]) and np.isfinite(without[k])
        else None
        for k, row in enumerate(rows)
    ]


def describe_detectable(rows: Sequence[PairRow], digits: int, unit: str) -> str:
    """Return a sentence on what pairs that are not separated could have shown; nothing where that is not known."""
    known = [(row, row.minimum_detectable_effect) for row in rows if row.minimum_detectable_effect and row.verdict in _OPEN]
    gains = [effect.gain for _, effect in known if effect.gain is not None]
    if not known:
        return ""
    power = f"{100 * POWER:.0f} % power"
    if len(known) > 1:
        if not gains:
            return "None of them could have shown a gain: on so few discordant units no exact p is small enough."
        none = f"; {len(known) - len(gains):,} could show none" if len(gains) < len(known) else ""
        told = f"The smallest gains that these pairs show with {power} (minimum detectable effects)"
        return f"{told} are {_spread(gains, digits)}{none}."
    ((row, effect),) = known
    noun = f"{unit}s" if unit in ("item", "document") else f"units of {unit}"
    needed = f"a true gain of {format_number(row.delta, digits)} needs about {effect.units_needed or 0:,} {noun} for {power}"
    if effect.gain is None:
        return f"No gain could have been shown: {effect.reason}{f'; {needed}' if effect.units_needed else ''}."
    least = f"The smallest gain shown here with {power} (minimum detectable effect) is {format_number(effect.gain, digits)}"
    return f"{least}{f'; {needed}'.removesuffix(f' for {power}') if effect.units_needed else ''}."


def describe_detectable_of_models(pairs: Sequence[ModelPairRow], digits: int, *, alpha: float) -> str:
    """Return a sentence on what pairs of models that are not separated could have shown, with as many runs and units as these."""
    known = [row for row in pairs if row.verdict == "not separated" and row.se]
    if not known:
        return ""
    freedom = np.array([np.inf if row.df is None else row.df for row in known])
    se = np.array([row.se for row in known], np.float64)
    gains = detectable_gain(se, level=alpha / len(known), freedom=freedom).tolist()
    what = "gain" if len(known) == 1 else "gains"
    verb, effects = ("is", "effect") if len(known) == 1 else ("are", "effects")
    told = f"The smallest {what} shown with {100 * POWER:.0f} % power by as many runs and units (minimum detectable {effects})"
    return f"{told} {verb} {_spread(gains, digits)}."


def _spread(gains: Sequence[float], digits: int) -> str:
    least, most = (format_number(end, digits) for end in (min(gains), max(gains)))
    return f"{least} to {most} (median {format_number(median(gains), digits)})" if least != most else least
