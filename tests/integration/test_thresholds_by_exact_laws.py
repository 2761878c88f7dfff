"""What thresholds and calibration say by exact laws is what a million replicates say, but for their Monte-Carlo error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.studies import write_study

from pipeline import api

REPLICATES = 10**6
REACH = 6.0  # standard errors of a counted p, which it exceeds with a chance of 2e-9; there are some thousand
HITS = 30.0  # replicates beside: a small count is nearly Poisson, with longer tails
BINS = [0.005, 0.02, 0.08]
SIZES = ["150", "full"]


def write_outputs(folder: Path, *, systems: int = 32, items: int = 400) -> dict[str, Any]:
    """Write two test sets of the same systems, of which some are better on both."""
    test_sets = {}
    for number, name in enumerate(("base", "other")):
        place = folder / name
        place.mkdir(parents=True)
        rng = np.random.default_rng([9, number])
        (place / "gold.txt").write_text("x\n" * items, encoding="utf-8")
        ease = rng.normal(0.6, 1.0, items)
        outputs = {}
        for system in range(systems):
            right = ease + 0.01 * system + rng.normal(0, 0.6, items) > 0
            (place / f"s{system}.txt").write_text("".join("x\n" if is_right else "y\n" for is_right in right), encoding="utf-8")
            outputs[f"s{system:02d}"] = f"{name}/s{system}.txt"
        test_sets[name] = {"format": "labels", "gold": f"{name}/gold.txt", "outputs": outputs}
    return test_sets


def bounds(p: NDArray[np.float64], low: float, high: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell of exact p-values which surely have a counted one in low < p ≤ high, and which may have."""
    reach = REACH * np.sqrt(p * (1 - p) / REPLICATES) + HITS / REPLICATES
    sure = ((p - reach > low) | (low == 0)) & (p + reach <= high)
    return sure, (p + reach > low) & (p - reach <= high)


def reach_of_percentile(sure: NDArray[np.float64], doubtful: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and the largest 95th percentile of some gains and any of the doubtful ones."""
    doubtful = np.sort(doubtful)
    ends = [
        np.percentile(np.concatenate([sure, some]), 95)
        for k in range(len(doubtful) + 1)
        for some in (doubtful[:k], doubtful[len(doubtful) - k :])
    ]
    return float(min(ends)), float(max(ends))


@pytest.mark.slow
def test_thresholds_and_calibration_are_within_the_error_of_a_million_replicates(tmp_path: Path) -> None:
    test_sets, found, cubes = write_outputs(tmp_path), {}, {}
    for method in ("auto", "monte-carlo"):
        asked = {"replicates": REPLICATES, "keep_replicates": 16_384, "method": method, "test_sizes": [150, "full"]}
        analyses = [
            {"thresholds": {"window": [0.04, 0.06]}},
            {"calibration-transfer": {"base": "base", "against": ["other"], "bins": BINS}},
        ]
        study = write_study(
            tmp_path / f"{method}.yaml", test_sets=test_sets, metrics=["accuracy"], resampling={**asked, "tails": "none"},
            analyses=analyses, report={"formats": ["json"], "null_laboratory": False},
        )  # fmt: skip
        run = api.run(study, runs=tmp_path / "runs", serial=True)
        document = json.loads((run.root / "report" / "report.json").read_text(encoding="utf-8"))
        found[method] = {finding["analysis"]: finding["rows"] for finding in document["findings"]}
        cubes[method] = {name: cube.load() for name, cube in api.open_run(run.root).items()}

    def exact(name: str, variable: str, size: str, **where: str) -> NDArray[np.float64]:
        values: NDArray[np.float64] = cubes["auto"][name][variable].sel(metric="accuracy", test_size=size, **where).values
        return values

    def p_of(name: str, size: str) -> NDArray[np.float64]:
        return exact(name, "p_value", size, procedure="paired-bootstrap", convention="one-sided")

    assert cubes["auto"]["base"].attrs["exact"] == {"paired-bootstrap": {"accuracy": 16_384}}
    assert "exact" not in cubes["monte-carlo"]["base"].attrs
    counted = {(row["test_set"], row["test_size"]): row for row in found["monte-carlo"]["thresholds"] if row["relation"] == "all"}
    assert set(counted) == {(name, size) for name in test_sets for size in SIZES}
    doubts = 0
    for (name, size), row in counted.items():
        p, gain = p_of(name, size), np.abs(exact(name, "observed_delta", size))
        sure, possible = bounds(p, 0.04, 0.06)
        least, most = reach_of_percentile(gain[sure], gain[possible & ~sure])
        assert sure.sum() >= 5, "a threshold of few pairs shows little"
        assert sure.sum() <= row["pairs_in_window"] <= possible.sum()
        assert least - 1e-9 <= row["gain"] <= most + 1e-9
        doubts += int((possible & ~sure).sum())
    assert doubts < 60, "bounds so wide would hold anything"

    p, ahead = (
        p_of("base", "full"),
        np.sign(exact("base", "observed_delta", "full")) == np.sign(exact("other", "observed_delta", "full")),
    )
    ordered = exact("base", "observed_delta", "full") != 0
    rows = [row for row in found["monte-carlo"]["calibration-transfer"] if row["kind"] == "bin"]
    assert [row["p_high"] for row in rows] == [*BINS, 1.0]
    for row in rows:
        sure, possible = (ordered & some for some in bounds(p, row["p_low"], row["p_high"]))
        assert sure.sum() <= row["pairs"] <= possible.sum()
        assert (sure & ahead).sum() <= row["same_sign"] <= (possible & ahead).sum()
        assert sure.sum() > 0.8 * row["pairs"] > 0
