"""The schema of `training:` in `study.yaml`, as frozen values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_validator

from pipeline.amounts import parse_bytes
from pipeline.errors import is_name
from pipeline.study.frozen import Frozen

__all__ = [
    "BootstrapSample",
    "CrossValidation",
    "DataFiles",
    "DatasetSpec",
    "ModelSpec",
    "QuotaSample",
    "Resample",
    "SeedSample",
    "Training",
    "doubled_systems",
]


class DatasetSpec(Frozen):
    """Data that ships inside a dependency, in place of a file."""

    dataset: str = Field(description="Name of the embedded data set, for example digits.")
    part: Literal["train", "test"] = Field(default="test", description="Which half of the items.")
    rotate: float = Field(default=0.0, description="Degrees by which images are turned: a shifted test set.")
    blur: float = Field(default=0.0, ge=0.0, description="Standard deviation of a Gaussian blur in pixels: a shifted test set.")


def _ranges(value: str) -> str:
    if not re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", re.sub(r"\s", "", value)):
        raise ValueError(f"items are a range such as 1-3500, or several by comma, not {value!r}")
    return value


ItemRanges = Annotated[str, AfterValidator(_ranges)]
"""Items by number from 1, both ends included: ``1-3500`` or ``1-200, 301``."""


class DataFiles(Frozen):
    """Training data in files, as a reader reads gold."""

    path: str | tuple[str, ...] = Field(description="A file, a list of files, or a pattern with * and ?, read in sorted order.")
    format: str = Field(description="A reader's name: columns, tagged, conllu, bitext, brackets, labels.")
    gold: str | None = Field(default=None, description="A second file that some formats have, for example the links of a bitext.")
    columns: Mapping[str, str] = Field(default={}, description="Names of columns in tables, as for test sets.")
    items: ItemRanges | None = Field(default=None, description="Which items, in file order: 1-3500, or several ranges by comma.")

    @field_validator("path")
    @classmethod
    def _names_a_file(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not value or not all(value):
            raise ValueError("an empty path names no file")
        return value

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths and patterns."""
        return (self.path,) if isinstance(self.path, str) else self.path


class _Resample(Frozen):
    @property
    def fraction_of_all(self) -> float:
        """Size of a sample as a share of the training set."""
        return 1.0

    @property
    def label(self) -> str:
        """The method as names of systems have it."""
        return str(self.method)  # type: ignore[attr-defined]  # every subclass has one

    @property
    def count(self) -> int:
        """How many samples."""
        return int(self.replicas)  # type: ignore[attr-defined]  # but for those that count otherwise


class BootstrapSample(_Resample):
    """Training sets drawn with replacement."""

    method: Literal["bootstrap"]
    fraction: float = Field(default=1.0, gt=0.0, le=1.0, description="Size of the sample as a share of the training set.")
    replicas: int = Field(ge=1, description="How many samples.")

    @property
    def fraction_of_all(self) -> float:
        """Size of a sample as a share of the training set."""
        return self.fraction

    @property
    def label(self) -> str:
        """The method as names of systems have it."""
        return f"bootstrap-{self.fraction:g}"


class QuotaSample(_Resample):
    """Training sets of whole units drawn with replacement until their instances reach the original count."""

    method: Literal["quota"]
    instances: str = Field(default="items", description="What is counted: items, tokens, chunks:NP, or a column of whole numbers.")
    replicas: int = Field(ge=1, description="How many samples.")


class CrossValidation(_Resample):
    """Training sets that leave out one fold of the units; replica = repeat · folds + fold."""

    method: Literal["cross-validation"]
    folds: int = Field(ge=2, description="Number of folds.")
    repeats: int = Field(default=1, ge=1, description="Number of times the folds are drawn.")

    @property
    def fraction_of_all(self) -> float:
        """Size of a sample as a share of the training set."""
        return 1.0 - 1.0 / self.folds

    @property
    def label(self) -> str:
        """The method as names of systems have it."""
        return f"cross-validation-{self.folds}"

    @property
    def count(self) -> int:
        """How many samples."""
        return self.folds * self.repeats


class SeedSample(_Resample):
    """The whole training set, each time with another seed."""

    method: Literal["seed"]
    replicas: int = Field(ge=1, description="How many seeds.")


Resample = Annotated[BootstrapSample | QuotaSample | CrossValidation | SeedSample, Field(discriminator="method")]


def _resources(value: Any) -> Any:
    """Return bytes of memory and numbers of all else; ValueError where they are none."""
    if not isinstance(value, Mapping):
        return value
    found: dict[str, float] = {}
    for name, amount in value.items():
        if name == "memory" and isinstance(amount, str):
            amount = parse_bytes(amount)
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 < amount < float("inf"):
            raise ValueError(f"{name} is a number above 0{' or a size such as 2 GB' * (name == 'memory')}, not {amount!r}")
        found[str(name)] = float(amount)
    return found


class ModelSpec(Frozen):
    """One base model: a trainer, the resources that a training needs, and the trainer's options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    trainer: str = Field(description="A trainer's name: sklearn, command, python, or a reference system.")
    retries: int = Field(default=0, ge=0, description="Number of retries of a failed training.")
    resources: Annotated[Mapping[str, float], BeforeValidator(_resources)] = Field(
        default={},
        description="What one training needs of its worker: memory (2 GB), cores, and tags of workers (gpu: 1).",
        json_schema_extra={"additionalProperties": {"type": ["number", "string"]}},
    )

    @property
    def options(self) -> dict[str, Any]:
        """Options of the trainer: all other keys."""
        return dict(self.model_extra or {})


# With a blank: where a value is wrong they stand in its path, where no key of a mapping may have the name.
_EMBEDDED, _FILES = "embedded data", "data in files"


def _kind_of_data(value: Any) -> str:
    named = "dataset" in value if isinstance(value, Mapping) else isinstance(value, DatasetSpec)
    return _EMBEDDED if named else _FILES


TrainingData = Annotated[Annotated[DatasetSpec, Tag(_EMBEDDED)] | Annotated[DataFiles, Tag(_FILES)], Discriminator(_kind_of_data)]


def _size(value: Any) -> Any:
    """Return the bytes of a size such as 2 GB; other values are left to the field."""
    return parse_bytes(value) if isinstance(value, str) else value


class Training(Frozen):
    """Systems made by training base models on resampled training sets."""

    data: TrainingData = Field(description="Files (path, format), or an embedded data set.")
    unit: str = Field(
        default="item", min_length=1, description="What is resampled: item (a sentence), document, or a column of the data."
    )
    resamples: tuple[Resample, ...] = Field(min_length=1)
    models: Mapping[str, ModelSpec] = Field(min_length=1)
    keep_models: Annotated[float, BeforeValidator(_size)] = Field(
        default=2e9,
        ge=0.0,
        allow_inf_nan=False,
        description="Room for fitted models in the store, such as 2 GB: the least recently used go first; 0 keeps none.",
        json_schema_extra={"type": ["number", "string"]},
    )

    @field_validator("models")
    @classmethod
    def _names_print(cls, value: Mapping[str, ModelSpec]) -> Mapping[str, ModelSpec]:
        for name in value:
            if not is_name(name):
                raise ValueError(f"the model name {name!r} is empty or holds characters that do not print")
        return value


def doubled_systems(training: Training) -> Iterator[tuple[int, int, str]]:
    """Yield each entry of ``resamples`` that makes the systems of an earlier one: both positions, and the method."""
    first: dict[str, int] = {}
    for position, sample in enumerate(training.resamples):
        earlier = first.setdefault(sample.label, position)
        if earlier != position:
            yield position, earlier, sample.label
