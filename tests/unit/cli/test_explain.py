"""Every error code and exit code is explained, and what is none gets the nearest one."""

from __future__ import annotations

import json
import sys

import pytest
from support.studies import run_cli

from pipeline.cli import explain
from pipeline.error_codes import CODES
from pipeline.error_help import EXIT_CODES, FAMILIES, help_of


def printed(*arguments: str) -> str:
    done = run_cli("explain", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_code_says_what_it_means_how_it_ends_and_what_to_do() -> None:
    for code, known in CODES.items():
        lines = printed(code).splitlines()
        assert lines[0] == f"{code}: {known.meaning}"
        ending = "that of the run" if known.exit is None else f"{known.exit}, {EXIT_CODES[known.exit].meaning}"
        assert f"exit code:  {ending}" in lines
        assert lines[-1] == f"what to do: {help_of(code)}"


def test_every_exit_code_says_what_it_means_and_which_errors_have_it() -> None:
    for status, ending in EXIT_CODES.items():
        lines = printed(str(status)).splitlines()
        assert lines[0] == f"exit code {status}: {ending.meaning}"
        assert f"what to do: {ending.help}" in lines
        facts = json.loads(printed(str(status), "--json"))
        assert facts["codes"] == [code for code, known in CODES.items() if known.exit == status]
        assert lines[-1].startswith("errors: ") == bool(facts["codes"])


def test_a_code_may_be_typed_or_copied_from_an_error() -> None:
    assert printed("p203") == printed("error[P203]:") == printed("[P203]") == printed("P203")


def test_without_a_code_all_are_listed_by_what_they_are_about() -> None:
    lines = printed().splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  P")] == list(CODES)
    assert [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0].isdigit()] == list(map(str, EXIT_CODES))
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert heads == [*(family.title for family in FAMILIES), "Exit codes"]
    whole = json.loads(printed("--json"))
    assert [row["code"] for row in whole["codes"]] == list(CODES)
    assert {row["exit_code"] for row in whole["exit_codes"]} == set(EXIT_CODES)


@pytest.mark.parametrize(
    ("typed", "help_"),
    [
        ("203", "did you mean 'P203'?"),
        ("P2003", "did you mean 'P203'?"),
        ("P80", "there are: P801–P802"),
        ("hello", "`pipeline explain` lists them all"),
        ("no such", "`pipeline explain` lists them all"),
    ],
)
def test_what_is_no_code_gets_the_nearest_one(typed: str, help_: str) -> None:
    done = run_cli("explain", typed)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error[P006]: {typed!r} is neither an error code nor an exit code\n   = help: {help_}\n"


def test_on_a_terminal_no_line_is_wider_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "width_of", lambda stream: 60 if stream is sys.stdout else None)
    lines = printed().splitlines()
    assert max(map(len, lines)) <= 60 < max(len(known.meaning) for known in CODES.values())
    assert len(lines) > len(CODES) + len(FAMILIES)
