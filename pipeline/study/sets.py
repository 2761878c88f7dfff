"""Test sets as a study names them: the gold, the files of outputs, and which items are scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_serializer

from pipeline.study.frozen import Frozen, name_alone
from pipeline.study.training_schema import DatasetSpec, ItemRanges

__all__ = ["FormatSpec", "ItemChoice", "TestSet"]


def _one_or_several(value: Any) -> Any:
    names = value if isinstance(value, (list, tuple)) else (value,)
    # A group that looks like a number in YAML is still a name.
    return tuple(str(name) if isinstance(name, (int, float)) and not isinstance(name, bool) else name for name in names)


_NAMES_IN_JSON = {"anyOf": [{"type": ["string", "number"]}, {"type": "array", "items": {"type": ["string", "number"]}}]}
GroupNames = Annotated[tuple[str, ...], BeforeValidator(_one_or_several), WithJsonSchema(_NAMES_IN_JSON)]
"""Names of groups of items; one stands for a list of it alone."""


class FormatSpec(Frozen):
    """A format and the options of its reader."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @property
    def options(self) -> dict[str, Any]:
        """Options beyond the name."""
        return dict(self.model_extra or {})

    @model_serializer
    def _as_written(self) -> str | dict[str, Any]:
        return {"name": self.name, **self.options} if self.options else self.name


class ItemChoice(Frozen):
    """Which items of a test set are scored, by columns that group them."""

    include: Mapping[str, GroupNames] = Field(default={}, description="By column: only items whose group is one of these.")
    exclude: Mapping[str, GroupNames] = Field(default={}, description="By column: no item whose group is one of these.")


class TestSet(Frozen):
    """One test set: the gold and where the outputs are."""

    __test__ = False  # not a test class, whatever its name says to a collector

    format: Annotated[FormatSpec, name_alone("format")] = Field(
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
        default={},
        description="Names of columns in tables: item, system, replica, label, document, and those that units or strata name.",
    )
    missing: Literal["error", "drop", "zero"] = Field(default="error", description="What to do with items a system lacks.")
    predicted: bool | None = Field(
        default=None,
        description="Whether the systems of `training:` predict it; by default if it has no outputs. With outputs too, given and "
        "trained systems are compared, and their coordinate `origin` says which is which.",
    )
