"""A distribution of somebody else's brings a significance test: a study asks for it, and every page and list has it."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from support.studies import run_cli

PLUGIN = """
import numpy as np
from pipeline.inference.direct.result import assemble
from pipeline.interfaces import Method, Procedure

COIN = Procedure(
    name="coin",
    title="the coin test",
    null="either system is as likely to be ahead",
    when="where a coin is at hand",
    formula="exp(-gain)",
    methods=(Method("Coin test", "exp(-gain)", "A coin is tossed.", "Nobody 2001"),),
    page="https://coins.example/test",
    compute="rvcoins:toss",
    strata="apart",
)
WRONG = Procedure(name="bent", title="a bent coin", null="none", when="never", formula="0", compute="rvcoins:bend")


def toss(measure, observed, *, budget, memory_bytes):
    log = -np.abs(observed.delta) * 10
    found = {"one-sided": (log - np.log(2), log - np.log(2)), "two-sided": (log, log)}
    return assemble(found, observed=observed, reason=np.zeros(len(log), np.int8), method="asymptotic")


def bend(measure, observed, *, budget, memory_bytes):
    return np.zeros(len(observed.delta))
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the distribution for whatever is started from here."""
    folder = tmp_path / "site"
    info = folder / "rvcoins-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "rvcoins.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rvcoins\nVersion: 1.0\n")
    points = "coin = rvcoins:COIN\nbent = rvcoins:WRONG\nmisnamed = rvcoins:COIN\nlost = rvgone:COIN\n"
    (info / "entry_points.txt").write_text(f"[pipeline.procedures]\n{points}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    return folder


def write_scores(folder: Path) -> None:
    rows = [[i, (i * 7) % 5, (i * 3) % 4, 1 + (i % 2)] for i in range(40)]
    with (folder / "scores.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["item", "a", "b", "c"], *rows])


def test_a_procedure_of_another_package_is_planned_computed_decided_on_and_shown(installed: Path, tmp_path: Path) -> None:
    write_scores(tmp_path)
    asked = ("--procedure", "paired-bootstrap", "--procedure", "coin", "--replicates", "2000", "--runs", "runs")
    done = run_cli("compare", "scores.csv", "--format", "scores", *asked, cwd=tmp_path, own_process=True)
    assert done.returncode == 0, done.stderr
    found = {path.name: path for path in (tmp_path / "runs").rglob("*")}
    document = json.loads(found["report.json"].read_text(encoding="utf-8"))
    rows = [row for row in document["pairs"] if row["procedure"] == "coin"]
    assert len(rows) == 3
    for row in rows:
        assert row["p"] == pytest.approx(2.718281828459045 ** (-10 * row["delta"]))
        assert row["p_adjusted"] >= row["p"]
        assert row["verdict"]
        assert row["null"] == "either system is as likely to be ahead"
    for name in ("report.md", "index.html"):
        text = found[name].read_text(encoding="utf-8")
        assert "coin" in text, name
        assert "Nobody 2001" in text, name
    with found["pairs.csv"].open(encoding="utf-8", newline="") as file:
        assert sum(row["procedure"] == "coin" for row in csv.DictReader(file)) == 3


def test_the_list_has_it_and_says_what_is_wrong_with_others(installed: Path, tmp_path: Path) -> None:
    listed = run_cli("procedures", cwd=tmp_path, own_process=True)
    lines = {line.split()[0]: line for line in listed.stdout.splitlines()}
    assert "prefer it where a coin is at hand; https://coins.example/test" in lines["coin"]
    assert "names itself 'coin'" in lines["misnamed"]
    assert "cannot be loaded" in lines["lost"]
    assert next(iter(lines)) == "paired-bootstrap"
    assert list(lines)[-2:] == ["lost", "misnamed"]


def test_what_it_returns_is_checked(installed: Path, tmp_path: Path) -> None:
    write_scores(tmp_path)
    done = run_cli("compare", "scores.csv", "--format", "scores", "--procedure", "bent", cwd=tmp_path, own_process=True)
    assert done.returncode != 0
    assert "rvcoins:bend" in done.stderr + done.stdout


def test_a_misspelt_name_gets_the_one_that_was_meant(installed: Path, tmp_path: Path) -> None:
    write_scores(tmp_path)
    done = run_cli("compare", "scores.csv", "--format", "scores", "--procedure", "coinn", cwd=tmp_path, own_process=True)
    assert done.returncode == 2
    assert "did you mean 'coin'" in done.stderr
