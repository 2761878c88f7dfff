"""From t of few units to what replicates must reach: exact identities, the far tail, and a single pair's corrected p."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pipeline.inference.multiple_comparisons.families import order_family
from pipeline.inference.multiple_comparisons.max_t import MaxT, StepDown
from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.inference.unit_diagnostics.unit_guard import correct_few_units, expected_stratified_rejection


@pytest.mark.parametrize("units", [2, 3, 5, 20, 100, 1000, 10**5])
@pytest.mark.parametrize("tail", [0.4999, 0.3, 0.025, 1e-5, 1e-12, 1e-50, 1e-100, 1e-150])
def test_it_has_the_same_tail_of_a_gaussian_as_t_has_of_student(units: int, tail: float) -> None:
    tails = StudentTails(units)
    t = stats.t.isf(tail, units - 1)
    (z,) = tails.to_replicates(np.array([t]))
    assert stats.norm.sf(z / np.sqrt((units - 1) / units)) == pytest.approx(stats.t.sf(t, units - 1), rel=1e-12)


@pytest.mark.parametrize("units", [5, 20, 100, 1000, 10**5])
def test_down_to_1e_200(units: int) -> None:
    t = stats.t.isf(1e-200, units - 1)
    (z,) = StudentTails(units).to_replicates(np.array([t]))
    assert stats.norm.sf(z / StudentTails(units).spread) == pytest.approx(stats.t.sf(t, units - 1), rel=1e-12)
    assert stats.t.sf(t, units - 1) == pytest.approx(1e-200)


@pytest.mark.parametrize("units", [20, 1000, 10**6])
def test_where_no_float_holds_the_tail_a_series_goes_on_without_a_step(units: int) -> None:
    tails = StudentTails(units)
    edge = stats.t.isf(1e-290, units - 1)
    around = edge * (1 + 1e-9 * np.arange(-5, 6))
    z = tails.to_replicates(around)
    np.testing.assert_allclose(np.diff(z), np.diff(z).mean(), rtol=1e-3)  # rounding of z is 1e-15, a step 1e-8
    beyond = np.geomspace(edge, 1e3 * edge, 200)
    assert (np.diff(tails.to_replicates(beyond)) > 0).all()
    # log P(T > t) = c − ν log t + o(1): a hundred times as far.
    freedom, far = units - 1, 1e8 * np.sqrt(units)
    near, further = tails._log_tail(np.array([far, 100 * far]))
    assert near - further == pytest.approx(freedom * np.log(100), rel=1e-9)


@given(t=st.lists(st.floats(-60, 60), min_size=2, max_size=20), units=st.floats(2, 1e7))
@settings(max_examples=200, deadline=None)
def test_it_rises_is_odd_and_never_larger_than_t(t: list[float], units: float) -> None:
    values = np.sort(np.array(t))
    z = StudentTails(units).to_replicates(values)
    assert np.isfinite(z).all()
    assert (np.diff(z)[np.diff(values) > 1e-6] > 0).all()
    assert (np.diff(z) > -1e-14).all()
    assert (np.abs(z) <= np.abs(values) + 1e-15).all()
    np.testing.assert_array_equal(StudentTails(units).to_replicates(-values), -z)


def test_with_more_and_more_units_it_comes_to_t() -> None:
    t = np.linspace(-8, 8, 101)
    gaps = [np.abs(StudentTails(units).to_replicates(t) - t).max() for units in (10**2, 10**4, 10**6, 10**8)]
    # z − t = −(t³ + 3t)/(4G) + O(1/G²)
    assert gaps[1:] == pytest.approx([536 / (4 * units) for units in (10**4, 10**6, 10**8)], rel=0.01)
    assert gaps[0] > gaps[1]
    assert StudentTails(np.inf).to_replicates(t).tolist() == t.tolist()


@pytest.mark.parametrize(("units", "strata"), [(20, 1), (3.9, 1), (200, 50)])
def test_a_gaussian_bootstrap_that_reaches_the_quantile_has_the_level(units: float, strata: int) -> None:
    """|δ*−δ|/se has the spread √((G−H)/G); against t itself it would reject `expected_stratified_rejection`."""
    tails = StudentTails(units, strata)
    (reached,) = tails.to_replicates(np.array([stats.t.isf(0.025, tails.freedom)]))
    assert reached == pytest.approx(1.959963984540054 * tails.spread, rel=1e-9)
    assert 2 * stats.t.sf(reached, tails.freedom) == pytest.approx(expected_stratified_rejection(units, strata), rel=1e-9)


@pytest.mark.parametrize(("units", "strata"), [(1, 1), (1.9, 1), (10, 10), (10.5, 10)])
def test_with_less_than_one_degree_of_freedom_nothing_is_rejected(units: float, strata: int) -> None:
    tails = StudentTails(units, strata)
    assert tails.to_replicates(np.array([0.0, 5.0, 1e9])).tolist() == [0.0, 0.0, 0.0]
    found, _ = one_pair(2.0, tails)
    assert found.p.tolist() == [1.0]


def test_fewer_than_one_unit_or_stratum_are_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 1 unit and 1 stratum, not 0\.5 and 1"):
        StudentTails(0.5)
    with pytest.raises(ValueError, match="not nan"):
        StudentTails(float("nan"))
    with pytest.raises(ValueError, match="not 5 and 0"):
        StudentTails(5, 0)


def one_pair(t: float, tails: StudentTails | None, replicates: int = 100_000) -> tuple[MaxT, dict[str, np.ndarray]]:
    """Max-T of a pair with se = 1 whose replicates are Gaussian, with the spread that those of Gaussian units have."""
    given_ = {"delta": np.array([t]), "se": np.ones(1), "identical": np.zeros(1, bool)}
    counts = StepDown(order_family(np.array([[0, 1]]), score=np.array([t, 0.0]), **given_, tails=tails))
    spread = 1.0 if tails is None else tails.spread
    # Quantiles in place of draws: no Monte-Carlo error, but for 1/b.
    counts.add(np.stack([t + spread * stats.norm.isf((np.arange(replicates) + 0.5) / replicates), np.zeros(replicates)]))
    return counts.result(), given_


@pytest.mark.parametrize("units", [4, 20, 100])
@pytest.mark.parametrize("t", [0.7, 1.96, 2.6, 4.0])
def test_of_one_pair_it_is_the_corrected_p(units: int, t: float) -> None:
    tails = StudentTails(units)
    found, given_ = one_pair(t, tails)
    single = correct_few_units(given_["delta"], np.array([tails.spread]), units=units)
    assert single.p[0] == pytest.approx(2 * stats.t.sf(t, units - 1))
    assert found.p[0] == pytest.approx(single.p[0], abs=3e-5)


def test_with_less_than_one_degree_of_freedom_no_pair_has_a_p_below_one() -> None:
    """A p that were missing here would leave the uncorrected one in force."""
    found = StudentTails(1.06).p_value(np.array([31.0, 0.0, np.nan, 2.0]), np.array([0.5, 0.5, 0.5, 0.0]))
    assert found.tolist()[:2] == [1.0, 1.0]
    assert np.isnan(found[2:]).all()
