"""Run studies on the made inputs as a user does: write study files and measure `pipeline run` on them."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.inputs import write_labels, write_texts
from benchmarks.measure import Cost, run_measured

__all__ = ["PROCEDURES", "Bench", "Question", "Run", "seconds_of_tasks"]

PROCEDURES = {"bootstrap": "paired-bootstrap", "randomization": "approximate-randomization"}

TEMPLATE = """\
schema: 1
study: {name}
test_sets:
  made:
{test_set}
metrics: [{metric}]
resampling:
  procedures: [{procedure}]
  method: monte-carlo
  test_sizes: [full]{more}
analyses: []
"""

TEST_SETS = {
    "bleu": "    format: text\n    references: [{data}/reference.txt]\n    outputs:\n{outputs}",
    "accuracy": "    format: labels\n    gold: {data}/gold.txt\n    outputs:\n{outputs}",
}


@dataclass(frozen=True)
class Question:
    """What is compared: one metric on so many systems and items, by one procedure or several with + between them.

    ``keep`` is how many replicates are kept, where it is not as many as usual.
    """

    metric: str
    procedure: str
    systems: int
    items: int
    keep: int | None = None

    @property
    def pairs(self) -> int:
        """All of them."""
        return self.systems * (self.systems - 1) // 2


@dataclass(frozen=True)
class Run:
    """What one `pipeline run` cost.

    Parameters
    ----------
    cost : Cost
        Of all its processes.
    seconds : mapping
        Wall seconds in tasks, by kind, from the receipts.
    tasks : mapping
        Number of tasks by kind.
    worker_memory_bytes : int
        The most that a worker held, from the receipts.
    """

    cost: Cost
    seconds: Mapping[str, float]
    tasks: Mapping[str, int]
    worker_memory_bytes: int


def _receipts(run: Path) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in (run / "ledger.jsonl").read_text("utf-8").splitlines()]
    return [entry["receipt"] for entry in entries if entry["event"] == "done"]


def seconds_of_tasks(run: Path) -> dict[str, float]:
    """Return the wall seconds in the tasks of a run, by kind, from its receipts."""
    seconds: dict[str, float] = {}
    for receipt in _receipts(run):
        seconds[receipt["kind"]] = seconds.get(receipt["kind"], 0.0) + receipt["seconds"]
    return seconds


@dataclass
class Bench:
    """A folder with inputs and stored statistics, from which runs are measured; each has a seed of its own.

    Statistics are extracted once, by a first run that is not measured. Each measured run has a folder of runs of its own, with
    links to what is prepared: it finds the statistics and never a count.
    """

    folder: Path
    most: Mapping[str, int]  # systems that are made, by metric
    # Keep scores of one cell and cut blocks of two: runs of few replicates then differ by what is counted alone, and not by
    # the calibration of the longer ones.
    is_quick: bool = False
    seeds: itertools.count[int] = field(default_factory=lambda: itertools.count(time.time_ns() % 2**40))

    def prepare(self, question: Question, *, workers: int = 2) -> Run:
        """Extract statistics and compile kernels by a run that is not one of those measured."""
        return self._run(question, 1000, self.folder / "runs", workers=workers)

    def run(self, question: Question, replicates: int, *, workers: int | None = 1) -> Run:
        """Measure one run; without a number of workers it takes what it takes by default."""
        with self.fresh_runs() as runs:
            run = self._run(question, replicates, runs, workers=workers)
        if "extract" in run.seconds or not run.seconds.get("resample"):
            raise RuntimeError(f"{question}: statistics were extracted, or nothing was counted: {dict(run.seconds)}")
        return run

    @contextmanager
    def fresh_runs(self) -> Iterator[Path]:
        """Yield a prepared folder of runs, and remove it."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="measured-") as fresh:
            runs = Path(fresh) / "runs"
            shutil.copytree(self.folder / "runs", runs, copy_function=os.link)
            yield runs

    def _run(self, question: Question, replicates: int, runs: Path, *, workers: int | None) -> Run:
        cost, printed = run_measured([*self.command("run", question, replicates, runs, workers=workers), "--quiet"])
        receipts = _receipts(Path(printed.strip()))
        return Run(
            cost=cost,
            seconds=seconds_of_tasks(Path(printed.strip())),
            tasks=dict(Counter(receipt["kind"] for receipt in receipts)),
            worker_memory_bytes=max(receipt["peak_memory_bytes"] for receipt in receipts),
        )

    def command(self, command: str, question: Question, replicates: int, runs: Path, *, workers: int | None) -> list[str | Path]:
        """Return a command line with a seed that no other run has."""
        options = ["-b", str(replicates), "--seed", str(next(self.seeds))]
        if workers is not None:
            options += ["--workers", str(workers)]
        if self.is_quick:
            options += ["--block-cells", "2"]
        return [sys.executable, "-m", "pipeline", command, self.write_study(question), "--runs", runs, *options]

    def write_study(self, question: Question) -> Path:
        """Write the study file, and its inputs where they are missing."""
        keep = question.keep if question.keep is not None else 2**14 if self.is_quick else None
        name = f"{question.metric}-{question.procedure}-{question.systems}-{question.items}"
        path = self.folder / f"{name}{'' if question.keep is None else f'-{question.keep}'}.yaml"
        data = self._data(question)
        outputs = "".join(f"      s{i:03d}: {data}/{question.metric}/s{i:03d}.txt\n" for i in range(question.systems))
        path.write_text(
            TEMPLATE.format(
                name=path.stem,
                metric=question.metric,
                procedure=", ".join(PROCEDURES[name] for name in question.procedure.split("+")),
                more="" if keep is None else f"\n  keep_replicates: {keep}",
                test_set=TEST_SETS[question.metric].format(data=data, outputs=outputs.rstrip("\n")),
            ),
            encoding="utf-8",
        )
        return path

    def _data(self, question: Question) -> str:
        name = f"{question.metric}-{question.items}"
        if not (self.folder / name).exists():
            (self.folder / name).mkdir()
            write = {"bleu": write_texts, "accuracy": write_labels}[question.metric]
            write(self.folder / name, systems=self.most[question.metric], items=question.items)
        return name
