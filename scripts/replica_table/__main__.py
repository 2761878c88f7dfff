"""The command line of `scripts/replicas`: read flags, print tables or write them into the page."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from markdown_tables import render_table

from replica_table.model import Noise, gaussian_limit
from replica_table.rates import ALPHAS, Case, Rate, measure_rates

PAGE = Path(__file__).resolve().parents[2] / "docs" / "replicas.md"
MARKED = re.compile(r"(<!-- rates: [^\n]*-->\n).*?(<!-- end of rates -->)", re.DOTALL)

ALL = ("per-output", "r-of-2r", "segment-block", "whole-run", "paired-runs", "quasi-f", "crossed", "multeval")
BOTH = ("quasi-f", "crossed")
"""The nulls about new runs and new units."""
MIXED = Noise(system_unit=0.7, run=0.1)
CASES = (
    Case(Noise(), 5, ALL),
    Case(Noise(system_unit=0.7), 5, ALL),
    Case(Noise(run=0.1), 5, ALL),
    Case(MIXED, 5, ("segment-block", "whole-run", *BOTH)),
    Case(Noise(run=1.0), 3, ("whole-run", *BOTH)),
    Case(Noise(run=1.0), 5, ("whole-run", *BOTH)),
    Case(Noise(run=1.0), 10, ("whole-run", *BOTH)),
    Case(Noise(), 3, (*BOTH, "multeval")),
    Case(Noise(), 10, ("multeval",)),
    *(Case(noise, 3, BOTH) for noise in (Noise(system_unit=0.7), Noise(run=0.1), MIXED)),
    *(Case(Noise(run=1.0, run_b=0.0), runs, BOTH) for runs in (3, 5)),
    *(Case(Noise(run=1.0, run_b=0.1), runs, BOTH, runs_b=other) for runs, other in ((3, 6), (6, 3))),
    *(Case(replace(noise, gain=gain), runs, BOTH) for runs in (3, 5) for noise, gain in ((MIXED, 0.35), (Noise(), 0.25))),
)
"""Sources of noise; with a gain the rate is power."""
SPECIFIED: Mapping[tuple[Noise, int], Mapping[str, float]] = {
    (Noise(system_unit=0.7), 5): {"r-of-2r": 22, "whole-run": 24, "segment-block": 6, "crossed": 2},
    (Noise(run=0.1), 5): {"segment-block": 14, "r-of-2r": 13, "whole-run": 3, "crossed": 1},
    (Noise(), 3): {"multeval": 7.4},
    (Noise(), 5): {"multeval": 10.1},
    (Noise(), 10): {"multeval": 12.9},
}
"""Per cent at .05 that were expected before anything was run here."""


def main(arguments: list[str]) -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(prog="scripts/replicas", description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--replicates", type=int, default=999)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    asked = parser.parse_args(arguments)
    rates: list[Rate] = []
    for case in CASES:
        print(f"{case.noise.words}, R = {case.runs_in_words}", file=sys.stderr, flush=True)
        rates += measure_rates(case, trials=asked.trials, replicates=asked.replicates, seed=asked.seed)
    command = f"./scripts/replicas --trials {asked.trials} --replicates {asked.replicates} --seed {asked.seed}"
    table = format_rates(rates)
    print(f"{command}\n\n{table}")
    if asked.write:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(MARKED.sub(lambda _: f"<!-- rates: {command} -->\n\n{table}\n\n<!-- end of rates -->", page), "utf-8")


def format_rates(rates: Iterable[Rate]) -> str:
    """Return one line a null and case."""
    head = ["noise", "R", "null", "specified", "Gaussian limit", "at .01", "at .05", "95 % interval", "at .10", "rejected at .05"]
    return render_table(head, [_row(rate) for rate in rates])


def _row(rate: Rate) -> list[str]:
    case = rate.case
    specified = SPECIFIED.get((case.noise, case.runs), {}).get(rate.null)
    limit = gaussian_limit(rate.null, case.noise, units=case.units, runs=case.runs)
    low, high = rate.interval()
    at = [f"{100 * hits / rate.trials:.1f} %" for hits in rate.rejected]
    return [
        case.noise.words,
        case.runs_in_words,
        f"`{rate.null}`",
        "–" if specified is None else f"{specified:g} %",
        "–" if limit is None else f"{100 * limit:.1f} %",
        at[0],
        at[1],
        f"{100 * low:.1f} … {100 * high:.1f} %",
        at[2],
        f"{rate.rejected[ALPHAS.index(0.05)]:,} of {rate.trials:,}",
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
