"""The command line of `scripts/suites`: read flags, print tables and write files."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from suite_nulls.simulate import SCENARIOS, simulate
from suite_nulls.tables import fill_table, table

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "suites.json"


def main(arguments: list[str]) -> None:
    """Print the table."""
    asked = _parse(arguments)
    if asked.simulate is not None:
        options = {"test_sets": asked.test_sets, "replicates": asked.replicates, "seed": asked.seed}
        records = [simulate(scenario, **options, say=_say) for scenario in SCENARIOS]
        lines = ",\n".join(json.dumps(record) for record in records)
        asked.simulate.write_text(f'{{"schema_version": 1, "records": [\n{lines}\n]}}\n', encoding="utf-8")
    else:
        records = json.loads(asked.records.read_text(encoding="utf-8"))["records"]
    if asked.document is not None:
        asked.document.write_text(fill_table(asked.document.read_text(encoding="utf-8"), records), encoding="utf-8")
    print(table(records))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/suites", description=__doc__)
    parser.add_argument("--test-sets", type=int, default=80_000, help="of each scenario; suites of 10, 20 and 40 are made of them")
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulate", type=Path, metavar="FILE", help="simulate anew, and write what was counted")
    parser.add_argument("--records", type=Path, default=RECORDS, help="what --simulate wrote")
    parser.add_argument("--document", type=Path, help="write the table between the marks of this page")
    return parser.parse_args(arguments)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
