"""Files that are asked for by name and cannot be written, and commands that are interrupted: what is said, and what is kept."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support.studies import run_cli

from pipeline.errors import PipelineError
from pipeline.store.outputs import refuse_unwritable, write_output

TABLE = "item,a,b\n" + "".join(f"{item},{item % 3},{item % 2}\n" for item in range(12))
OPTIONS = ["--html={}", "--md={}", "--latex={}", "--json={}", "--save-study={}"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "file").touch()
    return tmp_path


@pytest.mark.parametrize("option", OPTIONS)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_compared(folder: Path, option: str) -> None:
    done = run_cli("compare", "t.csv", "-b", 100, option.format("file/x"), cwd=folder)
    assert (done.returncode, done.stdout) == (73, "")
    assert "error[P702]: the file cannot be written: not a directory\n  --> file/x\n" in done.stderr
    assert "   = help: name a file in another folder, or make this one writable\n" in done.stderr
    assert "is read as" not in done.stderr
    assert run_cli("compare", "t.csv", "-b", 100, "-q", option.format("other/x"), cwd=folder).returncode == 0


def test_a_study_that_cannot_be_written_is_refused_before_files_are_read(folder: Path) -> None:
    done = run_cli("init", "t.csv", "-o", "file/s.yaml", cwd=folder)
    assert (done.returncode, done.stdout) == (73, "")
    assert "error[P702]: the file cannot be written: not a directory" in done.stderr
    assert "systems:" not in done.stderr


def test_all_files_that_cannot_be_written_are_named_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(PipelineError) as raised:
        refuse_unwritable(["file/x", None, "new/y", "file/z"])
    assert [problem.where for problem in raised.value.problems] == ["file/x", "file/z"]


def test_a_folder_without_permission_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PipelineError, match="the file cannot be written: no permission"):
        refuse_unwritable([folder / "x"])


def test_a_full_disk_is_told_without_a_run_that_could_be_resumed(small_disk: Path) -> None:
    with pytest.raises(PipelineError) as raised:
        write_output(small_disk / "page.html", bytes(2**21))
    (problem,) = raised.value.problems
    assert (problem.code, problem.note) == ("P701", None)
    assert problem.help == "free some space, or name a file on another disk; then give the command again"
    assert list(small_disk.iterdir()) == []
    write_output(small_disk / "page.html", bytes(2**10))


def test_a_full_folder_for_temporary_files_is_named_and_another_taken(small_disk: Path, folder: Path) -> None:
    (small_disk / "full").write_bytes(bytes(2**20 - 2**16))
    typed = ("compare", "t.csv", "-b", "300", "-q", "--html", "page.html")
    done = run_cli(*typed, cwd=folder, environment={"TMPDIR": str(small_disk)})
    assert done.returncode == 73, done.stderr
    said = re.search(r"= help: (.*)", done.stderr)
    assert said is not None
    assert said[1] == f"free some space in {small_disk}, where files are kept meanwhile, or name a folder elsewhere: `--runs DIR`"
    assert "resume" not in done.stderr
    again = run_cli(*typed, "--runs", "kept", cwd=folder, environment={"TMPDIR": str(small_disk)})
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("compare", "t.csv"), "nothing is kept; with `--runs DIR` the same command, given again, continues where it stopped"),
        (("compare", "t.csv", "--runs", "kept"), "give the same command again; it continues where it stopped"),
    ],
)
def test_who_interrupts_a_comparison_is_told_what_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], said: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pipeline.engine.launch.execute", interrupted)
        done = run_cli(*typed, "-b", 100, cwd=folder)
    assert done.returncode == 130
    assert done.stderr.endswith(f"interrupted: {said}\n")
    assert run_cli("compare", "t.csv", "-b", 100, "-q", "--runs", "kept", cwd=folder).returncode == 0


def test_who_interrupts_init_is_told_that_nothing_was_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.survey.survey.survey_study", interrupted)
    done = run_cli("init", "t.csv", cwd=folder)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "interrupted: nothing was written")
