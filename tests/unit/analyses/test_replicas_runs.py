"""s_dev, gains and p by number of runs, and "more runs or more units?": counted by hand, from runs that were made up."""

from __future__ import annotations

import csv
import gzip
import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import binom, hypergeom
from support.studies import PAGES, run_cli, write_study
from support.synthetic_runs import build, mean

from pipeline.analyses import load_analysis
from pipeline.analyses.replicas.data import Model, group_runs
from pipeline.analyses.replicas.development import Development
from pipeline.analyses.replicas.figures import _draw_pair
from pipeline.analyses.replicas.gains import DRAWN, gain_rows
from pipeline.analyses.replicas.nulls import Draw
from pipeline.analyses.replicas.options import ReplicaOptions
from pipeline.analyses.replicas.subsets import subset_rows
from pipeline.analyses.replicas.variance import Variances
from pipeline.analyses.type_one.runs import SPLIT
from pipeline.errors import StudyError
from pipeline.interfaces.charts import Chart, Words
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.components import Components
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.outputs import Replicas, observe_replicas
from pipeline.resampling.replicas.splits import draw_subsets

FALSE_ALARM = 1e-6


def make(*models: list[int], units: int = 4, higher: bool = True) -> tuple[Replicas, list[Model]]:
    """Return models whose runs have these scores, on every unit alike."""
    arrays = []
    for runs in models:
        values = np.repeat(np.array(runs, np.int64)[:, None], units, axis=1)
        arrays.append(np.stack([values, np.ones_like(values)], axis=2))
    pairs = np.array(list(combinations(range(len(models)), 2)), np.int64)
    names = [Model(f"m{k}", tuple(f"m{k}-{r}" for r in range(len(runs))), tuple(map(str, range(len(runs)))), named=True)
             for k, runs in enumerate(models)]  # fmt: skip
    return Replicas(tuple(arrays), mean, "ratio", higher, pairs), names


def gains(made: tuple[Replicas, list[Model]], *, seed: int = 3, **options: Any) -> list[dict[str, Any]]:
    draw = Draw(seed, "news", 100)
    return list(gain_rows(*made, draw, ReplicaOptions(**options), seen=observe_replicas(made[0])))


def subsets(made: tuple[Replicas, list[Model]], *, seed: int = 3, **options: Any) -> list[dict[str, Any]]:
    asked = ReplicaOptions(**{"subsets": 60, "subset_replicates": 99, **options})
    return list(subset_rows(*made, Draw(seed, "news", 100), asked, seen=observe_replicas(made[0]), alpha=0.05))


def test_gains_of_single_runs_are_all_pairs_of_runs() -> None:
    (row,) = gains(make([5, 9, 7], [6, 6, 8]))
    # Of the means 7 and 6⅔ the first is better: 5-6 5-6 5-8 9-6 9-6 9-8 7-6 7-6 7-8.
    assert (row["model_a"], row["model_b"], row["runs_each"], row["gains"], row["exact"]) == ("m0", "m1", 1, 9, True)
    assert row["against"] == pytest.approx(4 / 9)
    assert (row["edges"][0], row["edges"][-1], sum(row["counts"])) == (-3, 3, 9)
    assert (row["counts"][0], row["counts"][-1], row["tied"]) == (1, 2, 0)
    assert row["gain_median"] == 1
    assert row["gain_low"] == pytest.approx(-3 + 0.2 * 2)  # type 7: a fifth of the way from the first to the second


def test_the_better_model_stands_first_and_lower_may_be_better() -> None:
    (row,) = gains(make([6, 6, 8], [5, 9, 7], higher=False))
    single = [b - a for a, b in product([6, 6, 8], [5, 9, 7])]  # an error less is a gain
    assert row["model_a"] == "m0"
    assert row["against"] == pytest.approx(np.mean(np.array(single) < 0))
    assert row["gain_median"] == np.median(single)


def test_gains_of_more_runs_are_means_of_all_choices() -> None:
    first, second = [0, 3, 9, 12, 30, 31], [1, 2, 4, 5, 8, 11]
    rows = gains(make(first, second))
    assert [row["runs_each"] for row in rows] == [1, 2]
    means = [[np.mean(some) for some in combinations(runs, 2)] for runs in (first, second)]
    direct = np.array([a - b for a in means[0] for b in means[1]])
    assert (rows[1]["gains"], rows[1]["exact"]) == (225, True)
    assert [rows[1]["gain_low"], rows[1]["gain_high"]] == pytest.approx(np.percentile(direct, [2.5, 97.5]))
    assert rows[1]["against"] == pytest.approx((direct < 0).mean())
    assert rows[1]["counts"] == np.histogram(direct, rows[0]["edges"])[0].tolist()
    assert rows[1]["edges"] == rows[0]["edges"]  # both lie on one axis


