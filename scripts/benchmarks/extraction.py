"""Time the counting of BLEU's statistics: references once, against a new sacreBLEU object for each system.

    python -m benchmarks.extraction {ours|fresh} FOLDER

prints CPU seconds for all systems of the folder. Each side has a process of its own: sacreBLEU remembers the lines it split.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.arithmetic import spread
from benchmarks.inputs import write_texts
from benchmarks.measure import run_measured

__all__ = ["LIMIT", "measure_extraction", "time_side"]

LIMIT = 0.6
SYSTEMS = 12


def time_side(side: str, folder: Path) -> float:
    """Return CPU seconds of one side."""
    from sacrebleu.metrics.bleu import BLEU

    from pipeline.interfaces import Items
    from pipeline.metrics.bleu import Bleu

    reference = (folder / "reference.txt").read_text(encoding="utf-8").splitlines()
    outputs = [path.read_text(encoding="utf-8").splitlines() for path in sorted((folder / "bleu").iterdir())]
    ids = tuple(str(number) for number in range(len(reference)))
    lines = tuple(range(1, len(reference) + 1))
    start = time.process_time()
    if side == "ours":
        metric = Bleu()
        prepared = metric.prepare(Items(ids, {"reference.0": reference}, "reference", lines))
        for output in outputs:
            metric.extract(prepared, Items(ids, {"text": output}, "output", lines))
    else:
        for output in outputs:
            BLEU().corpus_score(output, [reference])
    return time.process_time() - start


def measure_extraction(folder: Path, *, items: int, repeat: int) -> dict[str, Any]:
    """Return the record of both sides, measured in turns."""
    data = folder / "extraction"
    data.mkdir()
    write_texts(data, systems=SYSTEMS, items=items)
    seconds: dict[str, list[float]] = {"ours": [], "fresh": []}
    for _ in range(repeat):
        for side, found in seconds.items():
            found.append(float(run_measured([sys.executable, "-m", "benchmarks.extraction", side, data])[1]))
    ratio = spread([ours / fresh for ours, fresh in zip(seconds["ours"], seconds["fresh"], strict=True)])
    return {
        "kind": "extraction",
        "metric": "bleu",
        "systems": SYSTEMS,
        "items": items,
        "repeat": repeat,
        "ours_cpu_s": spread(seconds["ours"]),
        "fresh_cpu_s": spread(seconds["fresh"]),
        "ratio_to_fresh": ratio,
        "targets": {"ratio_to_fresh": {"at_most": LIMIT, "met": ratio["median"] <= LIMIT}},
    }


if __name__ == "__main__":
    print(time_side(sys.argv[1], Path(sys.argv[2])))
