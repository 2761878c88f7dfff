"""Keep the plan and ledger of a run between the tasks of a process: workers collect one test set after another.

What was added to the ledger in between mostly says that another test set is done. Only that is read, unless it says anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import get_ident
from typing import Any

from pipeline.plan.inventory import Inventory
from pipeline.record.manifest import Manifest, list_receipts, read_inventory, read_manifest
from pipeline.store.files import store_error
from pipeline.store.ledger import read_added
from pipeline.store.runs import RunDirectory

__all__ = ["forget_runs", "read_run"]

_SEEN = 4096
"""Bytes before the added ones that must be unchanged: the file may by now be another ledger of that name."""


def read_run(run: RunDirectory) -> tuple[Manifest, Inventory]:
    """Return the manifest and inventory of a run, as `read_manifest` and `read_inventory` do; the caller must not change them."""
    plan = run.plan.stat() if run.plan.is_file() else None
    # A plan is replaced, never changed in place: a new one has another inode.
    manifest = _manifest(run, plan.st_ino, plan.st_size, plan.st_mtime_ns) if plan else read_manifest(run)
    return manifest, _ledger(run, get_ident()).inventory()


def forget_runs() -> None:
    """Forget all runs, to free their memory for a task."""
    _manifest.cache_clear()
    _ledger.cache_clear()


@lru_cache(maxsize=1)
def _manifest(run: RunDirectory, *_stamp: int) -> Manifest:
    return read_manifest(run)


@lru_cache(maxsize=4)
def _ledger(run: RunDirectory, thread: int) -> _Ledger:
    # One for each thread of a worker: an inventory changes when it is asked too, by what it remembers of groups.
    return _Ledger(run)


class _Ledger:
    """The ledger of a run, as far as it has been read."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._inventory: Inventory | None = None
        self._size, self._before = 0, b""

    def inventory(self) -> Inventory:
        """Return its current content."""
        path = self._run.ledger
        if self._inventory is not None and self._before == _end(path, self._size):
            added = read_added(path, self._size)
            if added is not None and _only_cubes(added.entries, self._inventory):
                for receipt in list_receipts(added.entries).values():
                    self._inventory.add(receipt)
                self._note(path, added.size)
                return self._inventory
        size = path.stat().st_size if path.is_file() else 0
        self._inventory = read_inventory(self._run)
        self._note(path, size)
        return self._inventory

    def _note(self, path: Path, size: int) -> None:
        self._size, self._before = size, _end(path, size)


def _only_cubes(entries: Sequence[Mapping[str, Any]], known: Inventory) -> bool:
    """Tell whether entries say that new cubes or parts of them were made: these take nothing back and name no groups."""
    if any(entry["event"] != "done" or entry["receipt"]["kind"] not in ("collect", "shard") for entry in entries):
        return False
    receipts = [entry["receipt"] for entry in entries]
    cubes = {receipt.covers.get("test_set") for receipt in known.receipts.values() if receipt.kind == "collect"}
    # A cube that is made again replaces the earlier one, as does another cube of a test set.
    return not any(
        one["key"] in known.receipts or (one["kind"] == "collect" and one["covers"].get("test_set") in cubes) for one in receipts
    )


def _end(path: Path, size: int) -> bytes:
    """Return the last bytes, `_SEEN` at most, of the first ``size`` of a file; none if it is gone."""
    try:
        with open(path, "rb") as file:
            file.seek(max(size - _SEEN, 0))
            return file.read(min(size, _SEEN))
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise store_error(error, path) from error
