"""Test sets side by side at one number of units: a planted difference is seen, none is not, and sizes are brought together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import binom
from support.synthetic_cubes import build_cube

from pipeline.analyses.domain_curve.analysis import DomainCurve
from pipeline.inference.across.typical_error import typical_log_error, welch_test
from pipeline.interfaces import ScoredStatistics
from pipeline.resampling.standard_errors.influence import leave_one_out

SYSTEMS = tuple("abcdef")
FIRST, SECOND = np.triu_indices(len(SYSTEMS), 1)


def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1]


def draw_scores(rng: np.random.Generator, units: int, sigma: float) -> NDArray[np.int64]:
    return np.rint(1000 * rng.normal(50, sigma, (len(SYSTEMS), units))).astype(np.int64)


def domain(rng: np.random.Generator, *, units: int = 200, sigma: float = 10.0, sizes: tuple[int, ...] = (), **attrs: Any) -> Any:
    """Return a cube of Gaussian scores with the jackknife's standard errors, and the statistics behind it."""
    values = draw_scores(rng, units, sigma)
    labels = {**{str(n): n for n in sizes}, "full": units}
    pairs = list(combinations(range(len(SYSTEMS)), 2))
    scores = np.array([values[:, :n].mean(axis=1) / 1000 for n in labels.values()])
    se = np.array([[(values[a, :n] - values[b, :n]).std(ddof=1) / 1000 / np.sqrt(n) for a, b in pairs] for n in labels.values()])
    cube = build_cube(scores, SYSTEMS, sizes=labels, se=se, attrs=attrs)
    data = xr.Dataset(
        {"statistics": (("system", "item", "statistic"), np.stack([values, np.full_like(values, 1000)], axis=2))},
        coords={"system": list(SYSTEMS), "item": [f"{id(rng)}-{k}" for k in range(units)]},
    )
    return cube, ScoredStatistics(data, mean, "ratio", higher_is_better=True)


def analyse(domains: dict[str, Any], **options: Any) -> Any:
    analysis = DomainCurve().with_statistics({name: {"bleu": scored} for name, (_, scored) in domains.items()})
    return analysis.find({name: cube for name, (cube, _) in domains.items()}, options)


def test_a_planted_difference_is_seen_with_its_size() -> None:
    rng = np.random.default_rng(8)
    finding = analyse({"news": domain(rng, sigma=10), "law": domain(rng, sigma=15), "talks": domain(rng, sigma=10)})
    (test,) = finding.details["tests"]
    assert test["p"] < 1e-6
    assert test["largest_over_smallest"] == pytest.approx(1.5, rel=0.15)
    rows = {row["test_set"]: row for row in finding.rows}
    for name, sigma in (("news", 10), ("law", 15), ("talks", 10)):
        true = sigma * np.sqrt(2 / 200)
        assert rows[name]["interval"]["lo"] < true < rows[name]["interval"]["hi"]
        assert rows[name]["se_gain"] == pytest.approx(1.645 * true, rel=0.2)
    assert rows["law"]["relative"] > 1.2 > 1 > rows["news"]["relative"]


def p_of(domains: Iterable[NDArray[np.int64]]) -> float:
    """Return the p of Welch's test of what the jackknife knows of typical standard errors, without cubes."""
    logs, errors, freedoms = [], [], []
    for values in domains:
        se = (values[FIRST] - values[SECOND]).std(axis=1, ddof=1)
        statistics = np.stack([values, np.full_like(values, 1000)], axis=2).transpose(1, 0, 2)
        logs.append(np.log(se).mean())
        errors.append(typical_log_error(leave_one_out(statistics, mean), np.stack([FIRST, SECOND], axis=1)))
        freedoms.append(values.shape[1] - 1)
    assert None not in errors
    found = welch_test(logs, errors, freedoms)
    assert found is not None
    return found.p


def test_p_is_that_of_welch_s_test_of_what_the_jackknife_knows() -> None:
    rng = np.random.default_rng(8)
    domains = {name: domain(rng, units=120, sigma=sigma) for name, sigma in (("news", 10), ("law", 11), ("talks", 10))}
    p = p_of(scored.data["statistics"].values[:, :, 0] for _, scored in domains.values())
    assert 1e-6 < p < 0.9
    assert analyse(domains).details["tests"][0]["p"] == pytest.approx(p, rel=1e-6)


