"""The cases of known_answers.json, and their answers by full enumeration. Shares no code with the package.

``PYTHONPATH=tests python tests/golden/known_cases.py`` writes the file anew.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from known_fields import ABOUT, FIELDS
from support.enumeration import (
    bootstrap_events,
    bootstrap_law,
    bootstrap_p_values,
    chance,
    coin_p_values,
    discordant_units,
    observed_gain,
    swap_law,
)
from support.replica_enumeration import enumerate_null, mean, ratio

GOLDEN = Path(__file__).with_name("known_answers.json")
VERSION = 2
NULLS = ("per-output", "r-of-2r", "segment-block", "whole-run", "paired-runs", "crossed", "multeval")


def wins_and_losses(wins: int, losses: int, both: int, neither: int = 0) -> list[list[list[int]]]:
    rows = [(1, 0)] * wins + [(0, 1)] * losses + [(1, 1)] * both + [(0, 0)] * neither
    return [[[a, 1], [b, 1]] for a, b in rows]


def over(denominators: list[int], *numerators: list[int]) -> list[list[list[int]]]:
    return [[[x, c] for x in row] for c, *row in zip(denominators, *numerators, strict=True)]


CASES: list[tuple[str, bool, list[list[list[int]]]]] = [
    ("eight wins and four losses of a hundred", True, wins_and_losses(8, 4, 88)),
    ("four helped, three hurt of ten", True, wins_and_losses(4, 3, 2, 1)),
    ("one discordant unit of ten", True, wins_and_losses(1, 0, 6, 3)),
    ("two wins of ten", True, wins_and_losses(2, 0, 5, 3)),
    ("one win, one loss: different and equal in score", True, wins_and_losses(1, 1, 4, 2)),
    ("every unit won", True, wins_and_losses(6, 0, 0)),
    ("right and wrong, no discordant unit", True, wins_and_losses(0, 0, 5, 3)),
    ("all scores equal", True, over([1] * 5, [3] * 5, [3] * 5)),
    ("identical over unequal denominators", True, over([3, 1, 4, 2, 5], [2, 1, 0, 2, 3], [2, 1, 0, 2, 3])),
    ("one unit", True, over([4], [3], [1])),
    ("two units", True, over([2, 3], [2, 1], [0, 2])),
    ("many ties", True, over([1] * 8, [2, 1, 1, 0, 2, 2, 1, 0], [1, 1, 0, 0, 2, 1, 2, 0])),
    ("three values, two losses", True, over([1] * 7, [5, 3, 9, 1, 4, 4, 2], [1, 2, 10, 1, 0, 6, 2])),
    ("more units won, and the lower score", True, over([1] * 6, [5, 6, 4, 3, 7, 0], [4, 5, 3, 3, 6, 8])),
    ("unequal denominators", True, over([1, 7, 2, 9, 3, 1, 4], [1, 6, 1, 3, 3, 0, 4], [0, 2, 2, 4, 1, 0, 3])),
    ("unequal denominators, errors", False, over([12, 3, 8, 5, 20, 2, 7], [3, 1, 2, 0, 9, 2, 1], [4, 1, 1, 1, 12, 0, 5])),
    ("samples without a score", True, over([0, 0, 3, 0, 2], [0, 0, 2, 0, 2], [0, 0, 1, 0, 1])),
    ("own denominators", True, list(map(list, zip(
        [[3, 4], [1, 2], [0, 3], [5, 5], [2, 2], [4, 7]],
        [[2, 5], [1, 1], [2, 2], [1, 3], [2, 4], [3, 6]],
        strict=True,
    )))),
    ("a system and a copy of it", True, over([1] * 8, [1, 0, 1, 0, 0, 1, 0, 0], *[[1, 1, 1, 0, 1, 1, 0, 0]] * 2)),
]  # fmt: skip
"""What it is, whether higher is better, statistics of (unit, system)."""


def right(*runs: str) -> list[list[list[int]]]:
    """Runs of right and wrong answers."""
    return [[[int(answer), 1] for answer in run] for run in runs]


def shared(denominators: list[int], *runs: list[int]) -> list[list[list[int]]]:
    return [[[x, c] for x, c in zip(run, denominators, strict=True)] for run in runs]


OWN = [
    [[[3, 4], [1, 2], [5, 6]], [[2, 3], [2, 2], [3, 4]]],
    [[[1, 3], [1, 2], [4, 5]], [[2, 5], [0, 1], [3, 6]]],
]
REPLICA_CASES: list[tuple[str, bool, list[list[list[list[int]]]]]] = [
    ("two runs each, right and wrong", True, [right("111", "110"), right("010", "100")]),
    ("two runs each, two units", True, [right("11", "10"), right("00", "01")]),
    ("two runs each, own denominators", True, OWN),
    ("two runs each, errors over shared denominators", False, [
        shared([5, 3, 8], [1, 0, 2], [2, 1, 1]), shared([5, 3, 8], [2, 2, 1], [4, 1, 3]),
    ]),
    ("three runs each, right and wrong", True, [right("111", "101", "110"), right("010", "100", "001")]),
    ("three runs each, two units of unequal size", True, [
        shared([2, 3], [2, 3], [1, 3], [2, 1]), shared([2, 3], [1, 1], [0, 3], [1, 0]),
    ]),
    ("three runs and two", True, [
        [[[3, 4], [2, 2]], [[2, 2], [3, 5]], [[1, 1], [2, 4]]], [[[1, 3], [2, 5]], [[0, 2], [3, 4]]],
    ]),
    ("two runs and one, own denominators", True, [
        [[[3, 4], [2, 2], [5, 9], [1, 3]], [[2, 2], [3, 5], [4, 7], [2, 2]]], [[[1, 3], [2, 5], [6, 8], [0, 1]]],
    ]),
    ("one run and two", True, [right("1101"), right("0100", "1001")]),
    ("one run each", True, [[row] for row in map(list, zip(*over([2, 1, 3, 2], [2, 1, 3, 0], [0, 1, 1, 1]), strict=True))]),
    ("one unit, two runs each", True, [[[[3, 4]], [[4, 5]]], [[[1, 2]], [[1, 3]]]]),
    ("a system, another, and a copy of that", True, [right("110", "111"), *[right("100", "011")] * 2]),
    ("the same runs in another order", True, [right("110", "001"), right("001", "110")]),
    ("runs that are copies of one another", True, [right("111", "111"), right("010", "010")]),
    ("different and equal in score", True, [right("110", "011"), right("101", "101")]),
    ("arrangements without a score", True, [
        [[[1, 1], [0, 0]], [[2, 2], [1, 3]]], [[[0, 0], [1, 3]], [[1, 4], [0, 0]]],
    ]),
    ("a run without a score", True, [[[[0, 0], [0, 0]], [[1, 1], [1, 2]]], right("10", "01")]),
]  # fmt: skip
"""What it is, whether higher is better, statistics of (system, run, unit)."""

SIDED = (
    "one-sided", "one-sided-with-ties", "below-zero", "at-or-below-zero", "sign-flip-one-sided", "sign-one-sided",
    "mcnemar-one-sided", "mcnemar-mid-p-one-sided", "wilcoxon-one-sided",
)  # fmt: skip
TWO_SIDED_TESTS = ("sign", "mcnemar", "mcnemar-mid-p", "wilcoxon")


def describe_pair(statistics: list[list[list[int]]], first: int, second: int, higher: bool) -> dict[str, Any]:
    sign = 1 if higher else -1
    units = [(tuple(row[first]), tuple(row[second])) for row in statistics]
    delta = observed_gain(units, sign=sign)
    assert delta is not None
    if delta < 0:
        return describe_pair(statistics, second, first, higher)
    law, swapped = bootstrap_law(units, sign=sign), swap_law(units, sign=sign)
    swaps = {
        "at_least": chance(swapped, lambda gain: abs(gain) >= delta),
        "above": chance(swapped, lambda gain: abs(gain) > delta),
        "not_below": chance(swapped, lambda gain: gain >= delta),
    }
    p: dict[str, Fraction | None] = dict(bootstrap_p_values(law, delta))
    p |= {"approximate-randomization": swaps["at_least"], "approximate-randomization-strict": swaps["above"]}
    p["sign-flip-one-sided"] = swaps["not_below"]
    p |= textbook_tests(units, sign)
    for name in p:
        if not discordant_units(units):
            p[name] = Fraction(1)
        elif delta == 0 and name in SIDED:
            p[name] = None
        elif delta == 0 and name in TWO_SIDED_TESTS:
            p[name] = Fraction(1)
    return {
        "systems": [first, second],
        "gain": str(delta),
        "discordant": discordant_units(units),
        "bootstrap": {name: str(value) for name, value in bootstrap_events(law, delta).items()},
        "swaps": {name: str(value) for name, value in swaps.items()},
        "p": {name: None if value is None else str(value) for name, value in p.items()},
        "decimals": {name: None if value is None else decimal(value) for name, value in p.items()},
    }


def decimal(value: Fraction) -> float:
    return float(f"{float(value):.12g}")


def textbook_tests(units: list[Any], sign: int) -> dict[str, Fraction | None]:
    """Tests of the units' differences of numerators, where the denominators are common."""
    if any(a[1] != b[1] for a, b in units):
        return {}
    steps = [sign * (a[0] - b[0]) for a, b in units]
    found = coin_p_values(sum(step > 0 for step in steps), sum(step < 0 for step in steps))
    result: dict[str, Fraction | None] = {"sign": found["two-sided"], "sign-one-sided": found["one-sided"]}
    if len({a[1] for a, _ in units}) == 1 and len({x[0] for unit in units for x in unit}) <= 2:
        result |= {"mcnemar": found["two-sided"], "mcnemar-one-sided": found["one-sided"]}
        result |= {"mcnemar-mid-p": found["two-sided-mid-p"], "mcnemar-mid-p-one-sided": found["one-sided-mid-p"]}
    return result | signed_ranks([step for step in steps if step])


