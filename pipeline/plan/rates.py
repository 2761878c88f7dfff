"""How fast a machine does what a study asks. This module holds the measured rates that a plan takes as a value, and fits them.

They decide how many cells a task has and what a plan says of time; no number in a result depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["OutputRates", "PassRates", "Rates", "fit_rates"]

RATES_VERSION = 2

MOST_SECONDS = 3600.0
"""No rate is longer than an hour: a file that says so is not one of ours."""


@dataclass(frozen=True)
class PassRates:
    """Seconds of one metric under one procedure, on one core; the defaults are those of a slow machine.

    Parameters
    ----------
    draw : float
        A replicate and unit: the draws, which all metrics of a task share.
    product : float
        A replicate, unit and system: sums of the system's statistics.
    score : float
        A replicate and system.
    pair : float
        A replicate and pair.
    setup, setup_system, setup_pair : float
        A task; a task, unit and system; a task and pair: before its first replicate.
    """

    draw: float = 2e-9
    product: float = 3e-10
    score: float = 3e-8
    pair: float = 2e-9
    setup: float = 0.01
    setup_system: float = 1e-7
    setup_pair: float = 2e-6

    def replicate(self, units: int, systems: int, pairs: int) -> float:
        """Return the seconds of one replicate, without its draws."""
        return self.product * units * systems + self.score * systems + self.pair * pairs

    def task(self, units: int, systems: int, pairs: int) -> float:
        """Return the seconds of a task before its first replicate."""
        return self.setup + self.setup_system * units * systems + self.setup_pair * pairs


@dataclass(frozen=True)
class OutputRates:
    """Seconds of counting one metric's statistics on one test set.

    Parameters
    ----------
    load : float
        Reading one output.
    extract : float
        Counting the statistics of one item.
    prepare : float
        Reading the gold and processing it: once a worker.
    """

    load: float
    extract: float
    prepare: float


@dataclass(frozen=True)
class Rates:
    """What was measured on a machine; what was not has the default of a slow one, or is unknown.

    Parameters
    ----------
    passes : mapping of str to mapping of str to PassRates
        By procedure and metric.
    outputs : mapping of str to mapping of str to OutputRates
        By test set and metric.
    trainings : mapping of str to mapping of str to float
        Seconds of one training by model and fraction.
    unknown : mapping of str to str
        Why something could not be measured.
    machine : float
        Time of a piece of plain Python, as a multiple of that where the constants of `costs` were measured.
    """

    passes: Mapping[str, Mapping[str, PassRates]] = field(default_factory=dict)
    outputs: Mapping[str, Mapping[str, OutputRates]] = field(default_factory=dict)
    trainings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    machine: float = 1.0

    def of_pass(self, procedure: str, metric: str) -> PassRates:
        """Return the rates of a metric under a procedure, those of a slow machine where they were not measured."""
        return self.passes.get(procedure, {}).get(metric, PassRates())

    def has_pass(self, procedure: str, metric: str) -> bool:
        """Say whether the rates of a metric under a procedure were measured."""
        return metric in self.passes.get(procedure, {})

    def replicate(self, procedure: str, metrics: Sequence[str], *, units: int, systems: int, pairs: int) -> float:
        """Return the seconds of one replicate of metrics that share their draws."""
        each = [self.of_pass(procedure, metric) for metric in metrics]
        return max((one.draw for one in each), default=0.0) * units + sum(one.replicate(units, systems, pairs) for one in each)

    def training(self, model: str, fraction: float) -> float | None:
        """Return the seconds of one training: measured, or in proportion to the largest sample that was; None if none was."""
        known = self.trainings.get(model, {})
        if f"{fraction:g}" in known:
            return known[f"{fraction:g}"]
        if not known:
            return None
        largest = max(known, key=float)
        return known[largest] * fraction / float(largest)

    def to_json(self) -> dict[str, Any]:
        """Return plain values of the passes, which a run's blocks are cut by."""
        return {
            "schema_version": RATES_VERSION,
            "passes": {p: {metric: asdict(rates) for metric, rates in by.items()} for p, by in self.passes.items()},
        }

    @classmethod
    def from_json(cls, value: object) -> Rates | None:
        """Read what `to_json` wrote; None where another version did, or where something is in place of a rate that can be none."""
        if not isinstance(value, dict) or value.get("schema_version") != RATES_VERSION:
            return None
        found: dict[str, dict[str, PassRates]] = {}
        passes = value.get("passes")
        for procedure, by_metric in passes.items() if isinstance(passes, dict) else ():
            for metric, rates in by_metric.items() if isinstance(by_metric, dict) else ():
                if not isinstance(rates, dict) or set(rates) != PASS_FIELDS or not all(map(_is_rate, rates.values())):
                    return None
                found.setdefault(procedure, {})[metric] = PassRates(**rates)
        return cls(found)


