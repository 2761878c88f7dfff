"""Equivalence on a real set: the p-values of a run against the exact law of the bootstrap, and a verdict for every pair."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest
from support.mmlu_data import read_mmlu
from support.studies import write_study

from pipeline.api import run
from pipeline.inference.equivalence import VERDICTS
from pipeline.inference.multiplicity import holm

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
    for row in report["pairs"]:
        ahead, behind = (right[:, names.index(row[key])] for key in ("system_a", "system_b"))
        for p, truth in zip((row["p_ahead"], row["p_behind"]), exact_tails(ahead - behind), strict=True):
            hits = round(p * (REPLICATES + 1)) - 1
            assert binomtest(hits, REPLICATES, min(max(truth, 0.0), 1.0)).pvalue > 1e-8
        assert row["p_equivalence"] == max(row["p_ahead"], row["p_behind"])
        assert row["verdict"] in VERDICTS
        assert (row["verdict"] == "equivalent") == (row["p_equivalence_holm"] <= 0.05)
    adjusted = holm(np.array([row["p_equivalence"] for row in report["pairs"]]))
    assert [row["p_equivalence_holm"] for row in report["pairs"]] == pytest.approx(adjusted.tolist())
    assert {row["verdict"] for row in report["pairs"]} == {"equivalent", "better"}