def signed_ranks(steps: list[int]) -> dict[str, Fraction | None]:
    """Both p of the signed-rank sum, all 2^m signs of the (doubled) midranks being as likely."""
    sizes = list(map(abs, steps))
    ranks = [2 * sum(other < size for other in sizes) + sizes.count(size) + 1 for size in sizes]
    law = Counter({0: 1})
    for rank in ranks:
        law = Counter(law) + Counter({total + rank: ways for total, ways in law.items()})
    won = sum(rank for rank, step in zip(ranks, steps, strict=True) if step > 0)
    above, below = (sum(ways for total, ways in law.items() if sign * (total - won) >= 0) for sign in (1, -1))
    total = 2 ** len(steps)
    return {"wilcoxon": min(Fraction(2 * min(above, below), total), Fraction(1)), "wilcoxon-one-sided": Fraction(above, total)}


def describe_replicas(systems: list[list[list[list[int]]]], first: int, second: int, higher: bool) -> dict[str, Any]:
    sign = 1 if higher else -1
    runs = [[[(x, c) for x, c in run] for run in systems[place]] for place in (first, second)]
    scores = [mean(ratio((sum(x for x, _ in run), sum(c for _, c in run))) for run in system) for system in runs]
    if None not in scores and sign * (scores[0] - scores[1]) < 0:
        return describe_replicas(systems, second, first, higher)
    found = {null: enumerate_null(null, *runs, sign=sign) for null in NULLS}
    return {
        "systems": [first, second],
        "runs": [len(system) for system in runs],
        "identical": runs[0] == runs[1],
        "nulls": {null: plain(values) for null, values in found.items()},
    }


def plain(values: dict[str, Any]) -> dict[str, Any]:
    texts = {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
    return texts | ({"decimal": decimal(values["p"])} if "p" in values else {})


def make_answers() -> dict[str, Any]:
    cases, replica_cases = [], []
    for name, higher, statistics in CASES:
        pairs = [describe_pair(statistics, a, b, higher) for a, b in combinations(range(len(statistics[0])), 2)]
        cases.append({"name": name, "higher_is_better": higher, "statistics": statistics, "pairs": pairs})
    for name, higher, systems in REPLICA_CASES:
        pairs = [describe_replicas(systems, a, b, higher) for a, b in combinations(range(len(systems)), 2)]
        replica_cases.append({"name": name, "higher_is_better": higher, "statistics": systems, "pairs": pairs})
    return {"version": VERSION, "about": ABOUT, "fields": FIELDS, "cases": cases, "replica_cases": replica_cases}


def write_answers() -> None:
    written = json.dumps(make_answers(), indent=1, ensure_ascii=False)
    written = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", written)
    # one line a unit, or a run
    written = re.sub(r"\[\s+(\[\d+, \d+\](?:,\s+\[\d+, \d+\])*)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", written)
    GOLDEN.write_text(written + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_answers()
