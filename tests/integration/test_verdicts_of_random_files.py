"""Random files: a comparison and a study say the same of every pair, and a further system gives no old pair a verdict.

A few files are tried by default, always the same; many, each time others, where slow tests are asked for.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.studies import write_study

from pipeline import api

B = 499
MISSING = ("error", "drop", "zero")
DECIDING = ("delta", "p", "p_adjusted", "interval", "verdict", "undecided")

pytestmark = pytest.mark.usefixtures("files_in_memory")

FEW = settings(max_examples=4, derandomize=True, deadline=None, database=None, phases=(Phase.explicit, Phase.generate))
"""The same few files each time; a file that fails is not made smaller, for each trial is a run."""

MANY = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
"""A file that fails is made smaller, for some minutes."""


@dataclass(frozen=True)
class Scores:
    """A file of scores to be made.

    Parameters
    ----------
    systems, items : int
    kind : {"right", "graded", "skewed", "failing"}
        0/1; Gaussian; exponential; Gaussian with total failures of half of the systems.
    apart : float
        How far the systems are from one another: 0 for equal ones.
    documents : bool
        Items stand in documents of one to five, and differ between these.
    missing : {"error", "drop", "zero"}
        What the comparison and the study do about blanks; none are left with ``error``.
    falling : bool
        Whether lower scores are better.
    seed : int
    """

    systems: int
    items: int
    kind: str
    apart: float
    documents: bool = False
    missing: str = "error"
    falling: bool = False
    seed: int = 1

    def values(self) -> NDArray[np.float64]:
        """Return (system, item) scores with two decimals, nan where a system left an item blank."""
        rng = np.random.default_rng(self.seed)
        hard = rng.normal(size=self.items)
        ability = self.apart * rng.normal(size=(self.systems, 1))
        noise = rng.normal(size=(self.systems, self.items))
        if self.documents:
            noise += 0.7 * rng.normal(size=(self.systems, self.items))[:, self.document()]
        found = 5 + hard + ability + noise
        if self.kind == "right":
            found = (found > 4.8).astype(float)
        if self.kind == "skewed":
            found = 5 + ability + rng.exponential(size=found.shape)
        if self.kind == "failing":
            found[::2][rng.random(found[::2].shape) < 0.05] = 0
        if self.missing != "error":
            found[rng.random(found.shape) < 0.1 / self.systems] = np.nan
        return np.round(found, 2)

    def document(self) -> NDArray[np.int64]:
        """Return the document of each item."""
        sizes = np.random.default_rng(self.seed + 1).integers(1, 6, self.items)
        return np.repeat(np.arange(self.items), sizes)[: self.items]


def write(path: Path, made: Scores, values: NDArray[np.float64]) -> Path:
    """Write one row an item and system; a blank is a row that is not there."""
    document = made.document()
    rows = [
        f"s{system},i{item},d{document[item]},{value:.2f}"
        for system, scores in enumerate(values)
        for item, value in enumerate(scores)
        if not np.isnan(value)
    ]
    path.write_text("\n".join(["system,item,document,score", *rows]) + "\n", encoding="utf-8")
    return path


def compare(folder: Path, made: Scores, values: NDArray[np.float64]) -> dict[str, Any]:
    """Return the report of ``pipeline compare``, once with documents and once without."""
    return api.compare(
        {"*": str(write(folder / "scores.csv", made, values))},
        format="scores",
        metrics=[{"name": "mean", "higher_is_better": not made.falling}],
        missing=made.missing,
        unit=None if made.documents else "item",
        columns={"document": "document"},
        replicates=B,
        seed=made.seed,
    )


def study(folder: Path, made: Scores, values: NDArray[np.float64]) -> dict[str, Any]:
    """Return the report of ``pipeline run``, of the same file, with analyses that a comparison has not."""
    write(folder / "scores.csv", made, values)
    of = {"format": "scores", "outputs": "scores.csv", "missing": made.missing, "columns": {"document": "document"}}
    path = write_study(
        folder / "study.yaml",
        seed=made.seed,
        test_sets={"test set": of},
        metrics=[{"name": "mean", "higher_is_better": not made.falling}],
        analyses=["thresholds"],
        report={"formats": ["json"]},
        resampling={"replicates": B, "unit": "document" if made.documents else "item"},
    )
    root = api.run(path, runs=folder / "runs", serial=True).root
    document: dict[str, Any] = json.loads((root / "report" / "report.json").read_text(encoding="utf-8"))
    return document


def pairs_of(document: dict[str, Any]) -> dict[frozenset[str], dict[str, Any]]:
    return {frozenset((row["system_a"], row["system_b"])): row for row in document["pairs"]}


@st.composite
def files(draw: Callable[..., Any], systems: Sequence[int] = (2, 3, 8), missing: Sequence[str] = MISSING) -> Scores:
    return Scores(
        systems=draw(st.sampled_from(systems)),
        items=draw(st.integers(15, 60)),
        kind=draw(st.sampled_from(["right", "graded", "skewed", "failing"])),
        apart=draw(st.sampled_from([0.0, 0.4, 0.8])),
        documents=draw(st.booleans()),
        missing=(found := draw(st.sampled_from(missing))),
        falling=found != "zero" and draw(st.booleans()),  # a missing item would have the best score of all
        seed=draw(st.integers(1, 2**20)),
    )


def holds_alike(made: Scores) -> None:
    """Assert that a comparison and a study of a file have the same pairs and sentences, and that p gives the verdict."""
    with tempfile.TemporaryDirectory() as name:
        compared, studied = (of(Path(name), made, made.values()) for of in (compare, study))
    assert len(compared["pairs"]) == made.systems * (made.systems - 1) // 2
    for one, other in zip(compared["pairs"], studied["pairs"], strict=True):
        for field in DECIDING:
            assert one[field] == other[field], (field, one["system_a"], one["system_b"])
    for key in ("pairs", "leaderboard", "clusters", "verdict"):
        assert compared[key] == studied[key], key
    for row in compared["pairs"]:
        assert row["p"] <= row["p_adjusted"]
        small = row["p_adjusted"] <= compared["alpha"]
        open_ = "identical" if row["identical"] else "not separated"
        assert row["verdict"] == (("not decided" if row["undecided"] else "better") if small else open_)
    for verdict in {row["verdict"] for row in compared["pairs"]}:
        event(verdict)


@FEW
@given(files())
def test_a_comparison_and_a_study_say_the_same_of_every_pair(made: Scores) -> None:
    holds_alike(made)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@MANY
@given(files((2, 3, 8, 30)))
@example(Scores(30, 40, "right", 0.8, documents=True, missing="zero"))
def test_a_comparison_and_a_study_say_the_same_of_every_pair_of_many_files(made: Scores) -> None:
    holds_alike(made)


def near_copy(of: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Two items differ."""
    found = of.copy()
    found[rng.choice(len(of), 2, replace=False)] += rng.choice([-1, 1], 2)
    return found


