"""What the collecting task writes of stored cells: numbers that hold together, the same bytes again; and what a report takes."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import false_discovery_control, ttest_rel
from support.studies import files_of, write_scores, write_study

from pipeline.api import open_run, run
from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.reading import open_statistics
from pipeline.errors import PluginError
from pipeline.interfaces import Analysis, Finding
from pipeline.plan.task import CollectSpec, Task
from pipeline.resampling.measures import COUNTS
from pipeline.tasks import report as report_task
from pipeline.tasks.collect import fold, pairs, tables, tail_tables
from pipeline.tasks.collect.kept_scores import Kept, KeptReadings, read_kept
from pipeline.tasks.collect.task import collect

SYSTEMS = ("a", "b", "c", "copy of a")
SIZES = {"20": 20, "full": 50}
B = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of four systems, one of which is another's copy, all of whose replicates are kept."""
    folder = tmp_path_factory.mktemp("collect")
    table = write_scores(folder / "scores.csv", SYSTEMS[:3])
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    copied = [f"{head},{SYSTEMS[3]}", *(f"{row},{row.split(',')[1]}" for row in rows)]
    table.write_text("\n".join(copied) + "\n", encoding="utf-8")
    study = write_study(
        folder / "study.yaml",
        metrics=["mean"],
        test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}},
        resampling={
            "replicates": B,
            "keep_replicates": B,
            "test_sizes": [20, "full"],
            "procedures": ["paired-bootstrap", "approximate-randomization", "paired-t"],
        },
        analyses=[],
    )
    return run(study, runs=folder / "runs", serial=True).root


@pytest.fixture(scope="module")
def cube(folder: Path) -> xr.Dataset:
    return open_run(folder)["bench"].load()


