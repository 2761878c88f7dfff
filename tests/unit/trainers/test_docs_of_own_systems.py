"""docs/trainers.md: the section on systems of one's own runs as it is printed, and tells every option, placeholder and code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from pipeline.trainers import command
from pipeline.trainers.command import CommandTrainer

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "trainers.md").read_text(encoding="utf-8")
SECTION = "## A system of your own" + PAGE.partition("## A system of your own")[2].partition("\n## ")[0] + "\n"


def first_column(head):
    table = SECTION.split(f"| {head} |")[1].split("\n\n")[0]
    return re.findall(r"^\| `?(.*?)`? \|", table, re.MULTILINE)


@pytest.mark.slow
def test_the_examples_print_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCS.parent / "tests/unit/docs")
    from support.page_examples import written_anew

    assert written_anew(SECTION, tmp_path) == SECTION


def test_every_option_and_placeholder_of_a_command_has_its_row():
    assert set(first_column("option")) == set(inspect.signature(CommandTrainer).parameters)
    assert set(first_column("placeholder")) == {"{" + name + "}" for name in {*command._FIT, *command._PREDICT}}


def test_every_code_of_a_command_has_its_row_here_and_among_the_errors():
    codes = first_column("code")
    written = "".join(path.read_text() for path in Path(command.__file__).parent.glob("*.py"))
    assert set(codes) == set(re.findall(r'"(P41[1-9])"', written))
    assert all(f"| {code} | 4 |" in (DOCS / "errors.md").read_text() for code in codes)
