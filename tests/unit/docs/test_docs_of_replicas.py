"""docs/replicas.md says what the table of nulls says, and its example prints what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from studies import run_cli

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


def test_the_study_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    section = PAGE.split("## In a study")[1].split("## What each does")[0]
    make, show = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    ((study, shown),) = re.findall(r"```yaml\n(.*?)```.*```text\n(.*?)```", section, re.DOTALL)
    subprocess.run([sys.executable, "-c", make], cwd=tmp_path, check=True)
    (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
    done = run_cli("run", "study.yaml", "--serial", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = subprocess.run([sys.executable, "-c", show], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert [line.rstrip() for line in printed.splitlines()] == shown.splitlines()
