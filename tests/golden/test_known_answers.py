"""Known answers: p-values of small cases as exact rationals, by full enumeration, and what our kernels say of them."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from enumeration import (
    bootstrap_events,
    bootstrap_law,
    bootstrap_p_values,
    chance,
    coin_p_values,
    discordant_units,
    observed_gain,
    swap_law,
)
from scipy.special import bdtr, bdtrc

from pipeline.inference.direct.by_name import direct_tests
from pipeline.inference.p_values import CONVENTIONS
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import COUNTS, Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.randomize import randomize
from pipeline.resampling.resample import resample

GOLDEN = Path(__file__).with_name("known_answers.json")
REPLICATES = 2**17
FALSE_ALARM = 1e-6  # of all Monte-Carlo comparisons of a case together

ABOUT = """\
Small test sets of paired systems and the exact p-values of resampling tests on them, for any tool to be checked against.
Every probability is a fraction p/q in lowest terms, found by going through all n^n bootstrap samples or all 2^m swaps in integer
 arithmetic; 'decimals' repeats the p-values to twelve digits.
cases[].statistics[unit][system] is [numerator, denominator]; the score of a system is the sum of its numerators over the sum of its
 denominators, and 0/0 is no score. 'higher_is_better' is the direction.
cases[].pairs[]: 'systems' are two positions, the system that is ahead first, or as they come where 'gain' is 0. 'gain' is
 delta = s(first) - s(second), or the negative of it where lower is better, so that delta >= 0; 'discordant' counts the units whose
 statistics differ.
'bootstrap' are chances of delta*, the gain of n units drawn with replacement, the same units for both systems: 'below_zero' is
 P(delta* < 0), and so on. 'empty' is the chance of a sample in which a score is 0/0; all other chances are given that it is not.
'swaps' are chances of delta-degree, the gain where each unit's statistics change sides with chance 1/2: 'at_least' is
 P(|delta-degree| >= delta), 'above' is P(|delta-degree| > delta).
'p' are p-values. A pair with identical statistics has p = 1 throughout. With delta = 0 and differing statistics the two-sided p is
 1, and p is null where a side is needed: there is no order.
one-sided: P(delta* > 2 delta), Berg-Kirkpatrick and others 2012. one-sided-with-ties: P(delta* >= 2 delta).
 two-sided: P(|delta* - delta| >= delta). below-zero: P(delta* < 0), Koehn 2004. at-or-below-zero: P(delta* <= 0).
riezler-maxwell: P(|delta*| - mean |delta*| >= delta), 2005, the limit of (s + 1)/(b + 1) with the exact mean;
 riezler-maxwell-strict: with >, as sacreBLEU counts. Where delta = 0 they are what such a tool counts.
approximate-randomization: P(|delta-degree| >= delta).
sign: 2 P(X >= larger of wins and losses), at most 1, X being the heads of wins + losses fair coins; a win is a unit on which the
 first system's numerator is the better one; where both systems have the same denominators. mcnemar: the same, where besides all
 denominators are one constant and numerators have two values; mcnemar-mid-p: less P(X = larger of wins and losses).
