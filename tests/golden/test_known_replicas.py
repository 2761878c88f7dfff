"""Known answers of systems with several runs: what every null of the package says of cases that were enumerated in full."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from known_cases import CASES, GOLDEN, REPLICA_CASES, describe_pair
from scipy.special import bdtr, bdtrc
from support.multeval import multeval
from support.replica_enumeration import enumerate_null

from pipeline.resampling.address import count_cells, draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.nulls import NULLS, REASONS, smallest_p
from pipeline.resampling.replicas.outputs import Replicas

REPLICATES = 2**16
FALSE_ALARM = 1e-6  # of all comparisons of a case and null together
ENUMERATED = ("whole-run", "paired-runs")
NAMES = tuple(null.name for null in NULLS if not null.computed)


def read_cases() -> list[dict[str, Any]]:
    return list(json.loads(GOLDEN.read_text(encoding="utf-8"))["replica_cases"]) if GOLDEN.exists() else []


def replicas_of(case: dict[str, Any], *, turned: bool = False) -> Replicas:
    statistics = tuple(np.array(system, np.int64) for system in case["statistics"])
    pairs = np.array([pair["systems"][:: -1 if turned else 1] for pair in case["pairs"]], np.int64)
    return Replicas(statistics, lambda sums: 1.0 * (sums[0] / sums[1]), "ratio", case["higher_is_better"], pairs)


def address(null: str, units: int) -> Draws:
    key = draw_key(seed=7, purpose=null, test_set="known answers", size="full", rule="prefix")
    return Draws(key, units, units)


def by_name(case: dict[str, Any]) -> str:
    return str(case["name"])


def agrees(hits: int, trials: int, p: Fraction, alarm: float) -> bool:
    """Tell whether a binomial count is not so far out that its chance is below ``alarm``."""
    if p in (0, 1):
        return hits == trials * p
    tail = min(bdtr(hits, trials, float(p)), bdtrc(hits - 1, trials, float(p)) if hits else 1.0)
    return bool(2 * tail > alarm)


@pytest.mark.parametrize("case", read_cases(), ids=by_name)
@pytest.mark.parametrize("null", ENUMERATED)
def test_nulls_that_count_all_arrangements_give_the_known_answers(null, case):
    replicas = replicas_of(case)
    found = count_null(null, address(null, replicas.n_units), replicas, cells=range(1), replicates=10)
    for row, pair in enumerate(case["pairs"]):
        known = pair["nulls"][null]
        if "reason" in known:
            assert (REASONS[found.reason[row]], np.isnan(found.p[row])) == (known["reason"], True)
            continue
        assert found.enumerated[row]
        assert int(found.compared[row].sum()) == known["arrangements"]
        assert Fraction(int(found.hits[row].sum()), known["arrangements"]) == Fraction(known["p"])
        assert found.p[row] == float(Fraction(known["p"]))


@pytest.mark.statistical
@pytest.mark.parametrize("case", read_cases(), ids=by_name)
@pytest.mark.parametrize("null", [name for name in NAMES if name not in ENUMERATED])
def test_nulls_that_draw_agree_with_the_known_answers(null, case):
    """False alarm 1e-6 a null and case, shared by its comparisons: hits and empty ones of a pair."""
    replicas = replicas_of(case)
    cells = range(count_cells(REPLICATES))
    found = count_null(null, address(null, replicas.n_units), replicas, cells=cells, replicates=REPLICATES)
    alarm = FALSE_ALARM / (2 * len(case["pairs"]))
    for row, pair in enumerate(case["pairs"]):
        known = pair["nulls"][null]
        if "reason" in known:
            assert (REASONS[found.reason[row]], np.isnan(found.p[row])) == (known["reason"], True)
            continue
        hits, compared, empty = (int(part[row].sum()) for part in (found.hits, found.compared, found.empty))
        assert compared + empty == REPLICATES
        assert agrees(empty, REPLICATES, Fraction(known["empty"]), alarm), known["empty"]
        assert agrees(hits, compared, Fraction(known["p"]), alarm), (hits, compared, known["p"])
        assert found.p[row] == (1.0 if pair["identical"] else (hits + 1) / (compared + 1))


@pytest.mark.statistical
@pytest.mark.parametrize("case", read_cases(), ids=by_name)
def test_the_number_of_the_tool_multeval_agrees_with_the_known_answers(case):
    """False alarm 1e-6 a case."""
    replicas = replicas_of(case)
    units = replicas.n_units
    found = multeval(address("paired-bootstrap", units), address("multeval", units), replicas, replicates=REPLICATES)
    for row, pair in enumerate(case["pairs"]):
        known = pair["nulls"]["multeval"]
        if "reason" in known:
            assert np.isnan(found.tool_p[row])
            continue
        above, compared = int(found.above[row].sum()), int(found.counts.compared[row].sum())
        assert agrees(above, compared, Fraction(known["p-strict"]), FALSE_ALARM / len(case["pairs"]))
        assert found.tool_p[row] == (above + 1) / (compared + 1)


@pytest.mark.parametrize("case", read_cases(), ids=by_name)
@pytest.mark.parametrize("null", NAMES)
def test_the_gain_that_is_compared_is_the_known_one_whichever_system_stands_first(null, case):
    for turned in (False, True):
        replicas = replicas_of(case, turned=turned)
        found = count_null(null, address(null, replicas.n_units), replicas, cells=range(1), replicates=10)
        for row, pair in enumerate(case["pairs"]):
            known = pair["nulls"][null]
            if known.get("reason") == "undefined score":
                assert np.isnan(found.delta[row])
            elif "reason" not in known:
                gain = -float(Fraction(known["gain"])) if turned else float(Fraction(known["gain"]))
                assert found.delta[row] == pytest.approx(gain, rel=1e-12, abs=0)


def test_no_known_answer_is_below_the_floor_that_the_table_gives():
    for case in read_cases():
        for pair in case["pairs"]:
            for null in ENUMERATED:
                p = pair["nulls"][null].get("p")
                assert p is None or Fraction(p) >= Fraction(smallest_p(null, *pair["runs"], None)).limit_denominator(10**6)
    floors = [
        pair["nulls"]["whole-run"]
        for case in read_cases()
        for pair in case["pairs"]
        if case["name"].startswith("three runs each, r")
    ]
    assert [known["p"] for known in floors] == ["1/10"]  # met, by a gain as large as three runs each allow


def test_the_file_has_the_cases_that_tell_nulls_apart():
    cases = read_cases()
    assert [case["name"] for case in cases] == [name for name, _, _ in REPLICA_CASES]
    pairs = [pair for case in cases for pair in case["pairs"]]
    assert {(1, 1), (1, 2), (2, 2), (3, 2), (3, 3)} <= {tuple(pair["runs"]) for pair in pairs}
    assert any(pair["identical"] for pair in pairs)
    assert any(len(case["statistics"][0][0]) == 1 for case in cases)
    for one in NAMES:
        for other in NAMES:
            both = [(pair["nulls"][one].get("p"), pair["nulls"][other].get("p")) for pair in pairs]
            assert one == other or any(p != q for p, q in both if p and q), f"no case tells {one} from {other}"


@pytest.mark.parametrize("case", [case for case in CASES if len(case[2]) < 9], ids=lambda case: case[0])
def test_with_one_run_the_nulls_are_those_of_units(case):
    name, higher, statistics = case
    pair = describe_pair(statistics, 0, 1, higher)
    a, b = ([[tuple(row[system]) for row in statistics]] for system in pair["systems"])
    sign = 1 if higher else -1
    for null in ("per-output", "r-of-2r", "segment-block", "multeval"):
        found = enumerate_null(null, a, b, sign=sign)
        assert str(found["p"]) == pair["swaps"]["at_least"], (name, null)
        assert str(found["p-strict"]) == pair["swaps"]["above"], (name, null)
    crossed = enumerate_null("crossed", a, b, sign=sign)
    assert str(crossed["p"]) == pair["p"]["two-sided"], name
    assert str(crossed["empty"]) == pair["bootstrap"]["empty"], name
