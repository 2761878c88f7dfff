"""docs/replicas.md says what the table of nulls says, and its example prints what it shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.studies import run_cli

from pipeline.resampling.replicas.nulls import NULLS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "replicas.md").read_text(encoding="utf-8")


def test_the_page_has_every_null_in_the_order_of_the_table() -> None:
    names = [null.name for null in NULLS]
    rows = re.findall(r"^\| \[`([a-z0-9-]+)`\]\(procedures/([a-z0-9-]+)\.md\) \| (?:[^|]*\|){5}$", PAGE, re.MULTILINE)
    assert rows == [(name, name) for name in names]


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL).groups()
    exec(compile(code, "docs/replicas.md", "exec"), {})
    assert capsys.readouterr().out == printed


@pytest.mark.slow
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
    document = json.loads((tmp_path / done.stdout.strip() / "report" / "report.json").read_text(encoding="utf-8"))
    rows = next(finding["rows"] for finding in document["findings"] if finding["analysis"] == "replicas")
    found = [{(r["model_a"], r["model_b"], r["runs_each"]): r for r in rows if r["kind"] == kind} for kind in ("gains", "subset")]
    assert len(found[0]) == len(found[1]) == 6
    for key, gain in found[0].items():
        p = found[1][key]
        cells = [*(f"{gain[name]:.2f}" for name in ("gain_low", "gain_high", "against")),
                 *(f"{p[name]:.3f}" for name in ("p_low", "p_median", "p_high")), f"{p['rejected']:.2f}"]  # fmt: skip
        assert f"| {key[0]} - {key[1]} | {key[2]} | {' | '.join(cells)} |" in PAGE
