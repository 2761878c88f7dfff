"""What was moved, changed, lost or damaged between two commands is noticed, and mended where it can be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from support.studies import files_of, ledger, run_cli, text_study, times_done, write_scores, write_study

from pipeline.engine.launch import Launch, prepare
from pipeline.store.seals import write_sealed
from pipeline.study.load import load_study

Call = Callable[..., tuple[int, str]]
CHECKOUT = Path(__file__).parents[3]


def finish(study: Path, runs: Path, *options: object) -> Path:
    done = run_cli("run", study, "--runs", runs, "--serial", *options)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def prepared(study: Path, runs: Path) -> Path:
    """A run that was made and not yet driven."""
    return prepare(load_study(study), runs, Launch("serial")).root


@pytest.mark.slow
def test_a_reference_that_changes_after_the_survey_is_refused_and_poisons_nothing(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    directory = prepared(study, tmp_path / "runs")
    reference = tmp_path / "s" / "data" / "ref.txt"
    sound = reference.read_text()
    reference.write_text(sound.replace("cat", "dog"))
    resumed = run_cli("resume", directory, "--serial")
    assert resumed.returncode == 4, resumed.stderr
    assert "P220" in resumed.stderr
    assert "ref.txt" in resumed.stderr
    reference.write_text(sound)
    again = finish(study, tmp_path / "runs")
    fresh = finish(study, tmp_path / "fresh")
    assert again == directory
    assert files_of(again / "cubes.zarr") == files_of(fresh / "cubes.zarr")


def test_a_flipped_bit_in_a_stored_cell_never_reaches_a_cube(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    directory = finish(study, tmp_path / "runs", "--block-cells", 1)
    sound = files_of(directory / "cubes.zarr")
    receipt = next(e["receipt"] for e in ledger(directory) if e["event"] == "done" and e["receipt"]["kind"] == "resample")
    path = tmp_path / "runs" / ".store" / receipt["file"]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    shutil.rmtree(directory / "cubes.zarr")
    assert finish(study, tmp_path / "runs") == directory  # a plain run, that does not look at everything first
    assert files_of(directory / "cubes.zarr") == sound
    assert times_done(directory)[receipt["key"]] == 2


@pytest.mark.slow
def test_resume_builds_cubes_again_that_may_have_damaged_cells_in_them(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    directory = finish(study, tmp_path / "runs")
    receipt = next(e["receipt"] for e in ledger(directory) if e["event"] == "done" and e["receipt"]["kind"] == "resample")
    path = tmp_path / "runs" / ".store" / receipt["file"]
    path.write_bytes(path.read_bytes()[:-8] + bytes(8))
    assert run_cli("resume", directory, "--serial").returncode == 0
    again = [e["receipt"]["kind"] for e in ledger(directory) if e["event"] == "done" and e["fence"] == 2]
    assert again == ["resample", "collect", "report"]


def test_a_study_that_was_moved_goes_on(tmp_path: Path) -> None:
    study = text_study(tmp_path / "here", ("a", "b", "c"))
    text = study.read_text().replace(str(tmp_path / "here") + "/", "")
    study.write_text(text)
    directory = prepared(study, tmp_path / "runs")
    (tmp_path / "here").rename(tmp_path / "there")
    assert finish(tmp_path / "there" / "study.yaml", tmp_path / "runs") == directory


def test_a_lost_store_is_filled_again(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    directory = finish(study, tmp_path / "runs")
    sound = files_of(directory / "cubes.zarr")
    shutil.rmtree(tmp_path / "runs" / ".store")
    shutil.rmtree(directory / "cubes.zarr")
    resumed = run_cli("resume", directory, "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert files_of(directory / "cubes.zarr") == sound


def two_sets(folder: Path) -> Path:
    for name in ("one", "two"):
        write_scores(folder / f"{name}.csv", ["a", "b", "c"], seed=len(name) + ord(name[0]))
    test_sets = {name: {"format": "scores", "outputs": f"{name}.csv"} for name in ("one", "two")}
    return write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], analyses=["thresholds"])


@pytest.mark.slow
def test_a_cube_that_is_gone_is_noticed_and_built_again(tmp_path: Path) -> None:
    study = two_sets(tmp_path)
    directory = finish(study, tmp_path / "runs")
    sound = files_of(directory / "cubes.zarr")
    shutil.rmtree(next(path for path in (directory / "cubes.zarr").iterdir() if path.is_dir()))
    assert finish(study, tmp_path / "runs") == directory
    assert files_of(directory / "cubes.zarr") == sound


def test_debug_shows_the_traceback_and_keeps_the_exit_code(tmp_path: Path) -> None:
    told = run_cli("--debug", "run", tmp_path / "nothing.yaml")
    assert told.returncode == 2
    assert "Traceback" in told.stderr
    assert "error[P109]" in told.stderr


@pytest.mark.slow
def test_other_report_formats_are_another_run_that_recomputes_nothing(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    finish(study, tmp_path / "runs")
    other = finish(study, tmp_path / "runs", "--set", "report.formats=[markdown]")
    kinds = {e["receipt"]["kind"] for e in ledger(other) if e["event"] == "done"}
    assert kinds == {"collect", "report"}
    assert (other / "report" / "report.md").is_file()
    assert finish(study, tmp_path / "runs", "--set", "report.formats=[markdown]") == other
    assert json.loads((other / "state.json").read_text())["attempt"] == 1  # done at once


def test_a_failed_run_says_why_even_when_quiet(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    directory = prepared(study, tmp_path / "runs")
    (tmp_path / "s" / "data" / "out-1.txt").unlink()
    told = run_cli("resume", directory, "--serial", "-q")
    assert told.returncode == 4
    assert "out-1.txt" in told.stderr
    assert "help" in told.stderr


@pytest.mark.slow
def test_a_damaged_result_of_another_run_is_not_adopted(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    first = finish(study, tmp_path / "runs", "--block-cells", 1)
    receipts = [e["receipt"] for e in ledger(first) if e["event"] == "done" and e["receipt"]["kind"] == "resample"]
    path = tmp_path / "runs" / ".store" / receipts[0]["file"]
    path.write_bytes(path.read_bytes()[:-8] + bytes(8))
    second = finish(study, tmp_path / "runs", "--block-cells", 1, "--set", "resampling.alpha=0.1")
    adopted = {e["receipt"]["key"] for e in ledger(second) if e["event"] == "reused"}
    assert {r["key"] for r in receipts} - adopted == {receipts[0]["key"]}
    assert receipts[0]["key"] in times_done(second)


@pytest.mark.parametrize(
    ("options", "cluster"), [((), "serial"), (("--workers", "2"), "local"), (("--workers", "2", "--serial"), "serial")]
)
def test_a_run_that_had_no_workers_gets_those_that_are_asked_for(
    options: tuple[str, ...], cluster: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = prepared(text_study(tmp_path / "s", ("a", "b")), tmp_path / "runs")
    launched: list[Launch] = []
    monkeypatch.setattr("pipeline.cli.runs.coordinate", lambda directory, launch, quiet, verify: launched.append(launch))
    assert call("resume", directory, *options) == (0, f"{directory}\n")
    assert [launch.cluster for launch in launched] == [cluster]


def test_a_run_goes_on_with_a_profile_that_now_comes_with_the_package(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = prepared(text_study(tmp_path / "s", ("a", "b")), tmp_path / "runs")
    write_sealed(directory / "launch.json", asdict(Launch(str(CHECKOUT / "cluster" / "slurm.yaml"), 3)))
    launched: list[Launch] = []
    monkeypatch.setattr("pipeline.cli.runs.coordinate", lambda directory, launch, quiet, verify: launched.append(launch))
    said = f"{CHECKOUT}/cluster/slurm.yaml now comes with the package: the profile slurm is used"
    assert call("resume", directory) == (0, f"{directory}\n{said}\n")
    assert [(launch.cluster, launch.workers) for launch in launched] == [("slurm", 3)]
