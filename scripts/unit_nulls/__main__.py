"""The command line of `scripts/units`: read flags, print tables and write files."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from unit_nulls.simulate import FEW, MANY, simulate
from unit_nulls.tables import TABLES, fill_tables

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "units.json"


def main(arguments: list[str]) -> None:
    """Print the tables."""
    asked = _parse(arguments)
    if asked.simulate is not None:
        scenarios = list(dict.fromkeys([*MANY, *FEW]))
        options = {"trials": asked.trials, "replicates": asked.replicates, "seed": asked.seed}
        records = [simulate(scenario, **options, say=_say) for scenario in scenarios]
        lines = ",\n".join(json.dumps(record) for record in records)
        asked.simulate.write_text(f'{{"schema_version": 1, "records": [\n{lines}\n]}}\n', encoding="utf-8")
    else:
        records = json.loads(asked.records.read_text(encoding="utf-8"))["records"]
    if asked.document is not None:
        asked.document.write_text(fill_tables(asked.document.read_text(encoding="utf-8"), records), encoding="utf-8")
    print("\n\n".join(table(records) for table in TABLES.values()))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/units", description=__doc__)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulate", type=Path, metavar="FILE", help="simulate anew, and write what was counted")
    parser.add_argument("--records", type=Path, default=RECORDS, help="what --simulate wrote")
    parser.add_argument("--document", type=Path, help="write the tables between the marks of this page")
    return parser.parse_args(arguments)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
