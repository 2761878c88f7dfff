"""Count how often intervals contain the threshold of the population that the systems come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from pipeline.inference.intervals.system_quantiles import SystemSample, quantile_interval
from threshold_coverage.populations import RULES, Population, known_threshold, values_of

__all__ = ["METHODS", "MOST_RESAMPLED", "measure", "repeated_percentile"]

METHODS = ("shown", "alone", "percentile", "bias-corrected", "wald")
"""What is shown; the same where no systems come together; and three intervals from resampled systems."""
MOST_RESAMPLED = 100
SHARE = 0.95
_CELLS = 2**21
_SLACK = 1e-9  # gains of right and wrong answers are whole numbers of items: equal ones differ by rounding
_Ends = tuple[float, float]


def measure(
    population: Population, systems: int, *, trials: int, resampled: int, draws: int, seed: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return a record for each rule: how often each interval was there, and how often the threshold lay above or below it.

    Parameters
    ----------
    population : Population
    systems : int
    trials : int
        Studies for the interval that is shown.
    resampled : int
        Studies, the first of these, for intervals from resampled systems, of the threshold by standard errors alone.
    draws : int
        Samples of systems in each of these.
    seed : int
    say : callable
    """
    records: dict[str, dict[str, Any]] = {}
    for rule in RULES:
        truth = known_threshold(population.name, rule)
        counts = {method: {"studies": 0, "there": 0, "too_low": 0, "too_high": 0} for method in METHODS}
        records[rule] = {"rule": rule, "truth": truth, "largest_too_low": 0, "estimates": 0.0, "studies": 0, "methods": counts}
    for trial in range(trials):
        rng = np.random.default_rng([seed, sum(map(ord, population.name)), systems, trial])
        drawn = population.make(rng, systems)
        for rule, record in records.items():
            values, first, second = values_of(drawn, rule)
            if len(values) < 2:
                continue
            record["studies"] += 1
            record["largest_too_low"] += int(values.max() < (1 - _SLACK) * record["truth"])
            record["estimates"] += float(np.percentile(values, 100 * SHARE))
            _count(record, "shown", _ends(drawn.draw, values, first, second))
            _count(record, "alone", _ends(np.arange(systems), values, first, second))
            if rule == "se" and trial < resampled and systems <= MOST_RESAMPLED:
                for method, ends in _from_draws(values, first, second, systems, draws, rng).items():
                    _count(record, method, ends)
    say(f"{population.name}, {systems} systems")
    return [
        {"population": population.name, "systems": systems, "trials": trials, "seed": seed}
        | record
        | {"truth": round(record["truth"], 5), "estimates": round(record["estimates"] / max(record["studies"], 1), 5)}
        for record in records.values()
    ]


def _count(record: dict[str, Any], method: str, ends: _Ends | None) -> None:
    counts = record["methods"][method]
    counts["studies"] += 1
    if ends is not None:
        counts["there"] += 1
        counts["too_low"] += int(ends[1] < (1 - _SLACK) * record["truth"])
        counts["too_high"] += int(ends[0] > (1 + _SLACK) * record["truth"])


def _ends(
    draw: NDArray[np.int64], values: NDArray[np.float64], first: NDArray[np.int64], second: NDArray[np.int64]
) -> _Ends | None:
    sample = SystemSample(draw, np.zeros(len(draw), dtype=np.int64))
    found = quantile_interval(values, first, second, SHARE, systems=sample)
    return None if found.lo is None or found.hi is None else (found.lo, found.hi)


def _from_draws(
    values: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    systems: int,
    draws: int,
    rng: np.random.Generator,
) -> dict[str, _Ends | None]:
    """Return the intervals from systems drawn with replacement, each pair with the product of the times they were drawn."""
    times = rng.multinomial(systems, np.full(systems, 1 / systems), draws).astype(np.float64)
    rows = max(1, _CELLS // len(values))
    parts = [
        repeated_percentile(values, times[at : at + rows, first] * times[at : at + rows, second]) for at in range(0, draws, rows)
    ]
    found = np.concatenate(parts)
    found = found[np.isfinite(found)]
    if len(found) < 0.95 * draws:
        return dict.fromkeys(METHODS[2:])
    estimate = float(np.percentile(values, 100 * SHARE))
    bias = float(ndtri(np.clip(np.mean(found < estimate) + np.mean(found == estimate) / 2, 0.001, 0.999)))
    plain = np.quantile(found, [0.025, 0.975])
    shifted = np.quantile(found, ndtr(2 * bias + ndtri(np.array([0.025, 0.975]))))
    reach = float(stdtrit(systems - 1, 0.975) * np.log(found).std())
    return {
        "percentile": (float(plain[0]), float(plain[1])),
        "bias-corrected": (float(shifted[0]), float(shifted[1])),
        "wald": (estimate * np.exp(-reach), estimate * np.exp(reach)),
    }


def repeated_percentile(values: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the type 7 percentile of values repeated so many times, for each row of times; NaN for a row of none."""
    order = np.argsort(values, kind="stable")
    ordered, last = values[order], np.cumsum(times[:, order], axis=1)
    total = last[:, -1]
    position = np.maximum(total - 1, 0) * SHARE
    low = np.floor(position)
    below = np.minimum((last <= low[:, None]).sum(axis=1), len(values) - 1)
    above = np.minimum((last <= np.minimum(low + 1, total - 1)[:, None]).sum(axis=1), len(values) - 1)
    found = ordered[below] + (position - low) * (ordered[above] - ordered[below])
    return np.where(total > 0, found, np.nan)
