"""Known answers: p-values of small cases as exact rationals, by full enumeration, and what our procedures say of them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from known_cases import CASES, GOLDEN, make_answers
from scipy.special import bdtr, bdtrc

from pipeline.inference.convention_levels import null_p
from pipeline.inference.conventions import riezler_maxwell
from pipeline.inference.p_values import CONVENTIONS
from pipeline.procedures.direct import direct_tests
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import COUNTS, Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.randomize import randomize
from pipeline.resampling.resample import resample

TESTS = Path(__file__).resolve().parents[1]
REPLICATES = 2**17
FALSE_ALARM = 1e-6  # of all Monte-Carlo comparisons of a case together
ONE_SIDED = {
    "exact-sign-flip": "sign-flip-one-sided",
    "sign": "sign-one-sided",
    "mcnemar": "mcnemar-one-sided",
    "mcnemar-mid-p": "mcnemar-mid-p-one-sided",
    "wilcoxon": "wilcoxon-one-sided",
}
TWO_SIDED = {"exact-sign-flip": "approximate-randomization"} | {name: name for name in list(ONE_SIDED)[1:]}


def read_cases() -> list[dict[str, Any]]:
    return list(json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"])


def load_measure(case: dict[str, Any], *, keep: bool = False) -> Measure:
    statistics = np.array(case["statistics"], np.int64)
    pairs = np.array([pair["systems"] for pair in case["pairs"]], np.int64)
    kept = np.full(statistics.shape[1], keep)
    return Measure(statistics, lambda sums: 1.0 * (sums[0] / sums[1]), "ratio", case["higher_is_better"], pairs, kept)


def by_name(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.golden
def test_the_file_is_what_enumeration_gives():
    """To write it anew: ``PYTHONPATH=tests python tests/golden/known_cases.py``."""
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == make_answers()


@pytest.mark.parametrize(
    "module", ["support/enumeration", "support/replica_enumeration", "golden/known_cases", "golden/known_fields"]
)
def test_what_enumerates_knows_nothing_of_the_package_nor_of_floating_arrays(module):
    tree = ast.parse((TESTS / f"{module}.py").read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)])
        if name and isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert imported
    assert not {name.split(".")[0] for name in imported} & {"pipeline", "numpy", "scipy", "numba"}
    assert {name for name in imported if name.startswith("support")} <= {"support.enumeration", "support.replica_enumeration"}


def paths_of(value: Any, path: str) -> Iterator[str]:
    """Walk down to what is neither a name nor a list of more than numbers."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from paths_of(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(member, (dict, list)) for member in value):
        for member in value:
            yield from paths_of(member, f"{path}[]")
    else:
        yield path


def test_the_file_describes_every_field_that_it_has_and_no_other():
    document = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = {path for path in paths_of({k: v for k, v in document.items() if k != "fields"}, "")} | {"fields"}
    described = {path: re.escape(path).replace(r"\*", r"[\w-]+") for path in document["fields"]}
    groups = {path for path in described if any(other.startswith(path + ".") for other in described)}
    for path in found:
        assert any(re.fullmatch(pattern, path) for name, pattern in described.items() if name not in groups), path
    for name, pattern in described.items():
        assert name in groups or any(re.fullmatch(pattern, path) for path in found), name
    (nulls,) = (text for path, text in document["fields"].items() if path.endswith("nulls.*"))
    assert re.findall(r"(?:\. )([a-z0-9-]+):", nulls) == list(document["replica_cases"][0]["pairs"][0]["nulls"])


def test_fractions_are_in_lowest_terms_and_decimals_are_theirs():
    for case in read_cases():
        for pair in case["pairs"]:
            texts = [pair["gain"], *pair["bootstrap"].values(), *pair["swaps"].values(), *filter(None, pair["p"].values())]
            assert all(str(Fraction(text)) == text for text in texts)
            for name, text in pair["p"].items():
                assert pair["decimals"][name] == (None if text is None else pytest.approx(float(Fraction(text)), rel=1e-11))


def test_the_constants_of_the_design_are_in_the_file():
    known = {case["name"]: case["pairs"][0]["decimals"] for case in read_cases()}
    hundred, blog = known["eight wins and four losses of a hundred"], known["four helped, three hurt of ten"]
    wanted = {
        "one-sided": 0.0955, "one-sided-with-ties": 0.1529, "below-zero": 0.0927, "at-or-below-zero": 0.1525,
        "two-sided": 0.3054, "approximate-randomization": 0.3877, "mcnemar-mid-p": 0.2668,
    }  # fmt: skip
    assert {name: round(hundred[name], 4) for name in wanted} == wanted
    assert round(blog["at-or-below-zero"], 8) == 0.42173233


def test_the_file_has_the_cases_that_tools_get_wrong():
    cases = read_cases()
    assert [case["name"] for case in cases] == [name for name, _, _ in CASES]
    pairs = [pair for case in cases for pair in case["pairs"]]
    assert {0, 1, 2} <= {pair["discordant"] for pair in pairs}
    assert any(len({system[1] for unit in case["statistics"] for system in unit}) > 2 for case in cases)
    assert any(Fraction(pair["bootstrap"]["empty"]) for pair in pairs)
    assert any(pair["gain"] == "0" and pair["discordant"] for pair in pairs)
    assert any(pair["p"].get("sign", "1") != pair["p"]["approximate-randomization"] for pair in pairs)
    assert {len(case["pairs"]) for case in cases} == {1, 3}


