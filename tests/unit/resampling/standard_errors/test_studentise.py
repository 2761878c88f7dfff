"""Standard errors of single replicates against exact integers: of pairs that nearly agree, and where nothing varies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.standard_errors import studentise as studentising
from pipeline.resampling.standard_errors import studentise_plans
from pipeline.resampling.standard_errors.studentise import BEYOND, studentise
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights


def ratio(sums):
    return 100.0 * (sums[0] / sums[1])


def make_measure(statistics, *, pairs=None, stratum=None, form="ratio"):
    systems = statistics.shape[1]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1) if pairs is None else pairs
    asked = {"keep": np.zeros(systems, bool), "stratum": stratum}
    return Measure(np.asarray(statistics, np.int64), ratio, form, True, np.asarray(pairs, np.int64), **asked)


def exact_terms(statistics, weights, pair):
    """δ and Σwu² of one replicate in integers of any size, from the two systems' own influence values."""
    n, c = statistics[..., 0].astype(object)[:, list(pair)], statistics[..., 1].astype(object)[:, list(pair)]
    weights = weights.astype(np.int64).astype(object)
    (n_a, n_b), (c_a, c_b) = (weights[:, None] * n).sum(axis=0), (weights[:, None] * c).sum(axis=0)
    moved_a, moved_b = n[:, 0] * c_a - n_a * c[:, 0], n[:, 1] * c_b - n_b * c[:, 1]
    joint = moved_a * c_b**2 - moved_b * c_a**2
    return Fraction(n_a, c_a) - Fraction(n_b, c_b), Fraction((weights * joint**2).sum(), (c_a * c_b) ** 4)


def exact_t(statistics, weights, pair):
    units = len(statistics)
    delta, _ = exact_terms(statistics, np.ones(units), pair)
    t = []
    for row in weights:
        gain, squares = exact_terms(statistics, row, pair)
        shift, se = float(gain - delta), float(Fraction(units, units - 1) * squares) ** 0.5
        t.append(shift / se if se else np.nan if shift == 0 else np.copysign(np.inf, shift))
    return np.array(t)


def assemble(draws, measure, replicates, **options):
    """Put the blocks together, the pairs in their order."""
    blocks = list(studentise(draws, measure, replicates=replicates, **options))
    place = np.argsort(np.concatenate([block.pair for block in blocks]))
    return {
        name: np.concatenate([getattr(block, name) for block in blocks])[place] for name in ("t", "observed", "se", "lost", "empty")
    }


def alike(rng, units):
    """Correlations of .999999 and more, on a lattice of millionths."""
    base = rng.integers(200_000, 900_000, units)
    noise = [0, rng.integers(-300, 301, units), rng.integers(-2, 3, units), 1000 + rng.integers(-2, 3, units)]
    n = np.stack([base + own for own in noise], axis=1)
    assert np.corrcoef(n.T)[0, 1] > 0.999999
    return np.stack([n, np.full_like(n, 10**6)], axis=2)


def alike_with_lengths(rng, units):
    """As edits over lengths: hypotheses and denominators differ by one or two in a few units."""
    c = rng.integers(500, 3000, (units, 1)) + np.zeros((units, 4), np.int64)
    n = rng.binomial(c[:, :1], 0.4) + np.zeros((units, 4), np.int64)
    few = rng.random((units, 4)) < 0.1
    n[:, 1:] += (few * rng.integers(-2, 3, (units, 4)))[:, 1:]
    c[:, 2:] += (few * rng.integers(-2, 3, (units, 4)))[:, 2:]
    return np.stack([n, c], axis=2)


def nearly_identical(rng, units):
    """Three units differ, of any denominators."""
    c = rng.integers(1, 40, (units, 1)) + np.zeros((units, 4), np.int64)
    n = rng.binomial(c[:, :1], 0.7) + np.zeros((units, 4), np.int64)
    n[[3, 9, 20], 1] += 1
    n[[4, 5, 30], 2] -= 1
    c[[7, 8, 11], 3] += 2
    return np.stack([n, c], axis=2)


