"""Where the time of a job goes, by module: two runs are profiled in one process each, and subtracted.

    python -m benchmarks.profiles RESULT ARGUMENTS …

profiles `pipeline` with these arguments by CPU time: what waits, or what others do on the machine, does not count.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.arithmetic import MILLION
from benchmarks.jobs import Job, Replicates, question_of
from benchmarks.measure import run_measured
from benchmarks.studies import Bench, Question

__all__ = ["group_by_module", "measure_profile", "profile_fixed"]

Function = tuple[str, int, str]
LEAST = 0.01  # of the whole: what is less is shown together


def group_by_module(stats: dict[Function, Any]) -> Counter[str]:
    """Return seconds by module of ours, and by package for what others wrote; built-in functions count for their callers.

    Compiled kernels do not appear in a profile: their time is that of the Python function that calls them.
    """
    seconds: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in stats.items():
        if file != "~" or not callers:
            seconds[name_module(file)] += own
            continue
        for (calling, _, _), (_, _, within, _) in callers.items():
            seconds[name_module(calling)] += within
    return seconds


def name_module(file: str) -> str:
    """Name a file for people: ``resampling/draws.py`` of ours, ``zarr`` of others, ``imports`` of the import system.

    Examples
    --------
    >>> name_module("/x/pipeline/resampling/draws.py"), name_module("/x/lib/python3.11/site-packages/zarr/core/a.py")
    ('resampling/draws.py', 'zarr')
    """
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1].removesuffix(".py")
    if "pipeline" in parts:
        return "/".join(parts[len(parts) - 1 - parts[::-1].index("pipeline") + 1 :])
    return "imports" if file.startswith("<frozen importlib") else "Python"


def _profile(bench: Bench, question: Question, replicates: int) -> Counter[str]:
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        result = Path(folder) / "profile"
        with bench.fresh_runs() as runs:
            python, module, pipeline, *arguments = bench.command("run", question, replicates, runs, workers=1)
            assert (module, pipeline) == ("-m", "pipeline")
            run_measured([python, module, "benchmarks.profiles", result, *arguments, "--serial", "--quiet"])
        return group_by_module(pstats.Stats(str(result)).stats)  # type: ignore[attr-defined]  # typeshed leaves it out


def _rank(seconds: Counter[str]) -> dict[str, float]:
    whole = sum(seconds.values())
    shown = {name: round(value, 3) for name, value in seconds.most_common() if value >= LEAST * whole}
    return {**shown, "all else": round(whole - sum(shown.values()), 3)}


def measure_profile(bench: Bench, job: Job, *, items: int, replicates: Replicates) -> dict[str, Any]:
    """Return the record of where 10^6 replicates of a job spend their seconds."""
    question = question_of(job, items)
    few, many = (_profile(bench, question, number) for number in (replicates.few, replicates.many))
    scale = MILLION / (replicates.many - replicates.few)
    beyond = Counter({name: max(0.0, many[name] - few[name]) * scale for name in many})
    return {
        "kind": "profile",
        "job": job.name,
        "metric": job.metric,
        "procedure": job.procedure,
        "systems": job.systems,
        "items": items,
        "seconds": _rank(beyond),
    }


def profile_fixed(bench: Bench, question: Question) -> dict[str, Any]:
    """Return the record of where a run with one cell of replicates spends its seconds."""
    return {
        "kind": "fixed-profile",
        "metric": question.metric,
        "procedure": question.procedure,
        "systems": question.systems,
        "items": question.items,
        "seconds": _rank(_profile(bench, question, 2**14)),
    }


def main() -> None:
    """Profile `pipeline` with the arguments of the command line."""
    from pipeline.cli import main as pipeline

    result, *arguments = sys.argv[1:]
    sys.argv = ["pipeline", *arguments]
    profile = cProfile.Profile(time.thread_time)
    try:
        profile.runcall(pipeline)
    finally:
        profile.dump_stats(result)


if __name__ == "__main__":
    main()
