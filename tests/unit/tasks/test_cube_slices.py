"""Tests how a cube indexes what is stored by content: which pair is which, what is turned, and what stands together."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pipeline.items.frame import Frame
from pipeline.items.stored import grouping_key, store_frame, store_grouping
from pipeline.plan.comparisons import Comparison, Size
from pipeline.plan.inputs import MetricInputs, TestSetInputs
from pipeline.store.array_files import write_arrays
from pipeline.store.runs import Store
from pipeline.tasks.collect.clusters import groups_of_items, load_clusters, measure_clusters, strata_facts
from pipeline.tasks.collect.cube_slice import make_part

METRIC = MetricInputs("mean", {}, "mean", True)
FRAME = Frame("t", tuple("abcdefgh"), tuple(range(8)), tuple("abcdefgh"))
SCORES = {"k1": (0, 1, 1, 1, 0, 1, 1, 1), "k2": (0, 0, 1, 1, 0, 1, 0, 1), "k3": (0, 0, 0, 1, 0, 0, 0, 1)}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "store")
    store_frame(FRAME, made)
    for key, values in SCORES.items():
        both = np.column_stack([values, np.ones(8)]).astype(np.int64)
        arrays = {"values": both, "decimals": np.zeros(2, np.int64), "rounding_error": np.zeros(1)}
        write_arrays(made.path("statistics", key, ".arrays"), arrays)
    return made


def data_of(store: Store, **changes: Any) -> TestSetInputs:
    return TestSetInputs("t", store_frame(FRAME, store), "", 8, 8, (), **changes)


KEY_OF = {"best": "k1", "copy": "k3", "middle": "k2", "worst": "k3"}
SYSTEMS = tuple(KEY_OF)
PAIRS = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])


def part_of(store: Store, *, size: int = 8, baseline: str = "") -> Any:
    layout: Any = SimpleNamespace(systems=SYSTEMS, pairs=PAIRS, attrs={"baseline": baseline})
    comparison = Comparison("address", "paired-bootstrap", METRIC, None, ("k1", "k2", "k3"), KEY_OF)
    return make_part(store, data_of(store), layout, comparison, Size("full" if size == 8 else str(size), size))


def test_pairs_of_names_are_found_among_pairs_of_content(store: Store) -> None:
    part = part_of(store)
    assert part.position.tolist() == [0, 2, 1, 2]
    # best-copy, best-middle, best-worst, copy-middle, copy-worst, middle-worst, among (k1, k2), (k1, k3), (k2, k3)
    assert part.flat.tolist() == [1, 0, 1, 2, -1, 2]
    assert part.turned.tolist() == [False, False, False, True, False, False]
    scores = [sum(SCORES[KEY_OF[name]]) / 8 for name in SYSTEMS]
    assert np.allclose(part.turn(part.observed.delta), [scores[i] - scores[j] for i, j in PAIRS])


def test_turning_a_pair_changes_its_sign_and_makes_no_negative_zero(store: Store) -> None:
    turned = part_of(store).turn(np.array([1.0, 2.0, 3.0, 4.0, 0.0, 5.0]))
    assert turned.tolist() == [1.0, 2.0, 3.0, -4.0, 0.0, 5.0]
    assert not np.signbit(part_of(store).turn(np.zeros(6))).any()


def test_a_family_against_a_baseline_has_its_pairs_alone(store: Store) -> None:
    assert part_of(store).tested.member.all()
    tested = part_of(store, baseline="middle").tested
    assert tested.member.tolist() == [False, True, False, True, False, True]
    assert not part_of(store, baseline="failed").tested.member.any()


def test_a_smaller_size_has_the_first_units(store: Store) -> None:
    part = part_of(store, size=4)
    assert len(part.measure.statistics) == 4
    assert part.measure.statistics[:, 0, 0].tolist() == list(SCORES["k1"][:4])


def test_clusters_are_the_units_or_the_documents_that_are_not_drawn(store: Store) -> None:
    assert load_clusters(store, data_of(store)) is None
    document = (0, 0, 0, 0, 1, 1, 2, 2)
    store_grouping(document, store)
    known = data_of(store, documents=grouping_key(document))
    clusters = load_clusters(store, known)
    assert clusters is not None
    assert (clusters.column, clusters.of_item.tolist()) == ("document", list(document))
    assert clusters.facts()["clusters"] == {"column": "document", "count": 3, "effective": pytest.approx(64 / 24)}
    assert groups_of_items(store, known, np.arange(8)) == {"document": list(document)}
    assert measure_clusters(store, known, clusters, Comparison("", "p", METRIC, None, ("k1", "k2", "k3"), KEY_OF), part_of(store))
    drawn = load_clusters(store, data_of(store, unit="speaker"))
    assert drawn is not None
    assert drawn.column == "speaker"


def test_strata_are_counted_with_those_of_one_unit(store: Store) -> None:
    study: Any = SimpleNamespace(resampling=SimpleNamespace(strata="genre"))
    assert strata_facts(store, study, data_of(store)) == {}
    stratum = (0, 0, 0, 1, 1, 2, 2, 3)
    store_grouping(stratum, store)
    facts = strata_facts(store, study, data_of(store, strata=grouping_key(stratum)))
    assert facts == {"strata": {"column": "genre", "count": 4, "smallest": 1, "largest": 3, "alone": 1}}
