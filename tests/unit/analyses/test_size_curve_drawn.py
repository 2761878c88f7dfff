"""Test sets of other sizes: random subsets by an obvious bootstrap, draws with replacement by the law of the square root."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from support.synthetic_cubes import build_cube

from pipeline.analyses.size_curve.analysis import SizeCurve
from pipeline.analyses.size_curve.options import SizeCurveOptions
from pipeline.analyses.size_curve.points import DrawnSizes
from pipeline.errors import StudyError
from pipeline.interfaces import Finding, ScoredStatistics
from pipeline.interfaces.charts import Chart, Line
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_order, draw_units

SYSTEMS = tuple("abcde")
PAIRS = np.array(list(combinations(range(5), 2)))


def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1]


def weighted(units: int = 400, *, seed: int = 3, lengths: bool = False) -> NDArray[np.int64]:
    """(unit, system, 2): Gaussian scores, with a constant denominator or one that varies from unit to unit."""
    rng = np.random.default_rng(seed)
    values = np.rint(1000 * (rng.normal(50, 10, (units, 5)) + np.linspace(0, 3, 5))).astype(np.int64)
    weight = rng.integers(1, 9, (units, 1)) if lengths else np.ones((units, 1), np.int64)
    return np.stack([values * weight, np.broadcast_to(1000 * weight, values.shape)], axis=2)


def build(statistics: NDArray[np.int64]) -> tuple[dict[str, xr.Dataset], SizeCurve]:
    score = mean(np.moveaxis(statistics.sum(axis=0), -1, 0).astype(np.float64))
    difference = (statistics[:, PAIRS[:, 0], 0] - statistics[:, PAIRS[:, 1], 0]) / 1000
    se = difference.std(axis=0, ddof=1) / np.sqrt(len(statistics))
    cube = build_cube(score, SYSTEMS, sizes={"full": len(statistics)}, se=se[None], metric="mean")
    data = xr.Dataset(
        {"statistics": (("system", "item", "statistic"), statistics.transpose(1, 0, 2))}, coords={"system": list(SYSTEMS)}
    )
    scored = ScoredStatistics(data, mean, "ratio", higher_is_better=True)
    return {"news": cube}, SizeCurve().with_statistics({"news": {"mean": scored}})


def find(statistics: NDArray[np.int64], **options: Any) -> Finding:
    cubes, analysis = build(statistics)
    return analysis.find(cubes, options)


def rows_of(finding: Finding, rule: str) -> list[dict[str, Any]]:
    return [dict(row) for row in finding.rows if row["draw"] == rule]


@pytest.mark.parametrize("lengths", [False, True])
def test_a_random_subset_is_bootstrapped_as_if_it_were_all_there_is(lengths: bool) -> None:
    statistics = weighted(60, lengths=lengths)
    scored = ScoredStatistics(xr.Dataset(), mean, "ratio", higher_is_better=True)
    options = SizeCurveOptions(draw=("random",), sizes=(25,), repeats=3, replicates=150, window=(0.0, 0.5), percentile=100.0)
    point = DrawnSizes(statistics, scored, PAIRS, seed=9, test_set="news").draw_subsets(25, options, 0.05)

    def key(rule: str) -> int:
        return draw_key(seed=9, purpose="size-curve", test_set="news", size="25", rule=rule)

    gains, ps, medians = [], [], []
    for number in range(3):
        own = statistics[draw_order(key(f"subset {number}"), 60)[:25]]
        sums = [own[draw_units(Draws(key(f"resamples of {number}"), 25, 25), r)].sum(axis=0) for r in range(150)]
        scores = np.array([s[:, 0] / s[:, 1] for s in sums])
        whole = own.sum(axis=0)[:, 0] / own.sum(axis=0)[:, 1]
        without = np.array([(own.sum(axis=0) - own[u])[:, 0] / (own.sum(axis=0) - own[u])[:, 1] for u in range(25)])
        se = []
        for a, b in PAIRS:
            delta = whole[a] - whole[b]
            gains.append(abs(delta))
            ps.append(np.mean(np.sign(delta) * (scores[:, a] - scores[:, b]) > 2 * abs(delta)))
            d = without[:, a] - without[:, b]
            se.append(np.sqrt(24 / 25 * np.sum((d - d.mean()) ** 2)))
        medians.append(np.median(se))
    gain, p = np.array(gains), np.array(ps)
    assert point["gain"] == pytest.approx(gain[p <= 0.5].max())
    assert point["pairs"] == 30
    assert point["least_significant"] == pytest.approx(gain[p <= 0.05].min())
    assert point["largest_not_significant"] == pytest.approx(gain[p > 0.05].max())
    assert point["median_se"] == pytest.approx(np.mean(medians))


@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("size", [50, 400, 1600])
def test_units_drawn_with_replacement_spread_by_the_square_root_of_their_number(lengths: bool, size: int) -> None:
    statistics = weighted(lengths=lengths)
    finding = find(statistics, draw=["with-replacement"], sizes=[size], replicates=4000)
    (point,) = finding.rows
    sums = [statistics[np.random.default_rng(r).integers(0, 400, size)].sum(axis=0) for r in range(2000)]
    scores = np.array([s[:, 0] / s[:, 1] for s in sums])
    expected = np.median([(scores[:, a] - scores[:, b]).std() for a, b in PAIRS])
    assert point["median_se"] == pytest.approx(expected, rel=0.05)  # 2000 and 4000 replicates: 1.6 and 1.1 %
    assert (point["gain"], point["pairs"]) == (None, 10)
    assert "no p" in point["reason"]


def test_the_standard_errors_of_drawn_test_sets_fall_with_slope_minus_one_half() -> None:
    finding = find(weighted(2000), draw=["random", "with-replacement"], sizes=[100, 200, 400, 800], repeats=10, replicates=1000)
    fits = {(fit["draw"], fit["quantity"]): fit for fit in finding.details["fits"]}
    for rule in ("random", "with-replacement"):
        for quantity in ("se_gain", "median_se"):
            assert fits[rule, quantity]["slope"] == pytest.approx(-0.5, abs=0.03), (rule, quantity)
    assert ("with-replacement", "gain") not in fits
    assert [row["units"] for row in rows_of(finding, "random")] == [100, 200, 400, 800]
    assert {row["repeats"] for row in rows_of(finding, "random")} == {10}


def test_subsets_have_at_most_the_units_that_there_are_and_draws_with_replacement_any_number() -> None:
    finding = find(weighted(100), draw=["random", "with-replacement"], sizes=[50, 500], repeats=2, replicates=100)
    assert [row["units"] for row in rows_of(finding, "random")] == [50]
    assert [row["units"] for row in rows_of(finding, "with-replacement")] == [50, 500]
    assert any("at most its 100 units" in note for note in finding.notes)


def test_drawn_points_stand_beside_prefixes_and_are_made_of_the_same_units_in_any_order() -> None:
    statistics = weighted(200)
    options: dict[str, Any] = {"draw": ["prefix", "random"], "sizes": [200], "repeats": 1, "replicates": 100}
    finding = find(statistics, **options)
    assert {row["draw"] for row in finding.rows} == {"prefix", "random"}
    (drawn,) = rows_of(finding, "random")
    (full,) = rows_of(finding, "prefix")
    assert drawn["median_se"] == pytest.approx(full["median_se"])  # all units, in another order


@pytest.mark.parametrize("rule", ["random", "with-replacement"])
def test_sizes_whose_sums_would_not_be_exact_are_left_out(rule: str) -> None:
    statistics = weighted(60)
    statistics[:, :, 0] *= 10**11 // 1000
    largest = (2**53 - 1) // int(np.abs(statistics).max())
    sizes = [20, largest, largest + 1] if rule == "with-replacement" else [20]
    finding = find(statistics, draw=[rule], sizes=sizes, repeats=2, replicates=100)
    assert [row["units"] for row in finding.rows] == [size for size in sizes if size <= largest]
    said = [note for note in finding.notes if "might not be exact" in note]
    assert len(said) == (rule == "with-replacement")
    assert all(f"more than {largest:,} units" in note for note in said)


def test_the_budget_counts_pairs() -> None:
    """2 subsets × 100 replicates × (50 units × 5 systems × 2 statistics + 10 pairs)."""
    assert find(weighted(100), draw=["random"], sizes=[50], repeats=2, replicates=100, budget=102_000.0).rows
    assert not find(weighted(100), draw=["random"], sizes=[50], repeats=2, replicates=100, budget=101_999.0).rows


def test_what_cannot_be_drawn_is_said() -> None:
    statistics = weighted(100)
    beyond = find(statistics, draw=["random"], sizes=[50], budget=10.0)
    assert not beyond.rows
    assert any("beyond the budget of 10" in note for note in beyond.notes)
    cubes, _ = build(statistics)
    bare = SizeCurve().find(cubes, {"draw": ["random"]})
    assert any("not at hand" in note for note in bare.notes)


def test_the_range_in_which_a_gain_does_not_decide_is_read_off_each_size() -> None:
    scores = np.array([[0.0, 1.0, 1.8, 4.0, 9.0], [0.0, 1.0, 1.8, 4.0, 9.0]])
    cube = build_cube(scores, SYSTEMS, sizes={"100": 100, "full": 400}, se=np.array([np.full(10, 1.0), np.full(10, 0.5)]))
    small, full = SizeCurve().find({"news": cube}, {}).rows
    # Gains: 1, 1.8, 4, 9, .8, 3, 8, 2.2, 7.2, 5; one-sided p ≤ .05 from 1.645 se on.
    assert (small["least_significant"], small["largest_not_significant"]) == (pytest.approx(1.8), pytest.approx(1.0))
    assert (full["least_significant"], full["largest_not_significant"]) == (pytest.approx(1.0), pytest.approx(0.8))


def test_confidence_by_size_is_drawn_of_few_pairs_with_its_points() -> None:
    cube = build_cube(np.arange(5.0), SYSTEMS, sizes={"100": 100, "full": 400}, se=1.0)
    finding = SizeCurve().find({"news": cube}, {})
    (figure,) = [figure for figure in finding.figures if figure.name == "size-confidence"]
    assert len(finding.files[figure.table]) == 20
    assert "100 units: 10 pairs" in figure.alt
    fewer = SizeCurve().find({"news": cube}, {"most_pairs": 9})
    assert not [figure for figure in fewer.figures if figure.name == "size-confidence"]


def test_the_figures_of_every_way_of_drawing_are_drawn_with_their_lines() -> None:
    finding = find(weighted(), draw=["random", "with-replacement"], sizes=[50, 100, 200, 400], repeats=2, replicates=2000)
    figures = [figure for figure in finding.figures if figure.name == "size-curve"]
    assert len(figures) == 2
    fitted = []
    for figure, rule, quantity in zip(figures, ("random", "with-replacement"), ("gain", "se_gain"), strict=True):
        chart = Chart()
        figure.draw(chart)
        units = [row["units"] for row in rows_of(finding, rule) if row[quantity]]
        (fit,) = [fit for fit in finding.details["fits"] if (fit["draw"], fit["quantity"]) == (rule, quantity)]
        lines = [list(mark.x) for mark in chart.marks if isinstance(mark, Line)]
        # The fit goes from the smallest to the largest.
        assert ([min(units), max(units)] in lines) == (fit["slope"] is not None)
        fitted.append(fit["slope"])
    assert fitted[1] is not None


@pytest.mark.parametrize(
    "options",
    [
        {"draw": []},
        {"draw": ["random", "random"]},
        {"sizes": [100]},
        {"draw": "random", "sizes": []},
        {"draw": "random", "sizes": [100, 100]},
        {"draw": "random", "repeats": 0},
        {"draw": "random", "replicates": 10},
        {"draw": "shuffled"},
        {"alpha": 0.0},
        {"gains": [float("inf")]},
        {"gains": [float("nan")]},
        {"draw": "with-replacement", "sizes": [10**400]},
        {"most_pairs": -1},
    ],
)
def test_options_of_no_use_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(StudyError):
        SizeCurve().check(options)
