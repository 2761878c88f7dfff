"""Letters: shared exactly where systems do not differ, none of them needless, and the same whatever comes first."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.inference.multiple_comparisons.ranks import compact_letters, name_letters


def relation(systems, pairs):
    differ = np.zeros((systems, systems), bool)
    for a, b in pairs:
        differ[a, b] = differ[b, a] = True
    return differ


def says(membership):
    """Which systems share no letter."""
    return ~((membership[:, None] & membership[None]).any(axis=2))


@st.composite
def relations(draw):
    systems = draw(st.integers(1, 9))
    pairs = list(combinations(range(systems), 2))
    return relation(systems, [pair for pair in pairs if draw(st.booleans())])


@given(differ=relations())
@settings(max_examples=200, deadline=None)
def test_systems_share_a_letter_exactly_where_they_do_not_differ(differ):
    assert np.array_equal(says(compact_letters(differ)), differ)


@given(differ=relations())
@settings(max_examples=200, deadline=None)
def test_no_letter_of_any_system_can_be_left_out(differ):
    membership = compact_letters(differ)
    for entry in np.argwhere(membership):
        less = membership.copy()
        less[tuple(entry)] = False
        assert not np.array_equal(says(less), differ)


def test_the_swept_letter_of_a_square_with_its_diagonal():
    """Three letters come out of insert and absorb; the middle one is carried by pairs that the others hold already."""
    # Who does not differ: 0-1, 1-2, 0-2, 1-3, 2-4, 3-4 … of six; 0-1-2 is spanned by 0-1-3, 1-2-4, 0-2-5.
    alike = {(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (1, 4), (2, 4), (0, 5), (2, 5)}
    differ = relation(6, [pair for pair in combinations(range(6), 2) if pair not in alike])
    membership = compact_letters(differ)
    cliques = {tuple(np.flatnonzero(column).tolist()) for column in membership.T}
    assert cliques == {(0, 1, 3), (0, 2, 5), (1, 2, 4)}


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], ["a", "a", "a", "a"]),
        (list(combinations(range(4), 2)), ["a", "b", "c", "d"]),
        ([(0, 2), (0, 3), (1, 3)], ["a", "ab", "bc", "c"]),
        ([(0, 3)], ["a", "ab", "ab", "b"]),
        ([(1, 2)], ["ab", "a", "b", "ab"]),  # by no order of scores, but errors differ
    ],
)
def test_known_displays(pairs, expected):
    membership = compact_letters(relation(4, pairs))
    assert np.array_equal(says(membership), relation(4, pairs))
    assert name_letters(membership) == expected


def test_more_systems_than_letters_in_the_alphabet_have_numbers():
    names = name_letters(compact_letters(~np.eye(54, dtype=bool)))
    assert names[:2] == ["a", "b"]
    assert names[25:27] == ["z", "A"]
    assert names[51:] == ["Z", "(53)", "(54)"]


def test_relations_that_need_thousands_of_letters_are_refused_in_words():
    """Ten triangles of systems that differ: a letter is one of each, 3^10 = 59 049 of them."""
    differ = np.kron(np.eye(10, dtype=bool), ~np.eye(3, dtype=bool)).astype(bool)
    with pytest.raises(ValueError, match="more than 1000 letters for 30 systems"):
        compact_letters(differ)


def test_absorbing_keeps_a_leaderboard_of_150_small():
    """Systems differ from the 21st neighbour on: 130 letters, and never many more on the way."""
    place = np.arange(150)
    differ = np.abs(place[:, None] - place) > 20
    membership = compact_letters(differ)
    assert membership.shape == (150, 130)
    assert np.array_equal(says(membership), differ)


@pytest.mark.parametrize("bad", [np.ones((2, 2), bool), np.triu(np.ones((2, 2), bool), 1), np.zeros((2, 3), bool)])
def test_what_is_no_relation_is_refused(bad):
    with pytest.raises(ValueError, match="symmetric"):
        compact_letters(bad)


def test_nobody_has_no_letters():
    assert compact_letters(np.zeros((0, 0), bool)).shape == (0, 0)
    assert compact_letters(np.zeros((1, 1), bool)).tolist() == [[True]]
