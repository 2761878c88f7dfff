"""The command line of `scripts/truths`: read flags, print the table and write files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counted_records import add_files, fill_document, read_records, say

from known_truths.measure import TRUTHS, measure
from known_truths.tables import fill_tables, truths_table

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "truths.json"


def main(arguments: list[str]) -> int:
    """Print the table, and return 1 if a truth was not found."""
    asked = _parse(arguments)
    options = {"studies": asked.studies, "seed": asked.seed}
    records = read_records(asked, lambda: [record for name in TRUTHS for record in measure(name, **options, say=say)])
    fill_document(asked.document, lambda page: fill_tables(page, records))
    print(truths_table(records))
    return 0 if all(record["low"] <= record["found"] <= record["high"] for record in records) else 1


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/truths", description=__doc__)
    parser.add_argument("--studies", type=int, default=200, help="studies of each truth")
    parser.add_argument("--seed", type=int, default=1)
    add_files(parser, RECORDS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
