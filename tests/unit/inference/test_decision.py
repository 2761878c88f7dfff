"""The p by which a pair is judged: one way for one pair and for many, floors, few units, and what another system may change."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.decision import Decision, decide_family, without_zero
from pipeline.inference.direct.exact import sign_flips_of_few
from pipeline.inference.multiple_comparisons.families import order_family
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.multiple_comparisons.studentised_max_t import studentised_max_t
from pipeline.inference.unit_diagnostics.few_units import evidence_floor
from pipeline.inference.unit_diagnostics.unit_guard import correct_few_units
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

B = 400


def pairs_of(systems: int) -> np.ndarray:
    return np.stack(np.triu_indices(systems, 1), axis=1)


class Table:
    """Scores of items by system: every family that is made of its first systems shares the replicates."""

    def __init__(self, items: np.ndarray, seed: int = 0) -> None:
        self.items = items
        self.draws = Draws(seed, len(items), len(items))

    def decide(self, systems: int, *, kept: bool = True, alpha: float = 0.05) -> tuple[np.ndarray, Decision]:
        """Judge all pairs of the first systems."""
        pairs, n = pairs_of(systems), len(self.items)
        values = np.rint(100 * self.items[:, :systems]).astype(np.int64)
        statistics = np.stack([values, np.full_like(values, 100)], axis=2)
        measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.ones(systems, bool))
        seen = observe(measure)
        floor = evidence_floor(seen.discordant, sign_flips_of_few(measure, seen))
        star = resample(self.draws, [measure], cells=range(1), replicates=B, keep_replicates=B)[0].score
        gains = star[pairs[:, 0]] - star[pairs[:, 1]]
        hits = (np.abs(gains - seen.delta[:, None]) >= np.abs(seen.delta)[:, None] * (1 - 1e-12)).sum(axis=1)
        p = np.where(seen.identical, 1.0, (hits + 1) / (B + 1))
        max_t, alone, b = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan), 0
        if kept:
            found = studentised_max_t(measure, seen, draws=self.draws, scores=star, floor=floor)
            max_t, alone, b = found.p, found.alone, found.replicates
        corrected = correct_few_units(seen.delta, gains.std(axis=1), units=n).p
        return p, decide_family(p, corrected=corrected, floor=floor, max_t=max_t, alone=alone, replicates=b, alpha=alpha)


def random_table(rng: np.random.Generator, systems: int) -> Table:
    """A small file: few items, graded, skewed or 0/1 scores, ties, and now and then a hopeless system or a copy."""
    n = int(rng.choice([6, 9, 15, 30, 60]))
    kind = rng.choice(["graded", "skewed", "right"])
    draw = {"graded": rng.normal, "skewed": rng.exponential}.get(str(kind))
    items = (rng.random((n, systems)) < 0.7).astype(float) if draw is None else np.round(draw(size=(n, systems)), 1)
    items[:, 1] += 0.0 if kind == "right" else 0.8
    if systems > 2 and rng.random() < 0.5:
        items[:, rng.integers(2, systems)] -= 20
    if systems > 3 and rng.random() < 0.3:
        items[:, 3] = items[:, 0]
    return Table(items, int(rng.integers(1000)))


@pytest.mark.parametrize("kept", [True, False])
def test_further_systems_never_lower_an_old_pair_s_p(kept: bool) -> None:
    rng = np.random.default_rng(14)
    raised = decided = 0
    for _ in range(60):
        table = random_table(rng, 6)
        _, alone = table.decide(2, kept=kept)
        for systems in (3, 6):
            found = table.decide(systems, kept=kept)[1]
            old = (pairs_of(systems) < 2).all(axis=1)
            assert alone.by == found.by
            assert np.all((found.p[old] >= alone.p) | np.isnan(alone.p))
            raised += int((found.p[old] > alone.p).sum())
            decided += int((found.p[old] <= 0.05).sum())
    assert raised > 10
    assert decided > 5


@pytest.mark.parametrize("units", [25, 60])
def test_a_hopeless_third_system_changes_no_p(units: int) -> None:
    """Its pairs leave first; what is left is the old pair, on the same replicates."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        items = np.round(rng.normal(size=(units, 3)), 2)
        items[:, 1] += 0.5
        items[:, 2] -= 200
        table = Table(items)
        (two,), three = table.decide(2)[1].p, table.decide(3)[1].p
        assert three[0] == two


def test_one_pair_is_judged_by_max_t_as_many_are() -> None:
    p, found = Table(np.round(np.random.default_rng(1).normal((0.2, 0.0), size=(60, 2)), 2)).decide(2)
    assert found.by == "max_t"
    assert found.p[0] == found.max_t[0] != p[0]