@pytest.mark.statistical
def test_gains_of_many_runs_are_drawn_by_address() -> None:
    # Hypergeometric: of 30 runs of which 12 score 1 a mean of five reaches that of five of the other's, which are all ½.
    made = make([2] * 12 + [0] * 18, [1] * 30)
    row, again, other = (gains(made, seed=seed)[-2] for seed in (3, 3, 4))
    assert (row["runs_each"], row["gains"], row["exact"]) == (5, DRAWN, False)
    assert row == again
    assert row["counts"] != other["counts"]
    # m1 is better by .2; against it are subsets with three, four or five of the twelve.
    assert row["model_a"] == "m1"
    chance = hypergeom.sf(2, 30, 12, 5)
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], DRAWN, chance) / DRAWN
    assert low <= row["against"] <= high


def test_a_pool_below_three_times_the_runs_is_refused_where_it_is_asked_for() -> None:
    made = make([1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 19])
    assert [row["runs_each"] for row in gains(made)] == [1, 2]
    refused = gains(made, runs_each=(2, 3))[-1]
    assert (refused["runs_each"], refused["gains"]) == (3, None)
    assert refused["reason"] == "a pool of 8 runs is below 9: subsets of 3 would be too much alike"
    assert [row["reason"] for row in subsets(made, runs_each=(2, 3))] == [None, refused["reason"]]
    assert subsets(make([1, 2], [3, 4])) == []  # of two runs there is no pool


def test_p_of_subsets_is_that_of_the_null_on_the_runs_that_were_drawn() -> None:
    rng = np.random.default_rng(1)
    arrays = tuple(
        np.stack([rng.integers(0, 9, (runs, 15)) + place, np.ones((runs, 15), np.int64)], axis=2)
        for place, runs in enumerate((7, 6))
    )
    replicas = Replicas(arrays, mean, "ratio", True, np.array([[0, 1]]))
    models = [Model(f"m{k}", (), tuple(map(str, range(n))), named=True) for k, n in enumerate((7, 6))]
    rows = {(row["null"], row["runs_each"]): row for row in subsets((replicas, models), subset_nulls=("per-output", "crossed"))}
    assert set(rows) == {(null, number) for null in ("per-output", "crossed") for number in (1, 2)}
    for (null, number), row in rows.items():
        chosen = []
        for model, runs in (("m0", 7), ("m1", 6)):
            key = draw_key(seed=3, purpose="subsets of runs", test_set="news", size="full", rule=model)
            chosen.append(draw_subsets(Draws(key, 1, 1), runs, size=number, count=60))
        p = []
        for k in range(60):
            some = Replicas(tuple(a[c[k]] for a, c in zip(arrays, chosen, strict=True)), mean, "ratio", True, np.array([[0, 1]]))
            key = draw_key(seed=3, purpose=f"{null} of {number} runs", test_set="news", size="full", rule=f"subset {k}")
            p.append(count_null(null, Draws(key, 15, 15), some, cells=range(1), replicates=99).p[0])
        assert [row["p_low"], row["p_median"], row["p_high"]] == pytest.approx(np.percentile(p, [2.5, 50, 97.5]))
        assert row["rejected"] == np.mean(np.array(p) <= 0.05)
        assert (row["model_a"], row["pool_a"], row["pool_b"]) == ("m1", 6, 7)


def test_subsets_that_reject_against_the_better_model_are_counted() -> None:
    # m0 has one run that is far better than all else: the mean is its own, the other runs are far worse.
    made = make([900, 1, 2, 3], [100, 101, 102, 104], units=12)
    (row,) = subsets(made)
    assert row["model_a"] == "m0"
    lucky = draw_subsets(Draw(3, "news", 1).subsets_of("m0"), 4, size=1, count=60)[:, 0] == 0
    assert 0 < lucky.sum() < 60
    assert row["rejected"] == 1.0  # twelve units alike: p = 1/2^11 at the least, whoever is ahead
    assert row["rejected_against"] == pytest.approx(1 - lucky.mean())


