"""E-values are averaged, multiplied and selected by their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pipeline.inference.sequential.e_values import always_valid_p, e_benjamini_hochberg, multiply_e_values


def by_definition(values: list[float], alpha: float) -> list[bool]:
    """e-BH in the words of the paper: the largest k such that k of the e-values are at least K/(α k)."""
    total = len(values)
    best = max((k for k in range(1, total + 1) if sum(e >= total / (alpha * k) for e in values) >= k), default=0)
    return [best > 0 and e >= total / (alpha * best) for e in values]


def test_e_bh_rejects_what_its_definition_says() -> None:
    rng = np.random.default_rng(1)
    found = []
    for size in (1, 2, 5, 12):
        for _ in range(200):
            values = np.exp(rng.normal(2, 2, size))
            rejected = e_benjamini_hochberg(np.log(values), alpha=0.1).tolist()
            assert rejected == by_definition(values.tolist(), 0.1)
            found.append(sum(rejected))
    assert 0 < np.mean(found) < 5


def test_e_bh_leaves_out_what_has_no_e_value_and_takes_what_is_beyond_floats() -> None:
    logs = np.array([2000.0, np.nan, np.log(10.0), -2000.0])
    assert e_benjamini_hochberg(logs, alpha=0.2).tolist() == [True, False, True, False]  # K is 3: 3/(.2 · 2) = 7.5
    assert not e_benjamini_hochberg(np.array([]), alpha=0.05).size
    with pytest.raises(ValueError, match="alpha"):
        e_benjamini_hochberg(logs, alpha=0.0)


def test_the_share_of_false_rejections_is_at_most_alpha_by_enumeration() -> None:
    # Three true nulls that share one fair coin each way: 2 or 0 with chance ½, multiplied five times; one e-value is huge.
    coins = np.array(list(itertools.product([0.0, 2.0], repeat=5))).prod(axis=1)  # 32 with chance 1/32
    shares = []
    for e in coins:
        with np.errstate(divide="ignore"):
            rejected = e_benjamini_hochberg(np.log(np.array([e, e, e, 1e6])), alpha=0.25)
        shares.append(rejected[:3].sum() / max(rejected.sum(), 1))
    assert 0 < np.mean(shares) <= 0.25


def test_products_and_p_agree_with_plain_numbers() -> None:
    values = np.exp(np.random.default_rng(2).normal(size=(4, 3)))
    np.testing.assert_allclose(np.exp(multiply_e_values(np.log(values))), values.prod(axis=1))
    np.testing.assert_allclose(always_valid_p(np.log(values)), np.minimum(1 / values, 1))
