"""The record of a run: its study and inputs in `plan.json`, its receipts and failures in its ledger.

A receipt of a thousand systems is 36 kB of names, the same in hundreds of receipts. So a ledger has what many receipts share
once, in an entry of its own, a *group*, named by digest and written before the first receipt that needs it (`ReceiptWriter`). A
receipt whose group is not there counts as not written: its work is done again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeVar

from pipeline.cubes.layout import cube_name
from pipeline.dataclass import dataclass
from pipeline.errors import Problem, StoreError
from pipeline.metrics.registry import is_own
from pipeline.plan.inputs import Inputs
from pipeline.plan.inventory import Group, Inventory
from pipeline.plan.task import Failure, Receipt
from pipeline.store.addresses import digest, digest_file
from pipeline.store.array_files import check_arrays
from pipeline.store.files import read_json
from pipeline.store.ledger import Ledger, iterate_ledger
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.schema import Study

__all__ = [
    "Manifest",
    "ReceiptWriter",
    "Standing",
    "damaged_cubes",
    "damaged_results",
    "failure_entry",
    "iterate_receipts",
    "list_receipts",
    "read_inventory",
    "read_manifest",
    "read_standing",
    "result_exists",
]


class ReceiptWriter:
    """Writes receipts into an open ledger.

    Groups are written again by each attempt: what an earlier one wrote need not be known.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._names: dict[Group, str] = {}

    def append(self, event: Literal["done", "reused"], receipt: Receipt) -> None:
        """Write a receipt, and before it the groups it is the first to name; when this returns it is on disk."""
        value = {field.name: getattr(receipt, field.name) for field in fields(receipt)}
        if "columns" in receipt.covers:
            columns = [{"column": entry["column"], "group": self._name(entry)} for entry in receipt.covers["columns"]]
            value["covers"] = {**receipt.covers, "columns": columns}
        self._ledger.append({"event": event, "receipt": value})

    def _name(self, entry: Mapping[str, Any]) -> str:
        group = Group.of(entry)
        if group not in self._names:
            self._ledger.append({"event": "group", "name": group.name, **group.to_json()})
            self._names[group] = group.name
        return self._names[group]


T = TypeVar("T")


def list_receipts(entries: Iterable[Mapping[str, Any]]) -> dict[str, Receipt]:
    """Return the receipts that stand in ledger entries; a later ``dropped`` takes one back."""
    return _standing(entries, lambda place, receipt: receipt)


class Standing(NamedTuple):
    """The state at the end of a ledger: places of valid receipts, keys that other runs did, failures since the last start."""

    places: Mapping[str, int]
    reused: frozenset[str]
    failures: tuple[Failure, ...]


def read_standing(path: Path) -> Standing:
    """Read the state at the end of a ledger; StoreError where a line is damaged."""
    failures: dict[str, Failure] = {}
    keys: dict[str, set[str]] = {"done": set(), "reused": set()}

    def noted() -> Iterator[dict[str, Any]]:
        for entry in iterate_ledger(path):
            if entry["event"] == "started":
                failures.clear()
            elif entry["event"] == "failed":
                failures[entry["key"]] = _failure(entry)
            elif entry["event"] in keys:
                keys[entry["event"]].add(entry["receipt"]["key"])
            yield entry

    places = _standing(noted(), lambda place, receipt: place)
    failed = tuple(failure for failure in failures.values() if failure.key not in places)
    return Standing(places, frozenset(keys["reused"] - keys["done"]), failed)


def iterate_receipts(path: Path, standing: Standing | None = None) -> Iterator[Receipt]:
    """Yield the valid receipts of a ledger, one at a time, without holding all of them.

    The ledger is read twice, first for what stands, which only its end tells. What is added meanwhile is left out.
    """
    places = (standing or read_standing(path)).places
    for place, receipt in _sound_receipts(iterate_ledger(path)):
        if isinstance(receipt, Receipt) and places.get(receipt.key) == place:
            yield receipt