def test_another_model_changes_no_row_and_another_seed_does() -> None:
    rng = np.random.default_rng(5)
    scores = [rng.integers(0, 40, 6).tolist() for _ in range(3)]
    two, three = (subsets(make(*scores[:number], units=5), subset_nulls="r-of-2r") for number in (2, 3))
    assert two == [row for row in three if {row["model_a"], row["model_b"]} == {"m0", "m1"}]
    assert two != subsets(make(*scores[:2], units=5), subset_nulls="r-of-2r", seed=4)


def test_a_budget_leaves_out_the_larger_numbers_with_words() -> None:
    made = make([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 9])
    cost = 60 * 99 * 2 * 4 * 2.0  # of one run each: two models, four units, two statistics
    first, second = subsets(made, budget=1.5 * cost)
    assert (first["runs_each"], first["reason"]) == (1, None)
    assert (second["runs_each"], second["p_median"]) == (2, None)
    assert "budget" in second["reason"]
    assert subsets(made, subsets=0) == []


def test_more_runs_or_more_units_is_said_with_the_se_of_both() -> None:
    # σ²_SU = 4, σ²_run = 1, σ²_e = 100; n = 100, R = 4: Var δ = .08 + (1 + 1) / 2 = 1.08.
    parts = (np.array([part]) for part in (9.0, 4.0, 1.0, 100.0))
    found = Variances(Components(*parts, np.array([6])), np.array([[4, 4]]), 100, np.array([False]))
    row = found.describe(0, more_runs=4, more_units=300)
    assert row["se"] == pytest.approx(np.sqrt(1.08))
    assert row["se_more_runs"] == pytest.approx(np.sqrt(0.08 + 2 / 4))
    assert row["se_more_units"] == pytest.approx(np.sqrt(0.02 + 1.25 / 2))
    assert row["in_words"] == (
        "se of the gain 1.04: 0.762 with 4 more runs of each model, 0.803 with 300 more units: 4 more runs narrow it more "
        "(σ²_run has 6 degrees of freedom: hardly known)"
    )
    many = Variances(Components(*(np.array([p]) for p in (9.0, 4.0, 1.0, 100.0)), np.array([98])), np.array([[50, 50]]), 100,
                     np.array([False]))  # fmt: skip
    assert many.describe(0, more_runs=10, more_units=500)["in_words"].endswith("500 more units narrow it more")


@pytest.mark.parametrize(
    "options",
    [
        {"development": ""},
        {"development": 3},
        {"runs_each": [0]},
        {"runs_each": [2, 2]},
        {"runs_each": [1.5]},
        {"subsets": 10},
        {"subset_nulls": ["paired-runs"]},
        {"subset_nulls": ["block"]},
        {"subset_replicates": 10},
        {"budget": 0},
    ],
)
def test_options_of_no_use_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match=r"P10[34]"):
        load_analysis("replicas", options)


# From files to the report.

UNITS = 30


