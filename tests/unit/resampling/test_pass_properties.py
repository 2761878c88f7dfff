"""The fast pass and the definitions agree on anything; threads of the matrix product change no bit."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import small_measures as small

from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

REPLICATES = 150


@st.composite
def studies(draw):
    """Random statistics of random shape: which form they have, how wide the integers, who shares a denominator with whom."""
    seed, units, systems = draw(st.integers(0, 2**31)), draw(st.integers(1, 30)), draw(st.integers(2, 5))
    kind = draw(st.sampled_from(["constant", "shared", "own", "general"]))
    scale = draw(st.sampled_from([1, 10, 2**20, 2**30]))
    rng = np.random.default_rng(seed)
    if kind == "constant":
        right = rng.integers(0, 2, (units, systems))
        statistics = np.stack([right * scale, np.ones_like(right)], axis=2)
    elif kind == "shared":
        denominators = rng.integers(0, 6, (units, 1)) + np.zeros((units, systems), np.int64)
        statistics = np.stack([rng.binomial(denominators, 0.6) * scale, denominators * scale], axis=2)
    elif kind == "own":
        statistics = rng.integers(0, 9, (units, systems, 2)) * scale
    else:
        lengths = np.maximum(rng.integers(0, 9, (units, 1)) + rng.integers(-1, 2, (units, systems)), 0)
        statistics = np.stack([rng.binomial(lengths, 0.5), lengths, np.maximum(lengths - 1, 0)], axis=2)
    if draw(st.booleans()):
        statistics[:, -1] = statistics[:, 0]  # a copy
    options = {
        "form": "general" if kind == "general" else "ratio",
        "higher": draw(st.booleans()),
        "margin": draw(st.sampled_from([None, 0.5, 10.0])),
        "follows": (-1, -1, 1) if kind == "general" else (),
    }
    return seed, statistics.astype(np.int64), options, draw(st.sampled_from([units, 2 * units, max(1, units // 2)]))


@given(study=studies())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_study_is_counted_as_defined(study):
    seed, statistics, options, n_draws = study
    score = small.root_of_products if options["form"] == "general" else small.ratio
    measure = small.make_measure(statistics, score=score, **options)
    draws = Draws(seed, len(statistics), n_draws)
    observed = observe(measure)
    (found,) = resample(draws, [measure], cells=range(1), replicates=REPLICATES, memory_bytes=1)
    for pair in range(len(measure.pairs)):
        if not np.isfinite(observed.delta[pair]):
            continue  # no order and no thresholds: tests of their own hold that all replicates are empty then
        expected = small.recount(draws, measure, observed, pair, 0, REPLICATES)
        assert found.counts[pair, 0].tolist() == expected["counts"]
        assert found.empty[pair, 0] == expected["empty"]
        # Rounding is a share of what is added up, which may cancel: of all |δ*| and |δ|, not of their sum.
        size = expected["sums"][2] + REPLICATES * abs(observed.delta[pair])
        assert np.all(np.abs(found.sums[pair, 0] - expected["sums"]) <= 1e-11 * np.array([size, expected["sums"][1] + 1.0, size]))


DIGEST = """
import hashlib, numpy as np
from functools import partial
from pipeline.metrics.registry import load_metric
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.resample import resample
rng = np.random.default_rng(4)
lengths = rng.integers(1, 40, (300, 1)) + rng.integers(0, 3, (300, 12))
totals = [np.maximum(lengths - k, 0) for k in range(4)]
matches = [rng.binomial(total, 0.6 ** (k + 1)) for k, total in enumerate(totals)]
statistics = np.stack([lengths, lengths + 1, *matches, *totals], axis=2).astype(np.int64)
wide = np.stack([rng.integers(0, 2**40, (300, 12)), np.ones((300, 12), np.int64)], axis=2)
pairs = np.stack(np.triu_indices(12, 1), axis=1).astype(np.int64)
bleu, mean = load_metric("bleu", {}), load_metric("mean", {})
measures = [
    Measure(statistics, bleu.scorer((0,) * 10), "general", True, pairs, np.ones(12, bool)),
    Measure(wide, mean.scorer((0, 0)), "ratio", True, pairs, np.ones(12, bool)),
]
found = resample(Draws(7, 300, 300), measures, cells=range(1), replicates=6000, keep_replicates=6000)
digest = hashlib.sha256()
for counts in found:
    for part in (counts.counts, counts.sums, counts.histogram, counts.score):
        digest.update(part.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core: threads cannot differ")
def test_the_number_of_threads_changes_no_bit():
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    digests = [
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, **dict.fromkeys(names, threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0].strip()) == hashlib.sha256().digest_size * 2
