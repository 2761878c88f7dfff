"""What was brought from object stores goes when no run names it, and stays for as long as one of any folder of runs does."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest

from pipeline.cli.main import main
from pipeline.store.brought import FOLDER, note_brought
from pipeline.store.garbage import find_garbage, remove_garbage

MARKS = [f"{number:020x}" for number in range(0xB0, 0xB4)]


def brought(root: Path, mark: str, *, hours: float, size: int = 100) -> Path:
    file = root / mark / "data" / "one.txt"
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(size))
    then = time.time() - hours * 3600
    os.utime(root / mark, (then, then))
    return root / mark


def run_that_reads(runs: Path, folder: Path) -> None:
    study = {"test_sets": {"news": {"outputs": [f"{folder}/data/{{system}}.txt"]}}}
    note_brought(runs, runs / ".store", study)
    (runs / "run").mkdir()
    (runs / "run" / "plan.json").write_text(f'{{"outputs": "{folder}/data/{{system}}.txt"}}')


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "study" / FOLDER


def test_what_no_run_of_any_folder_names_is_removed_with_all_its_files(root: Path, tmp_path: Path) -> None:
    folders = [brought(root, mark, hours=hours) for mark, hours in zip(MARKS, (9, 8, 7, 0.5), strict=True)]
    for number in (0, 1):
        (tmp_path / f"runs{number}").mkdir()
        run_that_reads(tmp_path / f"runs{number}", folders[number])
    found = find_garbage(tmp_path / "runs0")
    assert [(file.path, file.kind, file.bytes) for file in found.files] == [(folders[2], "objects", 100)]
    assert (found.runs, found.young_bytes) == (2, 100)
    assert [folder.exists() for folder in folders] == [True] * 4
    assert remove_garbage(tmp_path / "runs0", found) == 100
    assert [folder.exists() for folder in folders] == [True, True, False, True]
    assert sorted(os.listdir(root)) == sorted([MARKS[0], MARKS[1], MARKS[3], "used-from"])


def test_a_file_of_several_folders_is_freed_with_the_last_of_them(root: Path, tmp_path: Path) -> None:
    named, older, newer = (brought(root, mark, hours=hours) for mark, hours in zip(MARKS, (9, 8, 7), strict=False))
    os.link(named / "data" / "one.txt", older / "data" / "two.txt")
    os.link(newer / "data" / "one.txt", older / "data" / "three.txt")
    for folder in (older, newer):
        os.utime(folder, (time.time() - 3600 * (9 if folder == older else 7),) * 2)
    run_that_reads(tmp_path, named)
    assert [(file.path, file.bytes) for file in find_garbage(tmp_path).files] == [(older, 100), (newer, 100)]


def test_what_is_used_again_before_it_is_removed_stays(root: Path, tmp_path: Path) -> None:
    kept, used = (brought(root, mark, hours=9) for mark in MARKS[:2])
    run_that_reads(tmp_path, kept)
    found = find_garbage(tmp_path)
    os.utime(used)
    assert remove_garbage(tmp_path, found) == 0
    assert used.exists()


def test_where_a_folder_of_runs_is_not_there_to_be_asked_all_stays_and_its_note_is_told(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, unnamed = (brought(root, mark, hours=9) for mark in MARKS[:2])
    (tmp_path / "runs").mkdir()
    run_that_reads(tmp_path / "runs", kept)
    (tmp_path / "away").mkdir()
    run_that_reads(tmp_path / "away", kept)
    (tmp_path / "away").rename(tmp_path / "gone")
    found = find_garbage(tmp_path / "runs")
    assert found.files == ()
    ((note, away),) = found.missing
    assert away == tmp_path / "away"
    monkeypatch.setattr(sys, "argv", ["pipeline", "gc", "--dry-run", "--runs", str(tmp_path / "runs")])
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr().out
    (named,) = re.findall(r"gone for good, remove (.+)", printed)
    Path(named).unlink()
    assert named == str(note)
    assert [file.path for file in find_garbage(tmp_path / "runs").files] == [unnamed]


@pytest.mark.parametrize("is_noted", [False, True])
def test_what_is_on_a_disk_that_is_only_read_is_read_without_a_note_there(
    is_noted: bool, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, runs = brought(root, MARKS[0], hours=9), tmp_path / "runs"
    if is_noted:
        (root / "used-from").mkdir()
    there, access = sorted(os.walk(root)), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not Path(path).is_relative_to(root) and access(path, mode))
    runs.mkdir()
    run_that_reads(runs, folder)
    assert sorted(os.walk(root)) == there
    assert len(os.listdir(runs / ".store" / "objects-at")) == 1


def test_notes_hold_where_a_study_and_its_runs_are_moved_together(root: Path, tmp_path: Path) -> None:
    folder = brought(root, MARKS[0], hours=9)
    (root.parent / "runs").mkdir()
    run_that_reads(root.parent / "runs", folder)
    moved = root.parent.rename(tmp_path / "moved")
    note_brought(moved / "runs", moved / "runs" / ".store", [f"{moved / FOLDER / MARKS[0]}/data/x"])
    found = find_garbage(moved / "runs")
    assert (found.files, found.missing) == ((), ())
