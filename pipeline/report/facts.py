"""Facts about the study beside the rows of families: test sets, trainings, failures, the preset, and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pipeline.dataclass import dataclass
from pipeline.interfaces import Check, Column

__all__ = [
    "AbsentSystem",
    "AcrossFamilies",
    "AllPairs",
    "Cells",
    "ChapterRow",
    "FailedTask",
    "Failure",
    "FamilyCounts",
    "FamilyName",
    "FamilyP",
    "FigureBlock",
    "FindingBlock",
    "HeadlineRow",
    "ItemClusters",
    "MetricRow",
    "PairCounts",
    "PresetFacts",
    "ProblemRow",
    "Strata",
    "TableBlock",
    "TestSetRow",
    "TestSizeRow",
    "TrainingRow",
]

Cells: TypeAlias = Mapping[str, Any]
"""A row whose columns others chose, in values of JSON's own types: reports print it and look nothing up in it by name."""


@dataclass(frozen=True, slots=True)
class Strata:
    """The strata within which units are drawn: the column, how many, the smallest and largest size, and units alone in one."""

    column: str | None
    count: int
    smallest: int
    largest: int
    alone: int


@dataclass(frozen=True, slots=True)
class ItemClusters:
    """The clusters of items: the column that names them, their number, and how many of equal size they are worth."""

    column: str
    count: int
    effective: float


@dataclass(frozen=True, slots=True)
class TestSizeRow:
    """A test size and its units."""

    label: str
    units: int


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of a test set, by its key; ``title`` is what people call it, ``decimals`` how many are shown of its scores.

    Reports of earlier versions did not hold these two. ``signature`` and direction are None where its cube does not say them.
    """

    name: str
    signature: str | None
    higher_is_better: bool | None
    title: str | None = None
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class TestSetRow:
    """What was compared on a test set: items, the units that are drawn, sizes, metrics, and what its units suppose."""

    name: str
    format: str | None
    recognised: str | None
    units: int
    unit: str
    unit_reason: str | None
    effective_units: float | None
    expected_rejection: float | None
    strata: Strata | None
    clusters: ItemClusters | None
    items: int | None
    test_sizes: Sequence[TestSizeRow]
    systems: int
    pairs: int
    replicates: int | None
    kept_replicates: int | None
    empty_replicates: int | None
    metrics: Sequence[MetricRow]


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A training of the study: what was trained, the resources it took, how it ended.

    ``status`` is ``open`` where a run was stopped before it; ``exit_status`` is that of a command, below 0 a signal.
    """

    system: str
    model: str
    sample: str
    fraction: float
    replica: int
    items: int | None
    units: int | None
    distinct: float | None
    seconds: float | None
    peak_memory_bytes: int | None
    status: Literal["done", "failed", "open"]
    exit_status: int | None
    attempts: int
    reason: str | None
    notes: Sequence[str]
    log: str | None


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """One problem: what is wrong, where, and how to fix it."""

    code: str
    message: str
    where: str | None
    help: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A task that failed, with all its problems."""

    label: str
    exit_code: int
    problems: Sequence[ProblemRow]


@dataclass(frozen=True, slots=True)
class AbsentSystem:
    """A system that a test set has no outputs of."""

    label: str
    system: str
    reason: str


Failure: TypeAlias = FailedTask | AbsentSystem


@dataclass(frozen=True, slots=True)
class FamilyName:
    """The pairs tested together: ``all-pairs``, or ``against-baseline`` with the baseline."""

    name: str
    baseline: str | None


@dataclass(frozen=True, slots=True)
class AcrossFamilies:
    """How a pair's p is corrected for the number of families, the level at which each of them is tested, and p before that."""

    by: Literal["holm", "benjamini-bogomolov"]
    families: int
    level: float
    within: float | None


@dataclass(frozen=True, slots=True)
class FamilyP:
    """The p of "some pair of this family differs", corrected across families."""

    test_set: str
    metric: str
    procedure: str
    p: float | None


@dataclass(frozen=True, slots=True)
class FamilyCounts:
    """The number of families of tests, and which results are corrected for it.

    ``total`` is at all test sizes, ``full_size`` at the full one; ``judged`` are those that verdicts come from, with any p by the
    study's first procedure. ``any_false_if_independent`` is the chance that one of these rejects falsely if nothing differs, and
    nothing is corrected across them. ``level`` is at what each is tested. ``differing`` has the p of "some pair differs" of each,
    corrected across families; it is empty where nothing is.
    """

    total: int
    full_size: int
    judged: int
    across: Literal["none", "holm", "benjamini-bogomolov"]
    level: float
    any_false_if_independent: float
    differing: Sequence[FamilyP]


@dataclass(frozen=True, slots=True)
class PresetFacts:
    """Facts about the study's preset: the tool's own number, and the settings in which the study differs."""

    name: str
    null: str
    prints: str
    misleads: str
    reference: str
    procedures: Sequence[str]
    baselines: Mapping[str, str]
    missing: Sequence[str]
    deviations: Sequence[str]


@dataclass(frozen=True, slots=True)
class ChapterRow:
    """A chapter of the report, or the section of an analysis, in the order of the page."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Which rows of a finding are shown in which columns; the rows themselves where they are not among the finding's."""

    section: str
    title: str
    where: Cells
    columns: Sequence[Column]
    caption: str
    rows: Sequence[Cells] | None = None


@dataclass(frozen=True, slots=True)
class FigureBlock:
    """A figure of a finding, with its file in ``figures/`` and the rows behind it in ``tables/``."""

    section: str
    title: str
    alt: str
    caption: str
    file: str
    table: str


@dataclass(frozen=True, slots=True)
class HeadlineRow:
    """A sentence of an analysis that belongs to a family's verdict, or, where ``test_set`` is empty, to those of all test sets."""

    test_set: str
    metric: str
    procedure: str
    sentence: str


@dataclass(frozen=True, slots=True)
class FindingBlock:
    """The findings of an analysis, and which of them are shown."""

    analysis: str
    rows: Sequence[Cells]
    details: Cells
    tables: Sequence[TableBlock]
    figures: Sequence[FigureBlock]
    files: Sequence[str]
    headlines: Sequence[HeadlineRow]
    checks: Sequence[Check]


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The number of pairs of a family, how many of them the document lists, and counts over all of them.

    ``measured`` pairs have a p, ``unstable`` ones a verdict that other draws could change; ``verdicts`` counts pairs by verdict.
    """

    test_set: str
    metric: str
    procedure: str
    pairs: int
    listed: int
    in_family: int
    measured: int
    separated: int
    unstable: int
    few_discordant: int
    identical: int
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AllPairs:
    """Where all pairs are, as paths beside the document; None where there is no such file.

    ``rule`` says which pairs the document lists, None where it lists all.
    """

    pairs: int
    listed: int
    rule: str | None
    csv: str | None
    parquet: str | None