def _standing(entries: Iterable[Mapping[str, Any]], keep: Callable[[int, Receipt], T]) -> dict[str, T]:
    """Return what is kept of each valid receipt, by its key."""
    kept: dict[str, T] = {}
    current: dict[tuple[str, str], str] = {}
    for place, receipt in _sound_receipts(entries):
        if isinstance(receipt, str):
            kept.pop(receipt, None)
            continue
        kept[receipt.key] = keep(place, receipt)
        if receipt.kind in {"collect", "report"}:
            # A test set has one cube, a run one report: a later one has taken the place of the earlier.
            made = (receipt.kind, str(receipt.covers.get("test_set", "")))
            if current.get(made, receipt.key) != receipt.key:
                kept.pop(current[made], None)
            current[made] = receipt.key
    return kept


def _sound_receipts(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Receipt | str]]:
    """Yield the receipts of ledger entries with their places, and the keys of those that are taken back."""
    groups: dict[str, Group] = {}
    for place, entry in enumerate(entries):
        if entry["event"] == "group":
            groups[entry["name"]] = Group.of(entry)
        elif entry["event"] in {"done", "reused"}:
            receipt = _read(entry["receipt"], groups)
            if receipt is not None and not _leads_out(receipt.file):
                yield place, receipt
        elif entry["event"] == "dropped":
            yield place, entry["key"]


def _leads_out(file: str) -> bool:
    """Say whether a file lies outside the store or run that it is relative to, as a ledger from elsewhere may have it."""
    path = PurePosixPath(file)
    return path.is_absolute() or ".." in path.parts


def _read(value: Mapping[str, Any], groups: Mapping[str, Group]) -> Receipt | None:
    covers = value.get("covers", {})
    if "columns" not in covers:
        return Receipt.from_json(value)
    columns = []
    for entry in covers["columns"]:
        if "group" not in entry:  # written before there were groups
            columns.append(entry)
        elif entry["group"] in groups:
            columns.append({"column": entry["column"], **groups[entry["group"]].to_json()})
        else:
            return None
    return Receipt.from_json({**value, "covers": {**covers, "columns": columns}})


MANIFEST_VERSION = 1


@dataclass(frozen=True)
class Manifest:
    """A run's study and inputs, as they were when it was made."""

    study: Study
    inputs: Inputs
    overrides: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for `plan.json`."""
        value: dict[str, Any] = {
            "schema_version": MANIFEST_VERSION,
            "study": self.study.model_dump(mode="json", by_alias=True),
            "overrides": list(self.overrides),
            "inputs": self.inputs.to_json(),
        }
        # A bit that flips in a seed would be another study, and nothing else here would show it.
        return {**value, "digest": digest(json.loads(json.dumps(value)))}

    def identity(self) -> dict[str, Any]:
        """Return the content of the run id: the resolved study without where it runs, and the content of its inputs."""
        # A study that expects nothing is the run that it was before there were expectations.
        without = {"cluster", "fetch"} | (set() if self.study.expect else {"expect"})
        asked = self.study.model_dump(mode="json", by_alias=True, exclude=without)
        for test_set in asked["test_sets"].values():
            # Places are no part of what is asked: the content is in the fingerprint.
            for key in ("references", "outputs", "documents", *(["gold"] if isinstance(test_set["gold"], str) else [])):
                test_set.pop(key)
            if test_set["predicted"] is None:  # as it was before this could be said
                test_set.pop("predicted")
        asked["systems"].pop("table")
        for metric in asked["metrics"]:
            if is_own(metric["name"]):
                metric.pop("path", None)
        training = asked.get("training") or {}
        training.pop("keep_models", None)  # room on a disk changes no number
        data = training.get("data", {})
        for key in ("path", "gold"):
            data.pop(key, None)
        return {"study": asked, "inputs": self.inputs.fingerprint()}

    @property
    def run_id(self) -> str:
        """The id of its run: the study's slug and a digest of the study and the content of its inputs."""
        return f"{self.study.slug}-{digest(self.identity())[:12]}"


