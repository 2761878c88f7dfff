"""The interval and the p beside it never contradict each other, and the interval is a quantile of the replicates."""

import numpy as np
import pytest
from scipy.special import ndtr
from support.synthetic_cubes import build_cube
from support.synthetic_reports import build_document, make_report

from pipeline.report.intervals import half_widths


def binned(shifts, bins=97):
    edges = np.linspace(-12, 12, bins + 1)
    return np.histogram(np.clip(shifts, -11.999, 11.999), edges)[0][None]


def lattice(rng, step, replicates=20_000):
    """Replicates of a coarse metric: (δ* − δ)/se on a lattice, so that bins say little of where they lie."""
    return np.round(rng.normal(size=replicates) / step) * step


@pytest.mark.parametrize("seed", range(40))
def test_an_interval_leaves_zero_out_exactly_where_p_is_below_alpha(seed):
    rng = np.random.default_rng(seed)
    step = rng.uniform(0.15, 0.6)
    shifts = lattice(rng, step)
    checked = 0
    for gain in step * np.arange(1, 14):
        p = (np.sum(np.abs(shifts) >= gain - 1e-9) + 1) / (len(shifts) + 1)
        (half,) = half_widths(binned(shifts), 0.95, se=np.ones(1), gain=np.array([gain]), p=np.array([p]))
        assert (gain - half > 0) == (p < 0.05), (gain, half, p)
        checked += abs(gain - 1.96) < 0.5
    assert checked


def test_without_the_p_the_histogram_alone_contradicts_some():
    """The same cases read off the bins alone do disagree: the test above tests something."""
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        step = rng.uniform(0.15, 0.6)
        shifts = lattice(rng, step)
        (half,) = half_widths(binned(shifts), 0.95, se=np.ones(1))
        gains = step * np.arange(1, 14)
        p = np.array([(np.sum(np.abs(shifts) >= gain - 1e-9) + 1) / (len(shifts) + 1) for gain in gains])
        wrong += int(np.sum((gains - half > 0) != (p < 0.05)))
    assert wrong > 0


def test_the_p_moves_the_interval_by_less_than_a_bin():
    shifts = np.random.default_rng(3).normal(size=50_000)
    p = (np.sum(np.abs(shifts) >= 1.9) + 1) / 50_001
    halves = [
        half_widths(binned(shifts), 0.95, se=np.array([2.0]), **known)[0]
        for known in ({}, {"gain": np.array([3.8]), "p": np.array([p])})
    ]
    exact = 2 * np.quantile(np.abs(shifts), 0.95)
    assert halves == pytest.approx([exact, exact], abs=0.06)


def test_a_gain_far_off_the_grid_changes_nothing():
    shifts = np.random.default_rng(3).normal(size=50_000)
    known = {"gain": np.array([40.0]), "p": np.array([1 / 50_001])}
    assert half_widths(binned(shifts), 0.95, se=np.ones(1), **known) == half_widths(binned(shifts), 0.95, se=np.ones(1))


def test_no_standard_error_no_interval():
    counts = binned(np.zeros(10))
    assert np.isnan(half_widths(counts, 0.95, se=np.array([0.0]))).all()
    assert np.isnan(half_widths(counts, 0.95, se=np.array([np.nan]))).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("wider", [0.8, 1.0, 1.25])
def test_rows_of_a_report_agree_with_their_p(alpha, wider):
    """Also where the histogram, off by a fifth, would put the ends of many intervals on the other side."""
    rng = np.random.default_rng(9)
    cube = build_cube(rng.normal(50, 0.8, 20), [f"s{i}" for i in range(20)], se=rng.uniform(0.3, 0.6, (1, 190)), replicates=20_000)
    law = np.rint(np.diff(ndtr(np.linspace(-12, 12, cube.sizes["bin"] + 1) / wider)) * 20_000).astype(np.int64)
    cube["histogram"] = cube["histogram"] * 0 + law
    report = make_report({"news": cube}, analyses=(), resampling={"alpha": alpha})
    rows = [row for row in build_document(report)["pairs"] if row["interval"]]
    assert len(rows) > 150
    assert all((row["interval"]["lo"] > 0) == (row["p"] < alpha) for row in rows)


def test_a_pair_has_the_half_width_that_it_has_alone():
    rng = np.random.default_rng(5)
    counts = np.concatenate([binned(lattice(rng, step)) for step in rng.uniform(0.1, 0.6, 8)])
    counts[6] = 0
    se = np.array([1.0, 0.5, 2.0, 0.0, np.nan, 1.0, 1.0, 3.0])
    gain, p = np.array([0.0, 0.7, 2.0, 1.0, 1.0, 1.9, 1.0, 90.0]), np.array([1.0, 0.2, np.nan, 0.5, 0.5, 0.05, 0.5, 1e-4])
    together = half_widths(counts, 0.95, se=se, gain=gain, p=p)
    one_by_one = [half_widths(counts[[k]], 0.95, se=se[[k]], gain=gain[[k]], p=p[[k]])[0] for k in range(len(se))]
    np.testing.assert_array_equal(together, one_by_one)
    assert np.isnan(together).tolist() == [False, False, False, True, True, False, True, False]