def write(folder: Path, options: dict[str, Any], *, without: tuple[str, ...] = ()) -> Path:
    rng = np.random.default_rng(8)
    names = [f"{model}-{run}" for model in ("big", "small") for run in range(6)]
    unit = rng.normal(50, 5, UNITS)
    luck = {name: rng.normal(0, 1.0) for name in names}
    for test_set in ("dev", "test"):
        shown = [name for name in names if test_set == "test" or name not in without]
        columns = {n: unit + 2 * n.startswith("big") + luck[n] + rng.normal(0, 3, UNITS) for n in shown}
        rows = [",".join(["item", *shown]), *(",".join([f"i{i}", *(f"{columns[n][i]:.1f}" for n in shown)]) for i in range(UNITS))]
        (folder / f"{test_set}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    known = "".join(f"{name},{name[:-2]},{name[-1]}\n" for name in names)
    (folder / "systems.csv").write_text("system,model,replica\n" + known, encoding="utf-8")
    return write_study(
        folder / "study.yaml",
        test_sets={name: {"format": "scores", "outputs": f"{name}.csv"} for name in ("test", "dev")},
        systems={"table": "systems.csv"},
        metrics=["mean"],
        resampling={"replicates": 1000, "keep_replicates": 0},
        analyses=[
            {"replicas": {"replicates": 500, "subsets": 40, "subset_replicates": 99, **options}},
            {"type-one": {"nulls": 100}},
        ],
        report=PAGES,
    )


def run(study: Path) -> tuple[Path, dict[str, Any]]:
    done = run_cli("run", study, "--serial", "-q", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    root = study.parent / done.stdout.strip()
    return root, json.loads((root / "report" / "report.json").read_text(encoding="utf-8"))


def rows_of(document: dict[str, Any], analysis: str) -> list[dict[str, Any]]:
    (finding,) = (f for f in document["findings"] if f["analysis"] == analysis)
    return list(finding["rows"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    return run(write(tmp_path_factory.mktemp("runs"), {"development": "dev"}))


def test_s_dev_is_the_spread_of_the_runs_on_the_development_set(made: tuple[Path, dict[str, Any]]) -> None:
    models = [row for row in rows_of(made[1], "replicas") if row["kind"] == "model"]
    with (made[0].parents[1] / "dev.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    for row in models:
        scores = [np.mean([float(line[f"{row['model']}-{r}"]) for line in table]) for r in range(6)]
        assert row["s_dev"] == pytest.approx(np.std(scores, ddof=1), rel=1e-9)
        assert row["s_dev_reason"] is None
        assert (row["test_set"] == "dev") == ("tuned" in (row["warning"] or ""))
        assert (row["s_dev"] == pytest.approx(row["s_test"])) == (row["test_set"] == "dev")


def test_runs_are_not_tested_on_the_set_they_were_tuned_on(made: tuple[Path, dict[str, Any]]) -> None:
    rows = [row for row in rows_of(made[1], "replicas") if row["kind"] == "subset"]
    assert {row["test_set"] for row in rows} == {"test", "dev"}
    for row in rows:
        tuned = "runs were tuned on this test set: it tests nothing" if row["test_set"] == "dev" else None
        assert (row["reason"], row["p_median"] is None) == (tuned, tuned is not None)


def test_the_report_shows_gains_p_by_runs_the_choice_and_both_figures(made: tuple[Path, dict[str, Any]]) -> None:
    page = (made[0] / "report" / "report.md").read_text(encoding="utf-8")
    for words in ("one run of each", "the gain by number of runs", "p by number of runs",
                  "10 more runs or 500 more units?", "replicas as they are",
                  "null laboratory, runs of one model in two halves", "s\\_dev"):  # fmt: skip
        assert words in page
    figures = [path.name for path in sorted((made[0] / "report" / "figures").iterdir())]
    assert {"run-gains-01.svg", "run-gains-02.svg", "run-p-01.svg", "qq-01.svg"} <= set(figures)
    assert "run-p-02.svg" not in figures  # of the set that runs were tuned on
    for name in ("run-gains-01.svg", "qq-01.svg"):
        assert f"](figures/{name})" in page
    kinds = {row["kind"] for row in rows_of(made[1], "replicas")}
    assert kinds == {"model", "pair", "test", "single", "gains", "subset"}
    designs = {row["design"] for row in rows_of(made[1], "type-one")}
    assert designs == {"outputs of a unit swapped", "runs of one model in two halves", "runs of two models mixed",
                       "replicas as they are"}  # fmt: skip


def test_a_development_set_that_is_not_there_is_refused_before_anything_runs(tmp_path: Path) -> None:
    done = run_cli("check", write(tmp_path, {"development": "dve"}), cwd=tmp_path)
    assert done.returncode == 2
    assert "names 'dve', which is not a test set of the study" in done.stderr
    assert "did you mean 'dev'?" in done.stderr


def test_runs_without_a_score_on_the_development_set_have_no_s_dev() -> None:
    observed = xr.Dataset(
        {"observed_score": (("metric", "test_size", "system"), np.array([[[1.0, 3.0, np.nan]]]))},
        coords={"metric": ["m"], "test_size": ["full"], "system": ["a-0", "a-1", "a-2"]},
    )
    model = Model("a", ("a-0", "a-1", "a-2", "a-3"), ("0", "1", "2", "3"), named=True)
    row = {"model": "a", "warning": None}

    def ask(name: str | None, systems: int = 4, metric: str = "m") -> dict[str, Any]:
        some = Model("a", model.systems[:systems], model.runs[:systems], named=True)
        return Development({"dev": observed}, name).describe([some], row, test_set="test", metric=metric)

    assert ask("dev", 2) == {"s_dev": pytest.approx(np.sqrt(2)), "s_dev_reason": None}
    assert ask("dev")["s_dev_reason"] == "2 of 4 runs have no score on 'dev'"
    assert ask("dev", 1)["s_dev_reason"] == "one run has no spread"
    assert ask("dev", metric="bleu")["s_dev_reason"] == "the test set 'dev' has no metric 'bleu'"
    assert "there is no test set 'old'" in ask("old")["s_dev_reason"]
    assert "development set" in ask(None)["s_dev_reason"]
    assert all(ask(*some)["s_dev"] is None for some in (("dev",), ("old",), (None,)))


@pytest.fixture(scope="module")
def bert(data_dir: Path) -> tuple[list[dict[str, str]], dict[str, Any], Any, Any]:
    """A hundred runs of BERT on the 30 cases of HANS: rows, what is expected of columns, cubes and statistics."""
    folder = data_dir / "hans-bert-seeds"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["columns"]
    with gzip.open(folder / "accuracies_by_run.csv.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["Run"].removeprefix("Run ").isdecimal() and row["MNLI dev acc."]]
    cases = [name for name in rows[0] if name[:3] in ("ln_", "le_", "sn_", "se_", "cn_", "ce_")]
    assert (len(rows), len(cases)) == (100, 30)
    right = np.array([[round(1000 * float(row[case])) for case in cases] for row in rows])  # of 1000 sentences each
    return rows, expected, *build({"bert": right})


@pytest.mark.data
def test_a_hundred_runs_of_bert_spread_as_was_published(bert: tuple[list[dict[str, str]], dict[str, Any], Any, Any]) -> None:
    rows, expected, cubes, statistics = bert
    mnli = np.array([[[100 * float(row["MNLI dev acc."]) for row in rows]]])
    both = {**cubes, "mnli": cubes["news"][["observed_score"]].assign(observed_score=(("metric", "test_size", "system"), mnli))}
    (model,) = group_runs(cubes["news"], model="model", replica="replica")
    found = Development(both, "mnli").describe([model], {"model": "bert", "warning": None}, test_set="news", metric="m")
    assert found["s_dev"] == pytest.approx(100 * expected["MNLI dev acc."]["sd_ddof1"], abs=1e-4)
    analysis = load_analysis("replicas").with_statistics(statistics)
    (row,) = (r for r in analysis.find({"news": cubes["news"]}, {"replicates": 100}).rows if r["kind"] == "model")
    assert row["s_test"] / 10 == pytest.approx(100 * expected["Overall accuracy"]["sd_ddof1"], abs=1e-4)


@pytest.mark.slow
@pytest.mark.data
def test_what_takes_runs_of_bert_not_to_differ_rejects_six_times_as_often_as_it_says(
    bert: tuple[list[dict[str, str]], dict[str, Any], Any, Any],
) -> None:
    """Runs of BERT differ as a whole on HANS: whole runs reject as often as they say, and the page has the rates."""
    _, _, cubes, statistics = bert
    laboratory = load_analysis("type-one").with_statistics(statistics)
    asked = {"nulls": 100, "pairs": 1}
    rates = {r["procedure"]: r for r in laboratory.find({"news": cubes["news"]}, asked).rows if r["design"] == SPLIT}
    assert rates["segment-block"]["interval_05"]["lo"] > 0.2
    hits = rates["whole-run"]["rejected_05"]
    assert binom.sf(hits - 1, 200, 0.05) > FALSE_ALARM / 2
    assert binom.cdf(hits, 200, 0.05) > FALSE_ALARM / 2
    page = (Path(__file__).resolve().parents[3] / "docs" / "analyses.md").read_text(encoding="utf-8")
    told = page.split("For the hundred runs of BERT", 1)[1].split("\n", 1)[0]
    for name in ("segment-block", "r-of-2r", "multeval", "whole-run", "crossed"):
        found = rates[name]["interval_05"]
        words = f"`{name}` {100 * rates[name]['rate_05']:.1f} % [{100 * found['lo']:.1f}, {100 * found['hi']:.1f}]"
        assert words in told


def test_the_number_of_runs_stands_beside_all_bars_that_reach_as_high() -> None:
    chart = Chart()
    few = {"edges": [0.0, 1.0, 2.0, 3.0, 4.0], "counts": [20, 40, 38, 2], "gains": 100, "runs_each": 1}
    many = {"edges": [1.0, 1.5, 2.0, 2.5, 3.0], "counts": [5, 20, 65, 10], "gains": 100, "runs_each": 5}
    _draw_pair(chart, [few, many])
    placed = {mark.text: (mark.x, mark.anchor) for mark in chart.marks if isinstance(mark, Words)}
    assert placed == {"5 runs": (2.0, "end"), "1 run": (3.0, "start")}
