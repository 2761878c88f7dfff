"""How test sets are resampled: the key `resampling` of `study.yaml`, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from pipeline.procedures.registry import PROCEDURES, default_procedure, other_names
from pipeline.resampling.address import MOST_REPLICATES
from pipeline.study.frozen import Frozen, known_name

__all__ = ["IntervalName", "ProcedureName", "Resampling", "TestSizes"]


class TestSizes(Frozen):
    """The test sizes of the sweep, in units."""

    __test__ = False

    values: tuple[Annotated[int, Field(ge=2, le=MOST_REPLICATES)] | Literal["full"], ...] = ("full",)
    draw: Literal["prefix"] = Field(default="prefix", description="The first units of the test set.")

    @field_validator("values")
    @classmethod
    def _full_is_there_once(cls, values: tuple[int | str, ...]) -> tuple[int | str, ...]:
        if len(set(values)) != len(values):
            raise ValueError("a test size is given twice")
        numbers = sorted(v for v in values if isinstance(v, int))
        return (*numbers, "full")


def _sizes(value: Any) -> Any:
    sizes = {"values": value} if isinstance(value, (list, tuple)) else value
    if isinstance(sizes, Mapping) and isinstance(sizes.get("values"), list):
        # What a validator returns is no longer JSON, where a list would do for a tuple.
        return {**sizes, "values": tuple(sizes["values"])}
    return sizes


IntervalName = Literal[
    "symmetric", "basic", "percentile", "bca", "simultaneous", "studentised", "simultaneous-studentised", "tango", "bonett-price"
]


ProcedureName = Annotated[str, AfterValidator(known_name(PROCEDURES, "procedure", others=other_names))]
"""The name of an installed procedure."""


class Resampling(Frozen):
    """How test sets are resampled."""

    procedures: tuple[ProcedureName, ...] = Field(
        default_factory=lambda: (default_procedure().name,),
        min_length=1,
        description="Significance tests; verdicts are those of the first.",
        json_schema_extra={"uniqueItems": True},
    )
    replicates: int = Field(default=1_000_000, ge=1, le=MOST_REPLICATES)
    method: Literal["auto", "monte-carlo", "exact"] = Field(
        default="auto",
        description="How p-values of procedures that draw are found: counted on replicates; as exact laws, where systems share "
        "their denominators; or, auto, by what takes less.",
    )
    keep_replicates: int = Field(
        default=131_072,
        ge=0,
        le=MOST_REPLICATES,
        description="Of the paired bootstrap; intervals and max-T are read off the kept ones.",
    )
    unit: str | None = Field(
        default=None,
        min_length=1,
        description="What is drawn: item, document, or any column of the test set. By default documents where they are known.",
    )
    strata: str | None = Field(default=None, min_length=1, description="A column; as many units are drawn of each of its values.")
    test_sizes: Annotated[TestSizes, BeforeValidator(_sizes)] = TestSizes()
    alpha: float = Field(default=0.05, gt=0.0, lt=1.0)
    intervals: tuple[IntervalName, ...] = Field(
        default=("symmetric", "percentile", "bca"),
        description="Further intervals of the gain, beside that of the test which decides; cubes and tables hold all.",
        json_schema_extra={"uniqueItems": True},
    )
    tails: Literal["exact", "tilted", "none"] = Field(
        default="exact",
        description="Computed p-values beside counted ones below 10/b: exact where the score allows it; tilted of every score.",
    )
    family: Literal["all-pairs", "against-baseline"] = Field(
        default="all-pairs", description="Pairs that are tested together: all, or those of the baseline with each other system."
    )
    baseline: str | None = Field(
        default=None, description="The system that others are compared with, of against-baseline and of presets that have one."
    )
    across_families: Literal["none", "holm", "benjamini-bogomolov"] = Field(
        default="none",
        description="How p is corrected for the number of families (test set × metric), beside the pairs of each.",
    )
    margin: Mapping[str, Annotated[float, Field(gt=0.0)]] = Field(
        default={}, description="Equivalence margin in metric points, by metric."
    )

    @field_validator("procedures")
    @classmethod
    def _each_once(cls, procedures: tuple[ProcedureName, ...]) -> tuple[ProcedureName, ...]:
        if len(set(procedures)) != len(procedures):
            raise ValueError("a procedure is given twice")
        return procedures

    @field_validator("intervals")
    @classmethod
    def _no_interval_twice(cls, intervals: tuple[IntervalName, ...]) -> tuple[IntervalName, ...]:
        if len(set(intervals)) != len(intervals):
            raise ValueError("an interval is given twice")
        return intervals

    @property
    def family_baseline(self) -> str | None:
        """The baseline of the pairs that are tested together; None where these are all pairs, whatever a preset compares with."""
        return self.baseline if self.family == "against-baseline" else None

    @property
    def drawn(self) -> tuple[ProcedureName, ...]:
        """Procedures that count replicates."""
        return tuple(name for name in self.procedures if PROCEDURES[name].draws)

    @property
    def computed(self) -> tuple[ProcedureName, ...]:
        """Procedures that draw nothing."""
        return tuple(name for name in self.procedures if not PROCEDURES[name].draws)

    @property
    def scores_kept(self) -> int:
        """Replicates of which scores are kept: none where no procedure makes scores of single systems."""
        kept = any(PROCEDURES[name].keeps_scores for name in self.procedures)
        return min(self.keep_replicates, self.replicates) if kept else 0
