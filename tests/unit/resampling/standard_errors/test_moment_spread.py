"""Standard errors of pairs with denominators of their own: from sums of products, and from the units where these say too little."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.products.byte_product import forms
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.resampling.standard_errors import moment_spread, studentise_plans
from pipeline.resampling.standard_errors.moment_spread import moment_columns, moment_rows, spread_by_moments
from pipeline.resampling.standard_errors.studentise import studentise


def found_and_predicted(rng, units=60, systems=13):
    """Twice the phrases that are right, over those of gold and those that were found: F1 of a tagger."""
    gold = rng.integers(0, 9, (units, 1))
    right = rng.binomial(gold, 0.8, (units, systems))
    return np.stack([2 * right, gold + right + rng.integers(0, 3, (units, systems))], axis=2).astype(np.int64)


def make_measure(statistics):
    systems = statistics.shape[1]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    return Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.zeros(systems, bool))


def t_of(statistics, replicates=300):
    (found,) = studentise(Draws(4, len(statistics), len(statistics)), make_measure(statistics), replicates=replicates)
    return found.t


def fill(columns, pairs, weights, *, few):
    own = moment_columns(columns, pairs).reshape(-1, columns.shape[2])
    lines = np.concatenate(
        [columns.reshape(-1, columns.shape[2]), *(columns[:, x] * columns[:, y] for x, y in ((0, 1), (1, 1), (0, 0)))]
    )
    sums, moments = (rows @ weights.T.astype(np.float64) for rows in (lines, own))
    gain, spread = np.empty((2, len(pairs), len(weights)))
    rows = moment_rows(pairs, len(columns)), np.arange(4 * len(pairs)).reshape(-1, 4)
    spread_by_moments(sums, moments, *rows, columns, pairs, weights, gain, spread, few=few)
    return gain, spread


def test_the_form_of_ten_sums_is_the_sum_over_units():
    """In fractions: Σw(u_a − u_b)² of each replicate."""
    rng = np.random.default_rng(1)
    columns = found_and_predicted(rng, 20, 3).transpose(1, 2, 0).copy()
    pairs = np.array([[0, 1], [2, 0]])
    weights = rng.multinomial(20, np.full(20, 1 / 20), 7).astype(np.float32)
    gain, spread = fill(columns, pairs, weights, few=True)
    for row, (a, b) in enumerate(pairs):
        for i, drawn in enumerate(weights.astype(int).tolist()):
            u, r = [Fraction(0)] * 20, []
            for s, sign in ((a, 1), (b, -1)):
                n, c = (sum(w * x for w, x in zip(drawn, line, strict=True)) for line in columns[s].tolist())
                r.append(Fraction(n, c))
                u = [v + sign * (x - r[-1] * y) / c for v, x, y in zip(u, *columns[s].tolist(), strict=True)]
            assert gain[row, i] == pytest.approx(float(r[0] - r[1]), rel=1e-13)
            assert spread[row, i] == pytest.approx(float(sum(w * v * v for w, v in zip(drawn, u, strict=True))), rel=1e-12)


def test_many_pairs_have_the_bits_of_few():
    rng = np.random.default_rng(2)
    columns = found_and_predicted(rng).transpose(1, 2, 0).copy()
    columns[1, :, :] = columns[0]
    columns[1, 0, 3] += 1  # a near copy, of which units are looked at
    columns[2, :, 1:] = 0  # hardly ever a score
    pairs = np.stack(np.triu_indices(13, 1), axis=1)
    weights = rng.multinomial(60, np.full(60, 1 / 60), 64).astype(np.float32)
    for one, other in zip(*(fill(columns, pairs, weights, few=few) for few in (True, False)), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.isnan(one).any()


@pytest.mark.parametrize("form", forms())
def test_products_in_bytes_give_the_bits_of_floats(form, monkeypatch):
    statistics = found_and_predicted(np.random.default_rng(3))
    found = []
    for asked in ("float", form):
        monkeypatch.setenv(FORM_VARIABLE, asked)
        found.append(t_of(statistics))
    assert found[0].tobytes() == found[1].tobytes()


def test_units_are_looked_at_where_products_say_too_little_and_nowhere_else(monkeypatch):
    """Of 78 pairs of 60 units that took as long as all products."""
    looked, direct = [], moment_spread.spread_directly
    monkeypatch.setattr(studentise_plans, "spread_directly", lambda *given: pytest.fail("a pair by its units"))
    monkeypatch.setattr(moment_spread, "spread_directly", lambda *given: looked.append(len(given[4])) or direct(*given))
    statistics = found_and_predicted(np.random.default_rng(4))
    assert np.isfinite(t_of(statistics)).all()
    assert not looked
    statistics[:, 1] = 2 * statistics[:, 0]  # whose influence values are the same
    statistics[5, 1, 1] += 1
    infinite = np.isnan(t_of(statistics)[0]) | (np.abs(t_of(statistics)[0]) > 1e200)
    assert 0.2 < infinite.mean() < 0.5  # a third of the replicates does not hold that unit
    assert looked
