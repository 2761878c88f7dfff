"""Run the studies of `workflows/`, each from nothing, and tell what collecting and analyses take beside their resampling."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import run_measured
from benchmarks.studies import seconds_of_tasks

__all__ = ["BESIDE_SECONDS", "BESIDE_SHARE", "measure_shipped", "shipped_studies"]

BESIDE_SHARE, BESIDE_SECONDS = 0.1, 3.0
"""What cubes and report may take: a share of the seconds of resampling, and so many more."""

ROOT = Path(__file__).resolve().parents[2]


def shipped_studies() -> list[Path]:
    """Return the studies that come with the package, papers' last."""
    return sorted((ROOT / "workflows").glob("*.yaml")) + sorted((ROOT / "workflows" / "papers").glob("*.yaml"))


def measure_shipped(studies: Sequence[Path], *, workers: int, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield wall seconds in tasks by stage, from the receipts of one run of each study; one without data is left out, and said."""
    for study in studies:
        with tempfile.TemporaryDirectory(prefix="shipped-") as runs:
            command = [sys.executable, "-m", "pipeline", "run", str(study), "--runs", runs, "--workers", str(workers), "--quiet"]
            try:
                cost, printed = run_measured(command, cwd=ROOT)
            except RuntimeError as error:
                say(f"{study.stem} is left out: {error}")
                continue
            tasks = seconds_of_tasks(Path(printed.strip()))
        resample, collect, report = (
            sum(tasks.get(kind, 0.0) for kind in kinds) for kinds in (("resample",), ("shard", "collect"), ("report",))
        )
        most, beside = BESIDE_SHARE * resample + BESIDE_SECONDS, collect + report
        yield {
            "kind": "shipped",
            "study": study.relative_to(ROOT / "workflows").with_suffix("").as_posix() if ROOT in study.parents else study.stem,
            "cpu_s": round(cost.cpu_s, 1),
            "resample_s": round(resample, 2),
            "collect_s": round(collect, 2),
            "report_s": round(report, 2),
            "beside_s": round(beside, 2),
            "targets": {"beside_s": {"at_most": round(most, 2), "met": beside <= most}},
        }
