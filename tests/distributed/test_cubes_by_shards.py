"""Cubes that several tasks write by shards: the bits of one task, whatever the shards, the workers and a stop amid them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from support.studies import files_of, ledger, run_cli, times_done, write_scores, write_study

from pipeline.api import run
from pipeline.cubes import layout
from pipeline.cubes.variables import CHUNKS, VARIABLES
from pipeline.plan import shards
from pipeline.plan.task import Receipt, Task
from pipeline.tasks.collect import shard, tail_tables

CHUNK_PAIRS, CHUNK_SYSTEMS = 16, 4
"""Of small cubes, which seven systems cut as a hundred cut those of runs."""


def write(folder: Path, systems: int, **resampling: object) -> Path:
    write_scores(folder / "scores.csv", [f"system {number}" for number in range(systems)])
    return write_study(
        folder / "study.yaml",
        metrics=["mean"],
        test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}},
        resampling={
            "keep_replicates": 2000,
            "intervals": ["percentile", "bca"],
            "procedures": ["paired-bootstrap", "approximate-randomization", "paired-t"],
            **resampling,
        },
        analyses=[],
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("shards"), 7, replicates=20_000, test_sizes=[20, "full"])


def collect_at_once(study: Path, runs: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "ONE_TASK_SECONDS", 1e9)
        return run(study, runs=runs, serial=True).root


@pytest.fixture(scope="module")
def small_chunks() -> Iterator[None]:
    """Cut variables, and so shards, so that pairs of seven systems fill one chunk, and a part of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cast("dict[str, int]", CHUNKS), "pair", CHUNK_PAIRS)
        patch.setitem(cast("dict[str, int]", CHUNKS), "system", CHUNK_SYSTEMS)
        patch.setitem(cast("dict[str, int]", VARIABLES["histogram"].chunks), "pair", CHUNK_PAIRS // 4)
        patch.setattr(shards, "CHUNK_PAIRS", CHUNK_PAIRS)
        patch.setattr(shards, "CHUNK_SYSTEMS", CHUNK_SYSTEMS)
        patch.setattr(tail_tables, "CHUNK_PAIRS", CHUNK_PAIRS)
        patch.setattr(layout, "SMALL_BYTES", 2**11)  # of the variables of pairs some are one chunk, which several shards fill
        yield


@pytest.fixture(scope="module")
def oracle(study: Path, small_chunks: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run whose cube is collected by one task."""
    return collect_at_once(study, tmp_path_factory.mktemp("oracle"))


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the cube of even so small a study into shards of one chunk."""
    monkeypatch.setattr(shards, "ONE_TASK_SECONDS", 0.0)
    monkeypatch.setattr(shards, "SHARD_SECONDS", 0.0)


def kinds(folder: Path) -> list[str]:
    return [entry["receipt"]["kind"] for entry in ledger(folder) if entry["event"] == "done"]


def test_shards_are_of_whole_chunks() -> None:
    assert (CHUNKS["pair"], CHUNKS["system"]) == (shards.CHUNK_PAIRS, shards.CHUNK_SYSTEMS)


@pytest.mark.usefixtures("cut")
def test_shards_that_workers_make_of_a_hundred_systems_give_the_bits_of_one_task(tmp_path: Path) -> None:
    """Before chunks are made small for the other tests: workers are other processes."""
    few = {"replicates": 99, "keep_replicates": 99, "test_sizes": ["full"], "tails": "none"}
    study = write(tmp_path, 92, **few, intervals=["percentile"], procedures=["paired-bootstrap", "approximate-randomization"])
    folder = collect_at_once(study, tmp_path / "runs")
    whole = files_of(folder / "cubes.zarr")
    assert "shard" not in kinds(folder)
    shutil.rmtree(folder / "cubes.zarr")  # that alone is made again
    assert run(study, runs=tmp_path / "runs", workers=2).root == folder
    assert kinds(folder).count("shard") == 2  # of 4186 pairs
    assert files_of(folder / "cubes.zarr") == whole


@pytest.mark.usefixtures("cut")
def test_shards_give_the_bits_of_one_task(study: Path, oracle: Path, tmp_path: Path) -> None:
    found = run(study, runs=tmp_path, serial=True)
    assert "shard" not in kinds(oracle)
    assert kinds(found.root).count("shard") == 4  # two sizes of two chunks
    chunks = {name: len(list(oracle.glob(f"cubes.zarr/*/{name}/c.*"))) for name in ("se", "p_value")}
    assert chunks == {"se": 1, "p_value": 12}  # one that all shards fill, and one that has pieces of three procedures
    assert files_of(found.root / "cubes.zarr") == files_of(oracle / "cubes.zarr")
    assert not list((tmp_path / ".store" / "shards").rglob("*.arrays"))  # what the cube has is not kept twice


@pytest.mark.usefixtures("cut")
def test_a_run_that_ends_amid_its_shards_goes_on_with_the_others(
    study: Path, oracle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Task] = []
    whole = shard.collect_shard

    def collect_two(task: Task, runs: Path) -> Receipt:
        begun.append(task)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return whole(task, runs)

    with monkeypatch.context() as patch:
        patch.setattr(shard, "collect_shard", collect_two)
        with pytest.raises(KeyboardInterrupt):
            run(study, runs=tmp_path, serial=True)
    (folder,) = [path for path in tmp_path.iterdir() if (path / "ledger.jsonl").is_file()]
    assert kinds(folder).count("shard") == 2
    assert not list(folder.glob("cubes.zarr/*/zarr.json"))
    run(study, runs=tmp_path, serial=True)
    assert set(times_done(folder).values()) == {1}
    assert kinds(folder).count("shard") == 4
    assert files_of(folder / "cubes.zarr") == files_of(oracle / "cubes.zarr")


@pytest.mark.usefixtures("cut")
def test_a_cube_that_is_lost_is_made_again_of_new_shards(study: Path, oracle: Path, tmp_path: Path) -> None:
    folder = run(study, runs=tmp_path, serial=True).root
    shutil.rmtree(folder / "cubes.zarr")
    resumed = run_cli("resume", folder.name, "--runs", tmp_path, "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert kinds(folder).count("resample") == kinds(oracle).count("resample")
    assert files_of(folder / "cubes.zarr") == files_of(oracle / "cubes.zarr")
