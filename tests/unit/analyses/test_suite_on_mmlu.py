"""Fourteen domains of `mmlu-pro` as a suite of test sets: the study's conclusions are those of McNemar's p and a slow Holm."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from support.studies import write_study

import pipeline
from pipeline.analyses.suite.analysis import SuiteAnalysis

MODELS = 4


def read_domains(data: Path) -> dict[str, tuple[list[str], np.ndarray]]:
    """Return (model names, (item, model) right or wrong) by domain."""
    folder = data / "mmlu-pro"
    with gzip.open(folder / "items.tsv.gz", "rt") as lines:
        items = [line.rstrip("\n").split("\t") for line in lines][1:]
    with gzip.open(folder / "predictions.tsv.gz", "rt") as lines:
        models = [line.rstrip("\n").split("\t") for line in lines][1:][:: 28 // MODELS][:MODELS]
    domains = np.array([item[1] for item in items])
    right = np.array([[letter == item[3] for letter, item in zip(letters, items, strict=True)] for _, letters in models]).T
    return {name: ([model for model, _ in models], right[domains == name].astype(int)) for name in sorted(set(domains.tolist()))}


def slow_count(p: list[float], level: float) -> int:
    """Holm, one step after the other."""
    ordered = sorted(p)
    return next((u for u, value in enumerate(ordered) if (len(p) - u) * value > level), len(p))


@pytest.mark.data
@pytest.mark.parametrize("used", [3, pytest.param(14, marks=pytest.mark.slow)])
def test_domains_are_concluded_as_by_hand(data_dir: Path, tmp_path: Path, used: int) -> None:
    domains = dict(sorted(read_domains(data_dir).items(), key=lambda item: len(item[1][1]))[:used])
    for name, (models, right) in domains.items():
        np.savetxt(tmp_path / f"{name}.csv", right, fmt="%d", delimiter=",", header=",".join(models), comments="")
    study = write_study(
        tmp_path / "study.yaml",
        metrics=["mean"],
        test_sets={name: {"format": "scores", "outputs": f"{name}.csv"} for name in domains},
        resampling={"procedures": ["mcnemar"], "replicates": 1000},
        analyses=[{"type-one": {"nulls": 100, "pairs": 1, "replicates": 99}}],
    )
    cubes = pipeline.open_run(pipeline.run(study, runs=tmp_path / "runs", serial=True).root)
    rows = [row for row in SuiteAnalysis().find(cubes, {}).rows if row["kind"] == "pair"]
    assert len(rows) == MODELS * (MODELS - 1) // 2
    mixed = 0
    for row in rows:
        found: dict[str, list[float]] = {"better": [], "worse": []}
        gains, errors = [], []
        for models, right in domains.values():
            d = right[:, models.index(row["system_a"])] - right[:, models.index(row["system_b"])]
            wins, losses = int((d > 0).sum()), int((d < 0).sum())
            for word, won in (("better", wins), ("worse", losses)):
                ahead = 2 * won > wins + losses
                found[word].append(binomtest(won, wins + losses, alternative="greater").pvalue if ahead else 1.0)
            gains.append(d.mean())
            errors.append(d.std(ddof=1) / np.sqrt(len(d)))
        for word, p in found.items():
            assert row[f"{word}_at_least"] == slow_count(p, 0.025)
            assert row[f"p_{word}_on_any"] == pytest.approx(min(1, 2 * used * min(p)), rel=1e-9)
        w = 1 / np.array(errors) ** 2
        mean = np.average(gains, weights=w)
        assert row["mean_gain"] == pytest.approx(mean)
        assert row["q"] == pytest.approx((w * (np.array(gains) - mean) ** 2).sum())
        mixed += 0 < row["better_at_least"] < used
        assert row["better_together"] <= row["better_at_least"]
    assert mixed or used == 3  # of all domains some pairs are decided on some only
