"""Tasks, receipts and what they carry: the frozen values that plan, engine and tasks exchange.

A task is data: it can be printed, hashed, pickled and written as JSON. It goes to a worker, the worker writes its result into
the store under the task's key, and a receipt comes back. Arrays never travel with either.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass, field
from pipeline.errors import Problem

__all__ = [
    "CollectSpec",
    "ComparisonSpec",
    "ExtractSpec",
    "Failure",
    "Kind",
    "Receipt",
    "ReportSpec",
    "ResampleSpec",
    "ShardSpec",
    "Task",
    "TrainSpec",
    "pack_mask",
    "triangle",
    "unpack_mask",
]

Kind = Literal["train", "extract", "resample", "shard", "collect", "report"]


def pack_mask(mask: NDArray[np.bool_]) -> str:
    """Return a boolean vector as a short string; the inverse of `unpack_mask`.

    Examples
    --------
    >>> import numpy as np
    >>> unpack_mask(pack_mask(np.array([True, False, True])), 3).tolist()
    [True, False, True]
    """
    return base64.b85encode(zlib.compress(np.packbits(mask).tobytes(), 9)).decode("ascii")


def unpack_mask(text: str, length: int) -> NDArray[np.bool_]:
    """Return the boolean vector of ``length`` that `pack_mask` wrote."""
    bits = np.unpackbits(np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8), count=length)
    return bits.astype(np.bool_)


@dataclass(frozen=True)
class TrainSpec:
    """Fit one base model to one resampled training set and predict every test set.

    ``identity`` pins the fitted model: it does not know which test sets are predicted. ``rule`` holds what of the sampling method
    is neither its name nor its fraction: ``unit``, ``folds``, ``instances``. ``test_sets`` has the name and the specification of
    each by the digest of its gold. ``keep_models`` is the room for fitted models in bytes, and part of no address.
    """

    identity: str
    model: str
    trainer: str
    options: Mapping[str, Any]
    data: Mapping[str, Any]
    seed: int
    method: str
    fraction: float
    replica: int
    test_sets: Mapping[str, Mapping[str, Any]]
    rule: Mapping[str, Any] = field(default_factory=dict)
    data_digest: str = ""
    signature: str = ""
    base: str = ""
    keep_models: float = 0.0


@dataclass(frozen=True)
class ExtractSpec:
    """Count the statistics of one metric on one output of one test set."""

    test_set: str
    frame: str
    gold_digest: str
    test_set_spec: Mapping[str, Any]
    base: str
    metric: str
    options: Mapping[str, Any]
    signature: str
    output: Mapping[str, Any] | None  # a file's Output, or
    training: str | None  # the key of the training that made it


@dataclass(frozen=True)
class ComparisonSpec:
    """One metric on one test size: whose statistics, which pairs, whose replicate scores are kept.

    ``pairs`` masks the pairs ``i < j`` of ``systems`` in row order; ``kept`` masks ``systems``.
    """

    column: str
    metric: str
    options: Mapping[str, Any]
    margin: float | None
    systems: tuple[str, ...]
    pairs: str
    kept: str

    def pair_mask(self) -> NDArray[np.bool_]:
        """Which pairs of the upper triangle are asked for."""
        return unpack_mask(self.pairs, len(self.systems) * (len(self.systems) - 1) // 2)

    def kept_mask(self) -> NDArray[np.bool_]:
        """Which systems' replicate scores are asked for."""
        return unpack_mask(self.kept, len(self.systems))


@dataclass(frozen=True)
class ResampleSpec:
    """Count the comparisons of a range of cells on one test size; ``strata`` is the address of those that are drawn within."""

    test_set: str
    frame: str
    size: str
    n_units: int
    seed: int
    rule: str
    procedure: str
    replicates: int
    first_cell: int
    stop_cell: int
    columns: tuple[ComparisonSpec, ...]
    strata: str = ""


@dataclass(frozen=True)
class ShardSpec:
    """Make the chunks of a cube that hold some pairs, and the kept scores of some systems, of one metric on one test size."""

    run: str
    test_set: str
    size: str
    metric: str
    first_pair: int
    stop_pair: int
    first_system: int
    stop_system: int


@dataclass(frozen=True)
class CollectSpec:
    """Fold the cells of one test set into its cube, or put it together of ``shards``, by their keys."""

    run: str
    test_set: str
    shards: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportSpec:
    """Ask the cubes and write the report."""

    run: str


Spec = TrainSpec | ExtractSpec | ResampleSpec | ShardSpec | CollectSpec | ReportSpec


@dataclass(frozen=True)
class Task:
    """One coarse piece of work.

    Parameters
    ----------
    kind : str
        Which function runs it.
    key : str
        The content address of what it makes.
    label : str
        For people.
    spec : frozen dataclass
        Everything it needs to know beyond the store.
    needs : tuple of str
        Keys of tasks that must be done before.
    retries : int
        How often an ordinary failure is tried again.
    resources : mapping of str to float
        What it needs of its worker: bytes of ``memory``, ``cores``, and tags; nothing for most.
    """

    kind: Kind
    key: str
    label: str
    spec: Spec
    needs: tuple[str, ...] = ()
    retries: int = 0
    resources: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)  # a run holds one of every task that it has done
class Receipt:
    """The record of a finished task: where its result is, how to recognise it, and what it covered.

    Parameters
    ----------
    file : str
        Result relative to the store, or to the run directory for cubes and report.
    checksum : str
        Checksum of that file; empty for directories.
    covers : mapping
        Facts later plans read: cells and pairs, training notes.
    seconds, cpu_seconds : float
        Time by the clock; time of processors, of the worker in user and system mode and of the programs that it waited for. The
        second is the task's own only in a worker that runs one task at a time; 0 in a ledger of an earlier version.
    peak_memory_bytes : int
        The most memory its worker had held by then, over all its tasks.
    attempts : int
        How often it was tried, this time included.
    """

    kind: Kind
    key: str
    label: str
    file: str
    checksum: str
    seconds: float
    worker: str
    covers: Mapping[str, Any] = field(default_factory=dict)
    peak_memory_bytes: int = 0
    attempts: int = 1
    cpu_seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the ledger."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Receipt:
        """Read what `to_json` wrote, by this version or a later one."""
        known = {field.name for field in fields(cls)}
        return cls(**{key: entry for key, entry in value.items() if key in known})


@dataclass(frozen=True)
class Failure:
    """Why a task gave no receipt.

    Parameters
    ----------
    attempts : int
        How often it was tried before it was given up.
    seconds, peak_memory_bytes : float, int
        As of a receipt, of the last attempt; 0 where its worker was lost.
    facts : mapping
        What else is known, of a training: ``log`` (a file of the store) and ``exit_status`` of its command.
    """

    key: str
    label: str
    exit_code: int
    problems: tuple[Problem, ...]
    traceback: str = ""
    worker_lost: bool = False
    attempts: int = 1
    seconds: float = 0.0
    peak_memory_bytes: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """One line for people."""
        return "; ".join(p.message for p in self.problems)

    @classmethod
    def lost(cls, task: Task, message: str) -> Failure:
        """Make the failure of a task whose worker died."""
        problem = Problem("P402", message, where=task.label, help="`pipeline resume` tries it again")
        return cls(task.key, task.label, 4, (problem,), worker_lost=True)


def triangle(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions ``i < j`` of all pairs in row order."""
    first, second = np.triu_indices(size, 1)
    return first.astype(np.int64), second.astype(np.int64)