def test_where_nothing_is_kept_holm_never_adjusts_an_uncorrected_p() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        table = random_table(rng, 4)
        p, found = table.decide(4, kept=False)
        assert found.by == "holm"
        assert np.all((found.own >= p) | np.isnan(found.own))
        np.testing.assert_array_equal(found.p, holm(found.own))
    given = {"max_t": np.array([np.nan]), "alone": np.array([np.nan]), "replicates": 0, "alpha": 0.05}
    alone = decide_family(np.array([0.0134]), corrected=np.array([0.0599]), floor=np.array([2.0**-7]), **given)
    assert alone.p.tolist() == [0.0599]


@pytest.mark.parametrize(("replicates", "by"), [(18, "holm"), (19, "max_t")])
def test_too_few_kept_replicates_leave_it_to_holm(replicates: int, by: str) -> None:
    given = {"corrected": np.full(1, np.nan), "floor": np.zeros(1), "alpha": 0.05}
    assert decide_family(np.array([0.01]), **given, max_t=np.array([0.05]), alone=np.array([0.05]), replicates=replicates).by == by


@pytest.mark.parametrize("kept", [True, False])
def test_seven_wins_and_a_loss_are_not_separated(kept: bool) -> None:
    """McNemar's exact p of 7 and 1 is 2 · 9/256."""
    max_t = np.array([0.045 if kept else np.nan])
    given = {"corrected": np.array([0.034]), "floor": evidence_floor(np.array([8]), np.array([18 / 256]))}
    found = decide_family(np.array([0.0454]), **given, max_t=max_t, alone=max_t, replicates=9999 if kept else 0, alpha=0.05)
    assert found.p.tolist() == [18 / 256]


def seven_to_one(systems: int, losses: int = 1) -> np.ndarray:
    """The first system wins seven and loses some of 100 items against each other one, on other items each time."""
    items = np.ones((100, systems))
    for system in range(1, systems):
        items[10 * system : 10 * system + 7, system] = 0
        items[10 * system + 7 : 10 * system + 7 + losses, system] = 2
    return items


def test_floors_are_corrected_for_the_number_of_pairs() -> None:
    """One pair of seven wins has 2^-6; of eight systems whose pairs all have few discordant units none has so little."""
    table, pairs = Table(seven_to_one(8, losses=0)), pairs_of(8)
    eight = table.decide(8)[1].p
    (alone,) = table.decide(2)[1].p
    assert 2.0**-6 <= alone <= 0.05
    assert eight[(pairs[:, 0] == 0).argmax()] > max(0.05, alone)


def test_a_hopeless_third_system_changes_no_p_that_rests_on_few_units() -> None:
    """Ten wins and a loss, beside a system that is wrong everywhere."""
    items = seven_to_one(3)
    items[20:23, 1] = 0
    items[:, 2] = -5 + np.arange(100) / 100
    table = Table(items)
    (two,), three = table.decide(2)[1].p, table.decide(3)[1].p
    assert three[0] == two


def test_a_pair_with_a_floor_comes_behind_those_with_more_evidence() -> None:
    pairs = np.array([[0, 1], [2, 3]])
    given = {"score": np.zeros(4), "delta": np.array([3.0, 2.5]), "se": np.ones(2), "identical": np.zeros(2, bool)}
    assert order_family(pairs, **given).pair.tolist() == [0, 1]
    assert order_family(pairs, **given, reach=np.array([2.0, np.inf])).pair.tolist() == [1, 0]
    assert order_family(pairs, **given, reach=np.full(2, np.inf)).pair.tolist() == [0, 1]


def test_a_pair_without_a_standard_error_has_p_one_beside_max_t() -> None:
    """No difference is claimed of it; another system cannot give it a p that it had not."""
    given = {"corrected": np.full(2, np.nan), "floor": np.zeros(2), "alpha": 0.05}
    given |= {"max_t": np.array([np.nan, 0.3]), "alone": np.array([np.nan, 0.2])}
    assert decide_family(np.array([0.01, 0.2]), **given, replicates=999).p.tolist() == [1.0, 0.3]
    assert np.isnan(decide_family(np.array([np.nan, 0.2]), **given, replicates=999).p[0])


def test_no_p_is_zero() -> None:
    assert without_zero(np.array([0.0, 1e-300, np.nan])).tolist()[:2] == [5e-324, 1e-300]
    nothing = np.full(1, np.nan)
    given = {"corrected": nothing, "floor": np.zeros(1), "max_t": nothing, "alone": nothing, "replicates": 0, "alpha": 0.05}
    assert decide_family(np.zeros(1), **given).p[0] > 0
