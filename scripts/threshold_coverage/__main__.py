"""The command line of `scripts/thresholds`: read flags, print tables and write files."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from threshold_coverage.measure import measure
from threshold_coverage.populations import POPULATIONS
from threshold_coverage.tables import TABLES, fill_tables

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "thresholds.json"


def main(arguments: list[str]) -> None:
    """Print the tables."""
    asked = _parse(arguments)
    if asked.simulate is not None:
        options = {"trials": asked.trials, "resampled": asked.resampled, "draws": asked.draws, "seed": asked.seed}
        records = [
            record for one in POPULATIONS for systems in one.systems for record in measure(one, systems, **options, say=_say)
        ]
        lines = ",\n".join(json.dumps(record) for record in records)
        asked.simulate.write_text(f'{{"schema_version": 1, "records": [\n{lines}\n]}}\n', encoding="utf-8")
    else:
        records = json.loads(asked.records.read_text(encoding="utf-8"))["records"]
    if asked.document is not None:
        asked.document.write_text(fill_tables(asked.document.read_text(encoding="utf-8"), records), encoding="utf-8")
    print("\n\n".join(table(records) for table in TABLES.values()))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/thresholds", description=__doc__)
    parser.add_argument("--trials", type=int, default=500, help="studies a population and number of systems")
    parser.add_argument("--resampled", type=int, default=150, help="of these, studies whose systems are resampled too")
    parser.add_argument("--draws", type=int, default=300, help="samples of systems a study")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulate", type=Path, metavar="FILE", help="simulate anew, and write what was counted")
    parser.add_argument("--records", type=Path, default=RECORDS, help="what --simulate wrote")
    parser.add_argument("--document", type=Path, help="write the tables between the marks of this page")
    return parser.parse_args(arguments)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
