"""The heuristics that join two directional alignments give what their published rules give by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reference_systems._symmetrise import HEURISTICS, symmetrise, to_links


def matrix(text):
    return np.array([[letter == "x" for letter in line] for line in text.split()])


# By hand from the published rules. The intersection is the link 0-0.
FORWARD = matrix("x.... .x... ....x .....")
REVERSE = matrix("xx... ..... ..... ...x.")
BY_HAND = {
    "forward": ((0, 0), (1, 1), (2, 4)),
    "reverse": ((0, 0), (0, 1), (3, 3)),
    "intersection": ((0, 0),),
    "union": ((0, 0), (0, 1), (1, 1), (2, 4), (3, 3)),
    # 0-1 is beside 0-0 and links target 1; then 1-1 links source 1; 2-4 and 3-3 are beside nothing.
    "grow-diag": ((0, 0), (0, 1), (1, 1)),
    "grow-diag-final": ((0, 0), (0, 1), (1, 1), (2, 4), (3, 3)),
    "grow-diag-final-and": ((0, 0), (0, 1), (1, 1), (2, 4), (3, 3)),
}


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_heuristics_give_what_they_give_by_hand(heuristic):
    assert to_links(symmetrise(FORWARD, REVERSE, heuristic)) == BY_HAND[heuristic]


def test_final_adds_a_link_of_one_free_word_and_final_and_does_not():
    forward, reverse = matrix("x..x ...."), matrix("x... ...x")  # 0-3 has a linked source, 1-3 links two free words
    assert to_links(symmetrise(forward, reverse, "grow-diag")) == ((0, 0),)
    assert to_links(symmetrise(forward, reverse, "grow-diag-final")) == ((0, 0), (0, 3), (1, 3))
    assert to_links(symmetrise(forward, reverse, "grow-diag-final-and")) == ((0, 0), (1, 3))


def test_growing_goes_on_from_links_it_added_but_not_between_linked_words():
    forward, reverse = matrix("x... .x.. ..x. ...."), matrix("x... x... .... ...x")
    # 1-0 and 1-1 both wait for source 1: 1-0 comes first, then 1-1 has target 1 free, 2-2 and 3-3 follow on the diagonal.
    assert to_links(symmetrise(forward, reverse, "grow-diag")) == ((0, 0), (1, 0), (1, 1), (2, 2), (3, 3))
    full = np.ones((2, 2), dtype=bool)
    assert to_links(symmetrise(np.eye(2, dtype=bool), full, "grow-diag")) == ((0, 0), (1, 1))
