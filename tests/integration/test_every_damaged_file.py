"""Whatever file of a complete run, its store or its report is damaged, `pipeline resume` brings back the same results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.studies import files_of, run_cli, text_study

HOW = ("deleted", "cut", "zeroed", "flipped", "a folder")


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how in {"deleted", "a folder"}:
        path.unlink()
        if how == "a folder":
            path.mkdir()
    elif how == "flipped" and data:
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    else:
        path.write_bytes(data[: len(data) // 2] if how == "cut" else bytes(len(data)))


def results(run: Path) -> dict[str, object]:
    return {**files_of(run / "cubes.zarr"), **files_of(run / "report")}


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of runs of a small study that is complete."""
    folder = tmp_path_factory.mktemp("complete")
    resampling = {"replicates": 2000, "keep_replicates": 0, "test_sizes": [30, "full"]}
    study = text_study(folder / "study", ["a", "b"], resampling=resampling)
    done = run_cli("run", study, "--serial", "--runs", folder / "runs")
    assert done.returncode == 0, done.stderr
    return folder / "runs"


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("part", ["run", "store", "cube", "report"])
def test_every_file_that_is_damaged_is_mended(complete: Path, tmp_path: Path, part: str, how: str) -> None:
    run = next(path.parent for path in complete.glob("*/plan.json"))
    roots = {
        "run": run.glob("*"),
        "store": (complete / ".store").rglob("*"),
        "cube": run.glob("cubes.zarr/**/*"),
        "report": run.glob("report/**/*"),
    }
    names = sorted(path.relative_to(complete) for path in roots[part] if path.is_file() and not path.is_symlink())
    names = names[:: len(names) // 20] if part == "cube" else names
    # These have tests of their own: a lease with clocks, and a line of a ledger that is to be deleted.
    names = [name for name in names if not name.name.startswith("lease.") and (how, name.name) != ("flipped", "ledger.jsonl")]
    assert names
    wanted = results(run)
    failed = []
    for name in names:
        runs = tmp_path / "runs"
        shutil.copytree(complete, runs, symlinks=True)
        damage(runs / name, how)
        done = run_cli("resume", run.name, "--runs", runs, "-q")
        if f"remove the folder `{runs / name}`" in done.stderr:  # whose it is we do not know
            (runs / name).rmdir()
            done = run_cli("resume", run.name, "--runs", runs, "-q")
        if done.returncode != 0:
            failed.append(f"{name}: {done.returncode} {done.stderr[-300:]}")
        elif results(runs / run.name) != wanted:
            failed.append(f"{name}: other bits")
        shutil.rmtree(runs)
    assert failed == []
