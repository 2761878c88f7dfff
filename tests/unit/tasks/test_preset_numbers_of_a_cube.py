"""A preset reads its numbers off what was counted and kept, here of two systems by hand; where it has none, a code says why."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.cubes.declarations import TOOL_REASONS
from pipeline.resampling.measures import COUNTS
from pipeline.tasks.collect.kept_scores import Kept
from pipeline.tasks.collect.presets import Tool, own_presets, preset_facts, write_tool_p

BOTH = ("paired-bootstrap", "approximate-randomization")
SCORES = np.array([[3.0, 1.0, 5.0, 2.0], [2.0, 2.0, 2.0, 2.0]])
"""Gains of 1, -1, 3, 0 about an observed one of 1: their mean size is 1.25, and one size of four is at least 1 more."""


def counted(scores: NDArray[np.float64] = SCORES, defined: int = 9, **hits: int) -> Kept:
    return Kept(scores, np.array([[hits.get(name, 0) for name in COUNTS]]), np.array([defined]))


def written(preset: str, kept: dict[str, Kept], procedures: Sequence[str] = BOTH) -> dict[str, tuple[float, str]]:
    """Return p and the reason why there is none, by procedure, of the one pair."""
    found = {}

    def write_table(metric: str, size: str, values: dict[str, NDArray[Any]], *, procedure: str) -> None:
        assert (metric, size) == ("mean", "full")
        assert values["tool_p"].shape == values["tool_reason"].shape == (1, 1)
        found[procedure] = float(values["tool_p"][0, 0]), TOOL_REASONS[values["tool_reason"][0, 0]]

    observed = SimpleNamespace(score=np.array([3.0, 2.0]), delta=np.array([1.0]), identical=np.array([False]))
    measure = SimpleNamespace(pairs=np.array([[0, 1]]))
    part: Any = SimpleNamespace(metric="mean", size=SimpleNamespace(label="full"), measure=measure, observed=observed)
    cube: Any = SimpleNamespace(layout=SimpleNamespace(procedures=tuple(procedures)), write_table=write_table)
    nothing: Any = None  # whose statistics are whose is asked by tools that draw for themselves
    write_tool_p(cube, part, nothing, kept, nothing, Tool(preset, "base", seed=1, replicates=9, references=1))
    return found


def test_each_rule_has_the_number_of_its_procedure() -> None:
    swaps = counted(above_twice_delta=1, at_twice_delta=2, at_zero=1, below_delta=5)
    found = written("riezler-maxwell-2005", {"paired-bootstrap": counted(), "approximate-randomization": swaps})
    # Of four kept replicates one is a hit; of nine swaps those are that are at least as far from δ as 0 and 2δ.
    assert found == {
        "paired-bootstrap": (pytest.approx(2 / 5), "none"),
        "approximate-randomization": (pytest.approx(5 / 10), "none"),
    }


def test_a_share_of_samples_counts_no_one_more() -> None:
    found = written("koehn-2004", {"paired-bootstrap": counted(below_zero=3, at_zero=2, defined=100)})
    assert found == {"paired-bootstrap": (pytest.approx(0.03), "none")}


def test_a_number_that_is_missing_has_its_reason() -> None:
    no_scores = {"paired-bootstrap": counted(np.empty((2, 0)))}
    p, reason = written("riezler-maxwell-2005", no_scores, ["paired-bootstrap"])["paired-bootstrap"]
    assert (np.isnan(p), reason) == (True, "no-kept-replicates")
    p, reason = written("koehn-2004", {"paired-bootstrap": counted(defined=0)})["paired-bootstrap"]
    assert (np.isnan(p), reason) == (True, "no-replicate")


def test_a_rule_of_a_procedure_that_is_not_asked_for_writes_nothing() -> None:
    assert written("koehn-2004", {}, ["approximate-randomization"]) == {}


def test_only_a_tool_that_compares_with_a_baseline_names_it() -> None:
    tool = Tool("sacrebleu-bs", "base", seed=1, replicates=9, references=1)
    assert preset_facts("sacrebleu-bs", tool)["preset"]["baseline"] == "base"
    assert preset_facts("koehn-2004", tool)["preset"]["baseline"] is None
    assert preset_facts(None) == {}
    assert own_presets("koehn-2004") == ("koehn-2004",)
    assert own_presets("multeval") == own_presets(None) == ()
