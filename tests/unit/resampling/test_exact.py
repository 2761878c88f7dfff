"""Exact p-values of one pair against enumeration in rational arithmetic, printed constants, and the naive convolution."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resampling.exact import bootstrap as exact_events
from pipeline.resampling.exact import flips as exact_flips
from pipeline.resampling.exact import lattice as exact_lattice
from pipeline.resampling.exact.bootstrap import bootstrap_chances, bootstrap_law
from pipeline.resampling.exact.budget import PATIENT, Budget
from pipeline.resampling.exact.flips import sign_flip_chances

NAMES = ("above_twice", "at_twice", "from_twice", "below_zero", "at_zero", "up_to_zero")


def enumerate_bootstrap(d, c):
    """Return every probability by going through all C(2n − 1, n) multisets."""
    d, n = [v if sum(d) >= 0 else -v for v in d], len(d)
    gain, total = sum(d), sum(c)
    found, empty = dict.fromkeys(NAMES, Fraction(0)), Fraction(0)
    for sample in combinations_with_replacement(range(n), n):
        chance = Fraction(factorial(n) // prod(factorial(sample.count(i)) for i in set(sample)), n**n)
        num, den = sum(d[i] for i in sample), sum(c[i] for i in sample)
        if den == 0:
            empty += chance
            continue
        star, twice = Fraction(num, den), Fraction(2 * gain, total)
        holds = (star > twice, star == twice, star >= twice, star < 0, star == 0, star <= 0)
        for name, held in zip(NAMES, holds, strict=True):
            found[name] += chance * held
    return {name: p / (1 - empty) for name, p in found.items()} | {"empty": empty}


def enumerate_flips(d):
    sums = [sum(s * v for s, v in zip(signs, d, strict=True)) for signs in product((1, -1), repeat=len(d))]
    hits = [sum(s >= abs(sum(d)) for s in sums), sum(abs(s) >= abs(sum(d)) for s in sums)]
    return [Fraction(hit, len(sums)) for hit in hits]


def convolve_differences_alone(d):
    """Return P(D* > 2D): what the bootstrap would be if C* were fixed."""
    law = {0: 1}
    for _ in d:
        new: dict[int, int] = {}
        for s, ways in law.items():
            for v in d:
                new[s + v] = new.get(s + v, 0) + ways
        law = new
    return Fraction(sum(ways for s, ways in law.items() if s > 2 * sum(d)), len(d) ** len(d))


def assert_chance(chance, exact, tolerance=1e-12):
    if exact == 0:
        assert chance.p == 0
        return
    log = math.log(exact.numerator) - math.log(exact.denominator)
    assert chance.is_exact
    assert abs(math.expm1(chance.log_low - log)) <= tolerance, (chance.p, float(exact))


UNEQUAL = [
    ([3, -1, 0, 2, -2, 1, 1, 0], [5, 2, 1, 7, 3, 1, 9, 4]),
    ([2, 1, -1, 0, 1, 0, 0], [9, 1, 2, 30, 4, 4, 7]),
    ([1, 1, -2, 4, 0], [2, 5, 5, 11, 3]),
    ([4, -3, 0, 1], [7, 4, 20, 1]),
]
CONSTANT = [([1, 1, 1, -1, 0, 0, 0, 0], [1] * 8), ([2, 4, -2, 0, 6], [3] * 5), ([2], [3]), ([1, 1], [2, 2])]
HOLLOW = [([1, -1, 0, 0, 2, 0], [2, 3, 0, 0, 4, 1]), ([2, -1, 1, 0, -3], [3, 2, 0, 0, 5]), ([1, 0, 0, 0], [2, 0, 0, 0])]
HOLLOW += [([4, -1, -2, 1, -1], [3, 0, 0, 0, 0]), ([-3, 1, 2, 2, 0, 1], [2, 0, 7, 0, 1, 0]), ([5, -1, 0], [0, 1, 0])]


@pytest.mark.parametrize(("d", "c"), UNEQUAL + CONSTANT + HOLLOW)
@pytest.mark.parametrize("way", ["line", "plane"])
def test_every_multiset_enumerated_gives_the_same_probabilities(d, c, way, monkeypatch):
    monkeypatch.setattr(exact_events, "_LINE_POINTS", 2**18 if way == "line" else -1)
    found = bootstrap_chances(np.array(d), np.array(c))
    for name, exact in enumerate_bootstrap(d, c).items():
        assert_chance(getattr(found, name), exact)


@pytest.mark.parametrize(("d", "c"), UNEQUAL)
def test_convolving_differences_alone_is_another_number(d, c):
    truth = enumerate_bootstrap(d, c)["above_twice"]
    assert abs(float(convolve_differences_alone(d) - truth)) > 0.005
    assert_chance(bootstrap_chances(np.array(d), np.array(c)).one_sided, truth)


@pytest.mark.parametrize("d", [[3, -1, 0, 2, -2, 1, 1, 0, 7], [1] * 9, [4, -8, 12, 4], [5], [1, -1], [0, 3, -2, -2]])
def test_every_sign_enumerated_gives_the_same_probabilities(d):
    found = sign_flip_chances(np.array(d))
    one, two = enumerate_flips(d)
    assert_chance(found.one_sided, one)
    assert_chance(found.two_sided, two)
    assert (found.gain, found.discordant) == (abs(sum(d)), sum(v != 0 for v in d))


small = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 6)), min_size=1, max_size=6).filter(lambda u: any(c for _, c in u))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(units=small)
def test_any_small_pair_agrees_with_enumeration(units):
    d, c = ([unit[axis] for unit in units] for axis in (0, 1))
    found = bootstrap_chances(np.array(d), np.array(c))
    for name, exact in enumerate_bootstrap(d, c).items():
        assert_chance(getattr(found, name), exact, 1e-9)
    one, two = enumerate_flips(d)
    flipped = sign_flip_chances(np.array(d))
    assert_chance(flipped.one_sided, one)
    assert_chance(flipped.two_sided, two)


def test_eight_wins_and_four_losses_of_a_hundred():
    d = np.repeat([1, -1, 0], [8, 4, 88])
    found = bootstrap_chances(d)
    chances = (found.above_twice, found.from_twice, found.below_zero, found.up_to_zero, found.two_sided)
    assert [round(chance.p, 4) for chance in chances] == [0.0955, 0.1529, 0.0927, 0.1525, 0.3054]
    assert round(sign_flip_chances(d).two_sided.p, 4) == 0.3877


def test_four_helped_and_three_hurt_of_ten():
    assert f"{bootstrap_chances(np.repeat([1, -1, 0], [4, 3, 3])).up_to_zero.p:.8f}" == "0.42173233"


def test_denominators_that_go_with_losses_make_the_naive_p_wrong_on_eighty_units():
    """The joint law of (D*, C*) by adding units one draw at a time: positive terms only, so good to 1e-12."""
    d, c = np.repeat([3, 1, 0, -2], [2, 58, 1, 19]), np.repeat([9, 2, 2, 9], [2, 58, 1, 19])
    reach, atoms = 3 * 80, {}
    for a, b in zip(d.tolist(), c.tolist(), strict=True):
        atoms[a, b] = atoms.get((a, b), 0) + 1 / 80
    law = np.zeros((2 * reach + 1, 9 * 80 + 1))
    law[reach, 0] = 1
    for _ in range(80):
        law = sum(chance * np.roll(law, step, axis=(0, 1)) for step, chance in atoms.items())
    sums, totals = np.arange(-reach, reach + 1)[:, None], np.arange(9 * 80 + 1)
    truth = law[sums * c.sum() > 2 * d.sum() * totals].sum()
    naive = law[sums[:, 0] > 2 * d.sum()].sum()
    found = bootstrap_chances(d, c)
    assert found.one_sided.p == pytest.approx(truth, rel=1e-11)
    assert bootstrap_chances(d).one_sided.p == pytest.approx(naive, rel=1e-11)
    assert (round(naive, 4), round(truth, 4)) == (0.0109, 0.0479)


def test_unequal_denominators_of_two_thousand_units_lie_in_their_enclosure():
    rng = np.random.default_rng(7)
    c = rng.integers(5, 46, 2034)
    d = rng.binomial(4, 0.1, 2034) - rng.binomial(4, 0.095, 2034)
    found = bootstrap_chances(d, c)
    wide = bootstrap_chances(d, c, budget=Budget(points=2**9, work=0))
    assert found.one_sided.is_exact
    for name in (*NAMES, "one_sided", "two_sided"):
        enclosure, chance = getattr(wide, name), getattr(found, name)
        assert enclosure.low < chance.p < enclosure.high, name
    assert wide.one_sided.high / wide.one_sided.low < 1.001
    line = bootstrap_chances(d[:300], c[:300], budget=replace(PATIENT, work=0))  # still fits on a line
    plane = bootstrap_chances(d[:300], c[:300])
    assert line.one_sided.is_exact
    for name in NAMES:
        assert getattr(plane, name).p == pytest.approx(getattr(line, name).p, rel=1e-10), name


@pytest.mark.parametrize(
    "d",
    [
        [37, -12, 5, 88, -41, 60, 3, 19, -7, 22],
        [81234567, -1234567, 3000001, -7, 7, 7, 0, 12345678, -99999999],
        [10**12 + 1, -(10**12), 3, -2, 1],
        [1, 1],
        [3, -1, -2],
    ],
)
def test_few_discordant_units_are_exact_on_any_lattice(d):
    found = sign_flip_chances(np.array(d), budget=Budget(points=1))
    for chance, exact in zip((found.one_sided, found.two_sided), enumerate_flips(d), strict=True):
        assert_chance(chance, exact)


@pytest.mark.parametrize("narrow", [0, 2**16])
def test_all_signs_of_thirty_six_units_are_counted(narrow, monkeypatch):
    """Wins and losses of one size are binomial; what counts does not know that they are."""
    monkeypatch.setattr(exact_flips, "_NARROW", narrow)
    d = np.repeat([1, -1], [24, 12])
    ways = sum(math.comb(36, k) for k in range(13)) * 2
    assert_chance(sign_flip_chances(d, budget=Budget(points=1)).two_sided, Fraction(ways, 2**36))


@pytest.mark.parametrize("sizes", [[], [4], [1, 1, 2, 3, 5], list(range(1, 13)), [10**9, 3, 10**9, 10**9 + 1]])
def test_subsets_with_large_sums_are_counted_as_by_enumeration(sizes):
    sums = np.array([np.dot(signs, sizes) for signs in product([0, 1], repeat=len(sizes))], np.int64)
    for least in {-1, 0, 1, sum(sizes) // 2, 3 * sum(sizes) // 4, sum(sizes), sum(sizes) + 1}:
        assert exact_flips.count_reaching(np.array(sizes, np.int64), least) == np.sum(sums >= least)


def test_sums_on_a_narrow_lattice_are_counted_without_those_of_halves(monkeypatch):
    monkeypatch.delattr(exact_flips, "_subset_sums")
    middle = sum(math.comb(18, twos) * math.comb(18, 27 - 2 * twos) for twos in range(5, 14))  # half of all sums, and mirrored
    assert exact_flips.count_reaching(np.repeat([1, 2], 18), 27) == (2**36 + middle) // 2


@pytest.mark.parametrize("frequencies", [64, 1000, 2**16])
def test_a_sign_flip_enclosure_contains_the_enumerated_truth(frequencies, monkeypatch):
    monkeypatch.setattr(exact_flips, "_FEW", 0)
    for d in ([37, -12, 5, 88, -41, 60, 3, 19, -7, 22], [81234567, -1234567, 3000001, -7, 7, 7, 0, 12345678, -99999999]):
        found = sign_flip_chances(np.array(d), budget=Budget(points=1, frequencies=frequencies))
        for chance, exact in zip((found.one_sided, found.two_sided), enumerate_flips(d), strict=True):
            assert chance.low < exact < chance.high


def test_empties_that_are_nearly_all_of_an_event_leave_the_rest_to_full_precision():
    """29 of 30 units have c = 0: given C* > 0, P(δ* = 0) is 0. 17 of 20: the mixture over hits, by its formula."""
    d = np.array([1] + [0] * 29)
    c = np.array([4] + [0] * 29)
    found = bootstrap_chances(d, c)
    assert found.at_zero.p == 0
    assert found.empty.p == pytest.approx((29 / 30) ** 30, rel=1e-13)
    assert found.at_twice.p == 0
    assert found.below_zero.p == 0
    mixed = bootstrap_chances(np.array([1, -1, 0] + [0] * 17), np.array([1, 1, 1] + [0] * 17))
    hits = np.arange(1, 21)
    binomial = np.array([math.comb(20, k) * 0.15**k * 0.85 ** (20 - k) for k in hits.tolist()])
    at_zero = [sum(math.comb(k, 2 * j) * math.comb(2 * j, j) for j in range(k // 2 + 1)) / 3**k for k in hits.tolist()]
    assert mixed.at_zero.p == pytest.approx(binomial @ at_zero / binomial.sum(), rel=1e-12)


@pytest.mark.parametrize("n", [12, 16, 40])
def test_differences_where_the_denominator_is_0_keep_the_digits(n):
    """One unit with a denominator, far ahead; the others are behind, and count only where it is drawn."""
    win, loss = 6 * (n - 2), 6
    hits = whole = 0
    for j in range(1, n + 1):
        for k in range(n - j + 1):
            ways = math.comb(n, j) * math.comb(n - j, k) * (n - 2) ** (n - j - k)
            whole += ways
            hits += ways * (win * j - loss * k - (n - j - k) < 0)
    found = bootstrap_chances(np.array([win, -loss] + [-1] * (n - 2)), np.array([10] + [0] * (n - 1)))
    assert_chance(found.below_zero, Fraction(hits, whole), 1e-9)
    assert found.two_sided.p >= found.below_zero.p > 0


@pytest.mark.parametrize("n", [50, 2000])
def test_hardly_any_denominators_cost_no_more_transforms_with_more_units(n, monkeypatch):
    """Below 0 the first unit is not drawn (but for 1e-900), and one of the next two is. Two tails, two transforms."""
    calls = []
    monkeypatch.setattr(exact_events, "split", lambda *args, **kwargs: calls.append(1) or exact_lattice.split(*args, **kwargs))
    d, c = np.zeros((2, n), np.int64)
    d[:3], c[:3] = (1000, -1, -3), (3, 4, 5)
    found = bootstrap_chances(d, c)
    empty = Fraction(n - 3, n) ** n
    assert_chance(found.below_zero, (Fraction(n - 1, n) ** n - empty) / (1 - empty), 1e-9)
    assert len(calls) <= 2


@pytest.mark.parametrize(("d", "c"), UNEQUAL + HOLLOW)
def test_swapping_the_systems_changes_no_bit(d, c):
    one, other = bootstrap_chances(np.array(d), np.array(c)), bootstrap_chances(-np.array(d), np.array(c))
    for name in (*NAMES, "empty", "one_sided", "two_sided"):
        assert getattr(one, name) == getattr(other, name)
    assert one.is_swapped != other.is_swapped
    assert sign_flip_chances(np.array(d)) == sign_flip_chances(-np.array(d))


def test_the_order_of_units_and_the_scale_change_nothing():
    d, c = map(np.array, UNEQUAL[0])
    one, other = bootstrap_chances(d, c), bootstrap_chances(1000 * d[::-1], 7 * c[::-1])
    for name in NAMES:
        assert getattr(one, name) == getattr(other, name)


def test_identical_systems_have_a_p_of_one():
    found = bootstrap_chances(np.zeros(5, np.int64), np.array([3, 1, 2, 0, 9]))
    assert found.is_identical
    assert (found.one_sided.p, found.two_sided.p, found.at_zero.p, found.below_zero.p) == (1, 1, 1, 0)
    assert sign_flip_chances(np.zeros(5, np.int64)).two_sided.p == 1


def test_no_gain_without_identity_has_a_two_sided_p_of_one():
    found = bootstrap_chances(np.array([1, -1, 0]), np.array([3, 1, 2]))
    assert not found.is_identical
    assert found.two_sided.p == 1
    assert found.one_sided.p < 1
    assert sign_flip_chances(np.array([1, -1, 0])).two_sided.p == 1


def test_one_unit_repeats_itself():
    found = bootstrap_chances(np.array([3]), np.array([7]))
    assert (found.above_twice.p, found.at_twice.p, found.up_to_zero.p, found.two_sided.p) == (0, 0, 0, 0)
    assert sign_flip_chances(np.array([3])).two_sided.p == 1


def test_the_whole_law_sums_to_the_tails():
    d = np.repeat([3, -1, 0], [30, 25, 45])
    law, found = bootstrap_law(d), bootstrap_chances(d)
    assert law.probability.sum() == pytest.approx(1, abs=1e-13)
    assert law.probability @ law.values == pytest.approx(d.sum(), rel=1e-12)
    assert law.probability[law.values > 2 * d.sum()].sum() == pytest.approx(found.above_twice.p, rel=1e-11)
    assert law.probability[law.values <= 0].sum() == pytest.approx(found.up_to_zero.p, rel=1e-11)
    assert bootstrap_law(np.array([5, 5])).values.tolist() == [10]


def test_integers_that_could_leave_int64_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"sums up to \d+ .*9223372036854775808"):
        bootstrap_chances(np.array([2**40, 1]), np.array([2**30 + 1, 3]))
    with pytest.raises(ValueError, match=r"sums up to \d+ do not fit"):
        sign_flip_chances(np.array([2**62, 1]))
    with pytest.raises(ValueError, match="do not fit"):
        sign_flip_chances(np.array([np.iinfo(np.int64).min]))
    # A common factor is taken out first.
    assert bootstrap_chances(np.array([2**40, 0]), np.array([2**30, 2**30])).from_twice.p == 0.25


@pytest.mark.parametrize(
    ("d", "c", "message"),
    [
        ([1, 2], [1], "2 differences have 1 denominators"),
        ([1, 2], [0, 0], "minimum is 0, their sum 0"),
        ([1, 2], [3, -1], "minimum is -1"),
        ([], [], r"shape \(0,\)"),
        ([0.5], [1], "float64"),
    ],
)
def test_malformed_input_is_refused(d, c, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_chances(np.array(d), np.array(c, np.int64))
