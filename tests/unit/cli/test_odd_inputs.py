"""Inputs that would hang the command line, fill its memory or write to its terminal."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline import cli
from pipeline.errors import DataError, Problem, render_problems
from pipeline.plan.task import Task
from pipeline.tasks import run as task_run

border = importlib.import_module("pipeline.cli.main")  # the package has its function under the same name
Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["pipeline", *map(str, arguments)])
        with pytest.raises(SystemExit) as ending:
            cli.main()
        return int(ending.value.code or 0), capsys.readouterr().err

    signal.alarm(60)
    yield run
    signal.alarm(0)


def test_compare_refuses_pipes_devices_and_process_substitutions(call: Call, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    good = tmp_path / "north.txt"
    good.write_text("a\nb\n")
    other = tmp_path / "south.txt"
    other.write_text("a\nc\n")
    reader, writer = os.pipe()
    for odd in (tmp_path / "pipe", Path("/dev/zero"), Path(f"/dev/fd/{reader}")):
        for arguments in ((good, odd), (odd, good)):
            code, err = call("compare", *arguments, "-r", good, "--format", "text")
            assert (code, err.count("error[P285]")) == (3, 1), err
            assert "write it to a file" in err
    code, err = call("compare", good, other, "-r", tmp_path / "pipe", "--format", "text")
    assert (code, err.count("error[P285]")) == (3, 1), err
    os.close(reader)
    os.close(writer)


def test_memory_that_ends_is_no_fault_of_ours(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(**options: object) -> None:
        raise MemoryError

    monkeypatch.setattr(border.cli, "main", fill)
    code, err = call("list")
    assert code == 4
    assert err.startswith("error[P403]: the command needs more memory than it may have\n   = help: ")


def test_memory_that_ends_in_a_task_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fill(task: Task, runs: Path) -> None:
        raise MemoryError

    monkeypatch.setattr(task_run, "_function", lambda kind: fill)
    failure = task_run.run_task(Task("collect", "k", "collect small", None), str(tmp_path))  # type: ignore[arg-type]
    assert isinstance(failure, task_run.Failure)
    assert (failure.exit_code, failure.problems[0].code, failure.problems[0].where) == (4, "P403", "collect small")


def test_names_do_not_write_to_the_terminal() -> None:
    shown = render_problems(
        [Problem("P201", "there is no file a\x1b]0;owned\x07\u202eb", "dir\udcff/\u0645\u06cc\u200c\u0631\n/c", "h\t")]
    )
    assert shown == (
        "error[P201]: there is no file a\\x1b]0;owned\\x07\\u202eb\n  --> dir\\udcff/\u0645\u06cc\u200c\u0631\n/c\n   = help: h\t"
    )


def test_many_problems_are_counted_in_place_of_shown(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> None:
        raise DataError(*(Problem("P210", f"wrong {k}", "a.csv") for k in range(5000)))

    monkeypatch.setattr(border.cli, "main", refuse)
    code, err = call("list")
    assert (code, err.count("error[P210]")) == (3, border.MOST_PROBLEMS)
    assert err.endswith("… and 4800 more problems\n")
