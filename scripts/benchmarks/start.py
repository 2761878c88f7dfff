"""Measure what one waits for at the shell, and what a run costs apart from its replicates."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.arithmetic import spread
from benchmarks.inputs import write_texts
from benchmarks.measure import Cost, run_measured
from benchmarks.studies import Bench, Question

__all__ = ["FIXED_CPU_S", "measure_fixed", "measure_start"]

FIXED_CPU_S = {31: 2.5, 150: 4.0}
"""CPU seconds of a run with 2^14 replicates whose statistics are stored, at most, by the number of systems."""

_LIMITS = {"pipeline --help": 0.3, "pipeline compare": 5.0}


def measure_start(folder: Path, *, repeat: int) -> list[dict[str, Any]]:
    """Time `pipeline --help`, and `pipeline compare` of two systems of 2000 segments with 10^5 replicates."""
    data = folder / "compare"
    data.mkdir()
    write_texts(data, systems=2, items=2000)
    pipeline = [sys.executable, "-m", "pipeline"]
    outputs = [str(path) for path in sorted((data / "bleu").iterdir())]
    commands = {
        "pipeline --help": [*pipeline, "--help"],
        "pipeline compare": [*pipeline, "compare", *outputs, "-r", str(data / "reference.txt"), "-b", "100000"],
    }
    for command in commands.values():
        run_measured(command)  # byte code and kernels are on disk from here on
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(repeat):
        for name, command in commands.items():
            costs[name].append(run_measured(command)[0])
    return [
        {
            "kind": "start",
            "command": name,
            "repeat": repeat,
            "wall_s": (wall := spread([cost.wall_s for cost in found])),
            "cpu_s": spread([cost.cpu_s for cost in found]),
            "targets": {"wall_s": {"at_most": _LIMITS[name], "met": wall["median"] <= _LIMITS[name]}},
        }
        for name, found in costs.items()
    ]


def measure_fixed(bench: Bench, questions: Sequence[Question], *, repeat: int) -> list[dict[str, Any]]:
    """Return CPU seconds of runs with one cell of replicates as users start them, and where they go."""
    records = []
    for question in questions:
        runs = [bench.run(question, 2**14, workers=None) for _ in range(repeat)]
        cpu = spread([run.cost.cpu_s for run in runs])
        tasks = {kind: round(statistics.median(run.seconds[kind] for run in runs), 3) for kind in ("resample", "collect", "report")}
        limit = FIXED_CPU_S.get(question.systems)
        records.append(
            {
                "kind": "fixed",
                "metric": question.metric,
                "procedure": question.procedure,
                "systems": question.systems,
                "pairs": question.pairs,
                "items": question.items,
                "replicates": 2**14,
                "repeat": repeat,
                "cpu_s": cpu,
                "tasks_s": tasks,
                "targets": {} if limit is None else {"cpu_s": {"at_most": limit, "met": cpu["median"] <= limit}},
            }
        )
    return records
