"""The command line of `scripts/soak`: many small tasks, and the memory of the coordinator meanwhile."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from faults.processes import Command, workers_of

__all__ = ["Sample", "flatness", "main", "table"]

CELL = 16_384
"""Replicates of a cell, the smallest task there is."""

SIZES = (10, 15, 20, 25, 30)

WARM = 0.1
"""The share of tasks after which a process has what it needs: growth counts from there."""


@dataclass(frozen=True)
class Sample:
    """What was seen at a moment."""

    done: int
    seconds: float
    coordinator: float
    """MiB of the process of coordinator, scheduler and client."""
    workers: float
    """MiB of the largest worker."""


def main(arguments: Sequence[str]) -> int:
    """Print memory at the quartiles of the tasks; return 1 where the run failed or memory grew more than allowed."""
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("--tasks", type=int, default=50_000, help="how many, about [50000]")
    parser.add_argument("--workers", type=int, default=4, help="how many [4]")
    parser.add_argument("--seconds", type=float, default=7200, help="after which the run is interrupted [7200]")
    parser.add_argument("--bytes-a-task", type=float, default=4096, help="growth of the coordinator that is still flat [4096]")
    parser.add_argument("--keep", help="the folder to work in, which is kept")
    asked = parser.parse_args(arguments)
    folder = Path(asked.keep or tempfile.mkdtemp(prefix="soak-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    samples, code = _run(_write_study(folder, asked.tasks), asked.workers, asked.seconds)
    if not samples:
        print(f"the run ended with {code} before its first task was done", file=sys.stderr)
        return 1
    print(table(samples))
    grown = flatness(samples)
    print(f"\nThe run ended with {code}. Beyond the first tenth the coordinator grew by {grown:.0f} bytes a task.")
    if not asked.keep:
        shutil.rmtree(folder)
    return int(code != 0 or grown > asked.bytes_a_task)


def table(samples: Sequence[Sample]) -> str:
    """Return memory and speed at the quartiles of the tasks that were done, as Markdown."""
    last = samples[-1].done
    lines = ["| tasks done | minutes | coordinator and scheduler, MiB | largest worker, MiB |", "|---|---|---|---|"]
    for share in (WARM, 0.25, 0.5, 0.75, 1.0):
        at = next(sample for sample in samples if sample.done >= share * last)
        lines.append(f"| {at.done:,} | {at.seconds / 60:.1f} | {at.coordinator:.0f} | {at.workers:.0f} |")
    return "\n".join(lines)


def flatness(samples: Sequence[Sample]) -> float:
    """Return by how many bytes a task the coordinator grew after its first tenth: the slope of a robust line."""
    warm = [sample for sample in samples if sample.done >= WARM * samples[-1].done]
    half = len(warm) // 2
    if not half:
        return 0.0
    # Theil and Sen's line of pairs that are half the way apart: one garbage collection does not tilt it.
    slopes = [
        (late.coordinator - early.coordinator) / (late.done - early.done)
        for early, late in zip(warm, warm[half:], strict=False)
        if late.done > early.done
    ]
    return statistics.median(slopes) * 2**20 if slopes else 0.0


def _write_study(folder: Path, tasks: int) -> Path:
    rows = [f"q{item},{item % 3 == 0:d},{item % 4 == 0:d}" for item in range(SIZES[-1])]
    (folder / "scores.csv").write_text("\n".join(["item,a,b", *rows]) + "\n", encoding="utf-8")
    study = {
        "schema": 1,
        "study": "soak",
        "test_sets": {"questions": {"format": "scores", "outputs": "scores.csv"}},
        "metrics": ["mean"],
        "resampling": {
            "replicates": -(-tasks // len(SIZES)) * CELL,
            "keep_replicates": 0,
            "method": "monte-carlo",
            "test_sizes": [*SIZES[:-1], "full"],
        },
        "analyses": ["thresholds"],
        "report": {"formats": ["json"], "null_laboratory": False},
    }
    path = folder / "study.yaml"
    path.write_text(json.dumps(study, indent=1), encoding="utf-8")  # JSON is YAML
    return path


def _run(study: Path, workers: int, seconds: float) -> tuple[list[Sample], int | None]:
    runs = study.parent / "runs"
    arguments = ["run", str(study), "--workers", str(workers), "--block-cells", "1", "--runs", str(runs), "-q"]
    command = Command(arguments, folder=study.parent, environment=os.environ)
    samples: list[Sample] = []
    began = time.monotonic()
    asked_to_stop = False
    while command.process.poll() is None:
        passed = time.monotonic() - began
        if passed > seconds and not asked_to_stop:
            asked_to_stop = True
            command.process.send_signal(signal.SIGTERM)
        sample = _look(command.pid, runs, passed)
        if sample is not None and (not samples or sample.done > samples[-1].done):
            samples.append(sample)
        time.sleep(1.0)
    print(command.said, end="", file=sys.stderr)
    return samples, command.wait(60)


def _look(pid: int, runs: Path, passed: float) -> Sample | None:
    try:
        done = json.loads(next(runs.glob("soak-*/state.json")).read_bytes())["stages"]["resample"]["done"]
        mine = psutil.Process(pid).memory_info().rss / 2**20
    except (StopIteration, OSError, KeyError, ValueError, psutil.Error):
        return None
    theirs = [0.0]
    for worker in workers_of(pid):
        try:
            theirs.append(psutil.Process(worker).memory_info().rss / 2**20)
        except psutil.Error:
            continue
    return Sample(done, passed, mine, max(theirs)) if done else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
