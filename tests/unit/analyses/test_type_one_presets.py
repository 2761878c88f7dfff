"""The own p of a study's preset on null data sets: what the paper's procedure does to each, and what it rejects of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import binom, norm

from pipeline.analyses.type_one import own_p
from pipeline.analyses.type_one.analysis import TypeOne
from pipeline.analyses.type_one.own_p import OwnP, own_rules
from pipeline.inference.convention_levels import gaussian_rejection, null_p
from pipeline.interfaces import ScoredStatistics
from pipeline.presets.registry import PRESETS
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.null_laboratory import (
    SHARED,
    NullCounts,
    NullSwaps,
    TwoOutputs,
    make_nulls,
    randomize_nulls,
    resample_nulls,
)

FALSE_ALARM = 1e-6
PAPER = "riezler-maxwell-2005"


def share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100 * sums[0] / sums[1]


def gaussian(units: int) -> NDArray[np.int64]:
    """(system, unit, 2): whole numbers over one denominator."""
    numerators = np.rint(1000 * np.random.default_rng(6).normal(size=(2, units))).astype(np.int64)
    return np.stack([numerators, np.ones_like(numerators)], axis=2)


def find(statistics: NDArray[np.int64], preset: str | None, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    """Return rows and the finding of two systems."""
    score = share(statistics.sum(axis=1).T)
    cube = xr.Dataset(
        {
            "observed_score": (("metric", "test_size", "system"), score[None, None]),
            "discordant": (("metric", "test_size", "pair"), np.array([[[statistics.shape[1]]]])),
        },
        coords={
            "metric": ["share"],
            "test_size": ["full"],
            "system": ["a", "b"],
            "procedure": ["paired-bootstrap", "approximate-randomization"],
            "system_a": ("pair", ["a"]),
            "system_b": ("pair", ["b"]),
        },
        attrs={"seed": 5, "unit": "item"} | ({"preset": {"name": preset}} if preset else {}),
    )
    coords = {"system": ["a", "b"], "unit": ("item", np.arange(statistics.shape[1]))}
    data = xr.Dataset({"statistics": (("system", "item", "statistic"), statistics)}, coords=coords)
    scored = {"news": {"share": ScoredStatistics(data, share, "ratio", True)}}
    finding = TypeOne().with_statistics(scored).find({"news": cube}, options)
    return [dict(row) for row in finding.rows], finding


def named(rows: list[dict[str, Any]], convention: str) -> dict[str, Any]:
    (row,) = (row for row in rows if (row["procedure"], row["convention"]) == ("paired-bootstrap", convention))
    return row


@pytest.mark.statistical
def test_the_fold_of_riezler_and_maxwell_rejects_eleven_percent_where_both_two_sided_tests_reject_five() -> None:
    rows, finding = find(gaussian(400), PAPER, nulls=4000)
    fold = named(rows, "riezler-maxwell")
    for level, label in ((0.05, "05"), (0.10, "10")):
        # Gaussian limit: .110 and .246. With 400 units and 499 resamples it is within a percentage point of that; 1e-6 each side.
        rate = gaussian_rejection(level)
        assert binom.cdf(fold[f"rejected_{label}"], fold["nulls"], rate - 0.01) > FALSE_ALARM
        assert binom.sf(fold[f"rejected_{label}"] - 1, fold["nulls"], rate + 0.01) > FALSE_ALARM
    assert abs(fold["rate_05"] - 0.11) <= 0.015 + norm.isf(FALSE_ALARM) * np.sqrt(0.11 * 0.89 / 4000)
    assert (fold["says"], fold["in_study"], fold["decides"]) == ("liberal", True, False)
    for procedure in ("paired-bootstrap", "approximate-randomization"):
        (row,) = (r for r in rows if (r["procedure"], r["convention"]) == (procedure, "two-sided-plus-one"))
        assert binom.sf(row["rejected_05"] - 1, row["nulls"], 0.06) > FALSE_ALARM
    assert any("riezler-maxwell is what riezler-maxwell-2005 itself prints for paired-bootstrap" in note for note in finding.notes)
    assert "riezler-maxwell" in {row["convention"] for row in finding.csv["type_one_quantiles"]}
    assert any("riezler-maxwell rejects 1" in figure.alt for figure in finding.figures)


def test_the_fold_of_each_null_data_set_is_that_of_its_own_replicates() -> None:
    units, b, nulls = 12, 199, SHARED + 3
    pair = TwoOutputs(np.swapaxes(gaussian(units), 0, 1).copy(), share)
    swaps, draws = NullSwaps(Draws(key=1, n_units=units, n_draws=units)), Draws(key=2, n_units=units, n_draws=units)
    own = OwnP(PRESETS[PAPER].rules[:1], nulls=nulls, replicates=b)
    counted = resample_nulls(pair, swaps, draws, nulls=nulls, replicates=b, look=own.look)
    ((_, found, reason),) = own.read(counted, counted)
    assert reason is None
    made = make_nulls(pair, swaps, 0, nulls)[:, :, 0]
    for null in (0, 70, SHARED - 1, SHARED + 2):  # the last ones meet further resamples
        weights = draw_weights(draws, b * (null // SHARED), b).astype(float)
        gap = (made[:, 2 * null] - made[:, 2 * null + 1]).astype(float)
        stars, delta = np.abs(100 * weights @ gap / units), abs(100 * gap.mean())
        hits = np.count_nonzero(stars - stars.mean() >= delta - 1e-9)
        assert found[null] == (hits + 1) / (b + 1), null
    alone = resample_nulls(pair, swaps, draws, nulls=nulls, replicates=b)
    assert np.array_equal(alone.counts, counted.counts)  # looking changes nothing


def test_a_number_off_kept_scores_has_both_sides_of_each_null_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second batch, of three null data sets: scores, observed scores and gain of a pair are of the same one."""
    rng = np.random.default_rng(4)
    scores, score = rng.normal(size=(2, 3, 7)), rng.normal(size=(2, 3))

    def gaps(all_scores: NDArray[np.float64], sides: NDArray[np.int64], **given: Any) -> SimpleNamespace:
        a, b = sides.T
        assert given["score"][a] - given["score"][b] == pytest.approx(given["delta"])
        return SimpleNamespace(own=(all_scores[a] - all_scores[b]).mean(axis=1))

    monkeypatch.setattr(own_p, "import_function", lambda name: gaps)
    rule = PRESETS[PAPER].rules[0]
    own = OwnP([rule], nulls=5, replicates=7)
    own.look(2, scores, score, score[0] - score[1])
    counted = NullCounts(np.zeros(5), np.zeros((5, 8), np.int64), np.zeros(5, np.int64))
    ((_, found, _),) = own.read(counted, counted)
    assert found is not None
    assert np.isnan(found[:2]).all()
    assert found[2:] == pytest.approx((scores[0] - scores[1]).mean(axis=1))


