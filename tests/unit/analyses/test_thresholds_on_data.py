"""Thresholds of real systems, their standard errors computed here from published statistics: what an audit of the data found.

Cubes are made from the gains and jackknife standard errors of all pairs, with Gaussian p, so nothing is resampled.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.mmlu_data import read_mmlu
from support.synthetic_cubes import build_cube

from pipeline.analyses.size_curve.analysis import SizeCurve
from pipeline.analyses.thresholds.analysis import Thresholds

pytestmark = pytest.mark.data
ROOT = Path(__file__).resolve().parents[3]
Z = 1.6448536269514722


def cube_of(names: list[str], groups: list[str], left_out: NDArray[np.float64], scores: NDArray[np.float64]) -> Any:
    """Return a cube from scores without each of the units, (system, unit), and from all of them."""
    units = left_out.shape[1]
    first, second = np.triu_indices(len(names), 1)
    differences = left_out[first] - left_out[second]
    se = np.sqrt((units - 1) / units * np.sum((differences - differences.mean(axis=1, keepdims=True)) ** 2, axis=1))
    same = [(names[a], names[b]) for a, b, spread in zip(first, second, se, strict=True) if spread < 1e-9]
    return build_cube(scores, names, se=se[None], sizes={"full": units}, identical=same, coords={"group": groups})


def from_counts(path: Path, score: Callable[[NDArray[np.float64]], NDArray[np.float64]], mark: str) -> Any:
    """Return a cube from counts of every system and sentence; the group is what stands before a mark in the name."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    counts = np.array([[[int(n) for n in cell.split(",")] for cell in row[1:]] for row in rows], dtype=np.float64)
    whole = counts.sum(axis=1, keepdims=True)
    names = [row[0] for row in rows]
    return cube_of(names, [name.split(mark)[0] for name in names], score(whole - counts), score(whole)[:, 0])


def found(cube: Any) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    finding = Thresholds().find({"news": cube}, {})
    return {row["relation"]: dict(row) for row in finding.rows}, finding.details["kinship"][0]


def test_parsers_of_chinese_of_one_team_need_half_the_gain(data_dir: Path) -> None:
    """65 runs of the shared task of CoNLL 2017 by UAS: 1.42 in the window, .71 and 1.43 by the standard errors near borderline."""
    path = data_dir / "conll2017-zh" / "zh" / "expected_sentence_stats.tsv.gz"
    rows, kin = found(from_counts(path, lambda n: 200 * n[..., 2] / (n[..., 0] + n[..., 1]), "__"))
    assert rows["all"]["gain"] == pytest.approx(1.417, abs=0.02)
    assert rows["all"]["near_gain"] == pytest.approx(1.43, abs=0.01)
    assert rows["same"]["near_gain"] == pytest.approx(0.71, abs=0.01)
    assert rows["all"]["se_gain"] == pytest.approx(1.60, abs=0.01)  # pairs that differ much are more uncertain
    assert rows["all"]["se_interval"] is None  # 33 teams
    # By another way to hold the gain: .61.
    assert (kin["near_ratio"], kin["ratio"]) == (pytest.approx(0.56, abs=0.03), pytest.approx(0.67, abs=0.03))
    assert (kin["near_p"], kin["p"], kin["arrangements"]) == (1 / 2000, 1 / 2000, 2000)


def test_aligners_of_one_tool_need_a_fifth_less(data_dir: Path) -> None:
    """13 alignments by three tools, AER: none of the 78 pairs is in the window."""
    path = data_dir / "align-enfr-hansards" / "expected_sentence_stats.tsv.gz"
    rows, kin = found(from_counts(path, lambda n: 100 * (1 - (n[..., 0] + n[..., 1]) / (n[..., 2] + n[..., 3])), "."))
    assert (rows["all"]["pairs_in_window"], rows["all"]["gain"]) == (0, None)
    assert [rows[label]["se_gain"] for label in ("all", "same", "different")] == pytest.approx([0.91, 0.73, 0.92], abs=0.005)
    assert kin["ratio"] == pytest.approx(0.72, abs=0.01)
    assert kin["p"] < 0.01


@pytest.mark.parametrize(("metric", "same", "ratio"), [("rouge_1_f_score", 1.64, 0.86), ("rouge_2_f_score", 1.64, 0.825)])
def test_summarisers_of_one_family_need_a_seventh_less(data_dir: Path, metric: str, same: float, ratio: float) -> None:
    with gzip.open(data_dir / "realsumm" / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    with (ROOT / "workflows" / "realsumm.csv").open(encoding="utf-8") as file:
        groups = {row["system"]: row["group"] for row in csv.DictReader(file)}
    names = sorted(groups)
    scores = 100 * np.array([[document["systems"][name]["scores"][metric] for document in documents] for name in names])
    mean, number = scores.mean(axis=1), scores.shape[1]
    left_out = (number * mean[:, None] - scores) / (number - 1)
    rows, kin = found(cube_of(names, [groups[name] for name in names], left_out, mean))
    assert rows["same"]["se_gain"] == pytest.approx(same, abs=0.01)
    assert rows["all"]["se_gain"] == pytest.approx(1.925, abs=0.01)
    assert kin["ratio"] == pytest.approx(ratio, abs=0.005)
    assert kin["p"] <= 0.005


def test_standard_errors_of_language_models_shrink_with_the_root_of_the_questions(data_dir: Path) -> None:
    """28 models on 12 002 questions in a random order: .85 by standard errors on all of them, and a slope of −½."""
    right = 100.0 * read_mmlu(data_dir, models=28, items=12_002)
    right = right[np.random.default_rng(1).permutation(len(right))]
    sizes = {"100": 100, "400": 400, "1600": 1600, "6400": 6400, "full": len(right)}
    first, second = np.triu_indices(right.shape[1], 1)
    scores = np.array([right[:n].mean(axis=0) for n in sizes.values()])
    se = np.array([(right[:n, first] - right[:n, second]).std(axis=0, ddof=1) / np.sqrt(n) for n in sizes.values()])
    cube = build_cube(scores, [f"m{k:02d}" for k in range(right.shape[1])], sizes=sizes, se=se)
    fit = next(row for row in SizeCurve().find({"mmlu": cube}, {}).details["fits"] if row["quantity"] == "median_se")
    assert fit["slope"] == pytest.approx(-0.5, abs=0.02)
    by_size = {row["test_size"]: row["se_gain"] for row in Thresholds().find({"mmlu": cube}, {}).rows}
    assert by_size["full"] == pytest.approx(0.85, abs=0.01)
    assert by_size["100"] == pytest.approx(9.4, abs=0.5)
