"""The p by which a pair is judged: one way for one pair and for many, floors, few units, and what another system may change."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.decision import Decision, decide_family, without_zero
from pipeline.inference.families import order_family
from pipeline.inference.few_units import StudentTails, evidence_floor, reach_of_floors
from pipeline.inference.max_t import StepDown
from pipeline.inference.multiplicity import holm
from pipeline.inference.unit_guard import correct_few_units

B = 400


def pairs_of(systems: int) -> np.ndarray:
    return np.stack(np.triu_indices(systems, 1), axis=1)


class Table:
    """Scores of items by system, bootstrapped once: every family that is made of its first systems shares the replicates."""

    def __init__(self, items: np.ndarray, seed: int = 0) -> None:
        self.items = items
        draws = np.random.default_rng(seed).integers(0, len(items), (B, len(items)))
        self.star = items[draws].mean(axis=1).T

    def decide(self, systems: int, *, kept: bool = True, alpha: float = 0.05) -> tuple[np.ndarray, Decision]:
        """Judge all pairs of the first systems."""
        pairs, n = pairs_of(systems), len(self.items)
        d = self.items[:, pairs[:, 0]] - self.items[:, pairs[:, 1]]
        seen = {"score": self.items.mean(axis=0), "delta": d.mean(axis=0), "se": d.std(axis=0, ddof=1) / np.sqrt(n)}
        identical = (d == 0).all(axis=0)
        floor = evidence_floor((d != 0).sum(axis=0))
        reach = reach_of_floors(self.star, pairs, **seen, floor=floor)
        family = order_family(pairs, **seen, identical=identical, tails=StudentTails(n), reach=reach)
        counts = StepDown(family)
        counts.add(self.star)
        max_t = counts.result().p if kept else np.full(len(pairs), np.nan)
        star = self.star[pairs[:, 0]] - self.star[pairs[:, 1]]
        hits = (np.abs(star - seen["delta"][:, None]) >= np.abs(seen["delta"])[:, None] * (1 - 1e-12)).sum(axis=1)
        p = np.where(identical, 1.0, (hits + 1) / (B + 1))
        corrected = correct_few_units(seen["delta"], star.std(axis=1), units=n).p
        found = decide_family(
            p, corrected=corrected, floor=floor, max_t=max_t, replicates=B if kept else 0, units=float(n), alpha=alpha
        )
        return p, found


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
    for _ in range(150):
        table = random_table(rng, 6)
        _, alone = table.decide(2, kept=kept)
        for systems in (3, 6):
            found = table.decide(systems, kept=kept)[1]
            old = (pairs_of(systems) < 2).all(axis=1)
            assert alone.by == found.by
            assert np.all((found.p[old] >= alone.p) | np.isnan(alone.p))
            raised += int((found.p[old] > alone.p).sum())
            decided += int((found.p[old] <= 0.05).sum())
    assert raised > 20
    assert decided > 20


@pytest.mark.parametrize("units", [25, 60])
def test_a_hopeless_third_system_changes_no_verdict(units: int) -> None:
    """Its pairs leave first; what is left is the old pair, on the same replicates."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        items = np.round(rng.normal(size=(units, 3)), 2)
        items[:, 1] += 0.5
        items[:, 2] -= 200
        table = Table(items)
        (two,), three = table.decide(2)[1].p, table.decide(3)[1].p
        assert three[0] == two or (units < 50 and three[0] == 3 / (B + 1) > two)  # Holm's floor of three pairs
        assert (three[0] <= 0.05) == (two <= 0.05)


def test_one_pair_is_judged_by_max_t_as_many_are() -> None:
    p, found = Table(np.round(np.random.default_rng(1).normal((0.4, 0.0), size=(60, 2)), 2)).decide(2)
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
    given = {"max_t": np.array([np.nan]), "replicates": 0, "units": 8.0, "alpha": 0.05}
    alone = decide_family(np.array([0.0134]), corrected=np.array([0.0599]), floor=np.array([2.0**-7]), **given)
    assert alone.p.tolist() == [0.0599]


@pytest.mark.parametrize(("replicates", "by"), [(18, "holm"), (19, "max_t")])
def test_too_few_kept_replicates_leave_it_to_holm(replicates: int, by: str) -> None:
    given = {"corrected": np.full(1, np.nan), "floor": np.zeros(1), "units": 1000.0, "alpha": 0.05}
    assert decide_family(np.array([0.01]), **given, max_t=np.array([0.05]), replicates=replicates).by == by


