"""Commands, with a small null laboratory: what it counts is tested in tests/unit/analyses."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from pipeline.cli.main import main

Call = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module", autouse=True)
def small_laboratory(few_nulls: None) -> None:
    """Before the runs that the tests of a module share."""


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Return the command line, called in this process as a user calls it: its exit code and all that it prints."""

    def called(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["pipeline", *map(str, arguments)])
        monkeypatch.setattr("pipeline.cli.options.cli.main", lambda **options: original(sys.argv[1:], **options))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out + printed.err

    from pipeline.cli.options import cli

    original = cli.main
    return called
