"""A worker's memory is bounded, whatever the number of replicates: measured on the real study."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.studies import ledger, run_cli

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.data
def test_peak_memory_stays_below_a_gibibyte_and_does_not_grow_with_replicates(data_dir: Path, tmp_path: Path) -> None:
    peaks = {}
    for replicates in (100_000, 1_000_000):
        ran = run_cli(
            "run",
            ROOT / "workflows" / "wmt21-de-en.yaml",
            "--runs",
            tmp_path / str(replicates),
            "--workers",
            2,
            "-b",
            replicates,
            environment={"PIPELINE_DATA": str(data_dir)},
        )
        assert ran.returncode == 0, ran.stderr
        done = [entry["receipt"] for entry in ledger(Path(ran.stdout.strip())) if entry["event"] == "done"]
        peaks[replicates] = {
            kind: max(r["peak_memory_bytes"] for r in done if r["kind"] == kind) for kind in ("extract", "resample", "collect")
        }
    print(peaks)
    assert all(peak < 2**30 for kinds in peaks.values() for peak in kinds.values())
    assert peaks[1_000_000]["resample"] < 1.1 * peaks[100_000]["resample"]
