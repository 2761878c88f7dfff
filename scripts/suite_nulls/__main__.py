"""The command line of `scripts/suites`: read flags, print tables and write files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counted_records import add_files, fill_document, read_records, say

from suite_nulls.simulate import SCENARIOS, simulate
from suite_nulls.tables import fill_table, table

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "suites.json"


def main(arguments: list[str]) -> None:
    """Print the table."""
    asked = _parse(arguments)
    options = {"test_sets": asked.test_sets, "replicates": asked.replicates, "seed": asked.seed}
    records = read_records(asked, lambda: [simulate(scenario, **options, say=say) for scenario in SCENARIOS])
    fill_document(asked.document, lambda page: fill_table(page, records))
    print(table(records))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/suites", description=__doc__)
    parser.add_argument("--test-sets", type=int, default=80_000, help="of each scenario; suites of 10, 20 and 40 are made of them")
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    add_files(parser, RECORDS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