@pytest.mark.parametrize("kept", [True, False])
def test_seven_wins_and_a_loss_are_not_separated(kept: bool) -> None:
    """McNemar's exact p of 7 and 1 is 2 · 9/256."""
    max_t = np.array([0.045 if kept else np.nan])
    given = {"corrected": np.array([0.034]), "floor": evidence_floor(np.array([8]), np.array([18 / 256]))}
    found = decide_family(np.array([0.0454]), **given, max_t=max_t, replicates=10_000, units=100.0, alpha=0.05)
    assert found.p.tolist() == [18 / 256]


def seven_to_one(systems: int, losses: int = 1) -> np.ndarray:
    """The first system wins seven and loses some of 100 items against each other one, on other items each time."""
    items = np.ones((100, systems))
    for system in range(1, systems):
        items[10 * system : 10 * system + 7, system] = 0
        items[10 * system + 7 : 10 * system + 7 + losses, system] = 2
    return items


def test_floors_are_corrected_for_the_number_of_pairs_and_keep_max_t_monotone() -> None:
    """One pair of seven wins has 2^-6; of eight systems whose pairs all have few discordant units none is separated."""
    items = seven_to_one(8, losses=0)
    table, pairs = Table(items), pairs_of(8)
    d = items[:, pairs[:, 0]] - items[:, pairs[:, 1]]
    seen = {"score": items.mean(axis=0), "delta": d.mean(axis=0), "se": d.std(axis=0, ddof=1) / 10}
    floor = evidence_floor((d != 0).sum(axis=0))
    found = {}
    for name, reach in (("without", None), ("with", reach_of_floors(table.star, pairs, **seen, floor=floor))):
        family = order_family(pairs, **seen, identical=np.zeros(28, bool), tails=StudentTails(100), reach=reach)
        counts = StepDown(family)
        counts.add(table.star)
        p = counts.result().p
        assert (np.diff(p[family.pair]) >= 0).all()
        found[name] = p
    assert (found["with"] >= found["without"]).all()
    first = (pairs[:, 0] == 0).argmax()
    assert found["with"][first] >= 2 * 2.0**-6  # corrected, not the floor of one pair
    (alone,) = Table(items[:, :2]).decide(2)[1].p
    assert alone == 2.0**-6


def test_a_hopeless_third_system_changes_no_p_that_rests_on_few_units() -> None:
    """Ten wins and a loss, beside a system that is wrong everywhere."""
    items = seven_to_one(3)
    items[20:23, 1] = 0
    items[:, 2] = -5 + np.arange(100) / 100
    table = Table(items)
    (two,), three = table.decide(2)[1].p, table.decide(3)[1].p
    assert three[0] == two


def test_a_pair_alone_has_the_larger_of_its_p_and_its_floor() -> None:
    """Replicates of few discordant units take few values: what they must reach does not lie between two of them."""
    table = Table(seven_to_one(2))
    pairs, exact = pairs_of(2), np.array([18 / 256])
    d = table.items[:, :1] - table.items[:, 1:]
    seen = {"score": table.items.mean(axis=0), "delta": d.mean(axis=0), "se": d.std(axis=0, ddof=1) / 10}
    family = order_family(pairs, **seen, identical=np.zeros(1, bool), reach=reach_of_floors(table.star, pairs, **seen, floor=exact))
    counts = StepDown(family)
    counts.add(table.star)
    assert counts.result().p[0] <= exact[0]


def test_a_pair_with_a_floor_comes_behind_those_with_more_evidence() -> None:
    pairs = np.array([[0, 1], [2, 3]])
    given = {"score": np.zeros(4), "delta": np.array([3.0, 2.5]), "se": np.ones(2), "identical": np.zeros(2, bool)}
    assert order_family(pairs, **given).pair.tolist() == [0, 1]
    assert order_family(pairs, **given, reach=np.array([2.0, np.inf])).pair.tolist() == [1, 0]
    assert order_family(pairs, **given, reach=np.full(2, np.inf)).pair.tolist() == [0, 1]


def test_below_fifty_units_no_p_is_below_holm_s() -> None:
    given = {"corrected": np.array([0.004, 0.3]), "floor": np.zeros(2), "max_t": np.array([0.006, 0.4]), "alpha": 0.05}
    for units, by, p in ((49.0, "max_t_and_holm", [0.008, 0.4]), (50.0, "max_t", [0.006, 0.4]), (None, "max_t", [0.006, 0.4])):
        found = decide_family(np.array([0.001, 0.3]), **given, replicates=999, units=units)
        assert (found.by, found.p.tolist()) == (by, p)


def test_no_p_is_zero() -> None:
    assert without_zero(np.array([0.0, 1e-300, np.nan])).tolist()[:2] == [5e-324, 1e-300]
    nothing = np.full(1, np.nan)
    given = {"corrected": nothing, "floor": np.zeros(1), "max_t": nothing, "replicates": 0, "units": None, "alpha": 0.05}
    assert decide_family(np.zeros(1), **given).p[0] > 0
