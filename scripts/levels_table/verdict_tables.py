"""The tables of the default verdict in docs/levels.md, and the cells that they need."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from markdown_tables import render_table

from levels_table.rates import interval
from levels_table.verdict_nulls import KINDS
from levels_table.verdicts import Cell, add_trials

__all__ = ["CELLS", "SYSTEMS", "TRIALS", "UNITS", "count_cells", "interval_table", "unseen_table", "verdict_table", "write_records"]

UNITS = (10, 20, 50, 100, 1000)
SYSTEMS = (2, 5, 15)
CELLS = tuple(Cell(kind, units, systems) for systems in SYSTEMS for units in UNITS for kind in KINDS)

TRIALS = {2: (20_000, 4000), 5: (4000, 1000), 15: (4000, 1000)}
"""By the number of systems: of true nulls, and of a gain."""

REPLICATES = {10: 999, 20: 999, 50: 199, 100: 199, 1000: 199}
"""By the number of units. Pairs of few discordant units are held by what replicates reach with a small chance: it takes more."""

_NAMES = {
    "gaussian": "Gaussian",
    "right-50": "0/1, accuracy .5",
    "right-90": "0/1, accuracy .9",
    "f1": "F1-like",
    "bleu": "BLEU-like",
    "clustered": "clustered",
    "exponential": "exponential",
    "lognormal": "lognormal *",
    "failures": "total failures *",
}


def count_cells(cells: Sequence[Cell], path: Path, *, share: float, seed: int, jobs: int, say: Callable[[str], None]) -> None:
    """Add trials to the cells of a file of records until each has its share of `TRIALS`; write the file after each cell."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    known = {_key(record): record for record in stored.get("verdicts", [])}
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {}
        for cell in cells:
            nulls, gains = (round(share * trials) for trials in TRIALS[cell.systems])
            asked = {"nulls": nulls, "gains": gains, "replicates": REPLICATES[cell.units], "seed": seed}
            waiting[pool.submit(add_trials, cell, known.get(cell.key), **asked)] = cell
        for future, cell in waiting.items():
            known[cell.key] = future.result()
            say(f"{cell.key}: {known[cell.key]['nulls']} nulls, {known[cell.key]['gains']} gains")
            order = [known[own.key] for own in CELLS if own.key in known]
            write_records(path, {**stored, "verdicts": order})


def write_records(path: Path, stored: Mapping[str, Any]) -> None:
    """Write a file of records, one a line, whole or not at all."""
    parts = []
    for name, value in stored.items():
        lines = ",\n".join(json.dumps(record) for record in value) if isinstance(value, list) else json.dumps(value)
        parts.append(f'"{name}": [\n{lines}\n]' if isinstance(value, list) else f'"{name}": {lines}')
    draft = path.with_suffix(".part")
    draft.write_text("{" + ", ".join(parts) + "}\n", encoding="utf-8")
    os.replace(draft, path)


def _key(record: Mapping[str, Any]) -> str:
    return Cell(record["kind"], record["units"], record["systems"]).key


def verdict_table(systems: int, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a line a kind of scores and number of units."""
    head = ("scores", "n", "false", "withheld", "before", "t", "found", "withheld", "before", "t", "trials")
    known = {_key(record): record for record in records}
    rows = [_row(known[cell.key]) for cell in CELLS if cell.systems == systems and cell.key in known]
    return render_table(head, rows)


def _row(record: Mapping[str, Any]) -> tuple[str, ...]:
    nulls, gains, systems = record["nulls"], record["gains"], record["systems"]
    low, high = (_per_cent(end) for end in interval(record["false"], nulls))
    false, found = (_in_turn(record, name, trials) for name, trials in (("false", nulls), ("found", gains * (systems - 1))))
    cells = (f"{false[0]} [{low}, {high}]", *false[1:], *found)
    return (_NAMES[record["kind"]], f"{record['units']:,}", *cells, f"{nulls:,} + {gains:,}")


def interval_table(systems: int, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a line a kind of scores and number of units: how often intervals beside verdicts miss their true gains."""
    head = ("scores", "n", "equal: any misses", "pairs", "one ahead: any misses", "pairs", "trials")
    known = {_key(record): record for record in records}
    pairs, rows = systems * (systems - 1) // 2, []
    for record in (known[cell.key] for cell in CELLS if cell.systems == systems and cell.key in known):
        cells = [_NAMES[record["kind"]], f"{record['units']:,}"]
        for name, trials in (("", record["nulls"]), ("_gains", record["gains"])):
            low, high = (_per_cent(end) for end in interval(record[f"missed{name}"], trials))
            sides = (_per_cent(record[f"{side}{name}"] / (trials * pairs)) for side in ("above", "below"))
            cells += [f"{_per_cent(record[f'missed{name}'] / trials)} [{low}, {high}]", " + ".join(sides)]
        rows.append((*cells, f"{record['nulls']:,} + {record['gains']:,}"))
    return render_table(head, rows)


def _in_turn(record: Mapping[str, Any], name: str, trials: int) -> list[str]:
    """Return what the verdict says, what it withholds, and what others say."""
    own, every = record[name], record[f"{name}_p"]
    return [
        _per_cent(hits / trials) if trials else "–"
        for hits in (own, every - own, record[f"{name}_previous"], record[f"{name}_student"])
    ]


def unseen_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return what failures do where none of them is in the data set, and where some are."""
    head = ("systems", "n", "none drawn in", "false where none is drawn", "false where some are")
    rows = []
    for record in records:
        if record["kind"] == "failures":
            unseen, false = record["unseen"], record["false_unseen"]
            apart = ((false, unseen), (record["false"] - false, record["nulls"] - unseen))
            those = [_per_cent(hits / trials) if trials else "–" for hits, trials in apart]
            rows.append((str(record["systems"]), f"{record['units']:,}", _per_cent(unseen / record["nulls"]), *those))
    return render_table(head, rows)


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f}"
