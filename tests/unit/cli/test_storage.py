"""`pipeline gc`, `export` and `import` on a run, as a user has them."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

from support.studies import files_of, run_cli, write_scores, write_study

import pipeline
from pipeline.record.manifest import list_receipts


def test_a_run_is_exported_opened_elsewhere_and_its_results_are_cleared_up(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    study = write_study(
        tmp_path / "study.yaml",
        metrics=["mean"],
        analyses=["thresholds"],
        resampling={"replicates": 2000, "keep_replicates": 1000},
        test_sets={"news": {"format": "scores", "outputs": "scores.csv"}},
    )
    done = run_cli("run", study, "--serial", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.strip())

    packed = run_cli("export", run.name, "run.zip", cwd=tmp_path)
    assert (packed.returncode, packed.stdout) == (0, "")
    other = tmp_path / "elsewhere"
    other.mkdir()
    opened = run_cli("import", tmp_path / "run.zip", cwd=other)
    assert opened.returncode == 0, opened.stderr
    copy = Path(opened.stdout.strip())
    assert copy == other / "imported" / run.name
    assert files_of(copy / "cubes.zarr") == files_of(run / "cubes.zarr")
    listed = json.loads(run_cli("list", "--runs", other / "imported", "--json").stdout)["runs"]
    assert [(each["run"], each["state"]) for each in listed] == [(run.name, "COMPLETED")]
    assert pipeline.open_run(copy)["news"].identical(pipeline.open_run(run)["news"])
    again = run_cli("report", copy)
    assert again.returncode == 0, again.stderr
    ours, theirs = (json.loads((place / "report" / "report.json").read_text()) for place in (run, copy))
    assert (theirs["run_id"], theirs["leaderboard"], theirs["pairs"]) == (run.name, ours["leaderboard"], ours["pairs"])

    # Everything is younger than an hour, and named: nothing goes. Then the run is removed, and time goes by.
    assert run_cli("gc", cwd=tmp_path).stdout.startswith("freed 0 bytes of ")
    shutil.rmtree(run)
    for path in (tmp_path / "runs" / ".store").rglob("*.*"):
        os.utime(path, (time.time() - 7200,) * 2)
    would = json.loads(run_cli("gc", "--dry-run", "--json", cwd=tmp_path).stdout)
    assert would["files"] == would["kinds"]["frames"]["files"] + 3  # a frame, the statistics of two systems, and one block of cells
    assert would["freed_bytes"] == would["store_bytes"] == would["unnamed_bytes"] > 0
    told = run_cli("gc", "--to", "0 MB", cwd=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert [path for path in (tmp_path / "runs" / ".store").rglob("*") if path.is_file()] == []


def test_a_size_that_is_none_is_told(tmp_path: Path) -> None:
    done = run_cli("gc", "--to", "large", cwd=tmp_path)
    assert done.returncode == 2
    assert "2 GB or 512 MiB" in done.stderr


def test_a_ledger_from_elsewhere_names_no_file_outside_the_store() -> None:
    value = {"kind": "extract", "key": "k", "label": "l", "checksum": "c", "seconds": 0.0, "worker": "w"}
    entries = [
        {"event": "done", "receipt": {**value, "key": name, "file": name}} for name in ("a/b", "../x", "/etc/passwd", "a/../../x")
    ]
    assert list(list_receipts(entries)) == ["a/b"]
