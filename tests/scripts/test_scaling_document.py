"""What docs/scaling.md says of many workers is what `scripts/scaling` prints from the rates beside it.

``PYTHONPATH=scripts python tests/scripts/test_scaling_document.py`` writes the tables of the page anew.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from simulation.__main__ import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "scaling.md").read_text("utf-8")
# Shown as a command, then as what it prints.
TABLE = re.compile(r"(?<=```\n\./scripts/scaling)( ?[^\n]*)(\n```\n\n)((?:\|[^\n]*\n|Memory[^\n]*\n|\n(?=\||Memory))+)")
SHOWN = [(flags.strip(), table) for flags, _, table in TABLE.findall(PAGE)]


def test_the_page_shows_tables() -> None:
    assert len(SHOWN) >= 2


@pytest.mark.parametrize(("flags", "table"), SHOWN, ids=[flags or "as measured" for flags, _ in SHOWN])
def test_each_table_is_what_its_command_prints(flags: str, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(shlex.split(flags))
    assert table.strip() in capsys.readouterr().out


def print_anew(shown: re.Match[str]) -> str:
    """Return a command with what it prints now, from the table on with which the page begins."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main(shlex.split(shown[1]))
    first = shown[3].split("|")[1]
    return shown[1] + shown[2] + printed.getvalue()[printed.getvalue().index(f"|{first}|") :].strip("\n") + "\n"


if __name__ == "__main__":
    (DOCS / "scaling.md").write_text(TABLE.sub(print_anew, PAGE), "utf-8")
