"""The high, the median and the low run: by hand; their p: by all swaps; the figures of scores and of p: what they hold."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from support.synthetic_cubes import build_cube
from support.synthetic_runs import build, mean

from pipeline.analyses import load_analysis
from pipeline.analyses.replicas.data import Model
from pipeline.analyses.replicas.nulls import Draw
from pipeline.analyses.replicas.run_figures import list_p_figures, list_score_figures
from pipeline.analyses.replicas.single import list_scores, pick_runs, rank_runs, single_rows
from pipeline.interfaces import Figure, Finding
from pipeline.report.drawing.figures import draw_finding
from pipeline.report.findings import describe_findings
from pipeline.resampling.replicas.outputs import Replicas, observe_replicas

FALSE_ALARM = 1e-6
B = 20_000


def make(*models: NDArray[np.int64], higher: bool = True) -> tuple[Replicas, list[Model]]:
    """Return models of (run, unit) values."""
    arrays = tuple(np.stack([values, np.ones_like(values)], axis=2) for values in models)
    names = [Model(f"m{k}", tuple(f"m{k}-{r}" for r in range(len(own))), tuple(f"r{r}" for r in range(len(own))), named=True)
             for k, own in enumerate(models)]  # fmt: skip
    pairs = np.array([(a, b) for b in range(len(models)) for a in range(b)], np.int64)
    return Replicas(arrays, mean, "ratio", higher, pairs), names


def singles(made: tuple[Replicas, list[Model]], *, replicates: int = 300, seed: int = 3) -> list[dict[str, Any]]:
    return list(single_rows(*made, Draw(seed, "news", replicates), seen=observe_replicas(made[0])))


def find(models: dict[str, NDArray[np.int64]], **options: Any) -> Any:
    cubes, statistics = build(models)
    return load_analysis("replicas").with_statistics(statistics).find(cubes, {"replicates": 100, "subsets": 0} | options)


@pytest.mark.parametrize(
    ("scores", "higher", "places"),
    [
        ([3.0, 9.0, 5.0], True, (1, 2, 0)),
        ([3.0, 9.0, 5.0], False, (0, 2, 1)),  # the lowest error rate is the high run
        ([3.0, 9.0, 5.0, 7.0], True, (1, 2, 0)),  # 9 7 5 3: of the two in the middle the worse
        ([3.0, 9.0, 5.0, 7.0], False, (0, 3, 1)),
        ([5.0, 9.0, 9.0, 5.0, 5.0], True, (1, 0, 4)),  # 9 9 5 5 5: equal ones in the order of runs
        ([5.0, 5.0, 5.0], True, (0, 1, 2)),
        ([2.0, 2.0 + 1e-15, 2.0 - 1e-15], True, (0, 1, 2)),  # a last bit is no difference
        ([4.0], True, (0, 0, 0)),
        ([4.0, 6.0], True, (1, 0, 0)),
    ],
)
def test_the_high_the_median_and_the_low_run_are_those_of_a_sorted_list(
    scores: list[float], higher: bool, places: tuple[int, ...]
) -> None:
    assert pick_runs(scores, higher_is_better=higher) == dict(zip(("high", "median", "low"), places, strict=True))
    assert sorted(rank_runs(scores, higher_is_better=higher)) == list(range(len(scores)))


def test_a_run_without_a_score_leaves_no_run_to_name() -> None:
    assert pick_runs([1.0, float("nan")], higher_is_better=True) is None


def case_of(row: dict[str, Any]) -> tuple[str, str]:
    return row["which_a"], row["which_b"]


CASES = [("high", "low"), ("median", "median"), ("low", "high"), ("high", "high")]


def test_p_of_single_runs_is_the_share_of_all_swaps_of_their_outputs() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 20, (5, 8)), rng.integers(2, 22, (4, 8))
    rows = singles(make(first, second), replicates=B)
    assert [case_of(row) for row in rows] == CASES
    ranked = [own[np.argsort(-own.mean(axis=1), kind="stable")] for own in (first, second)]
    better, worse = (1, 0) if second.mean() > first.mean() else (0, 1)

    def run_of(model: int, which: str) -> NDArray[np.int64]:
        places = {"high": 0, "median": len(ranked[model]) // 2, "low": -1}
        run: NDArray[np.int64] = ranked[model][places[which]]
        return run

    for row in rows:
        a, b = run_of(better, row["which_a"]), run_of(worse, row["which_b"])
        swapped = [abs(np.dot(signs, a - b)) for signs in product([1, -1], repeat=8)]
        exact, hits = np.mean(np.array(swapped) >= abs((a - b).sum())), round(row["p"] * (B + 1)) - 1
        assert binom.cdf(hits, B, exact) > FALSE_ALARM / 2, row
        assert binom.sf(hits - 1, B, exact) > FALSE_ALARM / 2, row
        assert row["delta"] == pytest.approx((a - b).mean())
        assert row["p_bounds"]["lo"] < row["p"] <= row["p_bounds"]["hi"]
        assert (row["score_a"], row["score_b"]) == (a.mean(), b.mean())
        assert np.array_equal((first, second)[better][int(row["run_a"][1:])], a)
        assert np.array_equal((first, second)[worse][int(row["run_b"][1:])], b)
        assert (row["model_a"], row["model_b"]) == (f"m{better}", f"m{worse}")
    assert len({row["p"] for row in rows}) == 4  # the cases differ: a run that is mistaken for another is seen


def test_a_gain_against_the_better_model_is_negative_and_lower_may_be_better() -> None:
    units = np.ones(6, np.int64)
    # Errors: m1 is better by the mean; its low run (9) is behind the high run of m0 (6).
    rows = singles(make(np.outer([6, 7, 8], units), np.outer([1, 2, 9], units), higher=False))
    assert [(row["model_a"], case_of(row), row["score_a"], row["score_b"], row["delta"]) for row in rows] == [
        ("m1", ("high", "low"), 1, 8, 7), ("m1", ("median", "median"), 2, 7, 5), ("m1", ("low", "high"), 9, 6, -3),
        ("m1", ("high", "high"), 1, 6, 5),
    ]  # fmt: skip


def test_runs_with_the_same_outputs_or_the_same_score_have_p_of_one() -> None:
    rng = np.random.default_rng(9)
    shared = rng.integers(0, 9, 6)
    for turned in (shared, np.roll(shared, 1)):  # the same outputs, and others of the same sum
        rows = singles(make(np.stack([shared + 3, shared, shared]), np.stack([turned, turned - 5, turned - 9])))
        (row,) = (row for row in rows if case_of(row) == ("low", "high"))
        assert (row["delta"], row["p"], row["p_bounds"], row["reason"]) == (0.0, 1.0, {"lo": 1.0, "hi": 1.0}, None)


def test_p_that_is_drawn_is_by_address_and_another_model_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    models = [rng.integers(0, 50, (3, 60)) for _ in range(3)]
    two, again, other = (singles(make(*models[:2]), seed=seed) for seed in (3, 3, 4))
    assert two == again
    assert [row["p"] for row in two] != [row["p"] for row in other]
    assert two == [row for row in singles(make(*models)) if {row["model_a"], row["model_b"]} == {"m0", "m1"}]
    assert all(row["p_bounds"]["lo"] < row["p"] < row["p_bounds"]["hi"] for row in two)


def test_pairs_with_a_run_without_a_score_have_no_p_and_others_have() -> None:
    rng = np.random.default_rng(4)
    replicas, models = make(*(rng.integers(0, 9, (3, 6)) for _ in range(3)))
    replicas.statistics[1][2, :, 1] = 0  # 0/0
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = singles((replicas, models))
    concerned = [row for row in rows if "m1" in (row["model_a"], row["model_b"])]
    assert len(rows) == 12
    assert len(concerned) == 8
    assert {(row["p"], row["reason"]) for row in concerned} == {(None, "a run has no score (0/0)")}
    assert all(0 < row["p"] <= 1 and row["reason"] is None for row in rows if row not in concerned)


def test_models_name_their_runs_and_the_file_of_scores_ranks_them() -> None:
    units = np.ones(5, np.int64)
    finding = find({"big": np.outer([7, 9, 8], units), "small": np.outer([5, 5, 6], units)})
    models = {row["model"]: (row["high"], row["median"], row["low"]) for row in finding.rows if row["kind"] == "model"}
    assert models == {"big": ("1", "2", "0"), "small": ("2", "0", "1")}
    ranked = [(row["model"], row["run"], row["score"], row["place"], row["which"]) for row in finding.csv["replicas_scores"]]
    assert ranked == [
        ("big", "1", 9, 1, "high"), ("big", "2", 8, 2, "median"), ("big", "0", 7, 3, "low"),
        ("small", "2", 6, 1, "high"), ("small", "0", 5, 2, "median"), ("small", "1", 5, 3, "low"),
    ]  # fmt: skip
    assert [(*case_of(row), row["run_a"], row["run_b"]) for row in finding.csv["replicas_single"]] == [
        ("high", "low", "1", "1"), ("median", "median", "2", "0"), ("low", "high", "0", "2"), ("high", "high", "1", "2"),
    ]  # fmt: skip
    (table,) = (table for table in finding.tables if table.title.endswith("one run of each"))
    assert "Table 2" in table.caption
    assert list_scores([{"kind": "model", "test_set": "t", "metric": "m", "model": "a", "scores": {"0": None, "1": 2.0}}],
                       {("t", "m"): True}) == [
        {"test_set": "t", "metric": "m", "model": "a", "run": "0", "score": None, "place": None, "which": None},
        {"test_set": "t", "metric": "m", "model": "a", "run": "1", "score": 2.0, "place": None, "which": None},
    ]  # fmt: skip


def test_a_null_that_has_no_p_of_one_run_each_says_so() -> None:
    rng = np.random.default_rng(11)
    models = {name: rng.integers(0, 9, (6, 20)) for name in ("big", "small")}
    finding = find(models, subsets=40, runs_each=[1, 2], subset_nulls=["quasi-f", "per-output"])
    told = {(row["null"], row["runs_each"]): row["reason"] for row in finding.csv["replicas_subsets"]}
    assert told == {
        ("quasi-f", 1): "no draw of so many runs has a p under this null", ("quasi-f", 2): None,
        ("per-output", 1): None, ("per-output", 2): None,
    }  # fmt: skip


# Figures.

CUBES = {"news": build_cube(np.array([30.0, 29.0]), ["big", "small"])}


def draw(figures: Any) -> list[Any]:
    held: tuple[Figure, ...] = tuple(figures)
    finding = Finding("some-analysis", (), figures=held, csv={figure.table: [{"a": 1}] for figure in held})
    return list(draw_finding(finding, *describe_findings([finding])))


def model_row(name: str, scores: list[float]) -> dict[str, Any]:
    known = {str(run): score for run, score in enumerate(scores)}
    return {"kind": "model", "test_set": "news", "metric": "bleu", "model": name, "runs": len(scores), "scores": known}


def pair_row(first: str, second: str, delta: float) -> dict[str, Any]:
    return {"kind": "pair", "test_set": "news", "metric": "bleu", "model_a": first, "model_b": second, "delta": delta}


def corners(svg: str, shape: str, look: str) -> list[NDArray[np.float64]]:
    """Return the corners of lines or areas of a picture, in pixels, whose look begins so."""
    found = re.findall(rf'<{shape} points="([^"]+)"[^>]*{look}', svg)
    return [np.array([corner.split(",") for corner in one.split()], float) for one in found]


def test_histograms_of_both_models_hold_every_run_in_common_bins() -> None:
    rng = np.random.default_rng(7)
    big, small = rng.normal(50, 1, 40), rng.normal(48, 1, 30)
    rows = [model_row("big", big.tolist()), model_row("small", small.tolist()), pair_row("big", "small", 2.0)]
    (drawing,) = draw(list_score_figures(rows, CUBES))
    assert f"big: 40 runs from {big.min():.3f} to {big.max():.3f}, mean {big.mean():.3f}." in drawing.alt
    edges = np.histogram_bin_edges(np.concatenate([big, small]), 9)  # √70 is between eight and nine
    outlines = corners(drawing.svg, "polyline", 'stroke="#(?:0072b2|d55e00)" stroke-width="1.3"')
    assert len(outlines) == 2
    heights = [np.histogram(own, edges)[0] for own in (big, small)]
    for outline, counts in zip(outlines, heights, strict=True):
        flat = outline[1:-1].reshape(-1, 2, 2)[:, 0, 1]  # the tops of bins; y counts downwards from the baseline
        tops = outline[0, 1] - flat
        assert tops / tops.max() == pytest.approx(counts / counts.max(), abs=0.01)
    assert outlines[0][:, 0] == pytest.approx(outlines[1][:, 0])


def test_few_runs_have_no_histogram_and_the_nearest_pairs_are_shown() -> None:
    rng = np.random.default_rng(7)
    rows = [model_row(f"m{k}", rng.normal(50 + k, 1, 10).tolist()) for k in range(5)]
    pairs = [pair_row(f"m{a}", f"m{b}", float(abs(a - b))) for a in range(5) for b in range(a)]
    (figure,) = list_score_figures([*rows, *pairs, model_row("few", [50.0] * 8), pair_row("m0", "few", 0.1)], CUBES)
    assert "Shown: the 6 nearest of 10 pairs." in figure.caption
    assert "few" not in figure.alt
    titles = set(re.findall(r">(m\d - m\d)<", draw([figure])[0].svg))
    assert titles >= {"m1 - m0", "m2 - m1", "m3 - m2", "m4 - m3"}
    assert not titles & {"m4 - m0", "m3 - m0", "m4 - m1"}
    assert list(list_score_figures([model_row("a", [1.0] * 8), model_row("b", [2.0] * 8), pair_row("a", "b", 1.0)], CUBES)) == []
    assert (
        len(draw(list_score_figures([model_row("a", [1.0] * 9), model_row("b", [1.0] * 9), pair_row("a", "b", 0.0)], CUBES))) == 1
    )


def subset_row(number: int, p: tuple[float, float, float] | None, null: str = "per-output") -> dict[str, Any]:
    low, middle, high = p or (None, None, None)
    return {
        "kind": "subset", "test_set": "news", "metric": "bleu", "model_a": "big", "model_b": "small", "null": null,
        "runs_each": number, "subsets": 250, "alpha": 0.05, "p_low": low, "p_median": middle, "p_high": high,
    }  # fmt: skip


def test_p_by_number_of_runs_is_drawn_with_its_band() -> None:
    known = {1: (0.01, 0.1, 1.0), 10: (0.001, 0.01, 0.1)}
    rows = [subset_row(number, p) for number, p in known.items()] + [subset_row(50, None), pair_row("big", "small", 1.0)]
    (drawing,) = draw(list_p_figures(rows))
    assert "per-output, 1 of each: median 0.1000, 95 % from 0.0100 to 1.0000." in drawing.alt.replace("big - small, ", "")
    assert "50" not in drawing.alt
    assert "over 250 draws" in drawing.caption
    (points,) = corners(drawing.svg, "polyline", 'stroke="#0072b2')
    (band,) = corners(drawing.svg, "polygon", 'fill="#0072b2')
    decade = points[1, 1] - points[0, 1]  # median: from .1 to .01
    for x, (_, y) in zip(points[:, 0], points, strict=True):
        at = band[np.abs(band[:, 0] - x) < 0.01][:, 1]
        assert sorted({round((level - y) / decade) for level in at}) == [-1, 1]  # one decade to either side


def test_a_p_that_is_too_small_for_the_axis_stands_at_its_end_and_nulls_have_names() -> None:
    rows = [subset_row(number, (1e-9, 1e-6, 0.1), null) for number in (1, 2) for null in ("quasi-f", "crossed")]
    (drawing,) = draw(list_p_figures(rows))
    assert "p below 0.0001 stands at 0.0001." in drawing.caption
    assert {"quasi-f", "crossed", ".0001"} <= set(re.findall(r"<text[^>]*>([^<]+)</text>", drawing.svg))
    (plain,) = draw(list_p_figures([subset_row(number, (0.001, 0.01, 0.1)) for number in (1, 2)]))
    assert "stands at" not in plain.caption
    assert ".0001" not in re.findall(r"<text[^>]*>([^<]+)</text>", plain.svg)


def test_one_number_of_runs_is_no_curve() -> None:
    assert list(list_p_figures([subset_row(1, (0.1, 0.2, 0.3)), subset_row(2, None), pair_row("big", "small", 1.0)])) == []
