"""What no run names is removed, oldest first; what a run names, or may be about to name, never."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from pipeline.errors import StoreError
from pipeline.store.files import temporary_name
from pipeline.store.garbage import find_garbage, note_linked_store, remove_garbage
from pipeline.store.lease import hold_lease
from pipeline.store.runs import Store

HOUR = 3600.0
KEYS = [f"{number:032x}" for number in range(0xA0, 0xA6)]


def stored(runs: Path, key: str, *, hours: float, size: int = 100, kind: str = "cells") -> Path:
    path = Store(runs / ".store").path(kind, key, ".arrays")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    then = time.time() - hours * HOUR
    os.utime(path, (then, then))
    return path


def run_that_names(runs: Path, name: str, *keys: str, file: str = "ledger.jsonl") -> Path:
    folder = runs / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text("".join(f'{{"receipt":{{"key":"{key}"}}}}\n' for key in keys))
    return folder


def test_only_what_no_ledger_and_no_plan_names_is_removed(tmp_path: Path) -> None:
    files = [stored(tmp_path, key, hours=9) for key in KEYS[:4]]
    run_that_names(tmp_path, "one", KEYS[0])
    run_that_names(tmp_path, "two", KEYS[1], file="plan.json")
    found = find_garbage(tmp_path)
    assert ([file.path for file in found.files], found.bytes, found.store_bytes, found.runs) == (files[2:], 200, 400, 2)
    assert remove_garbage(tmp_path, found) == 200
    assert [path.exists() for path in files] == [True, True, False, False]


def test_the_oldest_go_first_and_no_more_than_is_asked(tmp_path: Path) -> None:
    files = [stored(tmp_path, key, hours=hours) for key, hours in zip(KEYS, (3, 9, 5, 7), strict=False)]
    assert [file.path for file in find_garbage(tmp_path, to=250).files] == [files[1], files[3]]
    assert find_garbage(tmp_path, to=400).files == ()
    assert len(find_garbage(tmp_path, to=0).files) == 4


def test_a_damaged_ledger_still_names_what_it_needs(tmp_path: Path) -> None:
    stored(tmp_path, KEYS[0], hours=9)
    (run_that_names(tmp_path, "one") / "ledger.jsonl").write_bytes(b'\xff\x00{"key":"' + KEYS[0].encode() + b'"')
    assert find_garbage(tmp_path).files == ()


def test_what_is_young_stays(tmp_path: Path) -> None:
    stored(tmp_path, KEYS[0], hours=0.5)
    found = find_garbage(tmp_path)
    assert (found.files, found.young_bytes) == ((), 100)


def test_what_was_written_since_a_running_study_began_stays(tmp_path: Path) -> None:
    folder = run_that_names(tmp_path, "one")
    old, new = stored(tmp_path, KEYS[0], hours=9), stored(tmp_path, KEYS[1], hours=3)
    with hold_lease(folder):
        lease = folder / "lease.1"
        began = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() - 5 * HOUR))
        text = lease.read_text()
        since = text.partition('"since": "')[2].partition('"')[0]
        assert since
        with open(lease, "r+") as file:  # the same file: its holder looks whether it is still there
            file.write(text.replace(since, began))
            file.truncate()
        assert [file.path for file in find_garbage(tmp_path).files] == [old]
    assert [file.path for file in find_garbage(tmp_path).files] == [old, new]


def test_beside_a_damaged_lease_that_is_in_force_nothing_is_removed(tmp_path: Path) -> None:
    folder = run_that_names(tmp_path, "one")
    stored(tmp_path, KEYS[0], hours=9)
    (folder / "lease.1").write_text("{")
    assert find_garbage(tmp_path).files == ()


def test_what_is_named_or_written_again_before_it_is_removed_stays(tmp_path: Path) -> None:
    named, written, gone = (stored(tmp_path, key, hours=9) for key in KEYS[:3])
    found = find_garbage(tmp_path)
    run_that_names(tmp_path, "new", KEYS[0])
    written.write_bytes(b"again")
    assert remove_garbage(tmp_path, found) == 100
    assert [path.exists() for path in (named, written, gone)] == [True, True, False]


def test_what_killed_writers_left_goes_and_what_is_being_written_stays(tmp_path: Path) -> None:
    kept = stored(tmp_path, KEYS[0], hours=0)
    name = temporary_name()
    being, left = kept.parent / name, kept.parent / name.replace(f"-{os.getpid()}-", f"-{2**22 + 1}-")  # no such process
    for path in (being, left):
        path.write_bytes(b"half")
    assert remove_garbage(tmp_path, find_garbage(tmp_path)) == 0
    assert [path.exists() for path in (kept, being, left)] == [True, True, False]


def test_what_is_no_result_of_ours_stays(tmp_path: Path) -> None:
    odd = tmp_path / ".store" / "cells" / "ff" / f"{KEYS[0]}.arrays"  # not in the folder of its address
    odd.parent.mkdir(parents=True)
    odd.write_bytes(b"x")
    (tmp_path / ".store" / "README.txt").write_text("mine")
    os.utime(odd, (0, 0))
    assert find_garbage(tmp_path, to=0).files == ()


def test_a_run_that_cannot_be_read_keeps_everything(tmp_path: Path) -> None:
    stored(tmp_path, KEYS[0], hours=9)
    (tmp_path / "theirs" / "ledger.jsonl").mkdir(parents=True)  # stands for what another user owns: root may read that
    with pytest.raises(StoreError, match="nothing is removed") as error:
        find_garbage(tmp_path)
    assert [(p.code, p.where) for p in error.value.problems] == [("P720", str(tmp_path / "theirs"))]


def test_a_store_that_is_a_link_is_cleared_only_if_that_is_said(tmp_path: Path) -> None:
    stored(tmp_path / "elsewhere", KEYS[0], hours=9)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".store").symlink_to(tmp_path / "elsewhere" / ".store")
    with pytest.raises(StoreError, match="is a link"):
        find_garbage(tmp_path / "runs")
    assert len(find_garbage(tmp_path / "runs", linked=True).files) == 1


def test_what_runs_of_another_folder_need_stays_on_both_sides_of_the_link(tmp_path: Path) -> None:
    owner, user = tmp_path / "owner", tmp_path / "user"
    files = [stored(owner, key, hours=9) for key in KEYS[:3]]
    run_that_names(owner, "one", KEYS[0])
    run_that_names(user, "two", KEYS[1])
    (user / ".store").symlink_to(owner / ".store")
    note_linked_store(user)
    assert [file.path.name for file in find_garbage(owner).files] == [files[2].name]
    assert [file.path.name for file in find_garbage(user, linked=True).files] == [files[2].name]
    with hold_lease(user / "two") as held:
        assert held is not None
        lease = json.loads((user / "two" / "lease.1").read_text())
        (user / "two" / "lease.1").write_text(json.dumps({**lease, "since": "2020-01-01T00:00:00+00:00"}))
        assert find_garbage(owner).files == ()  # all is younger than a study that runs there
    (user / ".store").unlink()
    assert len(find_garbage(owner).files) == 2  # it has a store of its own now


def test_a_folder_that_uses_the_store_and_is_not_there_keeps_everything(tmp_path: Path) -> None:
    owner, user = tmp_path / "owner", tmp_path / "user"
    stored(owner, KEYS[0], hours=9)
    user.mkdir()
    (user / ".store").symlink_to(owner / ".store")
    note_linked_store(user)
    user.rename(tmp_path / "away")
    with pytest.raises(StoreError, match="the folder is not there") as error:
        find_garbage(owner)
    (problem,) = error.value.problems
    Path(str(problem.where)).unlink()  # as its help says
    assert (problem.code, len(find_garbage(owner).files)) == ("P721", 1)


def test_a_folder_of_runs_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as error:
        find_garbage(tmp_path / "nowhere")
    assert "--runs" in str(error.value.problems[0].help)
