"""What cubes and report take beside resampling: read off the receipts of a run, and held to what they may take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import shipped
from benchmarks.measure import Cost
from benchmarks.shipped import measure_shipped, shipped_studies
from benchmarks.tables import render_shipped


def write_run(run: Path, seconds: dict[str, list[float]]) -> None:
    run.mkdir(parents=True)
    entries: list[dict[str, Any]] = [{"event": "started"}]
    for kind, each in seconds.items():
        entries += [{"event": "done", "receipt": {"kind": kind, "seconds": one}} for one in each]
    entries.append({"event": "reused", "receipt": {"kind": "resample", "seconds": 100.0}})  # another run's work
    (run / "ledger.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def test_stages_are_added_up_and_held_to_a_share_of_resampling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {
        "cheap": {"extract": [9.0], "resample": [12.0, 8.0], "shard": [1.0, 1.0], "collect": [0.5], "report": [2.4]},
        "dear": {"resample": [1.0], "collect": [1.0], "report": [2.2]},
    }

    def run(command: list[str], *, cwd: Path) -> tuple[Cost, str]:
        study = Path(command[command.index("run") + 1]).stem
        if study not in runs:
            raise RuntimeError("its data are not here")
        write_run(tmp_path / study, runs[study])
        return Cost(30.0, 20.0, 2**28), f"{tmp_path / study}\n"

    monkeypatch.setattr(shipped, "run_measured", run)
    said: list[str] = []
    studies = [Path(f"{name}.yaml") for name in ("cheap", "absent", "dear")]
    cheap, dear = measure_shipped(studies, workers=2, say=said.append)
    assert said == ["absent is left out: its data are not here"]
    assert (cheap["resample_s"], cheap["collect_s"], cheap["report_s"], cheap["beside_s"]) == (20.0, 2.5, 2.4, 4.9)
    assert cheap["targets"]["beside_s"] == {"at_most": 5.0, "met": True}
    assert dear["targets"]["beside_s"] == {"at_most": 3.1, "met": False}
    table = render_shipped([cheap, dear])
    assert "| cheap | 20.0 | 2.50 | 2.40 | 4.90, ≤ 5.0 | 30.0 |" in table
    assert "| dear | 1.00 | 1.00 | 2.20 | **3.20**, not ≤ 3.1: +3% | 30.0 |" in table


def test_all_studies_that_come_with_the_package_are_measured() -> None:
    names = [path.name for path in shipped_studies()]
    assert {"quickstart.yaml", "wmt22-en-de.yaml", "01-summarisation.yaml"} <= set(names)
    assert names.index("wmt22-en-de.yaml") < names.index("01-summarisation.yaml")