def zeros_and_ones(rng, units):
    right = rng.random((units, 4)) < 0.7
    right[:, 1] = right[:, 0] ^ (np.arange(units) % 9 == 0)
    return np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)


def unlike(rng, units):
    return rng.integers(1, 30, (units, 4, 2))


def too_large_to_square(rng, units):
    n = rng.integers(2**40, 2**44, (units, 4))
    n[:, 1] = n[:, 0] + rng.integers(-(2**20), 2**20, units)
    return np.stack([n, np.full_like(n, 2**44)], axis=2)


def in_proportion(rng, units):
    """The difference is a share of the denominator but for one in a million: an offset that everything shares."""
    c = 10**5 * rng.integers(1, 30, (units, 1)) + np.zeros((units, 4), np.int64)
    n = c // 2 + np.array([0, 1, 2, 3]) * (c // 10) + rng.integers(0, 2, (units, 4))
    return np.stack([n, c], axis=2)


def all_but_in_proportion(rng, units):
    """Half of a denominator of 22 bits everywhere, but for one in one unit: only integers tell no spread from that little."""
    c = 2 * rng.integers(3 * 2**19, 2**21 - 9, (units, 1)) + np.zeros((units, 4), np.int64)
    n = c // 2 * np.array([2, 1, 1, 0]) + (np.arange(units) == 5)[:, None] * np.array([0, 1, 3, 1])
    return np.stack([n, c], axis=2)


def far_from_zero(rng, units):
    """Too large to square, and their differences are not."""
    n = 2**40 + rng.integers(0, 2**18, (units, 4))
    return np.stack([n, np.ones_like(n)], axis=2)


def far_apart(rng, units):
    """With differences that are too large to square, as one pair has them."""
    n = rng.integers(0, 2**18, (units, 4))
    n[:, 3] += 2**30 * rng.integers(0, 2, units)
    return np.stack([n, np.ones_like(n)], axis=2)


def just_too_far_apart(rng, units):
    """With differences whose squares cannot be added exactly, where all else can."""
    n = rng.integers(0, 2**18, (units, 4))
    n[:, 3] += 2**25 * rng.integers(0, 2, units)
    return np.stack([n, np.ones_like(n)], axis=2)


MADE = [alike, alike_with_lengths, nearly_identical, zeros_and_ones, unlike, too_large_to_square]
MADE += [in_proportion, all_but_in_proportion, far_from_zero, far_apart, just_too_far_apart]


@pytest.mark.parametrize("make", MADE)
def test_t_is_exact_but_for_rounding(make):
    statistics, b = make(np.random.default_rng(3), 45), 120
    measure, draws = make_measure(statistics), Draws(9, 45, 45)
    found, weights = assemble(draws, measure, b), draw_weights(draws, 0, b)
    assert found["lost"].sum() == 0
    for row, pair in enumerate(measure.pairs):
        expected = exact_t(statistics, weights, pair)
        infinite = np.isinf(expected)
        np.testing.assert_array_equal(np.isnan(found["t"][row]), np.isnan(expected))
        np.testing.assert_array_equal(found["t"][row][infinite] > BEYOND, expected[infinite] > 0)
        # δ* − δ is rounded as δ is: by no more than that of an end of the interval.
        rounding = 2.0**-51 * abs(found["observed"][row])
        np.testing.assert_allclose(found["t"][row][~infinite], expected[~infinite], rtol=1e-10, atol=1e-12 + rounding)


@pytest.mark.parametrize("make", [alike, alike_with_lengths, zeros_and_ones, unlike])
def test_a_well_made_pair_has_twelve_digits(make):
    statistics, b = make(np.random.default_rng(4), 45), 60
    measure, draws = make_measure(statistics, pairs=[[0, 1], [2, 0]]), Draws(9, 45, 45)
    found, weights = assemble(draws, measure, b), draw_weights(draws, 0, b)
    for row, pair in enumerate(measure.pairs):
        expected = exact_t(statistics, weights, pair)
        finite = np.isfinite(expected)
        assert finite.mean() > 0.6
        np.testing.assert_allclose(found["t"][row][finite], expected[finite], rtol=1e-12, atol=1e-12)


