"""A report as a value: every number once. Pages and tables are views of it, and ``report.json`` holds it in JSON's own types.

`to_document` and `read_report` are the borders between the value and dictionaries; the schema of ``report.json`` is made from the
same types.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pipeline.dataclass import dataclass
from pipeline.interfaces import Check, Finding
from pipeline.report.facts import (
    AllPairs,
    Cells,
    ChapterRow,
    Failure,
    FamilyCounts,
    FamilyName,
    FindingBlock,
    PairCounts,
    PresetFacts,
    TestSetRow,
    TrainingRow,
)
from pipeline.report.models.model_rows import ModelPairRow, ModelRow
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.pairs.pairs import ListedPairs, Pairs
from pipeline.report.rows import (
    BoardRow,
    ClusterRow,
    ErrorRow,
    FamilyKey,
    PairRow,
    SignatureRow,
    SystemRow,
    Verdict,
    family_of,
    group_by_family,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "SCHEMA_VERSION",
    "FullReport",
    "Report",
    "encode_document",
    "read_checks",
    "read_leads",
    "read_report",
    "read_titles",
    "read_verdicts",
    "to_document",
]

SCHEMA_VERSION: Final = 6
"""6: ``pairs`` lists those that matter where there are many; ``pair_counts`` is of all, and ``all_pairs`` says where they are.
5: ``p`` of a pair is of the test that decides, where it was the counted one."""


@dataclass(frozen=True)
class Report:
    """The whole content of a report, in the order of ``report.json``."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid", "allow_inf_nan": False}

    schema_version: Literal[6]
    study: str
    run_id: str
    alpha: float
    seed: int
    unit: str | None
    signature: Sequence[SignatureRow]
    family: FamilyName
    families: FamilyCounts
    preset: PresetFacts | None
    versions: Mapping[str, str | None]
    test_sets: Sequence[TestSetRow]
    systems: Sequence[SystemRow]
    models: Sequence[ModelRow]
    model_pairs: Sequence[ModelPairRow]
    leaderboard: Sequence[BoardRow]
    all_pairs: AllPairs
    pair_counts: Sequence[PairCounts]
    pairs: Sequence[PairRow]
    clusters: Sequence[ClusterRow]
    experiment_wise: Sequence[ErrorRow]
    sections: Sequence[ChapterRow]
    findings: Sequence[FindingBlock]
    notes: Mapping[str, Sequence[str]]
    reasons: Mapping[str, str]
    alignment: Sequence[Cells]
    warnings: Sequence[str]
    failures: Sequence[Failure]
    trainings: Sequence[TrainingRow]
    verdict: Sequence[Verdict]
    trust: Sequence[Check]

    @cached_property
    def procedures(self) -> tuple[str, ...]:
        """The procedures in the study's order; verdicts are those of the first."""
        return tuple(dict.fromkeys(row.procedure for row in self.signature))

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The title of each metric of the study; missing in reports of earlier versions."""
        return {row.name: row.title for test_set in self.test_sets for row in test_set.metrics if row.title is not None}

    @property
    def leads(self) -> list[str]:
        """What analyses say of all test sets together, which stands before the verdicts."""
        return [*dict.fromkeys(row.sentence for one in self.findings for row in one.headlines if not row.test_set)]

    @cached_property
    def places(self) -> tuple[FamilyKey, ...]:
        """The families in the order of the page."""
        return tuple(map(family_of, self.signature))

    @cached_property
    def pairs_of(self) -> Mapping[FamilyKey, Pairs]:
        """The pairs of each family: those that the document lists, or all of them in a newly made report."""
        listed = group_by_family(self.pairs)
        return {place: ListedPairs(listed[place]) for place in self.places}

    @cached_property
    def count_of(self) -> Mapping[FamilyKey, PairCounts]:
        """How many pairs each family has, listed or not."""
        return {family_of(row): row for row in self.pair_counts}

    @cached_property
    def board_of(self) -> Mapping[FamilyKey, Sequence[BoardRow]]:
        """The leaderboard of each family."""
        return group_by_family(self.leaderboard)

    def models_of(self, place: FamilyKey) -> Sequence[ModelRow]:
        """Return the models of a test set and metric, the best first; none where verdicts are about systems."""
        return [row for row in self.models if (row.test_set, row.metric) == (place.test_set, place.metric)]

    def model_pairs_of(self, place: FamilyKey) -> Sequence[ModelPairRow]:
        """Return the pairs of models of a test set and metric, the largest gain first."""
        return [row for row in self.model_pairs if (row.test_set, row.metric) == (place.test_set, place.metric)]

    def test_set(self, name: str) -> TestSetRow:
        """Return the facts about a test set."""
        return next(row for row in self.test_sets if row.name == name)

    def falls(self, place: FamilyKey) -> bool:
        """Say whether lower scores of a metric are better."""
        return any(row.name == place.metric and row.higher_is_better is False for row in self.test_set(place.test_set).metrics)

    def name_procedure(self, procedure: str) -> str:
        """Return the words by which a title names the procedure: nothing where there is only one."""
        return f", {procedure}" if len(self.procedures) > 1 else ""

    def decimals(self, metric: str | None) -> int:
        """Return the decimals to print for a metric: those that the report was made with, three of anything else."""
        return self._decimals.get(metric, 3) if metric is not None else 3

    @cached_property
    def _decimals(self) -> Mapping[str, int]:
        """The decimals of each metric; in reports of earlier versions none has more."""
        rows = [row for test_set in self.test_sets for row in test_set.metrics]
        return {row.name: row.decimals for row in rows if row.decimals is not None}


@dataclass(frozen=True)
class FullReport(Report):
    """A newly made report: in addition to the document it has all pairs, as columns."""

    full: Mapping[FamilyKey, PairSet]
    listed: Sequence[PairSet]
    """The pairs that the document lists, family by family."""
    held_to: Finding | None = None
    """The comparison with the study's known answers."""

    @property
    def pairs_of(self) -> Mapping[FamilyKey, Pairs]:
        """All pairs of each family."""
        return self.full


