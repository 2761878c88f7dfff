"""The numbers of a run do not know workers, blocks, engines or crashes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.studies import ODD_NAMES, files_of, ledger, run_cli, start_cli, text_study, times_done

REPLICATES = 33_000  # three cells, the last one partial
MANY = 160_000  # 40 blocks of one cell: a run that has done eight of them is not about to end


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    procedures = ["paired-bootstrap", "approximate-randomization"]
    resampling = {"replicates": REPLICATES, "keep_replicates": 20_000, "test_sizes": [20, "full"], "procedures": procedures}
    more = {"metrics": ["bleu", "chrf"], "analyses": ["thresholds"], "resampling": resampling}
    return text_study(tmp_path_factory.mktemp("study"), ODD_NAMES[:3], **more)


@pytest.fixture(scope="module")
def oracle(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the serial engine, one cell a task."""
    return run(study, tmp_path_factory.mktemp("oracle"), "--serial", "--block-cells", 1)


def run(study: Path, runs: Path, *options: object) -> Path:
    done = run_cli("run", study, "--runs", runs, *options, own_process="--workers" in options)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def assert_same_numbers(one: Path, other: Path) -> None:
    assert files_of(one / "cubes.zarr") == files_of(other / "cubes.zarr")
    assert (one / "report" / "report.json").read_bytes() == (other / "report" / "report.json").read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--workers", 1), marks=pytest.mark.slow),
        # These bits are also those of the run below that loses one of its two workers.
        pytest.param(("--workers", 2, "--block-cells", 1), marks=pytest.mark.slow),
        pytest.param(("--workers", 3, "--block-cells", 2), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_any_number_of_workers_gives_the_bits_of_the_serial_engine(
    study: Path, oracle: Path, tmp_path: Path, options: tuple[Any, ...]
) -> None:
    assert_same_numbers(run(study, tmp_path, *options), oracle)


def test_other_blocks_give_the_same_bits(study: Path, oracle: Path, tmp_path: Path) -> None:
    whole = run(study, tmp_path, "--serial", "--block-cells", 50)
    kinds = [entry["receipt"]["kind"] for entry in ledger(whole) if entry["event"] == "done"]
    # The bootstrap has two tasks a test size (kept cells apart), swaps have one, where the oracle had three of each.
    assert kinds.count("resample") == 6
    assert_same_numbers(whole, oracle)


def test_another_seed_gives_other_numbers(study: Path, oracle: Path, tmp_path: Path) -> None:
    other = run(study, tmp_path, "--serial", "--seed", 8)
    assert other.name != oracle.name
    assert files_of(other / "cubes.zarr") != files_of(oracle / "cubes.zarr")


def long_run(study: Path, runs: Path, workers: int) -> tuple[Any, Path]:
    """Start a run of many small tasks and wait until it is in the middle of resampling."""
    process = start_cli("run", study, "--runs", runs, "--workers", workers, "--block-cells", 1, "-b", MANY)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        found = [path for path in runs.glob("small-*") if path.is_dir()]
        done = [e for path in found for e in ledger(path) if e["event"] == "done" and e["receipt"]["kind"] == "resample"]
        if len(done) >= 8:
            return process, found[0]
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("the run did not come to resampling within 90 s")


@pytest.fixture(scope="module")
def long_oracle(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(study, tmp_path_factory.mktemp("long"), "--serial", "-b", MANY)


def test_a_killed_worker_costs_nothing_but_time(study: Path, long_oracle: Path, tmp_path: Path) -> None:
    process, directory = long_run(study, tmp_path, 2)
    workers = [child for child in psutil.Process(process.pid).children(recursive=True) if "spawn_main" in " ".join(child.cmdline())]
    assert workers
    os.kill(workers[0].pid, signal.SIGKILL)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert set(times_done(directory).values()) == {1}
    assert_same_numbers(directory, long_oracle)


def test_a_killed_coordinator_is_resumed_without_doing_anything_twice(study: Path, long_oracle: Path, tmp_path: Path) -> None:
    process, directory = long_run(study, tmp_path, 2)
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)  # the scheduler lives in it and dies with it
    process.communicate()
    before = ledger(directory)
    psutil.wait_procs(children, timeout=30)
    assert "lost" in run_cli("status", directory.name, "--runs", tmp_path).stdout
    # By the other engine: that workers go on with a run is in `test_cubes_by_shards`, and their bits are above.
    resumed = run_cli("resume", directory.name, "--runs", tmp_path, "--serial")
    assert resumed.returncode == 0, resumed.stderr
    after = ledger(directory)
    assert after[: len(before)] == before
    assert set(times_done(directory).values()) == {1}
    assert len({entry["fence"] for entry in after}) == 2
    assert_same_numbers(directory, long_oracle)
