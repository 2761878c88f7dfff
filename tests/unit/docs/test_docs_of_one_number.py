"""The number that docs/architecture.md follows through the code is the one that the command on that page gives."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from support.studies import run_cli

import pipeline

ROOT = Path(__file__).resolve().parents[3]
WALK = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## Invariants")[0]


@pytest.mark.slow
@pytest.mark.data
def test_the_walk_shows_the_numbers_of_its_run(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the full size and in BLEU alone: other sizes and metrics change no number of the pair."""
    monkeypatch.setenv("PIPELINE_DATA", str(data_dir))
    (command,) = re.findall(r"^pipeline (run workflows/.*)$", WALK, re.MULTILINE)
    less = (part for key in ("metrics=[bleu]", "resampling.test_sizes=[full]", "analyses=[]") for part in ("--set", key))
    done = run_cli(*shlex.split(command), *less, "--serial", "--runs", tmp_path, "-q", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.splitlines()[0])
    rows = json.loads((run / "report" / "report.json").read_text(encoding="utf-8"))["pairs"]
    (row,) = (row for row in rows if {row["system_a"], row["system_b"]} == {"Facebook-AI", "Online-W"})
    counts = pipeline.open_run(run)["newstest2021"]["count_above_twice_delta"]
    cells = counts.sel(metric="bleu", test_size="full", first=row["system_a"], second=row["system_b"])
    *first, last = cells.values.ravel().tolist()
    words = (
        f"{row['count']} of 100 000 replicates: p = {row['p_raw']['one_sided']:.5f}",
        f"hold {', '.join(map(str, first))} and {last} replicates with δ* > 2δ",
        f"adds them to {row['count']} and",
        f"p = {row['p']:.4f} by itself, two-sided, and {row['p_adjusted']:.3f} by max-T over 171 pairs, so it is {row['verdict']}",
    )
    assert [text for text in words if text not in WALK] == []
    assert (row["replicates"], row["adjustment"]["by"], row["adjustment"]["family_size"]) == (100_000, "max_t", 171)