def to_document(report: Report, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return what ``report.json`` holds and ``compare --json`` prints, in values of JSON's own types, without some of its keys."""
    plain = {name: _plain(getattr(report, name)) for name, _ in _names(Report) if name not in without}
    return {**plain, "systems": _list_systems(report.systems)}


def _plain(value: Any) -> Any:
    if type(value) in _LEAVES:
        return value
    # Most cells of a row are leaves: a call for each would take longer than all the rest.
    if is_dataclass(value):
        cells = [(name, getattr(value, name), left_out) for name, left_out in _names(type(value))]
        return {
            name: cell if type(cell) in _LEAVES else _plain(cell)
            for name, cell, left_out in cells
            if cell is not None or not left_out
        }
    if isinstance(value, Mapping):
        return {key: item if type(item) in _LEAVES else _plain(item) for key, item in value.items()}
    return [item if type(item) in _LEAVES else _plain(item) for item in value]


_LEAVES = frozenset({str, int, float, bool, type(None)})
_NAMES: dict[type[Any], tuple[tuple[str, bool], ...]] = {}


def _names(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """Return the fields of a kind of row, and whether they are left out where they are None; asked once of each kind."""
    if kind not in _NAMES:
        _NAMES[kind] = tuple((field.name, field.default is None) for field in fields(kind))
    return _NAMES[kind]


def _list_systems(systems: Sequence[SystemRow]) -> list[dict[str, Any]]:
    """Return the rows of systems with those of their coordinates that any system of the same test set has."""
    names = _names(SystemRow)
    known = {(row.test_set, name) for name, left_out in names for row in systems if not left_out or getattr(row, name) is not None}
    return [{name: _plain(getattr(row, name)) for name, _ in names if (row.test_set, name) in known} for row in systems]


def encode_document(document: Mapping[str, Any], *, pairs: Sequence[str] = ()) -> bytes:
    """Return the bytes of a document: a key a line, and a row a line where the value is a list of rows.

    Parameters
    ----------
    document : mapping
    pairs : sequence of str, optional
        The rows of pairs as JSON, where the document has none.
    """
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    parts = []
    for key, value in document.items():
        are_rows = isinstance(value, list) and value and isinstance(value[0], Mapping)
        rows = pairs if key == "pairs" and not value else [*map(encode, value)] if are_rows else ()
        text = "[\n  " + ",\n  ".join(rows) + "\n ]" if rows else encode(value)
        parts.append(f" {json.dumps(key)}: {text}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def read_report(document: Mapping[str, Any]) -> Report:
    """Return the report that a document of this version holds.

    Raises
    ------
    pydantic.ValidationError
        For every key that is missing, unknown or of another type.
    """
    return _adapter().validate_python(document)


def read_verdicts(document: Mapping[str, Any]) -> list[Verdict]:
    """Return the verdicts of a document, also of one that an earlier version wrote."""
    return [Verdict(row["test_set"], row["metric"], row["procedure"], row["sentences"]) for row in document["verdict"]]


def read_leads(document: Mapping[str, Any]) -> list[str]:
    """Return what analyses say of all test sets together; nothing where an earlier version wrote the document."""
    headlines = (row for one in document.get("findings", ()) for row in one.get("headlines", ()))
    return [*dict.fromkeys(row["sentence"] for row in headlines if not row["test_set"])]


def read_titles(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the title of each metric of a document; nothing where an earlier version wrote it."""
    sets = document["test_sets"] if document["schema_version"] == SCHEMA_VERSION else ()
    return {row["name"]: row["title"] for test_set in sets for row in test_set["metrics"] if "title" in row}


def read_checks(document: Mapping[str, Any]) -> list[Check]:
    """Return the checks of a document ("How far to trust it"), also of one that an earlier version wrote."""
    return [Check(row["check"], row["status"], row["detail"]) for row in document["trust"]]


@cache
def _adapter() -> TypeAdapter[Report]:
    from pydantic import TypeAdapter

    return TypeAdapter(Report)