@pytest.fixture(scope="module")
def scores(folder: Path) -> np.ndarray:
    """(item, system) numbers of the table, by the names of the cube's systems."""
    return np.loadtxt(folder.parents[1] / "scores.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3, 4))


def collect_anew(folder: Path, runs: Path) -> Path:
    """Return the cubes of a copy of a run, made again."""
    shutil.copytree(folder, runs / folder.name)
    shutil.copytree(folder.parent / ".store", runs / ".store")
    shutil.rmtree(runs / folder.name / "cubes.zarr")
    collect(Task("collect", "again", "again", CollectSpec(folder.name, "bench")), runs)
    return runs / folder.name / "cubes.zarr"


def test_kept_scores_are_read_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are unpacked for the cube, for intervals and for max-T."""
    read, own = [], pairs.kept_scores
    monkeypatch.setattr(pairs, "kept_scores", lambda cells, *given: read.append(cells.label) or own(cells, *given))
    cubes = collect_anew(folder, tmp_path)
    assert read == ["20", "full"]
    assert files_of(cubes) == files_of(folder / "cubes.zarr")


def test_collecting_again_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "runs" / folder.name
    shutil.copytree(folder, copy)
    shutil.copytree(folder.parent / ".store", tmp_path / "runs" / ".store")
    before = files_of(copy / "cubes.zarr")
    shutil.rmtree(copy / "cubes.zarr")
    task = Task("collect", "again", "again", CollectSpec(folder.name, "bench"))
    receipt = collect(task, tmp_path / "runs")
    assert (receipt.kind, receipt.key, receipt.covers) == ("collect", "again", {"test_set": "bench"})
    after = files_of(copy / "cubes.zarr")
    assert {name for name in after if after[name] != before.get(name)} == set()
    assert any("p_value" in name for name in after)


def test_scores_of_whole_cells_are_taken_over_as_they_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    rows = [f"i{item},{','.join(map(str, rng.integers(0, 2, 3)))}" for item in range(37)]
    (tmp_path / "scores.csv").write_text("\n".join(["item,a,b,c", *rows]) + "\n", encoding="utf-8")
    study = write_study(
        tmp_path / "study.yaml",
        metrics=["mean"],
        test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}},
        resampling={"replicates": 40_000, "keep_replicates": 20_000, "test_sizes": ["full"]},
        analyses=[],
    )
    taken, own = [], CubeWriter.write_packed_scores
    monkeypatch.setattr(CubeWriter, "write_packed_scores", lambda *at, **more: taken.append(at[3]) or own(*at, **more))
    folder = run(study, runs=tmp_path / "runs", serial=True).root
    assert taken == [0]  # of the second cell fewer replicates are wanted than it has
    monkeypatch.setattr(pairs, "find_packed_scores", lambda *given: None)
    assert files_of(collect_anew(folder, tmp_path / "again")) == files_of(folder / "cubes.zarr")
    assert taken == [0]


def test_readings_of_kept_scores_are_given_the_counts_of_all_pairs_in_the_order_of_the_cube(
    folder: Path, cube: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs are folded two at a time, so that what was counted of some of them is not what was counted of all."""
    copy = tmp_path / "runs" / folder.name
    shutil.copytree(folder, copy)
    shutil.copytree(folder.parent / ".store", tmp_path / "runs" / ".store")
    given: list[Kept] = []

    def read(kept: Kept, *args: Any, **options: Any) -> KeptReadings:
        given.append(kept)
        return read_kept(kept, *args, **options)

    for module in (tables, pairs):  # max-T reads the full size
        monkeypatch.setattr(module, "read_kept", read)
    monkeypatch.setattr(tail_tables, "CHUNK_PAIRS", 2)
    collect(Task("collect", "again", "again", CollectSpec(folder.name, "bench")), tmp_path / "runs")
    counted = cube.sel(metric="mean", procedure="paired-bootstrap")
    expected = [
        np.stack([counted[f"count_{name}"].sel(test_size=size).sum("cell").values for name in COUNTS], axis=1) for size in SIZES
    ]
    assert expected[0].shape[0] == 6
    assert expected[0].tolist() != expected[1].tolist()
    for kept in given:
        assert kept.defined.tolist() == [B] * 6
    assert sorted(kept.counts.tolist() for kept in given) == sorted(counts.tolist() for counts in expected)


@pytest.mark.parametrize(("budget", "rows"), [(1, [2, 2, 2]), (2**25, [6])])
def test_stored_cells_are_read_for_as_many_pairs_as_fit(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int, rows: list[int]
) -> None:
    """Pairs of a chunk stand all over a file, which is read whole for any number of them; what is written is the same."""
    folded: list[int] = []
    own = pairs.fold
    monkeypatch.setattr(fold, "FOLD_BYTES", budget)
    monkeypatch.setattr(tail_tables, "CHUNK_PAIRS", 2)
    monkeypatch.setattr(pairs, "fold", lambda cells, some, store: folded.append(some.stop - some.start) or own(cells, some, store))
    assert files_of(collect_anew(folder, tmp_path)) == files_of(folder / "cubes.zarr")
    assert folded == rows * 4  # two procedures on two sizes


@pytest.mark.parametrize("size", SIZES)
def test_what_was_observed_is_that_of_the_table(cube: xr.Dataset, scores: np.ndarray, size: str) -> None:
    seen, values = cube.sel(test_size=size, metric="mean"), scores[: SIZES[size]]
    assert cube["system"].values.tolist() == list(SYSTEMS)
    np.testing.assert_allclose(seen["observed_score"], values.mean(axis=0))
    differences = values[:, cube["a"].values] - values[:, cube["b"].values]
    np.testing.assert_allclose(seen["observed_delta"], differences.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(seen["se"], differences.std(axis=0, ddof=1) / np.sqrt(SIZES[size]), atol=1e-12)
    assert seen["discordant"].values.tolist() == (differences != 0).sum(axis=0).tolist()
    assert seen["identical"].values.tolist() == (differences == 0).all(axis=0).tolist()


@pytest.mark.parametrize("size", SIZES)
def test_counts_are_those_of_the_kept_scores(cube: xr.Dataset, size: str) -> None:
    at = cube.sel(test_size=size, metric="mean")
    kept, a, b = at["score"].values, cube["a"].values, cube["b"].values  # (system, replicate)
    delta = at["observed_delta"].values
    gain = np.where(delta < 0, -1.0, 1.0)[:, None] * (kept[a] - kept[b])
    twice, slack = 2 * np.abs(delta)[:, None], 1e-9
    counted = {
        "below_zero": gain < -slack,
        "at_zero": np.abs(gain) <= slack,
        "at_twice_delta": np.abs(gain - twice) <= slack,
        "above_twice_delta": gain > twice + slack,
    }
    for name, hits in counted.items():
        found = at[f"count_{name}"].sel(procedure="paired-bootstrap").sum("cell").values
        assert found.tolist() == hits.sum(axis=1).tolist(), name


@pytest.mark.parametrize("size", SIZES)
def test_p_values_are_those_of_the_counts_and_one_for_a_copy(cube: xr.Dataset, size: str) -> None:
    at = cube.sel(test_size=size, metric="mean")
    counts = {
        name: at[f"count_{name}"].sum("cell").sel(procedure="paired-bootstrap").values
        for name in ("below_zero", "at_zero", "at_twice_delta", "above_twice_delta")
    }
    p = at["p_value"].sel(procedure="paired-bootstrap", convention="two-sided-plus-one").values
    same = at["identical"].values
    assert same.sum() == 1
    np.testing.assert_array_equal(p[~same], ((sum(counts.values()) + 1) / (B + 1))[~same])
    assert p[same].tolist() == [1.0]


def test_a_computed_procedure_has_its_p_and_no_counts(cube: xr.Dataset, scores: np.ndarray) -> None:
    at = cube.sel(test_size="full", metric="mean", procedure="paired-t")
    same, a, b = at["identical"].values, cube["a"].values, cube["b"].values
    p = at["p_value"].sel(convention="two-sided").values
    np.testing.assert_allclose(p[~same], ttest_rel(scores[:, a], scores[:, b]).pvalue[~same], rtol=1e-9)
    assert (at["count_below_zero"].values == -1).all()


@pytest.mark.parametrize(
    ("procedure", "convention"),
    [("paired-bootstrap", "one-sided"), ("approximate-randomization", "two-sided-plus-one"), ("paired-t", "two-sided")],
)
def test_corrections_are_those_of_the_p_values(cube: xr.Dataset, procedure: str, convention: str) -> None:
    at = cube.sel(test_size="full", metric="mean", procedure=procedure, convention=convention)
    known = np.isfinite(at["p_value"].values)
    p = at["p_value"].values[known]
    adjusted = {
        name: at["p_by_adjustment"].sel(adjustment=name).values[known] for name in ("benjamini-hochberg", "bonferroni", "holm")
    }
    np.testing.assert_allclose(adjusted["bonferroni"], np.minimum(p * len(p), 1))
    np.testing.assert_allclose(adjusted["benjamini-hochberg"], false_discovery_control(p))
    holm = [max(min(1.0, q * (p >= q).sum()) for q in p if q <= own) for own in p]  # p below q are rejected before it
    np.testing.assert_allclose(adjusted["holm"], holm)


def test_the_statistics_of_a_cube_are_the_numbers_of_the_table(folder: Path, cube: xr.Dataset, scores: np.ndarray) -> None:
    stored = open_statistics(folder / "cubes.zarr", "bench")["mean"]
    values = stored["statistics"].transpose("system", "item", "statistic").values
    np.testing.assert_array_equal(values[..., 0], np.rint(scores.T * 10))
    assert (values[..., 1] == 1).all()


class Stray(Analysis):
    name = "stray"

    def find(self, cubes: Any, options: Any) -> Finding:
        return Finding("another", ())


def test_what_an_analysis_returns_is_checked_before_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_task, "load_analysis", lambda name, options: Stray())
    study: Any = SimpleNamespace(asked_analyses=[SimpleNamespace(name="stray", options={})])
    unused: Any = None
    with pytest.raises(PluginError, match="P314: the analysis 'stray' returned a finding of 'another'"):
        report_task._findings(study, {}, unused, [], {})
