"""Equivalence: counts of a run against the exact law of the bootstrap, p against SciPy's t-tests, and a verdict for every pair."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, skew, ttest_1samp
from scipy.stats import t as student
from support.mmlu_data import read_mmlu
from support.studies import write_study

from pipeline.api import open_run, run
from pipeline.inference.equivalence import VERDICTS
from pipeline.inference.multiple_comparisons.multiplicity import holm

ITEMS, MODELS, REPLICATES, MARGIN = 1000, 8, 20_000, 0.06


def exact_tails(differences: NDArray[np.int64]) -> tuple[float, float]:
    """Return P(δ* ≥ 2δ + margin) and P(δ* ≤ 2δ − margin) of a mean of −1, 0 and 1 by powers of a polynomial on the unit circle."""
    n = len(differences)
    law = np.zeros(2 * n + 1)
    law[[0, 1, 2]] = [np.mean(differences == value) for value in (-1, 0, 1)]
    total = np.fft.irfft(np.fft.rfft(law) ** n, len(law))  # of Σ (d + 1), from 0 to 2n
    star = np.arange(len(law)) - n
    gain = int(differences.sum())
    return (
        float(total[star >= 2 * gain + MARGIN * n - 1e-9].sum()),
        float(total[star <= 2 * gain - MARGIN * n + 1e-9].sum()),
    )


def least_by_t(differences: NDArray[np.int64], margin: float) -> tuple[float, float]:
    """Return the p of "not worse by the margin", of who is ahead and of who is behind: SciPy's, or of t without its skewness."""
    n, bend = len(differences), float(skew(differences)) / 6 / len(differences) ** 0.5
    found = []
    for turned, a in ((differences, bend), (-differences, -bend)):
        test = ttest_1samp(turned, -margin, alternative="greater")
        t = float(test.statistic)
        found.append(max(float(test.pvalue), float(student.sf(t + a + 2 * a * t**2 + 4 / 3 * a**2 * t**3, n - 1))))
    return found[0], found[1]


def test_a_dozen_items_show_equivalence_only_where_student_s_t_does(tmp_path: Path) -> None:
    """The gain lies 1.75 standard errors inside the margin: beyond the 1.645 of a Gaussian, short of the 1.796 of Student's t."""
    noise = np.random.default_rng(12).normal(size=12)
    noise = 10 * (noise - noise.mean()) / noise.std(ddof=1)
    gains = np.round(noise + 7.7, 4)
    margin = float(gains.mean() + 1.75 * gains.std(ddof=1) / 12**0.5)
    rows = ["item,old,new", *(f"i{k},0,{gain:.4f}" for k, gain in enumerate(gains))]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    test_sets = {"few": {"format": "scores", "outputs": "scores.csv"}}
    resampling = {"replicates": 20_000, "margin": {"mean": margin}}
    root = run(
        write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling),
        runs=tmp_path / "runs",
        serial=True,
    ).root
    (row,) = json.loads((root / "report" / "report.json").read_text())["pairs"]
    (cube,) = open_run(root).values()
    counted = (int(cube["count_margin_below"].sum()) + 1) / 20_001
    ahead, behind = least_by_t(gains, margin)
    assert counted < 0.05 < behind
    assert (row["p_behind"], row["p_equivalence"]) == (pytest.approx(behind, rel=1e-6), pytest.approx(behind, rel=1e-6))
    assert row["p_ahead"] >= ahead
    assert row["verdict"] != "equivalent"


@pytest.mark.parametrize("columns", [("old", "new"), ("new", "old")])
@pytest.mark.parametrize("points", [1, 100])
def test_few_wins_show_equivalence_only_where_tango_s_score_does(columns: tuple[str, str], points: int, tmp_path: Path) -> None:
    """Of 100 answers 3 wins and 2 losses, and a margin of 5 %: t alone would claim it, with p = .047 of whoever is behind."""
    right = {"old": [0] * 3 + [points] * 97, "new": [points] * 3 + [0] * 2 + [points] * 95}
    cells = [",".join([f"q{k}", *(str(right[name][k]) for name in columns)]) for k in range(100)]
    (tmp_path / "answers.csv").write_text("\n".join([",".join(["item", *columns]), *cells]) + "\n", encoding="utf-8")
    test_sets = {"few": {"format": "scores", "outputs": "answers.csv"}}
    resampling = {"replicates": 20_000, "margin": {"mean": 0.05 * points}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling)
    root = run(study, runs=tmp_path / "runs", serial=True).root
    (row,) = json.loads((root / "report" / "report.json").read_text())["pairs"]
    by_t = least_by_t(np.array(right["new"]) - np.array(right["old"]), 0.05 * points)
    assert by_t[1] == pytest.approx(0.0471, abs=1e-4)
    assert row["p_behind"] == row["p_equivalence"] == pytest.approx(0.0692, abs=1e-4)
    assert row["verdict"] == "inconclusive"


@pytest.mark.data
def test_the_p_values_of_a_margin_are_those_of_the_exact_bootstrap(data_dir: Path, tmp_path: Path) -> None:
    """False alarms: 56 binomial tests at 1e-8 each, below 1e-6; the seed is fixed."""
    right = read_mmlu(data_dir, models=MODELS, items=ITEMS)
    names = [f"m{model}" for model in range(MODELS)]
    rows = [",".join(["item", *names]), *(",".join([f"q{i}", *map(str, row)]) for i, row in enumerate(right.tolist()))]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    resampling = {"replicates": REPLICATES, "keep_replicates": 4000, "margin": {"mean": MARGIN}}
    test_sets = {"mmlu": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling)
    root = run(study, runs=tmp_path / "runs", serial=True).root
    report = json.loads((root / "report" / "report.json").read_text())
    assert len(report["pairs"]) == MODELS * (MODELS - 1) // 2
    (cube,) = open_run(root).values()
    where = {"metric": "mean", "test_size": "full", "procedure": "paired-bootstrap"}
    counts = {side: cube[f"count_margin_{side}"].sel(where).sum("cell").values for side in ("above", "below")}
    places = {frozenset(pair): k for k, pair in enumerate(zip(cube["system_a"].values, cube["system_b"].values, strict=True))}
    for row in report["pairs"]:
        ahead, behind = (right[:, names.index(row[key])] for key in ("system_a", "system_b"))
        place = places[frozenset((row["system_a"], row["system_b"]))]
        by_t = least_by_t(ahead - behind, MARGIN)
        hits = [int(counts[side][place]) for side in ("above", "below")]
        for p, of, t, truth in zip((row["p_ahead"], row["p_behind"]), hits, by_t, exact_tails(ahead - behind), strict=True):
            assert binomtest(of, REPLICATES, min(max(truth, 0.0), 1.0)).pvalue > 1e-8
            assert p == pytest.approx(max((of + 1) / (REPLICATES + 1), t), rel=1e-9)
        assert row["p_equivalence"] == max(row["p_ahead"], row["p_behind"])
        assert row["verdict"] in VERDICTS
        assert (row["verdict"] == "equivalent") == (row["p_equivalence_holm"] <= 0.05)
    adjusted = holm(np.array([row["p_equivalence"] for row in report["pairs"]]))
    assert [row["p_equivalence_holm"] for row in report["pairs"]] == pytest.approx(adjusted.tolist())
    assert {row["verdict"] for row in report["pairs"]} == {"equivalent", "better"}
