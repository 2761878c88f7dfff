"""Enclosures contain the truth, by enumeration for few units and by the whole lattice for many; and they are narrow."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resampling.exact import bootstrap as exact_bootstrap
from pipeline.resampling.exact import flips as exact_flips
from pipeline.resampling.exact.bootstrap import bootstrap_chances
from pipeline.resampling.exact.budget import OF_TAILS, PATIENT, QUICK, Budget
from pipeline.resampling.exact.enclosure import enclose, evaluate, rounding_of, sharpest_first
from pipeline.resampling.exact.factors import make_factor
from pipeline.resampling.exact.flips import sign_flip_chances
from pipeline.resampling.exact.lattice import split
from pipeline.resampling.exact.phases import LANES, has_surely_vanished, keep_turning, start_turning, tabulate_roots

NAMES = ("above_twice", "at_twice", "from_twice", "below_zero", "at_zero", "up_to_zero")
NO_LINE = Budget(points=1, work=0, halves=0)
WIDE = Context(prec=40)


def enumerate_bootstrap(d, c):
    """Return every probability by going through all multisets, in whole numbers; the gain is not negative."""
    return _enumerate(tuple(map(int, d)), tuple(map(int, c)))


@cache
def _enumerate(d, c):
    n, total, size = len(d), sum(d), sum(c)
    found, empty = dict.fromkeys((*NAMES, "two_sided"), 0), 0
    for sample in combinations_with_replacement(range(n), n):
        ways = factorial(n) // prod(factorial(times) for times in Counter(sample).values())
        num, den = sum(d[i] for i in sample), sum(c[i] for i in sample)
        if den == 0:
            empty += ways
            continue
        star, gain = num * size, total * den  # both times den · size, which is positive
        holds = (star > 2 * gain, star == 2 * gain, star >= 2 * gain, star < 0, star == 0, star <= 0, abs(star - gain) >= gain)
        for name, held in zip(found, holds, strict=True):
            found[name] += ways * held
    return {name: Fraction(ways, n**n - empty) for name, ways in found.items()}


def assert_encloses(chance, truth, name=""):
    """Hold a truth that is known to 1e-12 between the bounds."""
    assert chance.low * (1 - 1e-12) <= float(truth) <= chance.high * (1 + 1e-12), (name, chance, float(truth))


SMALL = [
    ([3, -1, 0, 2, -2, 1, 1, 0], [5, 2, 1, 7, 3, 1, 9, 4]),
    ([30000001, -10000007, 123, 22222222, -1, 10**7], [5, 2, 1, 7, 3, 1]),
    ([30000001, -10000007, 123, 22222222, -1, 10**7], [3] * 6),
    ([10**10 + 1, -(10**10), 1, 10**9], [10**6 + 3, 7, 10**6, 2]),  # nearly a coarse lattice: frequencies far out matter
    ([4, -4, 4, -4, 1], [1] * 5),  # ties with the threshold in many samples
    ([2, -1, 1, 0, -1], [3, 2, 0, 0, 5]),
    ([12345678, 0, 0, 0, 0, 0], [1] * 6),
    ([12345678, 999, 0, 0, 0, 0], [1] * 6),
    ([10**9 + 3, -1, -(10**8), 7, 0], [3, 0, 0, 9, 0]),  # differences where the denominator is 0
    ([5 * 10**7, -(10**7), -1, -1, -3, 0], [4, 0, 0, 0, 0, 0]),
]


@pytest.mark.parametrize(("d", "c"), SMALL)
@pytest.mark.parametrize("frequencies", [64, 1000, 2**16])
def test_an_enclosure_contains_the_enumerated_truth(d, c, frequencies):
    found = bootstrap_chances(np.array(d), np.array(c), budget=Budget(points=1, work=0, halves=0, frequencies=frequencies))
    for name, exact in enumerate_bootstrap(d, c).items():
        assert_encloses(getattr(found, name), exact, name)


wide = st.one_of(st.integers(-3, 3), st.integers(-(10**9), 10**9))
units = st.lists(st.tuples(wide, st.integers(0, 10**4)), min_size=1, max_size=6).filter(lambda u: any(c for _, c in u))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(units=units, frequencies=st.sampled_from([64, 500, 5000]))
def test_any_small_pair_lies_in_its_enclosure(units, frequencies):
    d, c = ([unit[axis] for unit in units] for axis in (0, 1))
    d = d if sum(d) >= 0 else [-v for v in d]
    found = bootstrap_chances(np.array(d), np.array(c), budget=Budget(points=1, work=0, halves=0, frequencies=frequencies))
    for name, exact in enumerate_bootstrap(d, c).items():
        if name != "two_sided" or sum(d):
            assert_encloses(getattr(found, name), exact, name)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(atoms=st.dictionaries(st.integers(1, 3000), st.integers(1, 50), min_size=1, max_size=9), seed=st.integers(0, 999))
def test_any_tail_of_a_lattice_lies_in_its_enclosure(atoms, seed):
    """Both P(S > x) and P(S ≥ x), wherever x is."""
    rng = np.random.default_rng(seed)
    values = np.array([0, *sorted(atoms)])
    law = make_factor(values, np.array([rng.integers(1, 99), *(atoms[v] for v in sorted(atoms))]), draws=int(rng.integers(1, 400)))
    x = int(rng.integers(1, int(law.powers[0] * values[-1]))) if law.powers[0] * values[-1] > 1 else 0
    if not x:
        return
    exact = split(law, x)
    found, is_below = enclose(law, x, frequencies=int(rng.integers(64, 4000)), width=1e-4)
    strict, weak = (exact.below, exact.up_to) if is_below else (exact.above, exact.from_here)
    assert found.log_low <= strict.log_high + 1e-11
    assert weak.log_low <= found.log_high + 1e-11


@pytest.mark.parametrize("effect", [0.0, 2.0, 4.0, 12.0, 25.0])
def test_a_tail_of_any_depth_lies_in_its_narrow_enclosure(effect):
    """Three decimals over 600 units; the deepest is 1e-100. The wanted width is met where p is not below 1e-30 or so."""
    rng = np.random.default_rng(int(effect))
    d = np.round(1000 * (rng.normal(size=600) + effect / math.sqrt(600))).astype(np.int64)
    d = d if d.sum() >= 0 else -d
    whole, found = bootstrap_chances(d, budget=PATIENT), bootstrap_chances(d, budget=NO_LINE)
    flips, flipped = sign_flip_chances(d, budget=PATIENT), sign_flip_chances(d, budget=NO_LINE)
    pairs = [(getattr(whole, name), getattr(found, name)) for name in ("above_twice", "below_zero", "two_sided")]
    for exact, enclosure in [*pairs, (flips.two_sided, flipped.two_sided)]:
        assert exact.is_exact
        assert enclosure.log_low < exact.log_low < enclosure.log_high
        assert enclosure.log_high - enclosure.log_low < (1e-3 if effect < 6 else 4e-3)
    if effect == 25:
        assert whole.two_sided.log10_p < -70


@pytest.mark.parametrize("seed", range(3))
def test_seven_decimals_of_two_thousand_units_are_enclosed_to_a_thousandth(seed):
    rng = np.random.default_rng(seed)
    c = rng.integers(5, 46, 2034)
    d = np.round(1e7 * (rng.normal(0.08 * 2 / math.sqrt(2034), 0.08, 2034) * c)).astype(np.int64)
    found, better = bootstrap_chances(d, c), bootstrap_chances(d, c, budget=PATIENT)
    for name in ("above_twice", "below_zero", "two_sided"):
        one, other = getattr(found, name), getattr(better, name)
        assert not one.is_exact
        assert one.high / one.low < 1.001, name
        assert max(one.low, other.low) < min(one.high, other.high), name  # two enclosures of one number
        assert other.high / other.low < 1 + (one.high / one.low - 1) / 4, name


@pytest.mark.parametrize(
    ("shift", "last", "above_twice", "two_sided"), [(0, 1, -18.966754893, -9.95792), (102885, 2, -23.162899877, -9.95805)]
)
def test_atoms_that_a_tilt_leaves_no_chance_are_no_end_of_a_law(shift, last, above_twice, two_sided):
    """Twelve wins by nearly as much, eight losses: 2δ is reached by wins alone, tilted until losses have a chance of exactly 0."""
    wins = [1631610, 1631771, 1632741, 1633022, 1633201, 1634472, 1635361, 1635513, 1636212, 1637546, 1637776, 1638575]
    losses = np.array([-408970, -408507, -407453, -406591, -405941, -405850, -404328, -403724]) + shift
    found = bootstrap_chances(np.array([*wins, *losses]), np.array([1] * 19 + [last]), budget=OF_TAILS)
    assert found.above_twice.log_low < above_twice < found.above_twice.log_high  # what a transform of the whole line gives
    assert found.two_sided.log_low < two_sided < found.two_sided.log_high


def test_where_all_denominators_are_one_a_plane_is_no_shorter_than_its_line(monkeypatch):
    """Each of its 90 000 frequencies was transformed by itself: seconds for one pair of few units."""
    monkeypatch.setattr(exact_bootstrap, "_across", lambda *given: pytest.fail("a plane"))
    d = [-15428, -5713, 24133, 8347, -4868, 36991]
    found = bootstrap_chances(np.array(d), np.full(6, 3), budget=OF_TAILS)
    truth = enumerate_bootstrap(d, [3] * 6)
    for name in ("above_twice", "from_twice"):
        assert getattr(found, name).is_exact
        assert getattr(found, name).p == pytest.approx(float(truth[name]), rel=1e-9, abs=0)


def test_one_and_two_discordant_units_on_a_wide_lattice_are_known_although_the_thresholds_are_atoms():
    """m = 1: P(δ* = 2δ) is P(w = 2). m = 2: both drawn twice, or another sum that happens to be equal: none here."""
    n = 2034
    for values in ([12345678], [12345678, 7654321]):
        d = np.zeros(n, np.int64)
        d[: len(values)] = values
        m = len(values)
        twice = math.prod(range(n - 2 * m + 1, n + 1)) / 2**m / n ** (2 * m) * (1 - m / n) ** (n - 2 * m)
        found = bootstrap_chances(d, budget=NO_LINE)
        assert found.at_zero.low == pytest.approx((1 - m / n) ** n, rel=1e-11)
        assert found.at_twice.low == pytest.approx(twice, rel=1e-10)
        assert found.two_sided.high / found.two_sided.low < 1.001
        if m == 1:
            three = 1 - sum(math.comb(n, k) * (n - 1) ** (n - k) / n**n for k in range(3))
            assert_encloses(found.above_twice, three)


@pytest.mark.parametrize(
    ("n", "values"), [(50, [10**9 + 7, -(10**8)]), (1000, [10**9 + 7, -(10**8)]), (3000, [10**6 + 3, -999983])]
)
def test_the_known_mass_at_a_threshold_is_a_lower_bound_to_the_last_bit(n, values):
    """Exact rationals against the bounds as they are: the logarithm of the mass has been rounded down."""
    d = np.zeros(n, np.int64)
    d[:2] = values
    found = bootstrap_chances(d, budget=Budget(points=1, work=0, halves=0, frequencies=2**12))
    truths = (
        (found.at_twice, Fraction(math.comb(n, 2) * math.comb(n - 2, 2) * (n - 2) ** (n - 4), n**n)),
        (found.at_zero, Fraction((n - 2) ** n, n**n)),
    )
    for chance, truth in truths:
        log_truth = Decimal(truth.numerator).ln(WIDE) - Decimal(truth.denominator).ln(WIDE)
        assert not chance.is_exact
        assert Decimal(chance.log_low) <= log_truth <= Decimal(chance.log_high)
        assert log_truth - Decimal(chance.log_low) < Decimal("1e-11")


def test_the_known_mass_of_a_hundred_thousand_units_is_a_lower_bound():
    """Three units, each drawn twice; n! / (n − 6)! by integers, the rest by logarithms of forty digits."""
    n = 10**5
    d = np.zeros(n, np.int64)
    d[:3] = 10**6 + 3, 999983, -12345
    found = bootstrap_chances(d, budget=Budget(points=1, work=0, halves=0, frequencies=2**10)).at_twice
    ways = Decimal(math.prod(range(n - 5, n + 1))).ln(WIDE) - Decimal(8).ln(WIDE)
    truth = ways + (n - 6) * Decimal(n - 3).ln(WIDE) - n * Decimal(n).ln(WIDE)
    assert Decimal(found.log_low) <= truth
    assert truth - Decimal(found.log_low) < Decimal("1e-11")


def test_rounding_in_a_characteristic_function_of_many_atoms_is_within_what_is_added_to_the_radius():
    """Atoms are added one after the other; 2^-49 for a factor, whatever their number, would be too little."""
    n = 30_000
    law = make_factor(np.arange(n), np.random.default_rng(1).integers(1, 9, n), draws=1)
    points = 3 * n + 17
    ordered, _ = sharpest_first(law, 0.0)
    steps = ordered.atoms % points
    real, imaginary = np.empty(LANES), np.empty(LANES)
    evaluate(ordered, steps, tabulate_roots(steps, points), 0, points, real, imaginary)
    worst = 0.0
    for k in (0, 1, 2, 17, 63):
        angles = 2 * math.pi * ((k * law.atoms) % points) / points
        exact = [math.fsum(law.chances * wave(angles)) for wave in (np.cos, np.sin)]
        worst = max(worst, math.hypot(real[k] - exact[0], imaginary[k] - exact[1]))
    assert 2**-49 < worst < rounding_of(law)
    assert rounding_of(law._replace(powers=np.array([7]))) == 7 * rounding_of(law)


@pytest.mark.parametrize("units", [8, 11, 100, 3000])
def test_what_is_told_to_have_vanished_without_a_cosine_has_and_is_nearly_all_that_has(units):
    rng = np.random.default_rng(units)
    values = np.sort(rng.integers(0, 2 * 10**9, units))
    law, _ = sharpest_first(make_factor(values - values[0], np.ones(units, np.int64), draws=units), 0.0)
    points = int(24 * np.sqrt(units) * 10**9)
    steps, (real, imaginary) = law.atoms % points, np.empty((2, LANES))
    roots = tabulate_roots(steps, points)
    turns, lanes = start_turning(steps, roots, points)
    told, live = [], []
    for first in range(0, 2**16, LANES):
        told.append(has_surely_vanished(law, turns, lanes, real, imaginary))
        keep_turning(turns)
        live.append(evaluate(law, steps, roots, first, points, real, imaginary))
    assert not np.any(np.array(told) & live)
    assert np.sum(told) >= 0.999 * np.sum(~np.array(live))
    assert live[0]
    assert np.any(told) == (units > 11)


def test_a_nearly_common_step_is_not_lost_among_the_frequencies_left_out():
    """Steps of 2003, blurred by a few: the characteristic function returns to almost 1 again and again."""
    rng = np.random.default_rng(5)
    d = 2003 * rng.choice([-1, 0, 1], 120, p=[0.25, 0.4, 0.35]) + rng.integers(0, 2, 120)
    whole, found = bootstrap_chances(d, budget=PATIENT), bootstrap_chances(d, budget=NO_LINE)
    for name in ("above_twice", "from_twice", "below_zero", "up_to_zero", "two_sided"):
        assert_encloses(getattr(found, name), getattr(whole, name).p, name)
    assert found.two_sided.high / found.two_sided.low < 1.01


def test_the_interval_is_as_wide_as_the_mass_that_cannot_be_told_from_the_threshold():
    """Half of the mass lies on x: both P(S > x) and P(S ≥ x) are inside, and little else is."""
    law = make_factor(np.array([0, 1000]), np.array([1, 1]), draws=2)
    found, is_below = enclose(law, 1000, frequencies=2**14, width=1e-6)
    assert not is_below
    assert found.low <= 0.25
    assert found.high >= 0.75
    assert found.high - found.low < 0.501


def test_an_interval_says_nothing_false_where_all_but_nothing_is_empty():
    """17 of 20 units have c = 0. The difference of an interval and P(C* = 0) keeps its bounds."""
    d, c = np.array([1234567, -999983, 3] + [0] * 17), np.array([1, 2, 1] + [0] * 17)
    whole, found = bootstrap_chances(d, c, budget=PATIENT), bootstrap_chances(d, c, budget=NO_LINE)
    for name in NAMES:
        one, other = getattr(whole, name), getattr(found, name)
        assert other.low <= one.high * (1 + 1e-12), name
        assert one.low <= other.high * (1 + 1e-12), name


def test_swapping_the_systems_changes_no_bit_of_an_enclosure():
    rng = np.random.default_rng(8)
    d, c = rng.integers(-(10**8), 10**8 + 10**7, 300), rng.integers(1, 90, 300)
    one, other = bootstrap_chances(d, c), bootstrap_chances(-d, c)
    assert not one.two_sided.is_exact
    for name in (*NAMES, "two_sided"):
        assert getattr(one, name) == getattr(other, name)
    assert sign_flip_chances(d) == sign_flip_chances(-d)


def test_values_near_the_end_of_int64_are_enclosed(monkeypatch):
    """A fine copy of a small lattice, moved by next to nothing: the bounds are those of the small one."""
    monkeypatch.setattr(exact_flips, "_FEW", 0)
    small = np.array([5, -3, 2, 7, -1, 4, 0, 2, -6, 3])
    d = small * 10**15 + np.arange(10)
    coarse, found = bootstrap_chances(small), bootstrap_chances(d, budget=replace(QUICK, halves=0))
    assert found.above_twice.low <= coarse.from_twice.p
    assert found.above_twice.high >= coarse.above_twice.p
    assert found.below_zero.low <= coarse.up_to_zero.p
    assert found.below_zero.high >= coarse.below_zero.p
    assert found.two_sided.high - found.two_sided.low < 0.05
    flips, exact = sign_flip_chances(d, budget=QUICK), sign_flip_chances(small)
    assert flips.one_sided.low <= exact.one_sided.p
    assert flips.one_sided.high > 0.8 * exact.one_sided.p


@pytest.mark.parametrize("degree", [1, 4, 60])
def test_the_inequality_that_bounds_rest_on_holds_on_a_grid(degree):
    """Vaaler's theorem 18, as the module states it; it is met with equality, so the bound cannot be smaller."""
    k = np.arange(1, degree + 1)
    share = k / (degree + 1)
    damping = math.pi * share * (1 - share) / np.tan(math.pi * share) + share
    t = np.linspace(0, 1, 5001)[1:-1]
    smooth = -(damping / (math.pi * k)) @ np.sin(2 * math.pi * np.outer(k, t))
    fejer = 1 + 2 * (1 - share) @ np.cos(2 * math.pi * np.outer(k, t))
    gap = fejer / (2 * degree + 2) - np.abs(smooth - (t - 0.5))
    assert gap.min() > -1e-14
    assert gap.min() < 1e-6