def test_second_moments_of_single_systems_would_not_do():
    """The same pair by the sums of either system and of both: the digits are gone, so the test above tests something."""
    statistics = alike(np.random.default_rng(3), 45)
    (weights,) = draw_weights(Draws(9, 45, 45), 0, 1).astype(np.float64)
    n = statistics[:, [0, 2], 0] / 1e6
    u = n - weights @ n / 45
    (own_a, both), (_, own_b) = (weights * (n / 45).T) @ (n / 45) - np.outer(weights @ n, weights @ n) / 45**3
    _, squares = exact_terms(statistics, weights, (0, 2))
    apart, together = own_a + own_b - 2 * both, weights @ (u[:, 0] - u[:, 1]) ** 2 / 45**2
    assert abs(together / float(squares) - 1) < 1e-9
    assert abs(apart / float(squares) - 1) > 1e-8


@pytest.mark.parametrize("make", [alike, zeros_and_ones, alike_with_lengths, too_large_to_square, far_apart])
def test_memory_and_other_pairs_change_no_bit(make):
    statistics = make(np.random.default_rng(4), 30)
    measure, draws = make_measure(statistics), Draws(9, 30, 30)
    whole, pieces = (assemble(draws, measure, 1100, memory_bytes=size) for size in (2**28, 1))
    alone = assemble(draws, make_measure(statistics, pairs=[[0, 2]]), 1100)
    for name, values in whole.items():
        np.testing.assert_array_equal(values, pieces[name])
        np.testing.assert_array_equal(values[1], alone[name][0])


@pytest.mark.parametrize("stratum", [None, np.arange(6) % 3])
@pytest.mark.parametrize(("largest", "blocks_drawn"), [(255, 1), (1, 6)])
def test_resamples_are_drawn_once_for_all_blocks_of_pairs_if_their_counts_can_be_kept(monkeypatch, stratum, largest, blocks_drawn):
    draw = "draw_weights" if stratum is None else "draw_stratified_weights"
    draws = Draws(9, 6, 6) if stratum is None else StratifiedDraws(9, stratum)
    measure, drawn = make_measure(zeros_and_ones(np.random.default_rng(4), 6), stratum=stratum), []
    own = getattr(studentising, draw)
    monkeypatch.setattr(studentising, draw, lambda *args, **options: drawn.append(args[1]) or own(*args, **options))
    monkeypatch.setattr(studentising, "_LARGEST_KEPT", largest)
    whole = assemble(draws, measure, 1100)
    assert drawn == [0, 1024]
    drawn.clear()
    pieces = assemble(draws, measure, 1100, memory_bytes=2**16)  # for one of the six pairs at a time
    assert drawn == [*range(0, 1100, 227)] * blocks_drawn
    for name, values in whole.items():
        np.testing.assert_array_equal(values, pieces[name])


def test_nothing_is_multiplied_in_bytes_where_a_replicate_has_more_draws_than_their_sums_hold(monkeypatch):
    """Sums of digits have 32 bits, and would overflow without a word."""
    asked = []
    monkeypatch.setattr(studentising, "choose_form", lambda work: asked.append(work))
    measure = make_measure(zeros_and_ones(np.random.default_rng(1), 20))
    for most, times in ((20, 1), (19, 0)):
        asked.clear()
        monkeypatch.setattr(studentising, "MOST_DRAWS", most)
        assert len(assemble(Draws(3, 20, 20), measure, 5)["t"]) == len(measure.pairs)
        assert len(asked) == times


def test_swapped_pairs_are_mirrored():
    measure, draws = make_measure(alike_with_lengths(np.random.default_rng(4), 30)), Draws(9, 30, 30)
    one, other = assemble(draws, measure, 500), assemble(draws, make_measure(measure.statistics, pairs=measure.pairs[:, ::-1]), 500)
    np.testing.assert_allclose(-one["t"], other["t"], rtol=1e-10)
    np.testing.assert_allclose(one["se"], other["se"], rtol=1e-12)


