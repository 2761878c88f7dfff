"""The page on procedures shows what is printed, and says of each procedure what a reader must know."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from studies import run_cli

from pipeline.inference.p_values import CONVENTIONS
from pipeline.inference.readings import READINGS
from pipeline.report.procedures import WORDS
from pipeline.study.procedures import PROCEDURES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "procedures.md").read_text(encoding="utf-8")


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_examples_print_what_the_page_shows(tmp_path: Path) -> None:
    (made,) = fenced("python")
    subprocess.run([sys.executable, "-c", made], cwd=tmp_path, check=True)
    for command, shown in zip(fenced("sh"), fenced("text"), strict=True):
        words = command.split()
        assert words[0] == "pipeline"
        printed = run_cli(*words[1:], cwd=tmp_path)
        assert printed.returncode == 0, printed.stderr
        assert printed.stdout == shown
    # Every procedure is shown.
    assert {name for command in fenced("sh") for name in command.split()} >= set(PROCEDURES)


def test_every_procedure_has_its_row_its_section_and_its_null() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \| [a-z]", PAGE.split("\n## ")[0], re.MULTILINE) == list(PROCEDURES)
    for name in PROCEDURES:
        assert "**Null**" in section(name)
    assert WORDS["approximate-randomization"].null in section("approximate-randomization")


def test_the_page_says_which_conventions_a_randomization_has_not() -> None:
    rows = re.findall(r"^\| (`[a-z`, -]+) \|", section("approximate-randomization"), re.MULTILINE)
    absent = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} & set(CONVENTIONS)
    assert absent == set(CONVENTIONS) - set(READINGS["approximate-randomization"].conventions)