def test_a_preset_of_counts_is_read_off_them_as_it_prints() -> None:
    # Right and wrong answers: every null has eight discordant units, w of them wins of the side that is ahead.
    right = np.zeros((2, 40), np.int64)
    right[0, :8] = 1
    statistics = np.stack([right, np.ones_like(right)], axis=2)
    rows, _ = find(statistics, "jansen-blog", nulls=2000, replicates=1_999)
    row = named(rows, "at-or-below-zero")
    exact = {w: null_p("at-or-below-zero", wins=w, losses=8 - w, units=40) for w in range(5, 9)}
    # No p is so near to .05 that 1999 replicates mistake it: seven standard errors.
    assert all(abs(p - 0.05) > 7 * np.sqrt(p * (1 - p) / 1_999) for p in exact.values())
    rate = float(sum(2 * binom.pmf(w, 8, 0.5) for w, p in exact.items() if p <= 0.05))
    assert 0 < rate < 1
    assert binom.cdf(row["rejected_05"], 2000, rate) > FALSE_ALARM
    assert binom.sf(row["rejected_05"] - 1, 2000, rate) > FALSE_ALARM


@pytest.mark.parametrize("preset", [None, "koehn-2004", "berg-kirkpatrick-2012", "multeval", "gone"])
def test_there_is_no_row_more_where_no_preset_has_a_number_of_its_own(preset: str | None) -> None:
    rows, finding = find(gaussian(30), preset, nulls=100)
    plain, _ = find(gaussian(30), None, nulls=100)
    assert rows == plain
    assert not any("itself prints" in note for note in finding.notes)


def test_why_a_preset_has_no_number_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = find(gaussian(30), "sacrebleu-bs", nulls=100)
    (row,) = (row for row in rows if row["reason"])
    assert (row["rate_05"], row["nulls"], row["replicates"]) == (None, None, None)
    assert row["reason"].startswith("the tool draws for itself")
    monkeypatch.setattr(own_p, "_MOST_REPLICATES", 100)
    reason = named(find(gaussian(30), PAPER, nulls=100, replicates=101)[0], "riezler-maxwell")["reason"]
    assert reason == "it is read off all replicates at once, and there are more than 100"
    assert named(find(gaussian(30), PAPER, nulls=100, replicates=100)[0], "riezler-maxwell")["rate_05"] is not None


def test_swaps_are_read_as_swaps() -> None:
    units = 20
    pair = TwoOutputs(np.swapaxes(gaussian(units), 0, 1).copy(), share)
    swaps, other = (NullSwaps(Draws(key=key, n_units=units, n_draws=units)) for key in (1, 2))
    resampled = resample_nulls(pair, swaps, Draws(key=3, n_units=units, n_draws=units), nulls=50, replicates=99)
    swapped = randomize_nulls(pair, swaps, other.draws, nulls=50, replicates=999)
    (rule,) = (rule for rule in PRESETS[PAPER].rules if rule.counts)
    ((_, found, _),) = OwnP([rule], nulls=50, replicates=99).read(resampled, swapped)
    law = make_nulls(pair, other, 0, 999)[:, :, 0].sum(axis=0).reshape(-1, 2) @ np.array([1, -1])
    sums = make_nulls(pair, swaps, 0, 50)[:, :, 0].sum(axis=0).reshape(-1, 2) @ np.array([1, -1])
    direct = [(np.count_nonzero(np.abs(law) >= abs(one)) + 1) / 1000 for one in sums]
    assert found.tolist() == direct
    assert own_rules(xr.Dataset(attrs={"preset": {"name": PAPER}})) == PRESETS[PAPER].rules[:1]  # the other has its row


def test_a_number_that_a_tool_draws_for_itself_is_no_test_that_was_left_out() -> None:
    (plain,), (check,) = (find(gaussian(30), preset, nulls=100)[1].checks for preset in (None, "sacrebleu-bs"))
    assert check == plain
    assert "not made or tested" not in check.detail
