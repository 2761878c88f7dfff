"""Of answers that are right or wrong every pair says on how many items each system alone is right."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from support.studies import run_cli

GOLD = ["x"] * 60


@pytest.fixture
def answers(tmp_path: Path) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    right = {name: rng.random(60) < share for name, share in (("a", 0.8), ("b", 0.6), ("c", 0.6))}
    right["d"] = right["b"].copy()
    (tmp_path / "gold.txt").write_text("\n".join(GOLD) + "\n")
    for name, own in right.items():
        (tmp_path / f"{name}.txt").write_text("\n".join("x" if one else "y" for one in own) + "\n")
    return right


def compare(folder: Path, *words: str) -> str:
    files = [f"{name}.txt" for name in "abcd"]
    done = run_cli("compare", *files, "-r", "gold.txt", "--format", "labels", "-b", "2000", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_helped_and_hurt_are_counted_of_the_better_system(answers: dict[str, np.ndarray], tmp_path: Path) -> None:
    rows = json.loads(compare(tmp_path, "-m", "accuracy", "--json"))["pairs"]
    assert len(rows) == 6
    for row in rows:
        better, worse = answers[row["system_a"]], answers[row["system_b"]]
        assert (row["helped"], row["hurt"]) == (int((better & ~worse).sum()), int((worse & ~better).sum()))
        assert row["helped"] + row["hurt"] == row["discordant"]
        assert row["helped"] >= row["hurt"]


def test_tables_and_pages_show_them_in_place_of_the_discordant(answers: dict[str, np.ndarray], tmp_path: Path) -> None:
    compare(tmp_path, "-m", "accuracy", "--runs", "runs")
    (report,) = (tmp_path / "runs").glob("*/report")
    rows = list(csv.DictReader(io.StringIO((report / "tables" / "pairs.csv").read_text("utf-8"))))
    first = rows[0]
    better, worse = answers[first["system_a"]], answers[first["system_b"]]
    assert int(first["helped"]) == int((better & ~worse).sum())
    text = (report / "report.md").read_text("utf-8")
    assert "| helped | hurt |" in text


def test_scores_that_are_not_right_or_wrong_have_neither(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    lines = ["item,a,b"] + [f"{n},{x:.2f},{y:.2f}" for n, (x, y) in enumerate(rng.normal(50, 9, (40, 2)))]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    done = run_cli("compare", "scores.csv", "-b", "1000", "--json", cwd=tmp_path)
    (row,) = json.loads(done.stdout)["pairs"]
    assert (row["helped"], row["hurt"]) == (None, None)
    assert row["discordant"] == 40
