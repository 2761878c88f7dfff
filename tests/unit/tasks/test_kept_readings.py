"""What is read off kept replicates: p tells how often the maximum reached t, and families share their replicates."""

from __future__ import annotations

import numpy as np

from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import COUNTS, Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.tasks.collect.cube_slice import Tested
from pipeline.tasks.collect.kept_scores import Kept, read_kept


def test_p_and_its_replicates_tell_how_often_the_maximum_reached_t() -> None:
    rng = np.random.default_rng(5)
    systems, kept = 6, 400
    right = rng.random((200, systems)) < np.array([0.5, 0.52, 0.55, 0.58, 0.6, 0.6])
    statistics = np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.ones(systems, np.bool_))
    observed, draws = observe(measure), Draws(4, 200, 200)
    scores = resample(draws, [measure], cells=range(1), replicates=kept, keep_replicates=kept)[0].score
    counted = Kept(scores, np.zeros((len(pairs), len(COUNTS)), np.int64), np.full(len(pairs), kept))
    given = {"alpha": 0.05, "draws": draws}
    found = read_kept(counted, measure, observed, tested=Tested(np.ones(len(pairs), np.bool_)), methods=["symmetric"], **given)
    hits = found.max_t.p * (found.max_t.replicates + 1) - 1
    np.testing.assert_allclose(hits, np.rint(hits), atol=1e-9)
    assert found.max_t.replicates == kept
    alone = read_kept(counted, measure, observed, tested=Tested((pairs == 2).any(axis=1), 2), methods=["simultaneous"], **given)
    assert (np.isfinite(alone.max_t.p) == (pairs == 2).any(axis=1)).all()
    assert ((alone.max_t.family.reason == 0) == np.isfinite(alone.max_t.p)).all()
    assert (alone.max_t.p <= found.max_t.p)[np.isfinite(alone.max_t.p)].all()
    np.testing.assert_array_equal(alone.max_t.alone, found.max_t.alone)  # also of pairs outside the family
    absent = read_kept(counted, measure, observed, tested=Tested(np.zeros(len(pairs), np.bool_)), methods=[], **given)
    assert np.isnan(absent.max_t.p).all()