def read_manifest(run: RunDirectory) -> Manifest:
    """Read `plan.json`.

    Raises
    ------
    StoreError
        P704 or P705 it is missing or damaged; P709 it is of another version. All of them `pipeline resume` puts right.
    """
    value = read_json(run.plan, help=f"`pipeline resume {run.id}` writes it again from the run's study.yaml")
    if not isinstance(value, dict):
        raise _damaged(run, "it holds no mapping")
    if value.get("schema_version") != MANIFEST_VERSION:
        raise StoreError.of(
            "P709",
            f"plan.json has schema_version {value.get('schema_version')}, this version reads {MANIFEST_VERSION}",
            where=str(run.plan),
            help=f"`pipeline resume {run.id}` writes it again from the run's study.yaml",
        )
    written = value.pop("digest", None)  # earlier versions wrote none
    if written not in (None, digest(value)) or set(value) != {"schema_version", "study", "overrides", "inputs"}:
        raise _damaged(run, "its content is not what was written")
    try:
        study = Study.model_validate(value["study"])
        return Manifest(study, Inputs.from_json(value["inputs"], unit=study.resampling.unit), tuple(value["overrides"]))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _damaged(run, f"{type(error).__name__}: {error}".splitlines()[0]) from error


def _damaged(run: RunDirectory, why: str) -> StoreError:
    help = f"`pipeline resume {run.id}` writes it again from the run's study.yaml"
    return StoreError(Problem("P705", f"a stored file is damaged: {why}", str(run.plan), help))


def failure_entry(failure: Failure) -> dict[str, Any]:
    """Return a failure as the ledger holds it."""
    problems = [[p.code, p.message, p.where, p.help, p.note] for p in failure.problems]
    own = ("key", "label", "exit_code", "attempts", "seconds", "peak_memory_bytes")
    return {"event": "failed", **{name: getattr(failure, name) for name in own}, "facts": dict(failure.facts), "problems": problems}


def _failure(entry: Mapping[str, Any]) -> Failure:
    """Read what `failure_entry` wrote, by this version or an earlier one."""
    more = {name: entry[name] for name in ("attempts", "seconds", "peak_memory_bytes", "facts") if name in entry}
    problems = tuple(Problem(*problem) for problem in entry["problems"])
    return Failure(entry["key"], entry["label"], entry["exit_code"], problems, **more)


def read_inventory(run: RunDirectory) -> Inventory:
    """Return the content of the run's own ledger: receipts, and the failures since it was last started."""
    standing = read_standing(run.ledger)
    inventory = Inventory.of(iterate_receipts(run.ledger, standing))
    for failure in standing.failures:
        inventory.fail(failure)
    return inventory


def damaged_results(receipts: Iterable[Receipt], store: Store) -> list[tuple[Receipt, str]]:
    """Return the receipts whose stored result is missing or damaged, and the problem; reads every byte."""
    damaged = []
    for receipt in receipts:
        if receipt.kind in {"collect", "report"}:
            continue
        path = store.root / receipt.file
        if receipt.kind == "shard" and not path.exists():  # its chunks are in the cube
            continue
        try:
            if path.suffix == ".arrays":
                check_arrays(path, receipt.checksum)
            elif digest_file(path) != receipt.checksum:
                damaged.append((receipt, "its bytes are not those that were written"))
        except StoreError as error:
            damaged.append((receipt, error.problems[0].message))
        except OSError as error:
            damaged.append((receipt, error.strerror or str(error)))
    return damaged


def damaged_cubes(run: RunDirectory, test_sets: Sequence[str], *, verify: bool) -> str:
    """Say what is wrong with the cubes of these test sets, or nothing; ``verify`` reads every byte."""
    gone = _missing_cubes(run, test_sets)
    if gone:
        return f"the cube of {', '.join(map(repr, gone))} is gone"
    if not verify:
        return ""
    from pipeline.cubes.reading import verify_cubes  # Zarr, which a run without cubes need not load

    return "; ".join(problem.message for problem in verify_cubes(run.cubes))


def _missing_cubes(run: RunDirectory, test_sets: Iterable[str]) -> list[str]:
    """Return the test sets that have no cube."""
    return [name for name in test_sets if not (run.cubes / cube_name(name) / "zarr.json").is_file()]


def result_exists(receipt: Receipt, store: Store) -> bool:
    """Say whether a stored result is there, without reading it."""
    return Path(store.root / receipt.file).is_file()
