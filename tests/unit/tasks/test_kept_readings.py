"""What is read off kept replicates: p tells how often the maximum reached t, and families share their replicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import COUNTS, Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.standard_errors.studentise import Studentised, studentise
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


@pytest.mark.parametrize("member", [slice(None), slice(0, 4)])
def test_bootstrap_t_and_max_t_are_read_off_one_stream_of_t(member: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, units, kept = np.random.default_rng(8), 40, 300
    statistics = np.stack([rng.integers(1, 90, (units, 5)), rng.integers(20, 99, (units, 5))], axis=2)
    statistics[:, 4] = statistics[:, 3]  # a pair that is in no family has its interval's reason
    pairs = np.stack(np.triu_indices(5, 1), axis=1)
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.ones(5, np.bool_))
    observed, draws = observe(measure), Draws(4, units, units)
    scores = resample(draws, [measure], cells=range(1), replicates=kept, keep_replicates=kept)[0].score
    counted = Kept(scores, np.zeros((len(pairs), len(COUNTS)), np.int64), np.full(len(pairs), kept))
    tested = Tested(np.isin(np.arange(len(pairs)), np.arange(len(pairs))[member]))
    drawn: list[int] = []

    def count(*args: Any, **options: Any) -> Iterator[Studentised]:
        for block in studentise(*args, **options):
            drawn.extend(block.pair.tolist())
            yield block

    for module in ("intervals.bootstrap_t", "multiple_comparisons.studentised_max_t"):
        monkeypatch.setattr(f"pipeline.inference.{module}.studentise", count)
    given = {"alpha": 0.1, "draws": draws, "tested": tested, "methods": BOOTSTRAP_T}
    together = read_kept(counted, measure, observed, **given)
    assert sorted(drawn) == list(range(len(pairs)))
    apart = read_kept(counted, measure, observed, **given, judged=False)
    assert apart.max_t is None
    assert np.isfinite(together.p[0]).sum() == len(pairs) - 1
    for name in ("interval", "reason", "p"):
        np.testing.assert_array_equal(getattr(together, name), getattr(apart, name))
