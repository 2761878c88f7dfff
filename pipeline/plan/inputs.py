"""What a study's files contain: the frozen facts from which the plan is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pipeline.dataclass import dataclass, field
from pipeline.study.grouping import ITEM

__all__ = ["Inputs", "MetricInputs", "OutputInputs", "TestSetInputs"]


@dataclass(frozen=True)
class MetricInputs:
    """A metric as the plan knows it.

    ``places`` names the options that say where its code is, which is no part of what it is: the signature has the code's digest.
    ``form`` is that of the metric: only a ratio has exact tails, which take their time. ``denominators`` says
    whose those of a ratio are, as the metric declares it. ``title`` is what people call it, empty in
    plans of earlier versions.
    """

    name: str
    options: Mapping[str, Any]
    signature: str
    higher_is_better: bool
    places: tuple[str, ...] = ()
    form: str = "ratio"
    denominators: str = "unknown"
    title: str = ""

    @property
    def identity(self) -> list[Any]:
        """The part of addresses that identifies it: options as they are, since a signature is for people and may round them."""
        return [self.name, {key: value for key, value in self.options.items() if key not in self.places}, self.signature]


@dataclass(frozen=True)
class OutputInputs:
    """One system's output on one test set: a file that is there, or a training that will make it.

    ``identity`` pins the content: equal identities are equal outputs.
    """

    system: str
    identity: str
    output: Mapping[str, Any] | None = None
    training: str | None = None


@dataclass(frozen=True)
class TestSetInputs:
    """One test set: its frame, its gold, its outputs.

    ``strata`` and ``documents`` are the addresses of the stratum of each unit, where units are drawn within strata, and of the
    document of each item, where items are drawn although it is known; else empty. ``recognised`` says which format was found
    where the study left it open, and why. ``unit`` is what is drawn, and ``unit_reason`` why where the study left it open.
    """

    __test__ = False

    name: str
    frame: str
    gold_digest: str
    n_items: int
    n_units: int
    outputs: tuple[OutputInputs, ...]
    alignment: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    strata: str = ""
    documents: str = ""
    recognised: str = ""
    unit: str = ITEM
    unit_reason: str = ""

    @property
    def groupings(self) -> list[list[str]]:
        """Name and address of the groupings stored beside the frame, if any."""
        return [[name, key] for name, key in (("strata", self.strata), ("documents", self.documents)) if key]


@dataclass(frozen=True)
class Inputs:
    """Everything that was found: the base directory, the test sets, the metrics and the facts about each system."""

    base: str
    test_sets: tuple[TestSetInputs, ...]
    metrics: tuple[MetricInputs, ...]
    coordinates: Mapping[str, Mapping[str, str]]
    training_data: str | None = None
    trainers: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for `plan.json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any], *, unit: str | None = None) -> Inputs:
        """Read what `to_json` wrote; ``unit`` is for plans of earlier versions, where only the study names it."""
        return cls(
            base=value["base"],
            test_sets=tuple(
                TestSetInputs(
                    **{
                        "unit": unit or ITEM,
                        **entry,
                        "outputs": tuple(OutputInputs(**output) for output in entry["outputs"]),
                        "alignment": tuple(entry["alignment"]),
                        "warnings": tuple(entry["warnings"]),
                    }
                )
                for entry in value["test_sets"]
            ),
            metrics=tuple(MetricInputs(**{**entry, "places": tuple(entry.get("places", ()))}) for entry in value["metrics"]),
            coordinates=value["coordinates"],
            training_data=value["training_data"],
            trainers=value["trainers"],
        )

    def fingerprint(self) -> dict[str, Any]:
        """Return the part of the inputs on which results depend: content, never places."""
        return {
            "test_sets": [
                [t.name, t.frame, t.gold_digest, sorted([o.system, o.identity] for o in t.outputs), *t.groupings]
                for t in self.test_sets
            ],
            "metrics": [m.identity for m in self.metrics],
            "coordinates": self.coordinates,
            "training_data": self.training_data,
            "trainers": self.trainers,
        }
