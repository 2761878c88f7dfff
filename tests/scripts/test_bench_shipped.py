"""What cubes and report take beside resampling: read off the receipts of a run, and held to what they may take."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import shipped
from benchmarks.measure import Cost
from benchmarks.shipped import cpu_seconds_of_tasks, forget_what_follows, measure_shipped, shipped_studies
from benchmarks.tables import render_shipped

from pipeline.store.ledger import Ledger
from pipeline.store.runs import RunDirectory


def write_run(folder: Path, seconds: dict[str, list[float]], analyses: dict[str, float] | None = None) -> RunDirectory:
    folder.mkdir(parents=True)
    run = RunDirectory(folder)
    run.plan.write_text("{}")
    with Ledger(run.ledger) as ledger:
        ledger.append({"event": "started"})
        for kind, each in seconds.items():
            for number, cpu in enumerate(each):
                whole = {"kind": kind, "key": f"{kind}{number}", "label": "l", "file": "f", "checksum": "c", "worker": "w"}
                covers = {"test_set": str(number)} if kind == "collect" else {"analyses_cpu_seconds": analyses} if analyses else {}
                ledger.append({"event": "done", "receipt": {**whole, "seconds": 99.0, "cpu_seconds": cpu, "covers": covers}})
    return run


def test_stages_are_added_up_and_held_to_a_share_of_resampling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {
        "cheap": {"extract": [9.0], "resample": [12.0, 8.0], "shard": [1.0, 1.0], "collect": [0.5], "report": [2.4]},
        "dear": {"train": [70.0, 30.0], "resample": [1.0], "collect": [1.0], "report": [2.2]},
    }

    def run(command: list[str], *, cwd: Path) -> tuple[Cost, str]:
        study = Path(command[command.index("run") + 1]).stem
        if study not in runs:
            raise RuntimeError("its data are not here")
        assert command[command.index("--runs") + 1] == str(tmp_path / "kept" / study)
        of_analyses = {"thresholds": 1.5, "replicas": 4.0} if study == "cheap" else None
        return Cost(30.0, 20.0, 2**28), f"{write_run(tmp_path / study, runs[study], of_analyses).root}\n"

    monkeypatch.setattr(shipped, "run_measured", run)
    said: list[str] = []
    studies = [Path(f"{name}.yaml") for name in ("cheap", "absent", "dear")]
    cheap, dear = measure_shipped(studies, tmp_path / "kept", workers=2, say=said.append)
    assert said == ["absent is left out: its data are not here"]
    assert (cheap["resample_s"], cheap["collect_s"], cheap["report_s"], cheap["beside_s"]) == (20.0, 2.5, 2.4, 4.9)
    assert cheap["targets"]["beside_s"] == {"at_most": 5.0, "met": True}
    assert cheap["targets"]["analyses_s"] == {"at_most": 5.0, "met": False}
    assert cheap["targets"]["asked_s"] == {"at_most": 5.0, "met": False}
    assert dear["targets"] == {"beside_s": {"at_most": 3.1, "met": False}}
    table = render_shipped([cheap, dear])
    assert (
        "| cheap | 0.00 | 9.00 | 20.0 | 2.50 | 2.40 | **5.50**, not ≤ 5.0: +10% | **8.00**, not ≤ 5.0: +60% | 4.90, ≤ 5.0 |"
        in table
    )
    assert "| dear | 100 | 0.00 | 1.00 | 1.00 | 2.20 | not told | not told | **3.20**, not ≤ 3.1: +3% |" in table


def test_what_was_done_again_counts_once_and_what_is_gone_does_not(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"train": [5.0], "resample": [3.0, 4.0]})
    with Ledger(run.ledger) as ledger:
        ledger.append({"event": "dropped", "key": "resample0", "why": "its result is gone"})
        again = {"kind": "resample", "key": "resample1", "label": "l", "file": "f", "checksum": "c", "worker": "w"}
        ledger.append({"event": "done", "receipt": {**again, "seconds": 9.0, "cpu_seconds": 2.0}})
    assert cpu_seconds_of_tasks(run) == {"train": 5.0, "resample": 2.0}


def test_trainings_and_counts_are_kept_and_what_follows_is_made_anew(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "run", {})
    for made in (run.cubes, run.report, *(run.store.root / kind for kind in ("outputs", "statistics", "cells", "shards"))):
        made.mkdir(parents=True)
    forget_what_follows(tmp_path / "runs", tmp_path / "before")
    assert {path.name for path in run.store.root.iterdir()} == {"outputs", "statistics"}
    assert sorted(path.name for path in run.root.iterdir()) == ["ledger.jsonl", "plan.json"]


def test_all_studies_that_come_with_the_package_are_measured_or_those_that_are_named() -> None:
    names = [path.name for path in shipped_studies()]
    assert {"quickstart.yaml", "wmt22-en-de.yaml", "01-summarisation.yaml"} <= set(names)
    assert names.index("wmt22-en-de.yaml") < names.index("01-summarisation.yaml")
    assert [path.name for path in shipped_studies(["papers/09", "quickst"])] == ["quickstart.yaml", "09-domains.yaml"]
