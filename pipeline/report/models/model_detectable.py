"""What pairs of models could have shown with as many runs and units as there are, and how many more of either a gain needs.

A pair of models is decided by Holm over Student's t of its quasi-F, or of means over runs. The level is α over the number of pairs
that are not separated, where Holm's last step stands. More runs or units are reckoned with the variance components, which give the
standard error as well as its degrees of freedom (`pipeline.analyses.replicas.variance.Variances.law`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.models import ModelGains
from pipeline.inference.sample_size.power import POWER, critical_value, detectable_gain, power_of_gain
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.inference.unit_diagnostics.undecided import FEWEST_UNITS
from pipeline.report.models.model_rows import ModelDetectableEffect, ModelPairRow
from pipeline.report.models.models import JudgedModels
from pipeline.report.pairs.detectable_text import OPEN, SHOWN, name_discordant, say_smallest, why_no_gain
from pipeline.report.values import format_gain

__all__ = ["add_model_effects", "describe_model_effects"]

_MOST = 2**20  # more runs or units than anyone would plan

_Floats = NDArray[np.float64]


def add_model_effects(
    judged: Sequence[JudgedModels], given: Sequence[ModelGains], *, alpha: float, across: bool
) -> list[JudgedModels]:
    """Return the judged models with the minimum detectable effect of each pair.

    Parameters
    ----------
    judged : sequence of JudgedModels
        From `pipeline.report.models.models.judge_all`.
    given : sequence of ModelGains
        What they were judged from.
    alpha : float
    across : bool
        Whether Holm is over the pairs of all test sets and metrics together.
    """
    # Where Holm stands: identical models are steps that are never taken.
    shown = [sum(row.verdict == "better" for row in of.pairs) for of in judged]
    shown = [sum(shown)] * len(shown) if across else shown
    counts = [max((row.family_size for row in of.pairs), default=0) - own for of, own in zip(judged, shown, strict=True)]
    return [
        of._replace(pairs=_add(of.pairs, gains, alpha / max(count, 1)))
        for of, gains, count in zip(judged, given, counts, strict=True)
    ]


def _add(rows: Sequence[ModelPairRow], given: ModelGains, level: float) -> list[ModelPairRow]:
    place = {frozenset(given.models[k] for k in pair): k for k, pair in enumerate(given.pairs.tolist())}
    order = np.array([place[frozenset((row.model_a, row.model_b))] for row in rows], np.int64)
    se, degrees, delta = given.se[order], given.degrees[order], np.abs(given.delta[order])
    gains = detectable_gain(se, level=level, freedom=degrees)
    open_ = np.array([row.verdict in OPEN for row in rows], np.bool_) & (delta > 0)
    runs, units = (_fewest_more(given, which, order, delta, level, open_) for which in ("more_runs", "more_units"))
    return [
        replace(row, minimum_detectable_effect=_effect(row, float(gains[k]), level, float(degrees[k]), runs[k], units[k]))
        if np.isfinite(gains[k])
        else row
        for k, row in enumerate(rows)
    ]


def _effect(
    row: ModelPairRow, gain: float, level: float, degrees: float, more_runs: int | None, more_units: int | None
) -> ModelDetectableEffect:
    critical, m, reason = float(critical_value(level, degrees)), row.discordant, None
    if 0 < m < FEW_DISCORDANT and 2.0 ** (1 - m) > level:
        reason = f"with {name_discordant(m)} no exact p is below {2.0 ** (1 - m):.2g}"
        enough = int(np.ceil(row.units * np.ceil(1 - np.log2(level)) / m)) - row.units
        more_runs, more_units = None, None if more_units is None else max(more_units, enough)
    if row.undecided is not None:
        reason = why_no_gain([row.undecided])
        few = row.undecided == "few units" and row.units < FEWEST_UNITS
        more_runs, more_units = None, max(more_units, FEWEST_UNITS - row.units) if more_units is not None and few else None
    return ModelDetectableEffect(None if reason else gain, POWER, level, critical, more_runs, more_units, reason)


def _fewest_more(
    given: ModelGains, which: str, order: NDArray[np.int64], delta: _Floats, level: float, asked: NDArray[np.bool_]
) -> list[int | None]:
    """Return how many more runs or units find each gain; None where no number does, and of pairs that are not asked."""
    nothing: list[int | None] = [None] * len(order)
    if not asked.any() or given.law_with() is None:
        return nothing

    def is_enough(more: NDArray[np.int64]) -> NDArray[np.bool_]:
        of_pair = np.zeros(len(given.pairs), np.int64)
        of_pair[order] = more
        law = given.law_with(**{which: of_pair})
        if law is None:
            return np.zeros(len(order), np.bool_)
        se, degrees = (of[order] for of in law)
        with np.errstate(invalid="ignore"):  # nan is not enough
            return np.asarray(power_of_gain(delta, se, level=level, freedom=degrees) >= POWER)

    found = _bisect(is_enough, asked)
    return [int(more) if wanted and more <= _MOST else None for more, wanted in zip(found.tolist(), asked.tolist(), strict=True)]


def _bisect(is_enough: Callable[[NDArray[np.int64]], NDArray[np.bool_]], asked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the fewest that are enough of each, beyond `_MOST` where none are: more never do less."""
    low, high = np.full(len(asked), -1, np.int64), np.zeros(len(asked), np.int64)
    while (lacking := asked & ~is_enough(high) & (high <= _MOST)).any():
        low, high = np.where(lacking, high, low), np.where(lacking, 2 * high + 1, high)
    while (wide := asked & (high - low > 1)).any():
        middle = (low + high) // 2
        enough = is_enough(middle)
        low, high = np.where(wide & ~enough, middle, low), np.where(wide & enough, middle, high)
    return high


