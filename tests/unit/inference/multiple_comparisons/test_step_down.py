"""The loops of a family against the definition, one replicate and one member at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.inference.multiple_comparisons.families import Members, count_any, count_step_down


def random_family(seed, systems, replicates, holes):
    """Whole numbers: ties abound, and no rounding can hide a wrong ≥."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, (systems, replicates)).astype(float)
    scores[rng.random(scores.shape) < holes] = np.nan
    first, second = (np.ascontiguousarray(rows) for rows in np.triu_indices(systems, 1))
    center = rng.integers(-2, 3, len(first)).astype(float)
    scale = 1.0 / rng.choice([0.5, 1.0, 2.0], len(first))
    order = np.argsort(-np.abs(center) * scale, kind="stable")
    center, scale = center[order], scale[order]
    return scores, Members(first[order], second[order], center, scale, np.abs(center) * scale)


def t_star(scores, members, two_sided):
    t = (scores[members.first] - scores[members.second] - members.center[:, None]) * members.scale[:, None]
    return np.abs(t) if two_sided else t


@given(
    seed=st.integers(0, 2**31),
    systems=st.integers(2, 6),
    replicates=st.integers(1, 60),
    holes=st.sampled_from([0.0, 0.1, 0.6]),
    two_sided=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_counts_are_those_of_the_definition(seed, systems, replicates, holes, two_sided):
    scores, members = random_family(seed, systems, replicates, holes)
    hits, defined = (np.zeros(len(members.first), np.int64) for _ in range(2))
    largest = np.empty(replicates)
    count_step_down(scores, members, two_sided, hits, defined, largest)
    t = t_star(scores, members, two_sided)
    np.testing.assert_array_equal(largest, t.max(axis=0))  # nan where any is
    for j in range(len(t)):
        there = ~np.isnan(t[j:]).any(axis=0)
        assert defined[j] == there.sum()
        assert hits[j] == sum(t[j:, r].max() >= members.least[j] for r in np.flatnonzero(there))
    critical = members.least + 0.5
    found, all_there = count_any(scores, members, two_sided, critical)
    there = ~np.isnan(t).any(axis=0)
    assert (found, all_there) == ((t[:, there] > critical[:, None]).any(axis=0).sum(), there.sum())


@pytest.mark.parametrize("cuts", [[1], [1024], [7, 1023, 1024, 1025, 2999]])
def test_any_division_of_the_replicates_counts_the_same(cuts):
    scores, members = random_family(3, 5, 3000, 0.02)
    whole, parts = ([np.zeros(len(members.first), np.int64) for _ in range(2)] for _ in range(2))
    largest, pieces = np.empty(3000), [np.empty(part.shape[1]) for part in np.split(scores, cuts, axis=1)]
    count_step_down(scores, members, True, *whole, largest)
    for part, piece in zip(np.split(scores, cuts, axis=1), pieces, strict=True):
        count_step_down(np.ascontiguousarray(part), members, True, *parts, piece)
    assert np.array_equal(whole, parts)
    np.testing.assert_array_equal(largest, np.concatenate(pieces))
    critical = members.least + 1.0
    totals = np.array([count_any(np.ascontiguousarray(part), members, True, critical) for part in np.split(scores, cuts, axis=1)])
    assert tuple(totals.sum(axis=0)) == count_any(scores, members, True, critical)
    assert 0 < totals[:, 0].sum() < totals[:, 1].sum() < 3000


def test_what_is_exactly_critical_does_not_exceed_it():
    scores, members = (
        np.array([[3.0, 4.0], [0.0, 0.0]]),
        random_family(0, 2, 2, 0.0)[1]._replace(center=np.ones(1), scale=np.ones(1)),
    )
    assert count_any(scores, members, True, np.array([2.0])) == (1, 2)


def test_without_members_nothing_is_reached_and_the_largest_is_none():
    nobody = Members(*(np.empty(0, kind) for kind in (np.int64, np.int64, float, float, float)))
    largest = np.zeros(3)
    count_step_down(np.zeros((2, 3)), nobody, True, np.empty(0, np.int64), np.empty(0, np.int64), largest)
    assert largest.tolist() == [-np.inf] * 3
