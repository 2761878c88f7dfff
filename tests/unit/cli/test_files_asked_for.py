"""Files that are asked for by name and cannot be written, and commands that are interrupted: what is said, and what is kept."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support.studies import run_cli

from pipeline.engine.signals import StopRequest
from pipeline.engine.watching.ending import stopped
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


def deny(path: Path | str, mode: int) -> bool:
    """Answer as `os.access` does for somebody to whom nothing here belongs: root, who runs tests, may do anything."""
    return os.stat(path).st_mode & 0o7 & mode == mode


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("closed/old.html", "no permission"),  # an ordinary file is replaced, which needs the folder
        ("closed/new.html", "no permission"),
        ("open/to_closed.html", "no permission"),  # what a link leads to is written itself
        ("open/nowhere.html", "no such file or directory"),
        ("open", "is a directory"),
        (f"open/{'a' * 300}/p.html", "file name too long"),
        ("open/old.html", None),
        ("open/to_open.html", None),
        ("open/more/p.html", None),
        ("/dev/null", None),
    ],
)
def test_it_is_told_beforehand_what_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str | None
) -> None:
    for folder, mode in (("open", 0o777), ("closed", 0o755)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "old.html").touch()
        (tmp_path / folder / "old.html").chmod(0o666 if folder == "closed" else 0o644)
        (tmp_path / folder).chmod(mode)
    for target, mode in (("open.html", 0o666), ("closed.html", 0o644)):
        (tmp_path / target).touch()
        (tmp_path / target).chmod(mode)
        (tmp_path / "open" / f"to_{target}").symlink_to(tmp_path / target)
    (tmp_path / "open" / "nowhere.html").symlink_to(tmp_path / "missing" / "p.html")
    monkeypatch.setattr(os, "access", deny)
    found: list[str] = []
    try:
        refuse_unwritable([tmp_path / name])
    except PipelineError as error:
        found = [problem.message for problem in error.problems]
    assert found == ([] if said is None else [f"the file cannot be written: {said}"])


def test_a_folder_that_cannot_be_searched_is_no_internal_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = os.stat

    def closed(path: Path | str, **how: bool) -> os.stat_result:
        if "closed" in Path(path).parts[:-1]:
            raise PermissionError(13, "Permission denied")
        return look(path, **how)

    monkeypatch.setattr(os, "stat", closed)
    with pytest.raises(PipelineError, match="the file cannot be written: no permission"):
        refuse_unwritable([tmp_path / "closed" / "sub" / "page.html"])


@pytest.mark.parametrize("command", [("gate", "s.yaml", "--baseline", "a"), ("reanalyse", "s.yaml")])
def test_a_summary_that_cannot_be_written_is_refused_before_the_study_is_run(folder: Path, command: tuple[str, ...]) -> None:
    assert run_cli("init", "t.csv", "-o", "s.yaml", cwd=folder).returncode == 0
    done = run_cli(*command, "--summary", "file/x", cwd=folder)
    assert done.returncode == 73, done.stderr
    assert "error[P702]: the file cannot be written: not a directory\n  --> file/x\n" in done.stderr
    assert not (folder / "runs").exists()


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


def test_who_stops_a_run_is_told_how_it_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.engine.launch.execute", lambda *_, **__: stopped(StopRequest()))
    assert run_cli("init", "t.csv", "-o", "stop.yaml", cwd=folder).returncode == 0
    done = run_cli("run", "stop.yaml", "--serial", "--runs", "stopped", "-b", 100, cwd=folder)
    assert done.returncode == 75
    assert "interrupted: stopped on request; `pipeline resume" in done.stderr
    assert done.stderr.count("continues it") == 1


def test_who_interrupts_init_is_told_that_nothing_was_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.survey.survey.survey_study", interrupted)
    done = run_cli("init", "t.csv", cwd=folder)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "interrupted: nothing was written")