@pytest.mark.statistical
def test_without_a_difference_five_in_a_hundred_are_called_different_at_most() -> None:
    """300 studies of three domains: more than 36 rejections at .05 have a chance below 1e-6 where the level is .05."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    studies = 300
    rejected = sum(p_of(draw_scores(rng, 120, 10.0) for _ in range(3)) <= 0.05 for _ in range(studies))
    assert binom.sf(rejected - 1, studies, 0.05) > 1e-6, rejected


def test_the_largest_common_size_is_looked_at_and_only_its_units() -> None:
    rng = np.random.default_rng(8)
    sets = {"news": domain(rng, units=300, sizes=(50, 100)), "law": domain(rng, units=200, sizes=(50, 100))}
    finding = analyse(sets)
    assert {(row["test_size"], row["units"], row["scale"]) for row in finding.rows} == {("100", 100, 1.0)}
    # Units beyond the first hundred have no part in it: neither in the standard errors nor in what is known of them.
    for cube, scored in sets.values():
        scored.data["statistics"][:, 100:] *= 7
        cube["se"][{"test_size": 2}] *= 7
    assert [row["interval"] for row in analyse(sets).rows] == [row["interval"] for row in finding.rows]
    assert finding.details["tests"][0]["units"] == 100


def test_other_sizes_are_brought_together_by_the_square_root() -> None:
    rng = np.random.default_rng(8)
    news, law = domain(rng, units=400), domain(rng, units=100)
    finding = analyse({"news": news, "law": law})
    of_news, of_law = finding.rows
    assert (of_news["scale"], of_law["scale"]) == (2.0, 1.0)
    se = news[0]["se"].values.ravel()
    assert of_news["typical_se"] == pytest.approx(2 * np.exp(np.log(se).mean()))
    (table,) = finding.tables
    assert "Brought to 100 units by the square root of their number: news." in table.caption
    assert finding.details["tests"][0]["p"] > 1e-3


def test_only_pairs_that_all_have_are_typical() -> None:
    rng = np.random.default_rng(8)
    news, law = domain(rng), domain(rng)
    cube, scored = law
    kept = [k for k, (a, b) in enumerate(zip(cube["system_a"].values, cube["system_b"].values, strict=True)) if "f" not in (a, b)]
    law = cube.isel(pair=kept), scored
    finding = analyse({"news": news, "law": law})
    assert {row["pairs_in_common"] for row in finding.rows} == {10}
    se = news[0].isel(pair=kept)["se"].values.ravel()
    assert finding.rows[0]["typical_se"] == pytest.approx(np.exp(np.log(se).mean()))


def test_pairs_are_joined_by_names_whatever_their_order_and_direction() -> None:
    """The second test set names its pairs backwards and in another order, and lacks some that the first has."""
    rng = np.random.default_rng(8)
    news, (cube, scored) = domain(rng), domain(rng)
    own = cube.isel(pair=[9, 3, 14, 0, 7, 11])
    turned = own.assign_coords(system_a=("pair", own["system_b"].values), system_b=("pair", own["system_a"].values))
    turned = turned.assign(observed_delta=-own["observed_delta"])
    finding = analyse({"news": news, "law": (turned, scored)})
    straight = analyse({"law": (own, scored), "news": news})
    for name, source in (("news", news[0].isel(pair=[9, 3, 14, 0, 7, 11])), ("law", own)):
        (row,) = [row for row in finding.rows if row["test_set"] == name]
        (other,) = [row for row in straight.rows if row["test_set"] == name]
        assert row["typical_se"] == pytest.approx(np.exp(np.log(source["se"].values).mean()))
        assert row["interval"]["lo"] == pytest.approx(other["interval"]["lo"])
    assert finding.details["tests"][0]["p"] == pytest.approx(straight.details["tests"][0]["p"])


def test_what_lacks_is_said() -> None:
    rng = np.random.default_rng(8)
    news, law = domain(rng), domain(rng)
    alone = DomainCurve().find({"news": news[0], "law": law[0]}, {})
    assert alone.details["tests"][0]["p"] is None
    assert "not at hand" in alone.details["tests"][0]["reason"]
    assert alone.rows[0]["typical_se"] is not None
    nothing = analyse({"news": news})
    assert not nothing.rows
    assert any("not two test sets" in note for note in nothing.notes)
    shared = analyse({"news": news, "again": news})
    assert any("Items in common" in note for note in shared.notes)


def test_every_figure_has_its_points_and_all_test_sets_are_shown() -> None:
    rng = np.random.default_rng(8)
    names = [f"t{number:02d}" for number in range(14)]
    finding = analyse({name: domain(rng, units=120) for name in names})
    side, *scatters = finding.figures
    assert all(name in side.alt for name in names)
    assert len(scatters) == 3
    assert all(sum(name in figure.alt for figure in scatters) == 1 for name in names)
    assert {figure.table for figure in finding.figures} <= set(finding.files)
    points = finding.files["domain_pairs"]
    assert len(points) == 14 * 15
    assert all(point["gain"] >= 0 for point in points)


@pytest.mark.parametrize(
    "options",
    [
        {"units": 1},
        {"units": 10**30},
        {"test_sets": ["news"]},
        {"test_sets": ["news", "news"]},
        {"window": [0.06, 0.04]},
        {"percentile": 101},
    ],
)
def test_options_of_no_use_are_refused(options: dict[str, Any]) -> None:
    from pipeline.errors import StudyError

    with pytest.raises(StudyError):
        DomainCurve().check(options)


@pytest.mark.parametrize(("units", "right", "tested"), [(99, False, False), (100, False, True), (60, True, True)])
def test_few_units_have_a_test_only_where_answers_are_right_or_wrong(units: int, right: bool, tested: bool) -> None:
    rng = np.random.default_rng(9)
    sets = {}
    for name in ("news", "law"):
        cube, scored = domain(rng, units=units)
        if right:
            values = (rng.random((len(SYSTEMS), units)) < 0.6).astype(np.int64)
            statistics = np.stack([values, np.ones_like(values)], axis=2)
            data = scored.data.assign(statistics=(scored.data["statistics"].dims, statistics))
            scored = replace(scored, data=data)
        sets[name] = (cube, scored)
    finding = analyse(sets)
    (test,) = finding.details["tests"]
    assert (test["p"] is not None) is tested
    assert all((row["interval"] is not None) is tested for row in finding.rows)
    assert all(row["typical_se"] is not None for row in finding.rows)
    assert tested or "fewer than 100 units" in test["reason"]
