"""The command line of `scripts/levels`: read flags, print tables and write files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from counted_records import add_files, fill_document, say

from levels_table.cases import CASES
from levels_table.expected import expected_rate
from levels_table.rates import ALPHAS, Case, measure_rates
from levels_table.tables import case_table, fill_tables
from levels_table.verdict_tables import CELLS, SYSTEMS, count_cells, verdict_table, write_records

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "levels.json"


def main(arguments: list[str]) -> None:
    """Print the tables."""
    asked = _parse(arguments)
    stored = json.loads(asked.records.read_text(encoding="utf-8"))
    seed = asked.seed if asked.seed is not None else int(np.random.default_rng().integers(1, 2**31))
    if asked.verdicts is not None:
        say(f"seed {seed}")
        cells = [cell for cell in CELLS if cell.key in asked.cell] if asked.cell else CELLS
        count_cells(cells, asked.verdicts, share=asked.share, seed=seed, jobs=asked.jobs, say=say)
        stored = json.loads(asked.verdicts.read_text(encoding="utf-8"))
    if asked.simulate is not None:
        say(f"seed {seed}")
        asked_for = {"trials": asked.trials, "slow_trials": asked.slow_trials, "replicates": asked.replicates, "seed": seed}
        cases = [case for case in CASES if case.key in asked.case] if asked.case else CASES
        records = simulate(cases, **asked_for)
        stored["records"] = _merge(records, stored["records"]) if asked.case else records
        write_records(asked.simulate, stored)
    fill_document(asked.document, lambda page: fill_tables(page, stored))
    tables = [f"{case.null.name}\n\n{case_table(case, stored['records'])}" for case in CASES]
    tables += [f"The verdict, {systems} systems\n\n{verdict_table(systems, stored['verdicts'])}" for systems in SYSTEMS]
    print("\n\n".join(tables))


def simulate(cases: Sequence[Case] = CASES, *, trials: int, slow_trials: int, replicates: int, seed: int) -> list[dict[str, Any]]:
    """Measure every case, and compute beside it what is expected."""
    records = []
    for case in cases:
        found = measure_rates(case, trials=trials, slow_trials=slow_trials, replicates=replicates, seed=seed, say=say)
        for record in found:
            rates = [expected_rate(case.null, record["rule"], level=alpha, replicates=replicates) for alpha in ALPHAS]
            record["expected"] = [round(rate, 6) for rate in rates if rate is not None] or None
        records += found
    return records


def _merge(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put records of some cases in the place of older ones, all in the order of the cases."""
    made = {record["case"] for record in new}
    order = [case.key for case in CASES]
    kept = [record for record in old if record["case"] not in made and record["case"] in order]
    return sorted(new + kept, key=lambda record: order.index(record["case"]))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/levels", description=__doc__)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--slow-trials", type=int, default=2000, help="of rules that score a replicate or solve a lattice each")
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--case", action="append", choices=[case.key for case in CASES], help="only this one; may be repeated")
    parser.add_argument("--verdicts", type=Path, metavar="FILE", help="add trials of the default verdict to these records")
    parser.add_argument("--share", type=float, default=1.0, help="of the trials of each verdict's cell that there are at last")
    parser.add_argument(
        "--cell", action="append", choices=[cell.key for cell in CELLS], help="only this verdict's; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes for verdicts")
    parser.add_argument("--seed", type=int, help="without it another one every time; it is printed")
    add_files(parser, RECORDS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
