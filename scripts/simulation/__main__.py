"""The command line of `scripts/scaling`: read flags and print tables."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from pipeline.resampling.address import CELL
from simulation.cluster import simulate
from simulation.made import Made, even_sizes
from simulation.measure import measure
from simulation.rates import Measured, cluster_of, read_measured, work_of
from simulation.tables import format_comparisons, format_measured, format_memory, format_outcomes
from simulation.validate import compare

RATES = Path(__file__).resolve().parents[2] / "docs" / "scaling.json"


def main(arguments: list[str]) -> None:
    """Print what is asked."""
    asked = _parse(arguments)
    made = Made(asked.systems, asked.replicates, even_sizes(asked.units, asked.sizes))
    if asked.validate:
        _validate(asked)
        return
    if asked.measure is not None:
        measured = measure(asked.systems, asked.units, table=made, folder=asked.folder, say=_say)
        asked.measure.write_text(measured.to_json(), encoding="utf-8")
    else:
        measured = _override(read_measured(asked.rates), asked)
    print(format_measured(measured), end="\n\n")
    outcomes = []
    for workers in asked.workers:
        cluster = cluster_of(measured, workers, store_bandwidth=asked.store_bandwidth)
        work = work_of(measured, made, workers=workers, with_report=not asked.no_report)
        outcomes.append(simulate(work, cluster, seed=asked.seed))
    print(format_outcomes(outcomes), end="\n\n")
    print(format_memory(measured))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/scaling", description=__doc__)
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--sizes", type=int, default=10, help="test sizes, in even steps up to all units")
    parser.add_argument("--units", type=int, default=2000)
    parser.add_argument("--replicates", type=int, default=10**6)
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-report", action="store_true", help="leave the report out")
    parser.add_argument("--rates", type=Path, default=RATES, help="what --measure wrote")
    parser.add_argument("--measure", type=Path, metavar="FILE", help="measure this machine and write its rates")
    parser.add_argument("--validate", action="store_true", help="run a study for real, on one and two local workers")
    parser.add_argument("--folder", type=Path, help="where to write while measuring; by default that of temporary files")
    rates = parser.add_argument_group("in place of what was measured")
    rates.add_argument("--store-bandwidth", type=float, help="bytes a second of all workers together")
    rates.add_argument("--task-rate", type=float, help="tasks a second of coordinator and scheduler")
    rates.add_argument("--receipt-seconds", type=float)
    rates.add_argument("--cell-seconds", type=float, help="of a cell of all pairs, whatever the test size")
    rates.add_argument("--variation", type=float, help="standard deviation of block times, as a share")
    return parser.parse_args(arguments)


def _override(measured: Measured, asked: argparse.Namespace) -> Measured:
    given = {name: getattr(asked, name) for name in ("receipt_seconds", "cell_seconds", "variation")}
    if asked.task_rate:
        given["task_seconds"] = 1 / asked.task_rate
    if asked.cell_seconds is not None:
        given["cell_unit_seconds"] = 0.0
    return replace(measured, **{name: value for name, value in given.items() if value is not None})


def _validate(asked: argparse.Namespace, systems: int = 150, cells: int = 12) -> None:
    made = Made(systems, cells * CELL, [asked.units // 10, asked.units])
    measured = measure(systems, asked.units, table=made, folder=asked.folder, say=_say)
    comparisons = []
    for workers in (1, 2):
        _say(f"a run on {workers}")
        comparisons.append(compare(measured, made, workers=workers, folder=asked.folder))
    print(format_comparisons(comparisons))


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