def describe_model_effects(pairs: Sequence[ModelPairRow], digits: int, unit: str) -> str:
    """Return a sentence on what pairs of models that are not separated could have shown, with as many runs and units as these."""
    known = [
        (row, row.minimum_detectable_effect) for row in pairs if row.minimum_detectable_effect is not None and row.verdict in OPEN
    ]
    gains = [effect.gain for _, effect in known if effect.gain is not None]
    if not known:
        return ""
    by = f"with {SHOWN} by as many runs and units"
    if len(known) == 1:
        ((row, effect),) = known
        more = _say_more(row, effect, digits, unit, alone=len(pairs) == 1)
        if effect.gain is None:
            return f"No gain could have been shown: {effect.reason}{more}."
        return f"{say_smallest([effect.gain], digits, how=by)}{more}."
    none = len(known) - len(gains)
    why = why_no_gain(row.undecided for row, effect in known if effect.gain is None)
    if not gains:
        return f"None of these pairs could have shown a gain: {why}."
    told = say_smallest(gains, digits, how=by)
    return f"{told}{f'; {none:,} could have shown none: {why}' if none else ''}."


def _say_more(row: ModelPairRow, effect: ModelDetectableEffect, digits: int, unit: str, *, alone: bool) -> str:
    """Say how many more runs, or units, find the gain that was observed, were it the true one."""
    if not row.delta:
        return ""
    runs, units = f"{row.repeated}s", f"{unit}s"
    of_either = f"{runs} of each model" if row.repeated == "run" else f"{runs} of each {unit}"
    counts = (effect.more_runs_needed, effect.more_units_needed)
    ways = [f"about {count:,} more {what}" for count, what in zip(counts, (of_either, units), strict=True) if count]
    lacking = [what for count, what in zip(counts, (runs, units), strict=True) if not count]
    gain = f"a true gain of {format_gain(row.delta, digits)}" + ("" if alone else f" of {row.model_a} over {row.model_b}")
    if not ways:
        return f"; no number of {runs} alone, or of {units} alone, shows {gain}"
    return f"; {gain} needs {' or '.join(ways)}{f', and no number of {lacking[0]} alone is enough' if lacking else ''}"
