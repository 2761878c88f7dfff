"""A study that asks for intervals of rates has them beside that of the verdict, and says why another metric has none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp
from support.studies import PAGES, run_cli, write_study

import pipeline
from pipeline.inference.intervals.proportions import bonett_price, tango

ITEMS = 60


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rates")
    rng = np.random.default_rng(4)
    right = (rng.random((ITEMS, 2)) < [0.9, 0.97]).astype(int)
    (folder / "right.csv").write_text("item,old,new\n" + "".join(f"q{k},{a},{b}\n" for k, (a, b) in enumerate(right.tolist())))
    graded = rng.integers(0, 5, (ITEMS, 2))
    (folder / "graded.csv").write_text("item,old,new\n" + "".join(f"q{k},{a},{b}\n" for k, (a, b) in enumerate(graded.tolist())))
    write_study(
        folder / "study.yaml",
        test_sets={name: {"format": "scores", "outputs": f"{name}.csv"} for name in ("right", "graded")},
        metrics=["mean"],
        resampling={"replicates": 200, "keep_replicates": 200, "intervals": ["tango", "bonett-price", "symmetric"]},
        analyses=[],
        report=PAGES,
    )
    done = run_cli("run", "study.yaml", "--serial", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip().splitlines()[-1]


def test_they_stand_among_the_other_intervals(run: Path) -> None:
    report = json.loads((run / "report" / "report.json").read_text())
    shown = {row["test_set"]: row for row in report["pairs"]}
    assert shown["graded"]["interval"]["method"] == "max-t"
    assert shown["graded"]["intervals"]["tango"] == {"lo": None, "hi": None}
    row = shown["right"]
    table = np.loadtxt(run.parents[1] / "right.csv", delimiter=",", skiprows=1, usecols=(1, 2))
    wins, losses = int((table[:, 1] > table[:, 0]).sum()), int((table[:, 0] > table[:, 1]).sum())
    assert row["system_a"] == "new"
    expected = [float(end) for end in tango(np.array(wins), np.array(losses), ITEMS)]
    own = row["intervals"]["tango"]
    assert [own["lo"], own["hi"]] == pytest.approx(expected)
    assert row["interval"]["method"] == "tango"  # few units differ: by the critical value of the decision
    assert row["interval"]["hi"] >= own["hi"]
    own = row["intervals"]["bonett-price"]
    assert [own["lo"], own["hi"]] == pytest.approx([float(end) for end in bonett_price(np.array(wins), np.array(losses), ITEMS)])


def test_the_cube_says_why_there_is_none(run: Path) -> None:
    cubes = pipeline.open_run(run)
    for test_set, words in (("right", {"none"}), ("graded", {"not-0-1"})):
        codes = cubes[test_set]["interval_reason"].sel(interval_method=["tango", "bonett-price"])
        meanings = cubes[test_set]["interval_reason"].attrs["flag_meanings"].split()
        assert {meanings[code] for code in codes.values.ravel().tolist()} == words


def test_the_leaderboard_has_the_interval_of_each_rate_by_wilson_and_of_other_scores_by_students_t(run: Path) -> None:
    report = json.loads((run / "report" / "report.json").read_text())
    for row in report["leaderboard"]:
        if row["test_set"] == "graded":
            assert (row["interval"]["method"], row["interval"]["level"]) == ("jackknife-t", 0.95)
            table = np.genfromtxt(run.parents[1] / "graded.csv", delimiter=",", names=True)
            own = ttest_1samp(table[row["name"]], 0.0).confidence_interval(0.95)
            assert [row["interval"]["lo"], row["interval"]["hi"]] == pytest.approx([own.low, own.high])
            continue
        own = binomtest(round(row["score"] * ITEMS), ITEMS).proportion_ci(0.95, method="wilson")
        assert (row["interval"]["method"], row["interval"]["level"]) == ("wilson", 0.95)
        assert [row["interval"]["lo"], row["interval"]["hi"]] == pytest.approx([own.low, own.high])
    page = (run / "report" / "report.md").read_text().split("\n## Leaderboard")[1].split("\n## ")[0]
    right, graded = page.split("### graded")
    assert "95 % interval" in right
    assert "Wilson" in right
    assert "95 % interval" in graded
    assert "Student's t" in graded
    assert "Student" not in right


def test_another_level_has_another_interval(run: Path) -> None:
    done = run_cli(
        "report", str(run), "--set", "resampling.alpha=0.2", "--set", "report.formats=[json]", "-o", "other", cwd=run.parents[1]
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((run.parents[1] / "other" / "report.json").read_text())
    row = next(row for row in report["leaderboard"] if row["test_set"] == "right")
    own = binomtest(round(row["score"] * ITEMS), ITEMS).proportion_ci(0.8, method="wilson")
    assert [row["interval"]["lo"], row["interval"]["hi"]] == pytest.approx([own.low, own.high])
