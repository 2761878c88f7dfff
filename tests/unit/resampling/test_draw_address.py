"""Addresses: keys depend on every part, cells tile the replicates."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pipeline.resampling.address import CELL, cell_bounds, count_cells, draw_key

PARTS = {"seed": 1, "purpose": "a", "test_set": "b", "size": "full", "rule": "units"}


def test_every_part_of_the_address_changes_the_key():
    keys = [draw_key(**PARTS)] + [draw_key(**(PARTS | {name: 2 if name == "seed" else "x"})) for name in PARTS]
    assert len(set(keys)) == len(PARTS) + 1


def test_parts_that_run_together_to_the_same_text_have_different_keys():
    texts = [("a", "bc"), ("ab", "c"), ('a","', "bc"), ("a", '","bc')]
    assert len({draw_key(**(PARTS | {"purpose": p, "test_set": t})) for p, t in texts}) == len(texts)


@pytest.mark.golden
def test_a_key_has_the_bits_it_always_had():
    assert draw_key(seed=1, purpose="bootstrap", test_set="news", size="full", rule="units") == 0x331A933ADC4C9595


@pytest.mark.parametrize("replicates", [1, CELL - 1, CELL, CELL + 1, 10**6])
def test_cells_tile_the_replicates(replicates):
    bounds = [cell_bounds(cell, replicates) for cell in range(count_cells(replicates))]
    assert bounds[0][0] == 0
    assert bounds[-1][1] == replicates
    assert all(stop == next_first for (_, stop), (next_first, _) in pairwise(bounds))
    assert all(first % CELL == 0 for first, _ in bounds)


def test_a_cell_beyond_the_last_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"cell 2 .* the 2 cells of 20000"):
        cell_bounds(2, 20_000)
