"""How fast a machine does what a study asks. This module holds the measured rates that a plan takes as a value.

They decide how many cells a task has and what a plan says of time; no number in a result depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["OutputRates", "PassRates", "Rates"]

RATES_VERSION = 1


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
        A task; a task, unit and system; a task, unit and pair: before its first replicate.
    """

    draw: float = 2e-9
    product: float = 4e-10
    score: float = 3e-8
    pair: float = 3e-9
    setup: float = 0.01
    setup_system: float = 1e-7
    setup_pair: float = 1e-8

    def replicate(self, units: int, systems: int, pairs: int) -> float:
        """Give the seconds of one replicate, without its draws."""
        return self.product * units * systems + self.score * systems + self.pair * pairs

    def task(self, units: int, systems: int, pairs: int) -> float:
        """Give the seconds of a task before its first replicate."""
        return self.setup + self.setup_system * units * systems + self.setup_pair * units * pairs


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
        """Give the rates of a metric under a procedure, those of a slow machine where they were not measured."""
        return self.passes.get(procedure, {}).get(metric, PassRates())

    def has_pass(self, procedure: str, metric: str) -> bool:
        """Say whether the rates of a metric under a procedure were measured."""
        return metric in self.passes.get(procedure, {})

    def training(self, model: str, fraction: float) -> float | None:
        """Give the seconds of one training: measured, or in proportion to the largest sample that was; None if none was."""
        known = self.trainings.get(model, {})
        if f"{fraction:g}" in known:
            return known[f"{fraction:g}"]
        if not known:
            return None
        largest = max(known, key=float)
        return known[largest] * fraction / float(largest)

    def to_json(self) -> dict[str, Any]:
        """Give plain values for `rates.json`."""
        return {"schema_version": RATES_VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Rates | None:
        """Read what `to_json` wrote; None where another version did."""
        if value.get("schema_version") != RATES_VERSION:
            return None
        return cls(
            passes={p: {m: PassRates(**rates) for m, rates in by.items()} for p, by in value["passes"].items()},
            outputs={t: {m: OutputRates(**rates) for m, rates in by.items()} for t, by in value["outputs"].items()},
            trainings=value["trainings"],
            unknown=value["unknown"],
            machine=value["machine"],
        )
