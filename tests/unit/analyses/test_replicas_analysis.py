"""The analysis of replicas, from a study that was run: its p are those of the kernels, and nobody's order matters."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from support.multeval import multeval
from support.studies import PAGES, run_cli, write_study

from pipeline import api
from pipeline.analyses import load_analysis
from pipeline.analyses.replicas.data import group_runs
from pipeline.analyses.replicas.tables import make_tables
from pipeline.cubes.reading import open_cubes
from pipeline.errors import StudyError
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.p_values import clopper_pearson
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.components import variance_components
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.quasi_f import quasi_f
from pipeline.study.schema import MetricSpec
from pipeline.tasks.report import scored_statistics

MODELS = ("north", "south", "west")
NULLS = ("segment-block", "whole-run", "paired-runs", "crossed", "per-output", "r-of-2r", "multeval")
B = 3_000
OPTIONS = {"nulls": list(NULLS), "replicates": B}
ITEMS = 80
DOCUMENT = np.random.default_rng(3).integers(0, 25, ITEMS)


def tenths() -> dict[str, np.ndarray]:
    """Scores of 3 models × 4 runs in tenths; twin is south under another name, solo has one run."""
    rng = np.random.default_rng(11)
    unit = rng.normal(50, 5, ITEMS)
    columns = {}
    for number, model in enumerate(MODELS):
        own = rng.normal(0.6 * number, 1.0, ITEMS)
        for run in range(4):
            columns[f"{model}-{run}"] = np.rint(10 * (unit + own + rng.normal(0, 0.4) + rng.normal(0, 3, ITEMS))).astype(np.int64)
    columns |= {f"twin-{run}": columns[f"south-{run}"] for run in range(4)}
    return columns | {"solo-0": columns["north-0"] + 3}


def write(folder: Path, names: list[str], **changes) -> Path:
    columns = tenths()
    folder.mkdir(parents=True, exist_ok=True)
    rows = [",".join(["item", *names])]
    rows += [",".join([f"i{i}", *(f"{columns[name][i] / 10:.1f}" for name in names)]) for i in range(ITEMS)]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "documents.txt").write_text("".join(f"d{number}\n" for number in DOCUMENT), encoding="utf-8")
    known = "".join(f"{name},{name.split('-')[0]},{name.split('-')[1]}\n" for name in names)
    (folder / "systems.csv").write_text("system,model,replica\n" + known, encoding="utf-8")
    value = {
        "test_sets": {"bench": {"format": "scores", "outputs": "scores.csv", "documents": "documents.txt"}},
        "systems": {"table": "systems.csv"},
        "metrics": ["mean"],
        "resampling": {"replicates": B, "keep_replicates": B, "unit": "document", "tails": "none"},
        "analyses": [{"replicas": OPTIONS}],
    }
    return write_study(folder / "study.yaml", **(value | changes))


def report_of(run: Path) -> dict:
    return json.loads((run / "report" / "report.json").read_text(encoding="utf-8"))


def report_here(study: Path) -> dict:
    return report_of(api.run(study, runs=study.parent / "runs", serial=True).root)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, dict]:
    study = write(tmp_path_factory.mktemp("replicas"), sorted(tenths()), report=PAGES)
    done = run_cli("run", study, "--serial", "-q", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    return study.parent / done.stdout.strip(), report_of(study.parent / done.stdout.strip())


@pytest.fixture(scope="module")
def cube(made) -> xr.Dataset:
    return open_cubes(made[0] / "cubes.zarr")["bench"]


@pytest.fixture(scope="module")
def scored(made):
    return scored_statistics(made[0] / "cubes.zarr", ["bench"], [MetricSpec(name="mean")])


def rows_of(document: dict, kind: str) -> list[dict]:
    (finding,) = (f for f in document["findings"] if f["analysis"] == "replicas")
    return [row for row in finding["rows"] if row["kind"] == kind]


def ask(scored, cube, kind, **options) -> list[dict]:
    found = load_analysis("replicas", options).with_statistics(scored).find({"bench": cube}, {"replicates": 500, **options})
    return [row for row in found.rows if row["kind"] == kind]


def relabel(cube, **coordinates) -> xr.Dataset:
    """Return the cube with other models or replicas; a function of what there is."""
    for name, change in coordinates.items():
        values = np.array([change(str(s), str(v)) for s, v in zip(cube["system"].values, cube[name].values, strict=True)], object)
        cube = cube.assign_coords({name: ("system", values)})
    return cube


def replicas(names: list[str], pairs: list[list[int]]) -> Replicas:
    """Sum the made scores by document, without the package; units come in the order of their first items."""
    columns = tenths()
    order = list(dict.fromkeys(DOCUMENT.tolist()))
    statistics = [
        np.array(
            [[[columns[f"{name}-{r}"][d == DOCUMENT].sum(), (d == DOCUMENT).sum()] for d in order] for r in range(4)], np.int64
        )
        for name in names
    ]
    return Replicas(tuple(statistics), lambda sums: sums[0] / (10 * sums[1]), "ratio", True, np.array(pairs))


def draws(purpose: str) -> Draws:
    units = len(set(DOCUMENT.tolist()))
    return Draws(draw_key(seed=7, purpose=purpose, test_set="bench", size="full", rule="prefix"), units, units)


def test_the_quasi_f_of_a_study_is_that_of_the_kernel_with_its_interval(made, scored, cube):
    asked = ask(scored, cube, "test", nulls="quasi-f")
    rows = [row for row in asked if {row["model_a"], row["model_b"]} <= set(MODELS)]
    direct = quasi_f(replicas(list(MODELS), [[0, 1], [0, 2], [1, 2]]))
    for row, p, se, degrees, delta in zip(rows, direct.p, direct.se, direct.degrees, np.abs(direct.delta), strict=True):
        assert [row[key] for key in ("p", "se", "df")] == pytest.approx([p, se, degrees], rel=1e-12)
        assert row["delta"] == pytest.approx(delta)
        assert (row["interval"]["lo"] + row["interval"]["hi"]) / 2 == pytest.approx(delta)
        assert (row["interval"]["lo"] > 0) == (p < 0.05)
    twins = next(row for row in asked if {row["model_a"], row["model_b"]} == {"south", "twin"})
    assert (twins["p"], twins["interval"], twins["note"].split(":")[0]) == (1, None, "identical")
    assert [row["holm"] for row in asked] == pytest.approx(holm(np.array([row["p"] for row in asked])))


@pytest.mark.parametrize("null", NULLS)
def test_p_of_a_study_is_that_of_the_kernel(made, null):
    rows = [row for row in rows_of(made[1], "test") if row["null"] == null and {row["model_a"], row["model_b"]} <= set(MODELS)]
    assert len(rows) == 3
    direct = replicas(list(MODELS), [[0, 1], [0, 2], [1, 2]])
    counts = count_null(null, draws(null), direct, cells=range(1), replicates=B)
    for row, p, delta, hits, floor in zip(rows, counts.p, counts.delta, counts.hits[:, 0], counts.floor, strict=True):
        assert row["p"] == p
        assert row["hits"] == hits
        assert row["delta"] == pytest.approx(abs(delta), rel=1e-12)
        assert row["floor"] == floor
        lo, hi = clopper_pearson(np.array([hits]), np.array([B]), 0.95)
        exact = null in ("whole-run", "paired-runs")
        assert row["exact"] == exact
        assert list(row["p_bounds"].values()) == ([p, p] if exact else [lo[0], hi[0]])
    assert all(0 < row["p"] < 1 for row in rows)


def test_the_column_multeval_is_the_tools_own_number(made):
    rows = {(row["model_a"], row["model_b"]): row for row in rows_of(made[1], "test") if row["null"] == "multeval"}
    found = multeval(draws("paired-bootstrap"), draws("multeval"), replicas(["south", "north"], [[0, 1]]), replicates=B)
    assert rows["south", "north"]["multeval"] == found.tool_p[0]
    assert rows["south", "twin"]["p"] == 1.0
    assert rows["south", "twin"]["multeval"] == 1 / (B + 1)
    others = [row for row in rows_of(made[1], "test") if row["null"] != "multeval"]
    assert others
    assert all(row["multeval"] is None for row in others)


def test_holm_is_over_the_pairs_of_one_null(made):
    for null in NULLS:
        rows = [row for row in rows_of(made[1], "test") if row["null"] == null]
        assert {row["family_size"] for row in rows} == {len(rows)} == {6}
        np.testing.assert_array_equal([row["holm"] for row in rows], holm(np.array([row["p"] for row in rows])))


def test_spreads_are_of_the_scores_that_the_study_kept(made, cube):
    rows = {row["model"]: row for row in rows_of(made[1], "model")}
    kept = cube["score"].sel(metric="mean", test_size="full")
    observed = cube["observed_score"].sel(metric="mean", test_size="full")
    for model in MODELS:
        systems = [f"{model}-{run}" for run in range(4)]
        scores = observed.sel(system=systems).values
        assert list(rows[model]["scores"].values()) == scores.tolist()
        assert rows[model]["s_test"] == pytest.approx(np.std(scores, ddof=1), rel=1e-12)
        assert rows[model]["s_sel"] == pytest.approx(np.std(kept.sel(system=systems).values, axis=1, ddof=1).mean(), rel=1e-9)
        assert rows[model]["s_dev"] is None
        assert "development set" in rows[model]["s_dev_reason"]


def test_more_runs_or_more_units_is_read_off_the_components(scored, cube):
    # By item a mean has the scores of items as values, and nothing is linearised.
    of_item = cube.assign_attrs(unit="item")
    data = scored["bench"]["mean"].data
    by_item = {"bench": {"mean": type(scored["bench"]["mean"])(data.drop_vars("unit"), *_scoring(scored))}}
    row = next(
        r for r in ask(by_item, of_item, "pair", more_runs=3, more_units=100) if {r["model_a"], r["model_b"]} == {"north", "west"}
    )
    columns = tenths()
    values = [np.array([columns[f"{model}-{r}"] for r in range(4)]) / 10 for model in ("north", "west")]
    components = variance_components(values, np.array([[0, 1]]))
    for name in ("unit", "system_unit", "run", "residual"):
        assert row[f"variance_{name}"] == pytest.approx(getattr(components, name)[0], rel=1e-9)
    assert row["run_degrees"] == 6
    now, runs, units = (
        components.difference_variance(runs_a=r, runs_b=r, units=n)[0] for r, n in ((4, ITEMS), (7, ITEMS), (4, ITEMS + 100))
    )
    assert [row["variance"], row["variance_more_runs"], row["variance_more_units"]] == pytest.approx([now, runs, units], rel=1e-9)
    assert row["narrower"] == ("3 more runs" if runs < units else "100 more units")


def _scoring(scored):
    one = scored["bench"]["mean"]
    return one.score, one.form, one.higher_is_better


def test_without_the_units_of_items_documents_are_not_tested(scored, cube):
    old = {"bench": {"mean": type(scored["bench"]["mean"])(scored["bench"]["mean"].data.drop_vars("unit"), *_scoring(scored))}}
    (row,) = ask(old, cube, "none")
    assert "units of items" in row["reason"]
    assert ask(old, cube, "test") == []


def test_the_order_of_systems_changes_no_row(made, tmp_path):
    other = report_here(write(tmp_path, sorted(tenths(), reverse=True)))
    for kind in ("model", "pair", "test"):
        assert rows_of(made[1], kind) == rows_of(other, kind)


def test_exchanging_two_models_changes_no_p(scored, cube):
    # "a" comes before north, west before it no more: the pair is met the other way round.
    renamed = relabel(cube, model=lambda _, model: {"west": "a"}.get(model, model))
    before, after = (ask(scored, c, "test", nulls=list(NULLS)) for c in (cube, renamed))
    back = {"a": "west"}
    found = {(back.get(r["model_a"], r["model_a"]), back.get(r["model_b"], r["model_b"]), r["null"]): r for r in after}
    names = ("p", "hits", "delta", "multeval", "holm", "runs_a", "runs_b", "warning", "note")
    for row in before:
        if {row["model_a"], row["model_b"]} != {"south", "twin"}:
            other = found[row["model_a"], row["model_b"], row["null"]]
            assert [row[name] for name in names] == [other[name] for name in names]


def test_the_better_model_comes_first_also_where_lower_is_better(scored, cube):
    one = scored["bench"]["mean"]
    lower = {"bench": {"mean": type(one)(one.data, one.score, one.form, False)}}
    first = {row["null"]: row for row in ask(scored, cube, "test") if {row["model_a"], row["model_b"]} == {"north", "west"}}
    other = {row["null"]: row for row in ask(lower, cube, "test") if {row["model_a"], row["model_b"]} == {"north", "west"}}
    for null, row in first.items():
        assert (row["model_a"], row["model_b"]) == (other[null]["model_b"], other[null]["model_a"])
        assert row["delta"] == other[null]["delta"] > 0
        assert row["p"] == other[null]["p"]


def test_unequal_runs_are_compared_where_the_null_allows_it(scored, cube):
    fewer = relabel(cube, model=lambda system, model: "" if system == "west-2" else model)
    rows = {
        r["null"]: r for r in ask(scored, fewer, "test", nulls=list(NULLS)) if {r["model_a"], r["model_b"]} == {"north", "west"}
    }
    assert {rows["crossed"]["runs_a"], rows["crossed"]["runs_b"]} == {3, 4}
    for null in ("per-output", "multeval"):
        assert rows[null]["p"] is None
        assert "as many runs" in rows[null]["reason"]
        assert rows[null]["multeval"] is None
    assert rows["paired-runs"]["p"] is None
    assert rows["paired-runs"]["reason"] == "the runs of the two have other names"
    assert rows["whole-run"]["floor"] == 1 / 35
    for null in ("segment-block", "whole-run", "crossed", "r-of-2r"):
        assert 0 < rows[null]["p"] <= 1
        assert rows[null]["reason"] is None
    # Where it was not asked for, it is silent; the other pairs have it.
    default = {(r["model_a"], r["model_b"]) for r in ask(scored, fewer, "test") if r["null"] == "paired-runs"}
    assert not any("west" in pair for pair in default)
    assert len(default) == 3


def test_runs_are_paired_by_name_and_not_by_order(scored, cube):
    shifted = relabel(cube, replica=lambda s, r: str((int(r) + 1) % 4) if s.startswith("west") else r)
    rows = [
        next(r for r in ask(scored, c, "test") if {r["model_a"], r["model_b"]} == {"north", "west"} and r["null"] == "paired-runs")
        for c in (cube, shifted)
    ]
    columns = tenths()
    for row, shift in zip(rows, (0, 1), strict=True):
        difference = [columns[f"west-{(r - shift) % 4}"].sum() - columns[f"north-{r}"].sum() for r in range(4)]
        signs = np.array(np.meshgrid(*[[1, -1]] * 4)).reshape(4, -1)
        assert row["p"] == np.mean(np.abs(difference @ signs) >= abs(sum(difference)))
    nameless = ask(scored, relabel(cube, replica=lambda s, r: ""), "test")
    assert {row["null"] for row in nameless} == {"quasi-f", "segment-block", "whole-run", "crossed"}


def test_the_table_of_tests_has_one_column_of_words_and_says_once_what_is_tested(made):
    (finding,) = (block for block in made[1]["findings"] if block["analysis"] == "replicas")
    (table,) = (table for table in finding["tables"] if table["title"].endswith("models against each other"))
    assert [column["head"] for column in table["columns"] if column["form"] == "text"] == ["better", "worse", "null", "remark"]
    assert table["caption"].startswith("segment-block: for these runs, A's outputs of a unit as a set are exchangeable with B's. ")
    rows = rows_of(made[1], "test")
    assert [row["said"] for row in table["rows"]] == [
        "; ".join(filter(None, (row["note"], row["warning"], row["reason"]))) or None for row in rows
    ]
    assert any(row["said"] for row in table["rows"])


def test_identical_models_have_p_1_and_the_words(made):
    rows = [row for row in rows_of(made[1], "test") if {row["model_a"], row["model_b"]} == {"south", "twin"}]
    assert len(rows) == len(NULLS)
    assert all(row["p"] == row["holm"] == 1.0 and row["p_bounds"] == {"lo": 1.0, "hi": 1.0} and row["stable"] for row in rows)
    assert all(row["note"].startswith("identical: run by run") and row["warning"] is None for row in rows)
    (pair,) = (row for row in rows_of(made[1], "pair") if {row["model_a"], row["model_b"]} == {"south", "twin"})
    assert pair["identical"]
    assert pair["variance"] is None
    assert "identical" in pair["reason"]


def test_copies_are_no_replicas_and_that_is_said(scored, cube):
    # One model of the runs 0 and 1 of south and of twin: four runs, two of them copies.
    mixed = relabel(cube, model=lambda system, model: "mix" if system in ("south-0", "south-1", "twin-0", "twin-1") else model)
    rows = {row["model"]: row for row in ask(scored, mixed, "model")}
    assert (rows["mix"]["runs"], rows["mix"]["distinct_runs"]) == (4, 2)
    told = "only 2 of 4 runs of mix differ: copies are no replicas"
    assert rows["mix"]["warning"].startswith(told)
    assert rows["north"]["warning"] is None
    for kind in ("pair", "test"):
        with_mix = [r for r in ask(scored, mixed, kind) if "mix" in (r["model_a"], r["model_b"]) and not r["reason"]]
        without = [r for r in ask(scored, mixed, kind) if "mix" not in (r["model_a"], r["model_b"])]
        assert with_mix
        assert all(told in row["warning"] for row in with_mix)
        assert without
        assert not any(told in (row["warning"] or "") for row in without)


def test_two_runs_of_one_name_are_not_paired_and_that_is_said(scored, cube):
    doubled = relabel(cube, replica=lambda system, replica: "0" if system == "west-3" else replica)
    rows = [
        row for row in ask(scored, doubled, "test", nulls=["paired-runs"]) if {row["model_a"], row["model_b"]} == {"north", "west"}
    ]
    assert [row["reason"] for row in rows] == ["two runs of west have the same name '0': runs are paired by name"]
    models = {row["model"]: row for row in ask(scored, doubled, "model")}
    assert models["west"]["warning"] == "two runs have the same name '0' as replicas: no run of it is paired by name"
    assert models["north"]["warning"] is None


def test_a_model_with_one_run_is_not_compared_and_the_reason_is_told(made):
    for kind in ("pair", "test"):
        assert rows_of(made[1], kind)
        assert all("solo" not in (row["model_a"], row["model_b"]) for row in rows_of(made[1], kind))
    (row,) = (row for row in rows_of(made[1], "model") if row["model"] == "solo")
    assert row["runs"] == 1
    assert row["s_test"] is None
    assert row["s_sel"] > 0
    assert row["reason"] == "one run: it is not compared with other models"


def test_without_models_or_replicas_there_is_a_reason(scored, cube):
    (row,) = ask(scored, cube.drop_vars("model"), "none")
    assert "'model'" in row["reason"]
    (row,) = ask(scored, relabel(cube, model=lambda system, _: system), "none")
    assert row["reason"] == "every model has one run: there are no replicas"
    (row,) = ask(scored, relabel(cube, model=lambda s, m: m if m == "north" else ""), "none")
    assert row["reason"] == "fewer than two models have two runs or more: no pair is compared"
    (row,) = load_analysis("replicas").find({"bench": cube}, {}).rows
    assert "not at hand" in row["reason"]


def test_that_strata_are_not_drawn_within_is_said(scored, cube):
    analysis = load_analysis("replicas").with_statistics(scored)
    plain, stratified = (
        analysis.find({"bench": one}, {"replicates": 500}) for one in (cube, cube.assign_attrs(strata={"column": "domain"}))
    )
    assert not any("strata" in note for note in plain.notes)
    assert any("not within the strata" in note for note in stratified.notes)
    assert stratified.rows == plain.rows


def test_another_column_may_name_the_models(scored, cube):
    renamed = cube.rename({"model": "base", "replica": "seed"})
    assert ask(scored, renamed, "test", model="base", replica="seed") == ask(scored, cube, "test")


@pytest.mark.parametrize(
    ("sample", "resampled", "folds"), [("seed", False, False), ("bootstrap", True, False), ("cross-validation", True, True)]
)
def test_what_runs_of_one_training_set_share_is_said(scored, cube, sample, resampled, folds):
    analysis = load_analysis("replicas").with_statistics(scored)
    trained = cube.assign_coords(sample=("system", [sample] * cube.sizes["system"]))
    found = analysis.find({"bench": trained}, {"replicates": 500})
    assert any("resamples of one training set" in note for note in found.notes) is resampled
    assert any("runs of a cross-validation share" in note.lower() for note in found.notes) is folds
    assert found.rows == analysis.find({"bench": cube}, {"replicates": 500}).rows


def test_runs_trained_on_samples_of_another_size_are_of_another_model(cube):
    sized = cube.assign_coords(
        fraction=("system", np.array(["0.5" if s.endswith("3") else "1" for s in cube["system"].values], object))
    )
    models = {model.name: model.systems for model in group_runs(sized, model="model", replica="replica")}
    assert models["north · 1"] == ("north-0", "north-1", "north-2")
    assert models["north · 0.5"] == ("north-3",)


def test_runs_are_paired_only_where_those_of_a_number_have_one_training_sample(scored, cube):
    sized = cube.assign_coords(
        fraction=("system", np.array(["0.5" if s.startswith("west") else "1" for s in cube["system"].values]))
    )
    rows = ask(scored, sized, "test", nulls=["paired-runs"])
    reasons = {frozenset((row["model_a"], row["model_b"])): row["reason"] for row in rows}
    assert reasons[frozenset(("north · 1", "south · 1"))] is None
    assert "samples of another kind or size" in reasons[frozenset(("north · 1", "west · 0.5"))]


def test_runs_are_in_the_order_of_their_numbers():
    systems = [f"s{r}" for r in range(12)]
    cube = xr.Dataset(
        coords={
            "system": np.array(systems, object),
            "model": ("system", np.array(["m"] * 12, object)),
            "replica": ("system", np.array([str(r) for r in range(12)], object)),
        }
    )
    (model,) = group_runs(cube, model="model", replica="replica")
    assert all(int(a) < int(b) for a, b in pairwise(model.runs))
    assert model.named


def test_what_to_beware_of_stands_beside_the_p(made):
    rows = [row for row in rows_of(made[1], "test") if {row["model_a"], row["model_b"]} == {"north", "west"}]
    warnings = {row["null"]: row["warning"] or "" for row in rows}
    assert "fewer than 5 runs" in warnings["crossed"]
    assert "p cannot be below 0.125 with these runs: nothing is rejected at 0.05" in warnings["paired-runs"]
    assert "p cannot be" not in warnings["whole-run"]
    assert "with 4 runs it rejects 9.0 % at 0.05" in warnings["multeval"]
    # Run effects and what systems have with units make a third of the variance: 2Φ(−1.96 √⅔) = 11 %.
    assert warnings["r-of-2r"] == (
        "run effects and S×unit, which this null takes to be absent, make 33 % of the variance of the gain: if run effects and "
        "S×unit are not part of the claim, it rejects about 11 % of true nulls at 0.05"
    )
    assert warnings["segment-block"] == ""  # run effects alone are below 15 %
    assert "runs make" not in warnings["crossed"]


def test_crossed_is_called_liberal_where_runs_dominate_and_are_few(scored, cube):
    one = scored["bench"]["mean"]
    data = one.data.load()
    values = data["statistics"].values.copy()
    rng = np.random.default_rng(1)
    values[:, :, 0] += rng.integers(-60, 60, len(values))[:, None]  # every run has luck of its own on all items
    moved = data.assign(statistics=(("system", "item", "statistic"), values))
    told = {
        "crossed": "and there are fewer than 10: it rejects more often than it says",
        "segment-block": "run effects, which this null takes to be absent, make ",
        "r-of-2r": "run effects and S×unit, which this null takes to be absent, make ",
    }
    for row in ask({"bench": {"mean": type(one)(moved, *_scoring(scored))}}, cube, "test", nulls=list(told)):
        assert told[row["null"]] in row["warning"]


@pytest.mark.parametrize(
    "options",
    [{"nulls": ["blocks"]}, {"nulls": ["crossed", "crossed"]}, {"replicates": 10}, {"more_runs": 0}, {"null": ["crossed"]}],
)
def test_options_of_no_use_are_refused(options):
    with pytest.raises(StudyError):
        load_analysis("replicas", options)


def test_the_report_shows_each_p_with_its_null_and_no_verdict_changes(made, tmp_path):
    page = (made[0] / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Findings" in page
    line = next(row for row in page.split("\n") if row.startswith("| west | north |") and "whole-run" in row)
    assert "whole-run: on this test set, the runs of A and of B are draws from one population." in page
    assert "p cannot" not in line
    html = (made[0] / "report" / "index.html").read_text(encoding="utf-8")
    assert "bench · mean · models against each other" in html
    without = report_here(write(tmp_path, sorted(tenths()), analyses=[]))
    for part in ("verdict", "pairs", "leaderboard"):
        assert made[1][part] == without[part]


def test_spreads_are_headed_by_what_varies() -> None:
    row = {"kind": "model", "test_set": "news", "metric": "mean", "model": "north", "s_test": 0.3, "s_sel": 0.2}
    keys = ("runs", "score", "s_dev", "high", "median", "low", "warning", "reason")
    (table,) = make_tables([{**dict.fromkeys(keys), **row}], {})
    assert [column.head for column in table.columns] == ["model", "spread over runs", "spread over test sets"]
