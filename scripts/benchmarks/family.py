"""What the family costs (max-T, ranks and intervals): J1 measured with them and without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.arithmetic import MILLION, spread
from benchmarks.jobs import Job, question_of
from benchmarks.studies import Bench

__all__ = ["ADDED", "measure_family"]

ADDED = 0.15
"""CPU seconds that max-T, ranks and intervals may add to a run of a job, as a share of it."""


def measure_family(bench: Bench, job: Job, *, items: int, replicates: int = MILLION, repeat: int) -> dict[str, Any]:
    """Return the record of whole runs that keep replicates, and of runs that keep none, in turns.

    All three are made from the kept replicates: without them there are none. What is added has in it the keeping, the reading
    and the parts of cubes and report that show them.
    """
    told = question_of(job, items)
    silent = replace(told, keep=0)
    found: dict[bool, list[float]] = {True: [], False: []}
    for number in range(repeat):
        for tells in (True, False) if number % 2 else (False, True):
            found[tells].append(bench.run(told if tells else silent, replicates).cost.cpu_s)
    added = spread([with_them / without - 1 for with_them, without in zip(found[True], found[False], strict=True)])
    return {
        "kind": "family",
        "job": job.name,
        "metric": job.metric,
        "procedure": job.procedure,
        "systems": job.systems,
        "items": items,
        "replicates": replicates,
        "repeat": repeat,
        "cpu_s": spread(found[True]),
        "cpu_s_without": spread(found[False]),
        "added": added,
        "targets": {"added": {"at_most": ADDED, "met": added["median"] <= ADDED}},
    }
