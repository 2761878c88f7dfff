"""The share of right signs that normal theory expects, and the error of a share of pairs that share systems and test sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from pipeline.inference.sign_agreement import expected_agreement, share_error


@pytest.mark.parametrize(("low", "high"), [(0.04, 0.06), (0.0, 0.00125), (0.08, 1.0), (0.0, 1.0), (0.3, 0.7)])
def test_the_expected_share_is_the_integral_of_the_densities(low: float, high: float) -> None:
    effects = np.array([0.0, 0.4, 1.7, 3.2])
    ends = max(float(norm.isf(high)), 0.0), min(float(norm.isf(low)), 40.0)
    right = sum(quad(lambda z, m=m: norm.pdf(z - m), *ends, limit=200)[0] for m in effects)
    both = right + sum(quad(lambda z, m=m: norm.pdf(z + m), *ends, limit=200)[0] for m in effects)
    assert expected_agreement(effects, low, high) == pytest.approx(right / both, abs=1e-7)


def test_without_effects_half_of_the_signs_are_right_and_no_interval_of_p_has_none() -> None:
    assert expected_agreement(np.zeros(3), 0.01, 0.2) == pytest.approx(0.5)
    assert expected_agreement(np.zeros(3), 0.6, 0.9) is None  # a pair turned to a positive gain has p of at most ½
    assert expected_agreement(np.zeros(0), 0.04, 0.06) is None


def test_the_error_of_a_share_is_the_sum_over_all_dependent_twos() -> None:
    rng = np.random.default_rng(4)
    systems, sets = 6, 5
    every = [(a, b, t) for a in range(systems) for b in range(a + 1, systems) for t in range(sets)]
    some = np.array([every[place] for place in sorted(rng.choice(len(every), 40, replace=False))])
    hits = rng.random(len(some)) < 0.7
    residual = hits - hits.mean()
    total = sum(
        residual[i] * residual[k]
        for i, (a, b, t) in enumerate(some)
        for k, (c, d, u) in enumerate(some)
        if t == u or {a, b} & {c, d}
    )
    found = share_error(hits, some[:, 0], some[:, 1], some[:, 2])
    assert found == pytest.approx(np.sqrt(total) / len(hits), rel=1e-12)
    # Which system of a pair stands first says nothing.
    assert share_error(hits, some[:, 1], some[:, 0], some[:, 2]) == pytest.approx(found, rel=1e-12)


def test_there_is_no_error_without_observations_or_variation() -> None:
    nobody = np.zeros(0, np.int64)
    assert share_error(np.zeros(0, np.bool_), nobody, nobody, nobody) is None
    one = np.array([0, 1])
    assert share_error(np.ones(2, np.bool_), one, one + 1, one) is None
