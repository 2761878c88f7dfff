"""Time the exact kernel over all pairs, on statistics that are in memory.

    python -m benchmarks.exact SYSTEMS ITEMS PAIRS

prints CPU seconds of all pairs of the systems, extrapolated where only PAIRS of them are computed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.arithmetic import spread
from benchmarks.inputs import make_correct
from benchmarks.measure import run_measured

__all__ = ["TARGETS", "measure_exact", "time_pairs"]

TARGETS = {31: 0.1, 150: 1.0}
"""CPU seconds of all pairs of so many systems."""

_FIRST = 2**9
"""Pairs of an untimed call: too many for plain Python, so that the compiled kernel is loaded, or made, before the clock starts."""


def time_pairs(systems: int, items: int, most: int) -> dict[str, Any]:
    """Time the kernel on all pairs, or an even choice of ``most`` of them."""
    from pipeline.resampling.exact.pairs import compare_pairs

    correct = make_correct(systems=systems, items=items)
    pairs = np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)
    chosen = pairs[np.linspace(0, len(pairs) - 1, min(most, len(pairs))).astype(int)]
    compare_pairs(correct, chosen[:_FIRST])
    start = time.process_time()
    found = compare_pairs(correct, chosen)
    seconds = time.process_time() - start
    return {"cpu_s": seconds * len(pairs) / len(chosen), "pairs": len(pairs), "measured_pairs": len(found.gain)}


def measure_exact(sizes: Sequence[int], *, items: int, most: int, repeat: int) -> list[dict[str, Any]]:
    """Return a record for each number of systems."""
    records = []
    for systems in sizes:
        command = [sys.executable, "-m", "benchmarks.exact", *(str(number) for number in (systems, items, most))]
        runs = [json.loads(run_measured(command)[1]) for _ in range(repeat)]
        cpu = spread([run["cpu_s"] for run in runs])
        target = TARGETS.get(systems)
        records.append(
            {
                "kind": "exact",
                "metric": "accuracy",
                "systems": systems,
                "pairs": runs[0]["pairs"],
                "measured_pairs": runs[0]["measured_pairs"],
                "items": items,
                "repeat": repeat,
                "ours": {"cpu_s": cpu},
                "targets": {} if target is None else {"cpu_s": {"at_most": target, "met": cpu["median"] <= target}},
            }
        )
    return records


if __name__ == "__main__":
    print(json.dumps(time_pairs(*(int(text) for text in sys.argv[1:]))))
