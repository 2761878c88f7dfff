"""The command line of `scripts/thresholds`: read flags, print tables and write files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counted_records import add_files, fill_document, read_records, say

from threshold_coverage.measure import measure
from threshold_coverage.populations import POPULATIONS
from threshold_coverage.tables import TABLES, fill_tables

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "thresholds.json"


def main(arguments: list[str]) -> None:
    """Print the tables."""
    asked = _parse(arguments)
    options = {"trials": asked.trials, "resampled": asked.resampled, "draws": asked.draws, "seed": asked.seed}
    records = read_records(
        asked,
        lambda: [record for one in POPULATIONS for systems in one.systems for record in measure(one, systems, **options, say=say)],
    )
    fill_document(asked.document, lambda page: fill_tables(page, records))
    print("\n\n".join(table(records) for table in TABLES.values()))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/thresholds", description=__doc__)
    parser.add_argument("--trials", type=int, default=500, help="studies a population and number of systems")
    parser.add_argument("--resampled", type=int, default=150, help="of these, studies whose systems are resampled too")
    parser.add_argument("--draws", type=int, default=300, help="samples of systems a study")
    parser.add_argument("--seed", type=int, default=1)
    add_files(parser, RECORDS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
