"""Systems trained on files by the command line: the same bits on workers as in one process; a failed one fails alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support import taggers
from support.studies import files_of, ledger, run_cli, write_study

TESTS = Path(__file__).resolve().parents[1]


def tagging_study(folder: Path) -> Path:
    taggers.install(folder / "site")
    for name, sentences, seed in (("train", 60, 1), ("test", 40, 2)):
        taggers.write_tagged(folder / f"{name}.txt", sentences=sentences, seed=seed)
    models = {
        "whole": {"trainer": "most-frequent", "depth": 9, "resources": {"memory": "1 GB"}},
        "letter": {"trainer": "most-frequent", "unknown": "DET"},
    }
    resamples = [{"method": "quota", "instances": "tokens", "replicas": 2}, {"method": "cross-validation", "folds": 2}]
    return write_study(
        folder / "study.yaml",
        test_sets={"test": {"format": "tagged", "gold": "test.txt"}},
        training={"data": {"path": "train.txt", "format": "tagged"}, "unit": "document", "resamples": resamples, "models": models},
        metrics=["tag-accuracy"],
        resampling={"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]},
        analyses=["thresholds"],
        report={"formats": ["json"], "null_laboratory": False},
    )


@pytest.mark.slow
def test_workers_make_the_bytes_that_one_process_makes(tmp_path: Path) -> None:
    study = tagging_study(tmp_path)
    path = {"PYTHONPATH": os.pathsep.join([str(TESTS), str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])}
    made = []
    for name, where in (("serial", ["--serial"]), ("workers", ["--workers", 2])):
        ran = run_cli("run", study, "--runs", tmp_path / name, *where, environment=path)
        assert ran.returncode == 0, ran.stderr
        made.append(files_of(tmp_path / name / ".store" / "outputs"))
    assert made[0] == made[1]
    assert len(made[0]) == 8

    failed = run_cli("run", study, "--runs", tmp_path / "failed", "--serial", environment={**path, "FAIL_TRAINING": "DET"})
    assert failed.returncode == 4, failed.stderr
    directory = Path(failed.stdout.strip())
    report = json.loads((directory / "report" / "report.json").read_text())
    assert {system["name"].split("/")[0] for system in report["systems"]} == {"whole"}
    assert any("the loss is not a number" in json.dumps(failure) for failure in report["failures"])
    trained = [e["receipt"] for e in ledger(directory) if e["event"] == "done" and e["receipt"]["kind"] == "train"]
    assert len(trained) == 4
