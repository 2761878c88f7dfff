"""The folder of a history: one folder a slot, whole or absent, one writer at a time; a later slot never touches an earlier one.

DIR/slots/<slot>/account.json    what was found, what changed, what it spent
DIR/slots/<slot>/account.md      the same for people
DIR/slots/<slot>/cube.zarr/      the numbers (`pipeline.cubes.history`)
DIR/missed/<slot>.json           a slot that could not be measured, until it is
DIR/index.html                   all of it as a page
DIR/gate/answers.json            what gates found that wait for confirmation (`pipeline gate --confirm`)
DIR/lease.N                      who adds a slot; DIR/gate/lease.N: who notes answers
"""

from __future__ import annotations

import math
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from pipeline.cubes.history import SIDES, SlotCube, write_slot
from pipeline.dataclass import dataclass
from pipeline.errors import Problem, RunLocked, StoreError
from pipeline.store.files import (
    make_directory,
    make_tree_private,
    read_json,
    store_error,
    sweep_temporaries,
    temporary_name,
    write_bytes,
)
from pipeline.store.lease import hold_lease
from pipeline.store.seals import read_sealed, write_sealed
from pipeline.store.syncing import sync_directory

__all__ = ["SCHEMA_VERSION", "History", "is_slot_name"]

SCHEMA_VERSION = 1

MOST_ANSWERS = 1000
"""Runs of a gate that are kept: no confirmation asks for more."""


WAIT_SECONDS = 10.0
"""A gate that finds another noting its answers waits so long: a note takes milliseconds."""


def is_slot_name(text: str) -> bool:
    """Say whether a slot may have this name: it must name a folder on any file system.

    Examples
    --------
    >>> is_slot_name("2026-11-26"), is_slot_name("2026-11-26T02"), is_slot_name("../other"), is_slot_name("")
    (True, True, False, False)
    """
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", text) is not None


@dataclass(frozen=True)
class History:
    """The results of a study at each slot so far."""

    root: Path

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the right to add a slot, or raise P801 where another process does."""
        make_directory(self.root)
        for place in (self.root, *(self.root / name for name in ("slots", "missed", "gate"))):
            sweep_temporaries(place, deep=False)  # not what is in slots: nothing there changes once it is whole
        try:
            with hold_lease(self.root):
                yield
        except RunLocked as error:
            if error.problems[0].where != str(self.root):
                raise  # it is the run's
            message = "another process is adding a slot to this history"
            help = "wait until it ends and ask again: a slot that is done is not done twice"
            raise RunLocked(Problem("P801", message, str(self.root), help, error.problems[0].message)) from error

    def accounts(self) -> list[dict[str, Any]]:
        """Return the accounts of all slots in the order in which they were added."""
        try:
            folders = [folder for folder in (self.root / "slots").iterdir() if is_slot_name(folder.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise store_error(error, self.root) from error
        return sorted((_read_account(folder) for folder in folders), key=lambda account: int(account["number"]))

    def missed(self) -> dict[str, dict[str, Any]]:
        """Return the records of slots that could not be measured, by slot."""
        found = sorted((self.root / "missed").glob("*.json"))
        return {path.stem: read_sealed(path, help=f"remove {path}; nothing else depends on it") for path in found}

    def add(self, account: Mapping[str, Any], text: str) -> Path:
        """Write a slot; it is there whole when this returns, and not at all where it fails."""
        slots = make_directory(self.root / "slots")
        slot = str(account["slot"])
        temporary, final = slots / temporary_name(), slots / slot
        try:
            make_directory(temporary)
            write_slot(temporary / "cube.zarr", slot, _cube_of(account))
            write_bytes(temporary / "account.md", text.encode())
            write_sealed(temporary / "account.json", {"schema_version": SCHEMA_VERSION, **account})
            make_tree_private(temporary, like=temporary)
            os.rename(temporary, final)
            sync_directory(slots)
            (self.root / "missed" / f"{slot}.json").unlink(missing_ok=True)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError):
                raise store_error(error, final) from error
            raise
        return final

    def miss(self, slot: str, *, exit_code: int, why: str) -> None:
        """Record that a slot could not be measured; it may be asked for again, and spends nothing."""
        make_directory(self.root / "missed")
        write_sealed(self.root / "missed" / f"{slot}.json", {"slot": slot, "exit_code": exit_code, "why": why})

    @property
    def page(self) -> Path:
        """The page of the history."""
        return self.root / "index.html"

    def note_answers(self, run: str, answers: Mapping[str, str]) -> list[dict[str, str]]:
        """Keep the answers of a gate, and return those of the runs before, the latest last; the same run again is one run."""
        folder = make_directory(self.root / "gate")
        # A lease of its own: a slot that is being added takes as long as its run does.
        with _waiting_for(folder):
            path = folder / "answers.json"
            before = [one for one in _read_answers(path) if one["run"] != run]
            write_sealed(path, {"runs": [*before, {"run": run, "answers": dict(answers)}][-MOST_ANSWERS:]})
        return [one["answers"] for one in before]


def _read_answers(path: Path) -> list[dict[str, Any]]:
    """Return the answers of a gate, of each run; an earlier version wrote the list alone, without a checksum."""
    if not path.is_file():
        return []
    help = f"remove {path}: confirmation starts again"
    kept = read_json(path, help=help)
    runs: list[dict[str, Any]] = kept if isinstance(kept, list) else read_sealed(path, help=help)["runs"]
    return runs


@contextmanager
def _waiting_for(folder: Path) -> Iterator[None]:
    """Hold the lease of a folder, and wait for it where another process has it."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        with suppress(RunLocked), ExitStack() as stack:
            stack.enter_context(hold_lease(folder))
            held = stack.pop_all()
            break
        if time.monotonic() > end:
            message = "another gate is noting its answers in this history"
            help = "ask again: the run is kept, and nothing is computed twice"
            raise RunLocked(Problem("P801", message, str(folder), help))
        time.sleep(0.05)
    with held:
        yield


def _cube_of(account: Mapping[str, Any]) -> SlotCube:
    """Return the numbers of an account as columns."""
    found = account["found"]
    pairs, thresholds = list(found["pairs"].values()), list(found["threshold"].values())
    columns: dict[str, list[Any]] = {
        "score": _numbers(found["board"].values()),
        "gain": _numbers(one["gain"] for one in pairs),
        "p_adjusted": _numbers(one["p"] for one in pairs),
        "side": [SIDES.index(one["side"]) for one in pairs],
        "gain_at_threshold": _numbers(one["gain"] for one in thresholds),
        "threshold_low": _numbers(one["low"] for one in thresholds),
        "threshold_high": _numbers(one["high"] for one in thresholds),
    }
    names = {"board": list(found["board"]), "pair": list(found["pairs"]), "threshold": list(found["threshold"])}
    facts = {name: account[name] for name in ("number", "run", "level")}
    return SlotCube(names, columns, facts)


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _read_account(folder: Path) -> dict[str, Any]:
    path = folder / "account.json"
    help = (
        f"restore it from a copy; or remove the folder {folder}, and the history goes on without it; the last look is spent again"
    )
    account = read_sealed(path, help=help)
    if account.get("schema_version") != SCHEMA_VERSION or account.get("slot") != folder.name:
        raise StoreError(Problem("P705", "a stored file is damaged: it is not an account of this slot", str(path), help))
    return account
