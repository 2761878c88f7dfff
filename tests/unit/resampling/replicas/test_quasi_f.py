"""The quasi-F is what SciPy's t and mean squares written out by hand give, and it holds its level whichever component is absent."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.nulls import REASONS
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.p_values import find_p
from pipeline.resampling.replicas.quasi_f import QuasiF, quasi_f

SCALE = 2.0**12


def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1] / SCALE


def scores(rng: np.random.Generator, runs: tuple[int, ...], units: int, *, system_unit=0.0, run=1.0, e=1.0, gain=0.0) -> list:
    """Return (run, unit) whole numbers of each system; the first is better by the gain."""
    shared = rng.normal(0, 1, units)
    own = []
    for place, count in enumerate(runs):
        spread = run[place] if isinstance(run, tuple) else run
        values = shared + system_unit * rng.normal(0, 1, units) + spread * rng.normal(0, 1, (count, 1))
        own.append(np.rint(SCALE * (values + e * rng.normal(0, 1, (count, units)) + gain * (place == 0))).astype(np.int64))
    return own


def build(values: list, pairs=((0, 1),), **changes) -> Replicas:
    statistics = tuple(np.stack([own, np.ones_like(own)], axis=2) for own in values)
    known = {"score": mean, "form": "ratio", "higher_is_better": True} | changes
    return Replicas(statistics, known["score"], known["form"], known["higher_is_better"], np.array(pairs))


def anova(values: list[NDArray[np.float64]]) -> dict[str, float]:
    """Mean squares of the balanced design from sums of squares of a table system × run × unit."""
    x = np.array(values)
    systems, runs, units = x.shape
    grand, by_system = x.mean(), x.mean(axis=(1, 2), keepdims=True)
    by_unit, by_run, by_both = x.mean(axis=(0, 1), keepdims=True), x.mean(axis=2, keepdims=True), x.mean(axis=1, keepdims=True)
    interaction = by_both - by_system - by_unit + grand
    rest = x - by_run - by_both + by_system
    return {
        "SU": runs * float((interaction**2).sum()) / ((systems - 1) * (units - 1)),
        "run": units * float(((by_run - by_system) ** 2).sum()) / (systems * (runs - 1)),
        "e": float((rest**2).sum()) / (systems * (runs - 1) * (units - 1)),
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_variance_is_that_of_mean_squares_of_the_balanced_design(seed):
    values = scores(np.random.default_rng(seed), (4, 4), 30, system_unit=0.5 * (seed % 2), run=0.4)
    found, squares = quasi_f(build(values)), anova([own / SCALE for own in values])
    variance = max(squares["SU"] + squares["run"] - squares["e"], squares["SU"], squares["run"])
    assert found.se[0] == pytest.approx(np.sqrt(2 * variance / (30 * 4)), rel=1e-9)
    assert found.p[0] == pytest.approx(2 * stats.t.sf(abs(found.delta[0]) / found.se[0], found.degrees[0]), rel=1e-9)


def test_degrees_of_freedom_are_satterthwaites_of_parts_of_either_system():
    made = scores(np.random.default_rng(6), (3, 5), 12, system_unit=0.4, run=(0.9, 0.3))
    found, values = quasi_f(build(made)), [own / SCALE for own in made]
    parts, own_degrees = [np.var(values[0].mean(axis=0) - values[1].mean(axis=0), ddof=1) / 12], [11]
    for x in values:
        runs = len(x)
        residual = x - x.mean(axis=0) - x.mean(axis=1)[:, None] + x.mean()
        parts += [x.mean(axis=1).var(ddof=1) / runs, -(residual**2).sum() / ((runs - 1) * 11) / (12 * runs)]
        own_degrees += [runs - 1, (runs - 1) * 11]
    variance = sum(parts)
    assert variance > max(parts[0], parts[1] + parts[3])  # here nothing is set aside
    assert found.se[0] == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert found.degrees[0] == pytest.approx(
        variance**2 / sum(x**2 / df for x, df in zip(parts, own_degrees, strict=True)), rel=1e-9
    )


def test_where_runs_are_all_the_noise_it_is_welchs_t_test_of_their_scores():
    values = scores(np.random.default_rng(2), (3, 6), 40, run=(1.0, 0.2), e=0.0)
    found, welch = quasi_f(build(values)), stats.ttest_ind(*((own / SCALE).mean(axis=1) for own in values), equal_var=False)
    assert found.p[0] == pytest.approx(welch.pvalue, rel=1e-6)
    assert found.degrees[0] == pytest.approx(welch.df, rel=1e-6)
    interval = welch.confidence_interval(0.95)
    assert [end[0] for end in found.interval(0.95)] == pytest.approx([interval.low, interval.high], rel=1e-6)


def test_where_units_are_all_the_noise_it_is_the_paired_t_test_of_their_means():
    values = scores(np.random.default_rng(3), (3, 3), 40, system_unit=1.0, run=0.0, e=0.0)
    found, paired = quasi_f(build(values)), stats.ttest_rel(*((own / SCALE).mean(axis=0) for own in values))
    assert found.p[0] == pytest.approx(paired.pvalue, rel=1e-6)
    assert found.degrees[0] == pytest.approx(39, rel=1e-6)


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(sums[0] / sums[1])  # of no form that the package knows


def test_a_metric_that_is_no_mean_is_linearised_by_leaving_units_out():
    rng = np.random.default_rng(4)
    right = [(rng.random((runs, 25)) < 0.6).astype(np.int64) for runs in (3, 4)]
    found = quasi_f(build(right, score=ratio, form="general"))
    values = []
    for own in right:
        whole = np.sqrt(own.mean(axis=1, keepdims=True))
        without = np.sqrt((own.sum(axis=1, keepdims=True) - own) / 24)
        values.append(whole + 24 * (without.mean(axis=1, keepdims=True) - without))
    spread = np.var(values[0].mean(axis=0) - values[1].mean(axis=0), ddof=1) / 25
    of_runs = sum(own.mean(axis=1).var(ddof=1) / len(own) for own in values)
    rest = sum(((x - x.mean(0) - x.mean(1)[:, None] + x.mean()) ** 2).sum() / ((len(x) - 1) * 24 * 25 * len(x)) for x in values)
    assert found.se[0] == pytest.approx(np.sqrt(max(spread + of_runs - rest, spread, of_runs)), rel=1e-9)
    assert found.delta[0] == pytest.approx(np.sqrt(right[0].mean(1)).mean() - np.sqrt(right[1].mean(1)).mean(), rel=1e-12)


def test_neither_the_order_of_a_pair_nor_other_models_nor_the_direction_change_a_p():
    values = scores(np.random.default_rng(5), (3, 4, 2), 20, run=0.3)
    alone, turned = quasi_f(build(values[:2])), quasi_f(build(values, pairs=((1, 0), (0, 2), (1, 2))))
    lower = quasi_f(build(values[:2], higher_is_better=False))
    for other in (turned, lower):
        assert other.p[0] == alone.p[0]
        assert other.delta[0] == -alone.delta[0]
    assert [end[0] for end in turned.interval(0.9)] == pytest.approx([-end[0] for end in reversed(alone.interval(0.9))])


def reasons(found: QuasiF) -> list[str]:
    return [REASONS[code] for code in found.reason.tolist()]


def test_pairs_without_a_p_have_a_reason():
    flat = np.arange(12).reshape(2, 6) % 6 * 100
    one, other = scores(np.random.default_rng(7), (3, 1), 6)
    found = quasi_f(build([flat, flat, flat + 7, one, other], pairs=((0, 1), (0, 2), (3, 4), (0, 3))))
    assert reasons(found) == ["identical", "no spread", "one run", ""]
    assert found.p[0] == 1
    assert np.isnan(found.p[1:3]).all()
    assert np.isnan(found.se[:3]).all()
    assert reasons(quasi_f(build([own[:, :1] for own in scores(np.random.default_rng(1), (3, 3), 4)]))) == ["one unit"]
    empty = [np.array([[[1, 1], [0, 0]], [[2, 2], [0, 0]]]), np.array([[[1, 2], [0, 0]], [[1, 3], [0, 0]]])]
    assert reasons(quasi_f(Replicas(tuple(empty), ratio, "general", True, np.array([[0, 1]])))) == ["undefined without a unit"]


def test_models_that_score_the_same_have_p_1():
    own = np.array([[1, 0, 1, 0], [0, 1, 1, 0]])
    found = quasi_f(build([own, own[:, ::-1].copy()]))
    assert (found.delta[0], found.p[0], reasons(found)) == (0, 1, [""])


def test_it_is_no_null_that_is_counted():
    replicas = build(scores(np.random.default_rng(1), (2, 2), 5))
    with pytest.raises(ValueError, match="computed from mean squares"):
        count_null("quasi-f", Draws(1, 5, 5), replicas, cells=range(1), replicates=10)
    assert find_p("quasi-f", Draws(1, 5, 5), replicas, replicates=10).p == quasi_f(replicas).p


TRIALS = 1500
CASES = {
    "e alone": ((3, 3), {"run": 0.0}),
    "S×unit": ((5, 5), {"system_unit": 0.7, "run": 0.0}),
    "run": ((3, 6), {"run": 0.1}),
    "S×unit and run": ((3, 3), {"system_unit": 0.7, "run": 0.1}),
    "runs are most": ((3, 3), {"run": 1.0}),
    "runs are most, five": ((5, 5), {"run": 1.0}),
    "no e": ((3, 6), {"system_unit": 0.7, "run": 0.1, "e": 0.0}),
    "runs of one model alone": ((3, 3), {"run": (1.0, 0.0)}),
    "few runs that differ more": ((3, 6), {"run": (1.0, 0.1)}),
}


@pytest.mark.statistical
@pytest.mark.parametrize(("runs", "noise"), CASES.values(), ids=CASES)
def test_the_level_is_held_whichever_component_is_absent(noise, runs):
    rng = np.random.default_rng([3, *runs])
    made = [scores(rng, runs, 30, **noise) for _ in range(TRIALS)]
    values = [own for pair in made for own in pair]
    p = quasi_f(build(values, pairs=[(2 * k, 2 * k + 1) for k in range(TRIALS)])).p
    # A true rate of .06 has more than this with a chance of 1e-6 over all cases: approximate degrees of freedom may cost a point.
    assert (p <= 0.05).sum() <= stats.binom.isf(1e-6 / len(CASES), TRIALS, 0.06)


@pytest.mark.statistical
def test_degrees_of_freedom_pooled_over_models_would_not_hold_it():
    rng = np.random.default_rng(8)
    p = []
    for _ in range(TRIALS):
        a, b = (own / SCALE for own in scores(rng, (3, 3), 30, run=(1.0, 0.0), e=0.1))
        p.append(stats.ttest_ind(a.mean(axis=1), b.mean(axis=1)).pvalue)
    assert (np.array(p) <= 0.05).mean() > 0.07  # 9 to 11 %: the reason why each model has its own variance of runs
