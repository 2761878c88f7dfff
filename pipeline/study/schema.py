"""What a study asks: the shape of `study.yaml` as frozen values, which `load` fills from text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_serializer,
    model_validator,
)

from pipeline.analyses.registry import default_analyses, null_laboratories
from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES, usable_procedures
from pipeline.study import grouping
from pipeline.study.expectations import Expectation
from pipeline.study.frozen import Frozen
from pipeline.study.presets import PresetName
from pipeline.study.resampling import IntervalName, Resampling, TestSizes
from pipeline.study.training_schema import DataFiles, DatasetSpec, ItemRanges, ModelSpec, Training, doubled_systems

__all__ = [
    "AnalysisSpec",
    "DataFiles",
    "DatasetSpec",
    "Expectation",
    "FormatSpec",
    "Frozen",
    "IntervalName",
    "ItemChoice",
    "MetricSpec",
    "ModelSpec",
    "Report",
    "Resampling",
    "Study",
    "Systems",
    "TestSet",
    "TestSizes",
    "Training",
]

SCHEMA_VERSION = 1


def _one_or_several(value: Any) -> Any:
    names = value if isinstance(value, (list, tuple)) else (value,)
    # A group that looks like a number in YAML has a name all the same.
    return tuple(str(name) if isinstance(name, (int, float)) and not isinstance(name, bool) else name for name in names)


_NAMES_IN_JSON = {"anyOf": [{"type": ["string", "number"]}, {"type": "array", "items": {"type": ["string", "number"]}}]}
GroupNames = Annotated[tuple[str, ...], BeforeValidator(_one_or_several), WithJsonSchema(_NAMES_IN_JSON)]
"""Names of groups of items; one stands for a list of it alone."""


class Disagreements(ValueError):
    """Parts of a study that do not go together: the path of each, and why.

    Parameters
    ----------
    found : sequence of (path, str) or (path, str, help)
        All of them, not the first.
    """

    def __init__(self, found: Sequence[grouping.Disagreement]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(f"{'.'.join(map(str, path))}: {text}" for path, text, *_ in found))


class FormatSpec(Frozen):
    """A format and what its reader is to know of the files."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @property
    def options(self) -> dict[str, Any]:
        """Options beyond the name."""
        return dict(self.model_extra or {})

    @model_serializer
    def _as_written(self) -> str | dict[str, Any]:
        return {"name": self.name, **self.options} if self.options else self.name


def _named(kind: str) -> BeforeValidator:
    """Let a name stand for a mapping of it alone."""

    def give_mapping(value: Any) -> Any:
        if not isinstance(value, (str, Mapping, BaseModel)):
            raise ValueError(f"a {kind} is its name, or a mapping of its name and options")
        return {"name": value} if isinstance(value, str) else value

    return BeforeValidator(give_mapping)


class ItemChoice(Frozen):
    """Which items of a test set are scored, by columns that group them."""

    include: Mapping[str, GroupNames] = Field(default={}, description="By column: only items whose group is one of these.")
    exclude: Mapping[str, GroupNames] = Field(default={}, description="By column: no item whose group is one of these.")


class TestSet(Frozen):
    """One test set: the gold and where the outputs are."""

    __test__ = False  # not a test class, whatever its name says to a collector

    format: Annotated[FormatSpec, _named("format")] = Field(
        default=FormatSpec(name="text"),
        description="A reader's name (text, labels, scores, conllu, …), auto, or a mapping of the name and the reader's options.",
    )
    references: tuple[str, ...] = Field(default=(), description="Reference files, one or several (text).")
    gold: str | DatasetSpec | None = Field(default=None, description="Gold file, or an embedded data set.")
    outputs: str | Mapping[str, str] | None = Field(
        default=None,
        description="A path with {system} (and {replica}), a table that holds all systems, or a mapping of system to path.",
    )
    documents: str | None = Field(default=None, description="One document name per line in item order, or a table of the items.")
    items: ItemRanges | ItemChoice | None = Field(
        default=None,
        description="Which items: of the gold, in file order, 1-3500, 4001-4100; or {exclude: {COLUMN: GROUP}}, {include: …}.",
    )
    columns: Mapping[str, str] = Field(
        default={}, description="Names of columns in tables: item, system, label, document, and those that units or strata name."
    )
    missing: Literal["error", "drop", "zero"] = Field(default="error", description="What to do with items a system lacks.")
    predicted: bool | None = Field(
        default=None,
        description="Whether the systems of `training:` predict it; by default if it has no outputs. With outputs too, given and "
        "trained systems are compared, and their coordinate `origin` says which is which.",
    )


class Systems(Frozen):
    """Which systems are compared, and what is known of each."""

    table: str | None = Field(default=None, description="CSV with the column system and optional columns model, group, …")
    exclude: tuple[str, ...] = Field(default=(), description="Names or shell patterns of systems to leave out.")
    relation: str | None = Field(default=None, description="Coordinate that splits pairs into same and different: group, model, …")