def test_within_strata_each_has_its_own_mean():
    rng = np.random.default_rng(8)
    stratum = np.array([0, 1, 2, 1, 0, 3, 1, 2, 2, 1, 0, 0, 2, 1])
    statistics = rng.integers(1, 30, (14, 3, 2))
    measure, draws = make_measure(statistics, stratum=stratum), StratifiedDraws(5, stratum)
    found, weights = assemble(draws, measure, 40), draw_stratified_weights(draws, 0, 40)
    sizes = np.bincount(stratum)

    def error(w, a, b):
        n, c = statistics[:, [a, b], 0], statistics[:, [a, b], 1]
        u = (n - (w @ n) / (w @ c) * c) / (w @ c)
        d, total = u[:, 0] - u[:, 1], 0.0
        for h in np.flatnonzero(sizes > 1):
            own, drawn = d[stratum == h], w[stratum == h]
            total += sizes[h] / (sizes[h] - 1) * (drawn * (own - drawn @ own / sizes[h]) ** 2).sum()
        return np.sqrt(total)

    for row, (a, b) in enumerate(measure.pairs):
        gain = [ratio(w @ statistics[:, a]) - ratio(w @ statistics[:, b]) for w in (np.ones(14), *weights)]
        expected = [(g - gain[0]) / (100 * error(w, a, b)) for g, w in zip(gain[1:], weights.astype(np.float64), strict=True)]
        np.testing.assert_allclose(found["t"][row], expected, rtol=1e-11)
        assert found["se"][row] == pytest.approx(100 * error(np.ones(14), a, b), rel=1e-12)
    with pytest.raises(ValueError, match="same strata"):
        next(studentise(Draws(5, 14, 14), measure, replicates=10))
    alone = np.arange(14)
    assert np.isnan(assemble(StratifiedDraws(5, alone), make_measure(statistics, stratum=alone), 10)["se"]).all()


def root(sums):
    """A metric that is no ratio."""
    return 100.0 * np.sqrt(sums[0] / sums[1])


@pytest.mark.parametrize("stratum", [None, np.arange(20) % 3])
@pytest.mark.parametrize("memory_bytes", [2**28, 1])
def test_a_metric_that_is_no_ratio_has_the_scores_of_its_own_replicates_and_the_means_of_its_strata(stratum, memory_bytes):
    """Several batches, each with scores of its own, against the formula: t* = (gain − δ) / √(Σ n_h/(n_h − 1) Σw(u − mean_h u)²)."""
    statistics, replicates = np.random.default_rng(8).integers(1, 30, (20, 3, 2)), 1100
    pairs, asked = np.array([[0, 1], [2, 0], [1, 2]]), {"keep": np.zeros(3, bool), "stratum": stratum}
    measure = Measure(statistics, root, "general", True, pairs, **asked)
    draws = Draws(5, 20, 20) if stratum is None else StratifiedDraws(5, stratum)
    draw = draw_weights if stratum is None else draw_stratified_weights
    weights = draw(draws, 0, replicates).astype(np.float64)
    scores = root(np.einsum("ru,usk->ksr", weights, statistics))
    found = assemble(draws, measure, replicates, scores=scores, memory_bytes=memory_bytes)

    whole = statistics.sum(axis=0)
    u = np.array([[19 / 20 * (root(whole[s]) - root(whole[s] - unit[s])) for unit in statistics] for s in range(3)])
    groups = np.zeros(20, np.int64) if stratum is None else stratum
    for row, (a, b) in enumerate(pairs):
        d, total = u[a] - u[b], 0.0
        for h in np.unique(groups):
            size, own, drawn = (groups == h).sum(), d[groups == h], weights[:, groups == h]
            mean = drawn @ own / size
            total += size / (size - 1) * (drawn * (own - mean[:, None]) ** 2).sum(axis=1)
        shift = scores[a] - scores[b] - (root(whole[a]) - root(whole[b]))
        np.testing.assert_allclose(found["t"][row], shift / np.sqrt(total), rtol=1e-9)