@pytest.mark.parametrize("case", read_cases() if GOLDEN.exists() else [], ids=by_name)
def test_procedures_without_draws_give_the_known_answers(case):
    measure = load_measure(case)
    found = direct_tests(["exact-bootstrap", *TWO_SIDED], measure, observe(measure))
    for row, pair in enumerate(case["pairs"]):
        p = {name: np.nan if value is None else float(Fraction(value)) for name, value in pair["p"].items()}
        ours = {name: found[test].two_sided[row] for test, name in TWO_SIDED.items()}
        ours |= {name: found[test].one_sided[row] for test, name in ONE_SIDED.items()}
        ours |= {name: found["exact-bootstrap"].of(name)[row] for name in CONVENTIONS[:4]}
        if "sign" not in p:  # denominators differ: there is nothing exact
            assert np.isnan(list(ours.values())).all()
            continue
        missing = np.nan if pair["discordant"] else 1.0  # identical systems have a p of 1 by every procedure
        for name, value in ours.items():
            assert value == pytest.approx(p.get(name, missing), rel=1e-9, abs=0, nan_ok=True), name


def test_conventions_that_are_computed_from_wins_and_losses_give_the_known_answers():
    names = ("one-sided", "two-sided", "below-zero", "riezler-maxwell", "approximate-randomization")
    for case in read_cases():
        values = {tuple(map(tuple, unit)) for unit in case["statistics"]}
        (pair, *more) = case["pairs"]
        if more or not values <= {((a, 1), (b, 1)) for a in (0, 1) for b in (0, 1)} or pair["gain"] == "0":
            continue
        wins, losses = (sum(unit == [[win, 1], [1 - win, 1]] for unit in case["statistics"]) for win in (1, 0))
        for name in names:
            ours = null_p(name, wins=wins, losses=losses, units=len(case["statistics"]))
            assert ours == pytest.approx(float(Fraction(pair["p"][name])), rel=1e-9, abs=1e-15), (case["name"], name)


@pytest.mark.statistical
@pytest.mark.parametrize("case", read_cases() if GOLDEN.exists() else [], ids=by_name)
def test_monte_carlo_agrees_with_the_known_answers(case):
    """False alarm 1e-6 a case, shared by its comparisons: seven of the bootstrap and three of the swaps a pair."""
    measure = load_measure(case)
    units, cells = len(measure.statistics), range(REPLICATES // 2**14)
    (drawn,) = resample(Draws(2024, units, units), [measure], cells=cells, replicates=REPLICATES)
    (swapped,) = randomize(Draws(2025, units, units), [measure], cells=cells, replicates=REPLICATES)
    alarm = FALSE_ALARM / (10 * len(case["pairs"]))
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
        swaps = {name: Fraction(value) for name, value in pair["swaps"].items()}
        above = flips["above_twice_delta"]
        assert_binomial(
            above + flips["at_twice_delta"] + flips["below_zero"] + flips["at_zero"], REPLICATES, swaps["at_least"], alarm
        )
        assert_binomial(above + flips["below_zero"], REPLICATES, swaps["above"], alarm)
        assert_binomial(above + flips["at_twice_delta"], REPLICATES, swaps["not_below"], alarm)


@pytest.mark.statistical
@pytest.mark.parametrize("case", read_cases() if GOLDEN.exists() else [], ids=by_name)
def test_the_fold_of_kept_scores_agrees_with_the_known_answers(case):
    """False alarm 1e-6 a case. Where a tie hangs on the mean, a mean of draws decides it: both answers are right."""
    measure = load_measure(case, keep=True)
    units = len(measure.statistics)
    cells = range(REPLICATES // 2**14)
    (drawn,) = resample(Draws(2026, units, units), [measure], cells=cells, replicates=REPLICATES, keep_replicates=REPLICATES)
    seen = observe(measure)
    found = riezler_maxwell(drawn.score, measure.pairs, score=seen.score, delta=seen.delta, identical=seen.identical)
    alarm = FALSE_ALARM / (2 * len(case["pairs"]))
    for row, pair in enumerate(case["pairs"]):
        b = int(found.replicates[row])
        assert b + int(drawn.empty[row].sum()) == REPLICATES
        if not pair["discordant"]:
            assert found.p[row] == 1.0
            continue
        with_ties, strict = (Fraction(pair["p"][name]) for name in ("riezler-maxwell", "riezler-maxwell-strict"))
        hits = int(found.hits[row])
        if with_ties == strict:
            assert_binomial(hits, b, with_ties, alarm)
        assert bdtr(hits, b, float(strict)) > alarm
        assert hits == 0 or bdtrc(hits - 1, b, float(with_ties)) > alarm


def assert_binomial(hits: int, trials: int, p: Fraction, alarm: float) -> None:
    """Fail where a count this far out has a chance below ``alarm``."""
    if p in (0, 1):
        assert hits == trials * p
        return
    tail = min(bdtr(hits, trials, float(p)), bdtrc(hits - 1, trials, float(p)) if hits else 1.0)
    assert 2 * tail > alarm, f"{hits} of {trials} where {float(p) * trials:.1f} were expected"