"""
"""What the numbers are: lines of the file, each continued where the next begins with a blank."""


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


SIDED = ("one-sided", "one-sided-with-ties", "below-zero", "at-or-below-zero")


def describe_pair(statistics: list[list[list[int]]], first: int, second: int, higher: bool) -> dict[str, Any]:
    sign = 1 if higher else -1
    units = [(tuple(row[first]), tuple(row[second])) for row in statistics]
    delta = observed_gain(units, sign=sign)
    assert delta is not None
    if delta < 0:
        return describe_pair(statistics, second, first, higher)
    law, swapped = bootstrap_law(units, sign=sign), swap_law(units, sign=sign)
    p: dict[str, Fraction | None] = dict(bootstrap_p_values(law, delta))
    p["approximate-randomization"] = chance(swapped, lambda gain: abs(gain) >= delta)
    p |= coins(units, sign)
    no_order = delta == 0
    for name in p:
        if not discordant_units(units):
            p[name] = Fraction(1)
        elif no_order and name in SIDED:
            p[name] = None
    return {
        "systems": [first, second],
        "gain": str(delta),
        "discordant": discordant_units(units),
        "bootstrap": {name: str(value) for name, value in bootstrap_events(law, delta).items()},
        "swaps": {
            "at_least": str(chance(swapped, lambda gain: abs(gain) >= delta)),
            "above": str(chance(swapped, lambda gain: abs(gain) > delta)),
        },
        "p": {name: None if value is None else str(value) for name, value in p.items()},
        "decimals": {name: None if value is None else float(f"{float(value):.12g}") for name, value in p.items()},
    }


def coins(units: list[Any], sign: int) -> dict[str, Fraction | None]:
    if any(a[1] != b[1] for a, b in units):
        return {}
    steps = [sign * (a[0] - b[0]) for a, b in units]
    found = coin_p_values(sum(step > 0 for step in steps), sum(step < 0 for step in steps))
    result: dict[str, Fraction | None] = {"sign": found["two-sided"]}
    if len({a[1] for a, _ in units}) == 1 and len({x[0] for unit in units for x in unit}) <= 2:
        result |= {"mcnemar": found["two-sided"], "mcnemar-mid-p": found["two-sided-mid-p"]}
    return result


def make_answers() -> dict[str, Any]:
    cases = []
    for name, higher, statistics in CASES:
        systems = len(statistics[0])
        pairs = [describe_pair(statistics, a, b, higher) for a in range(systems) for b in range(a + 1, systems)]
        cases.append({"name": name, "higher_is_better": higher, "statistics": statistics, "pairs": pairs})
    return {"about": ABOUT.replace("\n ", " ").splitlines(), "cases": cases}


def read_cases() -> list[dict[str, Any]]:
    return list(json.loads(GOLDEN.read_text())["cases"])


def measure_of(case: dict[str, Any]) -> Measure:
    statistics = np.array(case["statistics"], np.int64)
    pairs = np.array([pair["systems"] for pair in case["pairs"]], np.int64)
    keep = np.zeros(statistics.shape[1], bool)
    return Measure(statistics, lambda sums: 1.0 * (sums[0] / sums[1]), "ratio", case["higher_is_better"], pairs, keep)


def by_name(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.golden
def test_the_file_is_what_enumeration_gives():
    """To write it anew: ``PYTHONPATH=tests python tests/golden/test_known_answers.py``."""
    assert json.loads(GOLDEN.read_text()) == make_answers()


def test_the_constants_of_the_design_are_in_the_file():
    known = {case["name"]: case["pairs"][0]["decimals"] for case in read_cases()}
    hundred, blog = known["eight wins and four losses of a hundred"], known["four helped, three hurt of ten"]
    wanted = {
        "one-sided": 0.0955, "one-sided-with-ties": 0.1529, "below-zero": 0.0927, "at-or-below-zero": 0.1525,
        "two-sided": 0.3054, "approximate-randomization": 0.3877, "mcnemar-mid-p": 0.2668,
    }  # fmt: skip
    assert {name: round(hundred[name], 4) for name in wanted} == wanted
    assert round(blog["at-or-below-zero"], 8) == 0.42173233


@pytest.mark.parametrize("case", read_cases() if GOLDEN.exists() else [], ids=by_name)
def test_procedures_without_draws_give_the_known_answers(case):
    measure = measure_of(case)
    names = {"exact-bootstrap": "", "exact-sign-flip": "approximate-randomization", "sign": "sign", "mcnemar": "mcnemar"}
    found = direct_tests([*names, "mcnemar-mid-p"], measure, observe(measure))
    for row, pair in enumerate(case["pairs"]):
        p = {name: np.nan if value is None else float(Fraction(value)) for name, value in pair["p"].items()}
        ours = {name: found[test].two_sided[row] for test, name in names.items() if name}
        ours["mcnemar-mid-p"] = found["mcnemar-mid-p"].two_sided[row]
        ours |= {name: found["exact-bootstrap"].of(name)[row] for name in CONVENTIONS[:4]}
        if "sign" not in p:  # denominators differ: there is nothing exact
            assert np.isnan(list(ours.values())).all()
            continue
        missing = np.nan if pair["discordant"] else 1.0  # identical systems have a p of 1 by every procedure
        for name, value in ours.items():
            assert value == pytest.approx(p.get(name, missing), rel=1e-9, abs=0, nan_ok=True), name


@pytest.mark.statistical
@pytest.mark.parametrize("case", read_cases() if GOLDEN.exists() else [], ids=by_name)
def test_monte_carlo_agrees_with_the_known_answers(case):
    """False alarm 1e-6 a case, shared by its comparisons: seven of the bootstrap and two of the swaps a pair."""
    measure = measure_of(case)
    units, cells = len(measure.statistics), range(REPLICATES // 2**14)
    (drawn,) = resample(Draws(2024, units, units), [measure], cells=cells, replicates=REPLICATES)
    (swapped,) = randomize(Draws(2025, units, units), [measure], cells=cells, replicates=REPLICATES)
    alarm = FALSE_ALARM / (9 * len(case["pairs"]))
    for row, pair in enumerate(case["pairs"]):
        counts = dict(zip(COUNTS, drawn.counts[row].sum(axis=0).tolist(), strict=True))
        empty = int(drawn.empty[row].sum())
        chances = {name: Fraction(value) for name, value in pair["bootstrap"].items()}
        assert_binomial(empty, REPLICATES, chances.pop("empty"), alarm)
        for name, p in chances.items():
            assert_binomial(counts[name], REPLICATES - empty, p, alarm)
        flips = dict(zip(COUNTS, swapped.counts[row].sum(axis=0).tolist(), strict=True))
        if swapped.empty[row].sum() or pair["gain"] == "0":
            continue  # of no gain the counts overlap: their p is 1 by definition
        at_least = sum(flips[name] for name in ("above_twice_delta", "at_twice_delta", "below_zero", "at_zero"))
        assert_binomial(at_least, REPLICATES, Fraction(pair["swaps"]["at_least"]), alarm)
        assert_binomial(flips["above_twice_delta"] + flips["below_zero"], REPLICATES, Fraction(pair["swaps"]["above"]), alarm)


def assert_binomial(hits: int, trials: int, p: Fraction, alarm: float) -> None:
    """Fail where a count this far out has a chance below ``alarm``."""
    if p in (0, 1):
        assert hits == trials * p
        return
    tail = min(bdtr(hits, trials, float(p)), bdtrc(hits - 1, trials, float(p)) if hits else 1.0)
    assert 2 * tail > alarm, f"{hits} of {trials} where {float(p) * trials:.1f} were expected"


if __name__ == "__main__":
    written = json.dumps(make_answers(), indent=1, ensure_ascii=False)
    written = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", written)
    # one line a unit
    written = re.sub(r"\[\s+(\[\d+, \d+\](?:,\s+\[\d+, \d+\])*)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", written)
    GOLDEN.write_text(written + "\n")