def test_the_error_of_a_mean_is_the_jackknife():
    rng = np.random.default_rng(5)
    measure = make_measure(np.stack([rng.integers(0, 9, (40, 3)), np.full((40, 3), 4)], axis=2))
    np.testing.assert_allclose(assemble(Draws(1, 40, 40), measure, 50)["se"], observe(measure).se, rtol=1e-12)
    stratum = np.arange(40) % 3
    within = make_measure(measure.statistics, stratum=stratum)
    np.testing.assert_allclose(assemble(StratifiedDraws(1, stratum), within, 50)["se"], observe(within).se, rtol=1e-12)


def test_an_error_that_rounding_hides_is_told():
    """Influence values that differ by less than float64 tells from the terms they are made of: no number is made up."""
    rng = np.random.default_rng(2)
    c = rng.integers(2**37, 2**38, 30)
    statistics = np.stack([np.stack([2 * c, c], axis=1), np.stack([c + (c % 7 == 0), c], axis=1)], axis=1)
    measure = make_measure(statistics)
    found = assemble(Draws(4, 30, 30), measure, 200)
    assert np.isnan(found["se"][0])
    assert found["lost"][0] > 150
    assert np.sum(np.isnan(found["t"][0]) | (np.abs(found["t"][0]) > BEYOND)) >= found["lost"][0]


def test_undefined_replicates_are_marked():
    statistics = np.ones((6, 3, 2), np.int64)
    statistics[:, :, 0] = np.random.default_rng(1).integers(0, 9, (6, 3))
    statistics[1:, 1, 1] = 0  # only a replicate with unit 0 has a score of system 1
    statistics[1:, 1, 0] = 0
    measure, draws = make_measure(statistics), Draws(3, 6, 6)
    found, weights = assemble(draws, measure, 300), draw_weights(draws, 0, 300)
    gone = weights[:, 0] == 0
    assert gone.any()
    for row, pair in enumerate(measure.pairs.tolist()):
        np.testing.assert_array_equal(found["empty"][row], gone & (1 in pair))
        assert np.isnan(found["t"][row][found["empty"][row]]).all()


def test_a_replicate_that_repeats_the_gain_has_no_t_whatever_its_rounding():
    """3/11 with two denominators: the observed difference rounds to −1.5e-17, that of replicates without the last unit is 0."""
    statistics = np.empty((11, 2, 2), np.int64)
    statistics[:10] = np.array([[k // 3, 2 * k + 2] for k in range(10)])[:, None]
    statistics[10] = statistics[0] + [[30 - statistics[:10, 0, 0].sum(), 110 - statistics[:10, 0, 1].sum()]] + [[3, 11], [18, 66]]
    statistics[10] -= statistics[0]
    measure, draws = make_measure(statistics), Draws(6, 11, 11)
    assert (measure.statistics.sum(axis=0) == [[33, 121], [48, 176]]).all()
    found, weights = assemble(draws, measure, 200), draw_weights(draws, 0, 200)
    assert 0 < abs(found["observed"][0]) < 1e-14
    np.testing.assert_array_equal(np.isnan(found["t"][0]), weights[:, 10] == 0)


def test_what_it_refuses():
    statistics = unlike(np.random.default_rng(1), 40)
    with pytest.raises(ValueError, match="a metric that is no ratio needs the scores of"):
        next(studentise(Draws(2, 40, 40), make_measure(statistics, form="general"), replicates=10))
    with pytest.raises(ValueError, match="there are 40"):
        next(studentise(Draws(2, 39, 39), make_measure(statistics), replicates=10))
    assert np.isnan(assemble(Draws(2, 1, 1), make_measure(statistics[:1]), 9)["se"]).all()


@pytest.mark.parametrize("pairs", [0, 1, 64, 65, 159, 160, 1000])
@pytest.mark.parametrize(("least", "asked"), [(80, {}), (240, {"together": 240})])
def test_pairs_are_cut_into_parts_none_of_which_is_of_few(pairs: int, least: int, asked: dict[str, int]) -> None:
    rows = np.arange(5, 5 + pairs)
    parts = studentise_plans.in_cache(rows, **asked)
    assert np.array_equal(np.concatenate([rows[:0], *parts]), rows)
    assert all(min(pairs, least) <= len(part) < 2 * least for part in parts)
