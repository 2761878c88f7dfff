"""The command line of `scripts/units`: read flags, print tables and write files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counted_records import add_files, fill_document, read_records, say

from unit_nulls.simulate import FEW, MANY, simulate
from unit_nulls.tables import TABLES, fill_tables

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "units.json"


def main(arguments: list[str]) -> None:
    """Print the tables."""
    asked = _parse(arguments)
    options = {"trials": asked.trials, "replicates": asked.replicates, "seed": asked.seed}
    records = read_records(asked, lambda: [simulate(one, **options, say=say) for one in dict.fromkeys([*MANY, *FEW])])
    fill_document(asked.document, lambda page: fill_tables(page, records))
    print("\n\n".join(table(records) for table in TABLES.values()))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/units", description=__doc__)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    add_files(parser, RECORDS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