PASS_FIELDS = {each.name for each in fields(PassRates)}


def _is_rate(value: object) -> bool:
    # Not a number compares as False; a number that is too large for a float compares as it should.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= MOST_SECONDS


RIDGE = 0.01
"""Pull of a rate towards that of a slow machine, all sped up alike, against a relative error: it decides what times do not."""

FAR = 30.0
"""How many times faster or slower than that a single rate can be."""


def fit_rates(times: Mapping[tuple[int, int, int], tuple[float, float]]) -> PassRates:
    """Return the rates that explain what blocks of some shapes took.

    Four shapes tell four rates apart, some of them badly: what a score takes is a hundredth of any block. So each is found as a
    multiple of what it is on a slow machine, within bounds, and where the times do not tell, all multiples are alike.

    Parameters
    ----------
    times : mapping of (units, systems, pairs) to (seconds, seconds)
        Of a task before its first replicate, and of each replicate.
    """
    units, systems, pairs = np.array(list(times), np.float64).T
    setup, each = np.array(list(times.values())).T
    slow = PassRates()
    one = np.ones(len(units))
    draw, product, score, pair = _fit(
        np.stack([units, units * systems, systems, pairs], axis=1), each, [slow.draw, slow.product, slow.score, slow.pair]
    )
    once, by_system, by_pair = _fit(
        np.stack([one, units * systems, pairs], axis=1), setup, [slow.setup, slow.setup_system, slow.setup_pair]
    )
    return PassRates(draw, product, score, pair, once, by_system, by_pair)


def _fit(features: NDArray[np.float64], seconds: NDArray[np.float64], slow: list[float]) -> list[float]:
    """Return coefficients with the least relative errors, none of them far from the slow machine's, sped up all alike."""
    if not seconds.any():
        return slow
    # A time that noise has made nothing tells nothing, and one that it has made short must not weigh more than all others.
    weight = np.where(seconds > 0.0, 1.0 / np.maximum(seconds, 0.1 * seconds.max()), 0.0)
    scaled, target = features * np.array(slow) * weight[:, None], seconds * weight
    whole = scaled.sum(axis=1)
    speed = max(float(whole @ target / (whole @ whole)), 1e-6)
    rows = np.vstack([scaled * speed, RIDGE * np.eye(len(slow))])
    aims = np.concatenate([target, np.full(len(slow), RIDGE)])
    multiples, free = np.ones(len(slow)), np.ones(len(slow), np.bool_)
    while free.any():
        square = rows[:, free].T @ rows[:, free]
        found = np.linalg.solve(square, rows[:, free].T @ (aims - rows[:, ~free] @ multiples[~free]))
        multiples[free] = np.clip(found, 1 / FAR, FAR)
        if (found == multiples[free]).all():
            break
        free[free] = found == multiples[free]  # what is at a bound stays there, and the others make up for it
    return [float(rate * speed * multiple) for rate, multiple in zip(slow, multiples, strict=True)]
