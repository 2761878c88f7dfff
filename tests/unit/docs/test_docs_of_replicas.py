"""docs/replicas.md says what the table of nulls says, and its example prints what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.resampling.replicas.nulls import NULLS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "replicas.md").read_text(encoding="utf-8")


def test_the_page_has_every_null_in_the_order_of_the_table() -> None:
    names = [null.name for null in NULLS]
    assert re.findall(r"^\| `([a-z0-9-]+)` \| [^|]*\|[^|]*\|[^|]*\|[^|]*\|[^|]*\|$", PAGE, re.MULTILINE) == names
    sections = re.findall(r"^### ([a-z0-9-]+)\n\n\*\*Null\*\*: (.*)\.$", PAGE, re.MULTILINE)
    assert sections == [(null.name, null.null) for null in NULLS]


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL).groups()
    exec(compile(code, "docs/replicas.md", "exec"), {})
    assert capsys.readouterr().out == printed
