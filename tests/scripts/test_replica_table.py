"""What docs/replicas.md says of each null's level is what our code does: a few trials with another seed against its table."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from replica_table.__main__ import CASES, format_rates
from replica_table.model import Noise, gaussian_limit, simulate
from replica_table.rates import ALPHAS, Case, Rate, measure_rates
from scipy.stats import binomtest, hypergeom

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "replicas.md").read_text("utf-8")
# noise, R, null, …, hits and trials
ROW = re.compile(r"^\| ([^|]*) \| (\d+(?: and \d+)?) \| `([a-z0-9-]+)` \|.* \| ([\d,]+) of ([\d,]+) \|$", re.MULTILINE)
FALSE_ALARM = 1e-6 / 63  # so many rows


def rows_of(text: str) -> dict[tuple[str, str, str], tuple[int, int]]:
    found = ROW.findall(text)
    return {
        (noise, runs, null): (int(hits.replace(",", "")), int(trials.replace(",", ""))) for noise, runs, null, hits, trials in found
    }


SHOWN = rows_of(PAGE)


def test_the_page_shows_every_null_of_every_case() -> None:
    assert set(SHOWN) == {(case.noise.words, case.runs_in_words, null) for case in CASES for null in case.nulls}
    assert min(trials for _, trials in SHOWN.values()) >= 10_000


def assert_same_rates(rates: list[Rate]) -> None:
    """Compare with the page: given the sum of hits, ours are hypergeometric where the rates are the same."""
    for rate in rates:
        hits, trials = SHOWN[rate.case.noise.words, rate.case.runs_in_words, rate.null]
        own = rate.rejected[ALPHAS.index(0.05)]
        law = hypergeom(trials + rate.trials, hits + own, rate.trials)
        chance = 2 * min(law.cdf(own), law.sf(own - 1))
        assert chance > FALSE_ALARM, f"{rate.null} with {rate.case.noise.words}: {own} of {rate.trials}, page {hits} of {trials}"


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES[1:3], ids=lambda case: case.noise.words)
def test_a_few_trials_agree_with_the_page(case: Case) -> None:
    # False alarm 1e-6 over all rows.
    assert_same_rates(measure_rates(case, trials=200, replicates=999, seed=20_011))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.noise.words}, {case.runs_in_words}")
def test_many_trials_with_a_fresh_seed_agree_with_the_page(case: Case) -> None:
    seed = int(np.random.default_rng().integers(2**31))
    print(f"seed {seed}")
    assert_same_rates(measure_rates(case, trials=4000, replicates=999, seed=seed))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("case", [*CASES[:4], CASES[7], CASES[8]], ids=lambda case: f"{case.noise.words}, {case.runs_in_words}")
def test_many_units_come_to_the_gaussian_limit(case: Case) -> None:
    # The limit leaves out how far n = 100 units and five runs tell their variance: one point of room, beside 1e-6.
    nulls = tuple(null for null in case.nulls if gaussian_limit(null, case.noise, units=100, runs=case.runs) is not None)
    for rate in measure_rates(replace(case, nulls=nulls), trials=4000, replicates=999, seed=3):
        limit = gaussian_limit(rate.null, case.noise, units=100, runs=case.runs)
        found = binomtest(rate.rejected[1], rate.trials).proportion_ci(1 - 1e-6 / 63)
        assert limit is not None
        assert found.low - 0.01 <= limit <= found.high + 0.01, rate.null


@pytest.mark.parametrize(("runs", "per_cent"), [(3, 7.4), (5, 10.1), (10, 12.9)])
def test_multevals_shuffle_is_as_liberal_as_it_is_said_to_be(runs: int, per_cent: float) -> None:
    assert gaussian_limit("multeval", Noise(), units=100, runs=runs) == pytest.approx(per_cent / 100, abs=0.0005)


@pytest.mark.statistical
def test_simulated_systems_have_the_noise_that_is_asked_for() -> None:
    noise = Noise(system_unit=0.7, run=0.5)
    made = simulate(noise, trials=2000, units=10, runs=4, runs_b=4, generator=np.random.default_rng(5))
    values = np.array([array[:, :, 0] for array in made.statistics]).reshape(2000, 2, 4, 10) / 2**12
    gains = values.mean(axis=(2, 3))[:, 0] - values.mean(axis=(2, 3))[:, 1]
    expected = 2 * 0.49 / 10 + 2 * (0.25 + 1 / 10) / 4
    # False alarm 1e-6: 4.9 standard errors of a variance.
    assert gains.var() == pytest.approx(expected, rel=4.9 * np.sqrt(2 / 2000))


def test_a_table_can_be_read_back() -> None:
    rate = Rate(CASES[1], "r-of-2r", 20_000, (1000, 4321, 7000))
    assert rows_of(format_rates([rate])) == {("S×unit 0.7", "5", "r-of-2r"): (4321, 20_000)}
