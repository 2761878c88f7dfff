"""The schema of `study.yaml` as frozen values, which `load` fills from text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from pipeline.analyses.registry import default_analyses, null_laboratories
from pipeline.errors import is_name, look_alike
from pipeline.study.agreement import (
    Disagreements,
    check_family,
    check_groups,
    check_margins,
    check_metrics,
    check_trainings,
)
from pipeline.study.expectations import Expectation
from pipeline.study.frozen import Frozen, name_alone
from pipeline.study.grouping import with_asked_columns
from pipeline.study.presets import PresetName, list_deviations
from pipeline.study.resampling import Resampling
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import Training

__all__ = ["AnalysisSpec", "MetricSpec", "Report", "Study", "Systems"]

SCHEMA_VERSION = 1


class Systems(Frozen):
    """The systems compared, and the facts known about each."""

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
    """The report written at the end."""

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
    """One study: everything that it asks for, and nothing about where it runs but a default cluster."""

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
    metrics: tuple[Annotated[MetricSpec, name_alone("metric")], ...] = Field(min_length=1)
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
            if not is_name(name):
                raise ValueError(f"the test set name {name!r} is empty or holds characters that do not print")
        for alike in look_alike(value):
            raise ValueError(f"the names of test sets {' and '.join(map(repr, alike))} differ only in characters that do not print")
        return value

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Study:
        metrics = [spec.name for spec in self.metrics]
        found = [
            *check_metrics(metrics),
            *check_margins(self.resampling, metrics),
            *check_family(self.resampling, self.preset),
            *check_trainings(self.test_sets, self.training),
            *check_groups(self.test_sets, self.resampling, self.preset),
        ]
        if found:
            raise Disagreements(found)
        return self

    @property
    def asked_analyses(self) -> tuple[AnalysisSpec, ...]:
        """The analyses that are asked, and the null laboratory unless it is refused."""
        named = {spec.name for spec in self.analyses}
        besides = null_laboratories() if self.report.null_laboratory else ()
        return (*self.analyses, *(AnalysisSpec(name=name) for name in besides if name not in named))

    def as_read(self, test_set: str) -> TestSet:
        """Return a test set with the columns that units and strata are made of."""
        return with_asked_columns(self.test_sets[test_set], self.resampling)

    @property
    def deviations(self) -> tuple[str, ...]:
        """The values in which the study deviates from its preset, one on each line; nothing without a preset."""
        return list_deviations(self.preset, self.model_dump(mode="json", by_alias=True)) if self.preset else ()

    @property
    def slug(self) -> str:
        """The study's name as a directory name."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.study).strip("-.")[:64] or "study"