class MetricSpec(Frozen):
    """A metric and its options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @property
    def options(self) -> dict[str, Any]:
        """Options beyond the name."""
        return dict(self.model_extra or {})


def _single_key_mapping(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value, "options": {}}
    if isinstance(value, Mapping) and len(value) == 1 and "name" not in value:
        ((name, options),) = value.items()
        if options is not None and not isinstance(options, Mapping):
            raise ValueError(f"the options of {name} must be a mapping")
        return {"name": name, "options": {} if options is None else options}
    if isinstance(value, Mapping) and "name" not in value:
        raise ValueError("one analysis per entry: its name, or its name with its options below it")
    return value


class AnalysisSpec(Frozen):
    """An analysis and its options."""

    name: str
    options: Mapping[str, Any] = {}


class Report(Frozen):
    """What is written at the end."""

    formats: tuple[Literal["html", "markdown", "json"], ...] = ("html", "markdown", "json")
    null_laboratory: bool = Field(
        default=True,
        description="Report how often the tests reject true nulls made of the study's own outputs, whatever `analyses` has.",
    )
    verdict_about: Literal["auto", "methods", "systems", "runs"] = Field(
        default="auto",
        description=(
            "Where systems are runs of models: methods (new runs), these finished systems, or single runs; auto: methods where "
            "runs are trainings, systems where they are samples or prompts of one model."
        ),
    )


class Study(Frozen):
    """One study: everything that is asked, nothing about where it runs but a default cluster."""

    schema_: Literal[1] = Field(alias="schema")
    study: str = Field(min_length=1, max_length=200)
    seed: int = Field(default=20120712, ge=0, lt=2**63)
    preset: PresetName | None = Field(
        default=None,
        description="A published procedure or a tool: sets defaults, and has its own number printed beside the others.",
    )
    test_sets: Mapping[str, TestSet] = Field(min_length=1)
    systems: Systems = Systems()
    training: Training | None = None
    metrics: tuple[Annotated[MetricSpec, _named("metric")], ...] = Field(min_length=1)
    resampling: Resampling = Resampling()
    analyses: tuple[Annotated[AnalysisSpec, BeforeValidator(_single_key_mapping)], ...] = Field(
        default_factory=lambda: tuple(AnalysisSpec(name=name) for name in default_analyses())
    )
    report: Report = Report()
    expect: tuple[Expectation, ...] = Field(
        default=(), description="Known answers: numbers of the report's tables that results are held to."
    )
    fetch: str | None = Field(
        default=None, min_length=1, description="The command that brings the study's data: told where a file is not there."
    )
    cluster: str = "local"

    @field_validator("test_sets")
    @classmethod
    def _names_print(cls, value: Mapping[str, TestSet]) -> Mapping[str, TestSet]:
        for name in value:
            if not name.strip() or not name.isprintable():
                raise ValueError(f"the test set name {name!r} is empty or holds characters that do not print")
        return value

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Study:
        found = list(self._disagreements())
        if found:
            raise Disagreements(found)
        return self

    def _disagreements(self) -> Iterator[grouping.Disagreement]:
        names = [spec.name for spec in self.metrics]
        for position, name in enumerate(names):
            if name in names[:position]:
                help_ = f"give one another name: {{name: {name}-2, metric: {name}, …}}"
                yield ("metrics", position), f"the metric {name!r} is named twice", help_
        for name in self.resampling.margin:
            if name not in names:
                yield ("resampling", "margin", name), f"the study has no such metric; it has {', '.join(names)}"
        if self.resampling.margin and not any(PROCEDURES[name].tests_margin for name in self.resampling.procedures):
            able = " or ".join(known.name for known in usable_procedures() if known.tests_margin)
            yield ("resampling", "margin"), f"none of the study's procedures can test a margin; add {able}"
        alone = self.resampling.baseline is not None and self.resampling.family != "against-baseline"
        if alone and (self.preset is None or not PRESETS[self.preset].compares_with_baseline):
            yield ("resampling", "baseline"), "all pairs have no baseline; add `family: against-baseline`"
        if self.resampling.baseline is None and self.resampling.family == "against-baseline":
            yield ("resampling", "family"), "against which system? add `baseline: NAME`"
        for name, test_set in self.test_sets.items():
            if self.training is None and test_set.outputs is None:
                yield ("test_sets", name), "there are no outputs, and no training to make them"
            elif self.training is None and test_set.predicted:
                yield (
                    ("test_sets", name, "predicted"),
                    "nothing is trained that could predict it",
                    "add `training:`, or drop the key",
                )
            elif test_set.outputs is None and test_set.predicted is False:
                message = "there are no outputs, and it is not to be predicted"
                yield ("test_sets", name, "predicted"), message, "give its `outputs:`, or drop the key"
        for position, earlier, label in doubled_systems(self.training) if self.training else ():
            yield (
                ("training", "resamples", position),
                f"{label} is there already, as resamples[{earlier}]: it makes the same systems",
            )
        yield from grouping.disagreements(self)

    @property
    def asked_analyses(self) -> tuple[AnalysisSpec, ...]:
        """The analyses that are asked, and the null laboratory unless it is refused."""
        named = {spec.name for spec in self.analyses}
        besides = null_laboratories() if self.report.null_laboratory else ()
        return (*self.analyses, *(AnalysisSpec(name=name) for name in besides if name not in named))

    def as_read(self, test_set: str) -> TestSet:
        """Return a test set with the columns that units and strata are made of."""
        return grouping.with_asked_columns(self.test_sets[test_set], self.resampling)

    @property
    def slug(self) -> str:
        """The study's name as a directory name."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.study).strip("-.")[:64] or "study"