def wild(of: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    return of + rng.standard_t(1.5, len(of)) * 20


def failed(of: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A twentieth of the items are at 0, as where an answer could not be read."""
    found = of.copy()
    found[rng.random(len(of)) < 0.05] = 0
    return found


def blank(of: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A fifth of the items is not answered; they count as 0, for leaving them out would leave them out of the others too."""
    found = of.copy()
    found[rng.random(len(of)) < 0.2] = np.nan
    return found


def higher(of: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    return of + rng.normal(3, 0.5, len(of))


def lower(of: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    return of - rng.normal(3, 0.5, len(of))


def constant(of: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    return np.full(len(of), np.round(rng.normal(5), 2))


FURTHER = {made.__name__: made for made in (near_copy, wild, failed, blank, higher, lower, constant)}


def gives_no_verdict(made: Scores, further: list[str]) -> None:
    """Assert that no old pair becomes better, or has a smaller p, as systems join; its own p is as it was.

    Of the old systems all have all items: otherwise which items there are, and in which order they are drawn, might change.
    """
    made = replace(made, missing="zero", falling=False) if "blank" in further else made
    rng, before = np.random.default_rng([made.seed, 9]), replace(made, missing="error").values()
    joined = [np.round(FURTHER[kind](before[rng.integers(made.systems)], rng), 2) for kind in further]
    with tempfile.TemporaryDirectory() as name:
        old, new = (pairs_of(compare(Path(name), made, np.array(values))) for values in (before, [*before, *joined]))
    assert len(new) > len(old)
    for ends, row in old.items():
        assert new[ends]["p"] == row["p"]
        assert new[ends]["p_adjusted"] >= row["p_adjusted"]
        assert row["verdict"] == "better" or new[ends]["verdict"] != "better", ends
    event(f"{sum(row['verdict'] == 'better' != new[ends]['verdict'] for ends, row in old.items())} verdicts are taken")


@FEW
@given(files(missing=("error",)), st.lists(st.sampled_from(sorted(FURTHER)), min_size=1, max_size=3))
@example(Scores(8, 44, "failing", 0.8), ["blank", "lower", "wild"])  # two verdicts become "not decided", three "not separated"
def test_a_further_system_gives_no_old_pair_a_verdict(made: Scores, further: list[str]) -> None:
    gives_no_verdict(made, further)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@MANY
@given(files(missing=("error",)), st.lists(st.sampled_from(sorted(FURTHER)), min_size=1, max_size=3))
def test_a_further_system_gives_no_old_pair_a_verdict_in_many_files(made: Scores, further: list[str]) -> None:
    gives_no_verdict(made, further)
