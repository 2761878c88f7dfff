"""p-values: conventions, errors, stability, and pairs that have none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

from pipeline.inference.decision import Bounds, stable_alone, stable_level
from pipeline.inference.p_values import CONVENTIONS, REASONS, PValues, clopper_pearson, p_values


def one_pair(counts=(0, 0, 0, 0, 0, 0), b=1000, delta=1.0, identical=False, shift=0.0):
    return p_values(
        np.array([[*counts, -1, -1]]),
        np.array([b]),
        delta=np.array([delta]),
        identical=np.array([identical]),
        sums=np.array([[shift, 0.0, 0.0]]),
    )


def stable(found, alpha, pairs):
    return found.keep_side(alpha, stable_level(pairs))


def test_each_convention_reads_its_own_counts():
    found = one_pair((1, 20, 400, 50, 3000, 40000), b=100_000)
    expected = [0.4, 0.43021, 0.00001, 0.00021, 40001 / 100_001, 43022 / 100_001]
    assert found.p[:, 0].tolist() == pytest.approx(expected, rel=1e-15)
    assert found.log10_p[:, 0].tolist() == pytest.approx(np.log10(expected).tolist())
    assert found.reason.tolist() == [0]


def test_swapping_the_sign_of_the_gain_changes_nothing():
    assert one_pair((1, 2, 3, 4, 5, 6), delta=-1.0).p.tobytes() == one_pair((1, 2, 3, 4, 5, 6), delta=1.0).p.tobytes()


def test_identical_systems_have_p_one_under_every_convention():
    found = one_pair((0, 1000, 0, 1000, 1000, 0), delta=0.0, identical=True)
    assert found.p[:, 0].tolist() == [1.0] * len(CONVENTIONS)
    assert found.p_error[:, 0].tolist() == [0.0] * len(CONVENTIONS)
    assert stable(found, 0.05, 1).all()
    assert REASONS[found.reason[0]] == "identical"


def test_equal_scores_of_different_systems_have_a_two_sided_p_of_one_and_no_one_sided_p():
    found = one_pair((400, 200, 400, 200, 200, 400), delta=0.0)
    assert {name: p for name, p in zip(CONVENTIONS, found.p[:, 0].tolist(), strict=True) if p == p} == {
        "two-sided": 1.0,
        "two-sided-plus-one": 1.0,
    }
    assert np.isnan(found.lo[[0, 2, 3, 4], 0]).all()
    assert REASONS[found.reason[0]] == "no order"
    assert stable(found, 0.05, 1)[:, 0].tolist() == [False, True, False, False, False, True]


@pytest.mark.parametrize("delta", [1.0, np.nan])
def test_a_pair_without_defined_replicates_has_no_p(delta):
    found = one_pair(b=0, delta=delta)
    assert np.isnan(found.p).all()
    assert np.isnan(found.bias).all()
    assert not stable(found, 0.05, 1).any()
    assert REASONS[found.reason[0]] == "no defined replicate"


def test_p_zero_has_no_logarithm_but_an_upper_bound_and_plus_one_has_both():
    found = one_pair(b=10**6)
    assert found.p[0, 0] == 0
    assert np.isnan(found.log10_p[0, 0])
    assert found.lo[0, 0] == 0
    assert found.hi[0, 0] == pytest.approx(-np.log(0.025) / 10**6, rel=1e-4)
    assert found.log10_p[4, 0] == pytest.approx(-6, abs=1e-6)


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (1, 10), (5, 10), (10, 10), (49_500, 10**6)])
def test_clopper_pearson_bounds_leave_half_of_five_percent_on_each_side(hits, trials):
    lo, hi = (float(bound[0]) for bound in clopper_pearson(np.array([hits]), np.array([trials]), 0.95))
    assert bdtrc(hits - 1, trials, lo) == pytest.approx(0.025) if hits else lo == 0
    assert bdtr(hits, trials, hi) == pytest.approx(0.025) if hits < trials else hi == 1


def test_the_error_is_half_the_width_of_the_bounds():
    found = one_pair((0, 0, 0, 0, 0, 50_000), b=10**6)
    assert found.p_error[0, 0] == pytest.approx(1.96 * np.sqrt(0.05 * 0.95 / 10**6), rel=2e-3)
    assert found.lo[0, 0] < 0.05 < found.hi[0, 0]


def test_bounds_are_computed_when_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(
        "pipeline.inference.p_values.clopper_pearson",
        lambda hits, trials, level: asked.append(level) or clopper_pearson(hits, trials, level),
    )
    counts, identical = np.array([[2, 1, 0, 0, 3, 4, -1, -1]]), np.zeros(1, bool)
    found = p_values(counts, np.array([100]), delta=np.ones(1), identical=identical, sums=np.zeros((1, 3)))
    assert (found.p[0, 0], asked) == (0.04, [])
    assert found.lo[0, 0] < found.p[0, 0] < found.hi[0, 0]
    assert asked == [0.95]


@pytest.mark.parametrize("alpha", [0.05, 0.001, 0.5])
def test_p_values_keep_their_side_where_both_bounds_are_on_it(alpha):
    rng = np.random.default_rng(5)
    trials = np.repeat([1, 7, 1000, 1001, 50_000], 60)
    share = np.concatenate([rng.uniform(0, 2 * alpha, 30), rng.uniform(0, 1, 30)])
    hits = np.minimum(np.rint(np.tile(share, 5) * trials), trials).astype(np.int64)
    counts = np.zeros((300, 8), np.int64)
    counts[:, 5], counts[:, 0] = hits, np.minimum(hits // 2, trials - hits)
    none = np.arange(300) % 11 == 0  # identical, or of equal scores
    delta = np.where(none, 0.0, 1.0)
    found = p_values(counts, trials, delta=delta, identical=none & (hits % 2 == 0), sums=np.zeros((300, 3)))
    for pairs in (1, 1000):
        kept = found.keep_side(alpha, stable_level(pairs))
        assert kept.tolist() == stable_alone(Bounds(*found.bounds(stable_level(pairs))), alpha).tolist()
        assert 0.02 < kept.mean() < 0.98


def test_p_values_of_ranges_of_pairs_are_joined_in_their_order():
    rng = np.random.default_rng(6)
    counts = rng.integers(0, 1000, (5, 8))
    asked = {"delta": np.ones(5), "identical": np.arange(5) == 2, "sums": rng.uniform(0, 9, (5, 3))}
    whole = p_values(counts, np.full(5, 1000), **asked)
    parts = [
        p_values(counts[rows], np.full(len(counts[rows]), 1000), **{name: value[rows] for name, value in asked.items()})
        for rows in (slice(0, 2), slice(2, 5))
    ]
    joined = PValues.join(parts)
    for name, value in vars(whole).items():
        np.testing.assert_array_equal(getattr(joined, name), value)


def test_a_decision_is_stable_where_the_bounds_of_the_family_are_on_one_side():
    counts = np.zeros((3, 8), np.int64)
    counts[:, 5] = [49_000, 49_400, 51_000]  # 4.6, 2.75 and 4.6 standard errors of .000218 from .05
    found = p_values(counts, np.full(3, 10**6), delta=np.ones(3), identical=np.zeros(3, bool), sums=np.zeros((3, 3)))
    assert stable(found, 0.05, 1)[0].tolist() == [True, True, True]
    assert stable(found, 0.05, 1000)[0].tolist() == [True, False, True]
    assert not stable(found, 0.049, 1)[0, 0]


def test_bias_is_the_mean_shift():
    assert one_pair(b=500, shift=-25.0).bias.tolist() == [-0.05]


def test_the_spread_is_the_standard_deviation_about_the_mean_replicate():
    shifts = np.array([3.0, -1.0, 2.0, 0.5])
    sums = np.array([[shifts.sum(), (shifts**2).sum(), 0.0]] * 2)
    given = {"delta": np.ones(2), "identical": np.array([False, True]), "sums": sums}
    found = p_values(np.zeros((2, 8), np.int64), np.full(2, 4), **given)
    assert found.spread == pytest.approx([np.std(shifts), 0.0])
    assert np.isnan(p_values(np.zeros((2, 8), np.int64), np.full(2, 4), **given, bias=False).spread).all()


def test_shapes_that_do_not_match_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"replicates \(2,\).* 1 pairs"):
        p_values(np.zeros((1, 8), int), np.zeros(2, int), delta=np.ones(1), identical=np.zeros(1, bool), sums=np.zeros((1, 3)))


def test_p_is_by_definition_where_systems_are_identical_or_score_the_same():
    assert one_pair(delta=0.0, identical=True).by_definition[:, 0].tolist() == [True] * len(CONVENTIONS)
    tied = one_pair((400, 200, 400, 200, 200, 400), delta=0.0)
    assert tied.by_definition[:, 0].tolist() == [name.startswith("two-sided") for name in CONVENTIONS]
    assert not one_pair((0, 0, 0, 0, 0, 500)).by_definition.any()
    assert not one_pair(b=0).by_definition.any()


def test_bounds_of_hits_that_occur_often_are_those_of_each_by_itself() -> None:
    rng = np.random.default_rng(5)
    trials = rng.choice([1, 7, 1000, 100_000], 400)
    hits = np.minimum(rng.choice([0, 1, 5, 999, 100_000], 400), trials)
    lo, hi = clopper_pearson(hits.reshape(4, 100), trials.reshape(4, 100), 0.95)
    alone = [clopper_pearson(np.array([h]), np.array([t]), 0.95) for h, t in zip(hits, trials, strict=True)]
    assert lo.tobytes() == np.array([low[0] for low, _ in alone]).tobytes()
    assert hi.tobytes() == np.array([high[0] for _, high in alone]).tobytes()
    assert clopper_pearson(np.empty(0, np.int64), np.empty(0, np.int64), 0.95)[0].shape == (0,)


def test_bounds_are_computed_once_for_equal_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []

    def count(a: np.ndarray, b: np.ndarray, y: float) -> np.ndarray:
        computed.append(len(a))
        return np.zeros(len(a))

    monkeypatch.setattr("pipeline.inference.p_values.betaincinv", count)
    clopper_pearson(np.tile([0, 3, 9], 1000), np.full(3000, 100), 0.95)
    assert computed == [3, 3]
