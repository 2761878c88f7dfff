"""Fixed bits of a fixed small study: another Python, NumPy or machine is held to them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from support import small_measures as small

from pipeline.resampling.address import CELL, draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

# To accept new bits on purpose: run with -vv, and copy what was found.
GOLDEN = {
    "integer": ([2311, 856, 8004, 1372, 846, 2372, -2, -2], "ae2546677ebf9947d6bf1562cbf73471"),
    "crossed": ([6696, 407, 8658, 15, 14, 7009, 6346, 9630], "a0d0d7d8ac251d4d865ae6656d00d358"),
    "tolerance": ([197, 0, 9058, 0, 0, 353, -2, -2], "5eb8ff163aec39269a1015877bcd4d81"),
    "general": ([23, 0, 8910, 0, 0, 38, 6, 17184], "3aa8c1294866c67555f7cd8ab24ad0c0"),
}


def study():
    """Statistics by formula, not by a generator of random numbers that might change."""
    unit, system = np.arange(50)[:, None], np.arange(4)[None, :]
    right = ((unit * 7919 + system * 104729 + unit * system * 13) % 10 < 6).astype(np.int64)
    size = (unit * unit * 31) % 9 + np.zeros_like(right)
    part = (unit * 17 + system * 5 + unit * system) % (size + 1)
    own = (unit * 37 + system * system * 11 + unit * system * 3) % 23 + 1
    return {
        "integer": small.make_measure(np.stack([right, np.ones_like(right)], axis=2)),
        "crossed": small.make_measure(np.stack([part, size], axis=2), higher=False, margin=1.25),
        "tolerance": small.make_measure(np.stack([right + part, own], axis=2)),
        "general": small.make_measure(
            np.stack([own, size + 1, part + right + 1], axis=2), score=small.root_of_products, form="general", margin=0.0625
        ),
    }


def digest(observed, found):
    parts = [observed.score, observed.delta, observed.se, found.counts, found.sums, found.histogram, found.empty, found.score]
    return hashlib.sha256(b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)).hexdigest()[:32]


@pytest.mark.golden
@pytest.mark.parametrize("by_kernels", [False, True])
@pytest.mark.parametrize("name", ["integer", "crossed", "tolerance", "general"])
def test_counts_have_the_bits_they_always_had(name, by_kernels, monkeypatch):
    monkeypatch.setattr("pipeline.resampling.resample._is_little", lambda gains: not by_kernels)
    if by_kernels:  # as where there is much to do
        monkeypatch.setattr("pipeline.resampling.resample.FEW_GAINS", -1)
        monkeypatch.setattr("pipeline.resampling.products.columns._FEW", 0)
    measure = study()[name]
    draws = Draws(draw_key(seed=1, purpose="golden", test_set="fifty units", size="full", rule="units"), 50, 50)
    (found,) = resample(draws, [measure], cells=range(2), replicates=CELL + 1000)
    assert (found.counts.sum(axis=1)[-1].tolist(), digest(observe(measure), found)) == GOLDEN[name]
