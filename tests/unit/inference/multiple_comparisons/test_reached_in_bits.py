"""What is counted from bits, with few t* made, is what is counted of every t*: to the last replicate, ties with t included."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pipeline.compiled.small_work import FewSoFar
from pipeline.inference.multiple_comparisons import reached_in_bits, studentised_max_t
from pipeline.inference.multiple_comparisons.reached_in_bits import count_in_bits
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.standard_errors.studentise import studentise
from pipeline.resampling.strata import StratifiedDraws

SYSTEMS = 67  # bits in two words
PAIRS = np.array(list(combinations(range(SYSTEMS), 2)))


@pytest.fixture(autouse=True)
def little_work_too(monkeypatch):
    monkeypatch.setattr(reached_in_bits, "MANY", 0)


def calm(rng, units):
    return rng.random((units, SYSTEMS)) < rng.uniform(0.5, 0.8, SYSTEMS)


def near_copies(rng, units):
    """Pairs differ on few units, which some replicates miss; two systems are one and the same."""
    right = np.repeat(rng.random((units, 1)) < 0.7, SYSTEMS, axis=1)
    for system in range(1, SYSTEMS - 1):
        right[rng.integers(0, units, 2), system] ^= True
    return right


def far_apart(rng, units):
    return rng.random((units, SYSTEMS)) < np.linspace(0.3, 0.7, SYSTEMS)


def measured(right, *, denominator=1, factor=100.0, form="ratio"):
    numerators = right.astype(np.int64)
    statistics = np.stack([numerators, np.full_like(numerators, denominator)], axis=2)
    return Measure(statistics, lambda s: factor * (s[0] / s[1]), form, True, PAIRS, np.zeros(SYSTEMS, bool))


def t_of(measure, draws, replicates, chosen):
    blocks = studentise(draws, measure, replicates=replicates, chosen=chosen)
    size = np.abs(np.concatenate([block.t for block in blocks]))
    return np.where(np.isnan(size), np.inf, size)


def count_each(size, least):
    largest = np.maximum.accumulate(size, axis=0)
    return (size >= least[:, None]).sum(axis=1), (largest >= least[:, None]).sum(axis=1), largest[-1]


@pytest.mark.parametrize("make", [calm, near_copies, far_apart])
@pytest.mark.parametrize(("units", "replicates"), [(25, 16), (64, 37), (131, 150), (700, 40)])
@pytest.mark.parametrize(("denominator", "factor"), [(1, 100.0), (3, 0.7)])
def test_the_counts_are_those_of_every_t(make, units, replicates, denominator, factor):
    rng, draws = np.random.default_rng([units, replicates]), Draws(units, units, units)
    measure, chosen = measured(make(rng, units), denominator=denominator, factor=factor), rng.permutation(len(PAIRS))[:900]
    size = t_of(measure, draws, replicates, chosen)
    least = size[np.arange(len(chosen)), rng.integers(0, replicates, len(chosen))]  # a t* of its own: the next float is not reached
    least[::3] = np.nextafter(least[::3], np.inf)
    least[1::7] = rng.choice([0.0, -1e-12, 1e-9, 1e20, 1e200], len(least[1::7]))
    least = np.minimum(least, 1e250)
    found = count_in_bits(draws, measure, replicates=replicates, chosen=chosen, least=least)
    assert found is not None
    for one, other in zip(found, count_each(size, least), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("at_once", [0, 40 * 900 * 700])
def test_calls_of_any_length_count_the_same(monkeypatch, at_once):
    units, replicates, rng, draws = 700, 150, np.random.default_rng(8), Draws(700, 700, 700)
    measure, chosen = measured(calm(rng, units)), rng.permutation(len(PAIRS))[:900]
    least, known = rng.uniform(0.5, 3, len(chosen)), {5: rng.uniform(0, 4, replicates), 800: rng.uniform(0, 4, replicates)}
    asked = {"replicates": replicates, "chosen": chosen, "least": least, "known": known}
    whole, calls, count = count_in_bits(draws, measure, **asked), [], reached_in_bits._count
    monkeypatch.setattr(reached_in_bits, "_AT_ONCE", at_once)
    monkeypatch.setattr(reached_in_bits, "_count", lambda *given: calls.append(given[12:14]) or count(*given))
    for one, other in zip(whole, count_in_bits(draws, measure, **asked), strict=True):
        assert np.array_equal(one, other)
    step = 32 if at_once else 16
    assert calls == [(first, min(first + step, replicates)) for first in range(0, replicates, step)]


@pytest.mark.parametrize("gain", [0.0, 0.004])
@pytest.mark.parametrize("copies", [0, 3])
def test_max_t_says_the_same_from_bits_and_from_every_t(monkeypatch, gain, copies):
    """As a family has them: the smallest t first, ties of t* with t, and some pairs that differ on few units."""
    units, rng, draws = 300, np.random.default_rng(1), Draws(3, 300, 300)
    right = rng.random((units, SYSTEMS)) < 0.6 + gain * np.arange(SYSTEMS)
    for system in range(copies):
        right[:, system + 1] = right[:, 0]
        right[7 * system : 7 * system + 4 + 3 * system, system + 1] ^= True
    measure, counted = measured(right), []
    scores = np.zeros((SYSTEMS, 200))  # a ratio needs none
    given = {"draws": draws, "scores": scores, "floor": np.zeros(len(PAIRS))}

    def listen(*of, **how):
        counted.append(count_in_bits(*of, **how))
        return counted[-1]

    monkeypatch.setattr(studentised_max_t, "count_in_bits", listen)
    one = studentised_max_t.studentised_max_t(measure, observe(measure), **given)
    assert len(counted) == 1
    assert counted[0] is not None
    assert np.count_nonzero(observe(measure).discordant < 20) == copies * (copies + 1) // 2
    other = studentised_max_t.studentised_max_t(measure, observe(measure), **given, show=lambda block: None)
    assert len(counted) == 1  # where each t* is asked for, it is made
    for name in ("p", "alone", "se", "largest"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


def test_few_t_are_made(monkeypatch):
    """The kernel in plain Python, with a look at how often it makes a t*."""
    units, made, make = 500, [], reached_in_bits._size_of.__wrapped__
    right = np.random.default_rng(4).random((units, SYSTEMS)) < np.linspace(0.4, 0.7, SYSTEMS)
    measure, draws = measured(right), Draws(1, units, units)
    monkeypatch.setattr(reached_in_bits, "_size_of", lambda *of: made.append(1) or make(*of))
    for name in ("_count", "_count_some"):
        monkeypatch.setattr(reached_in_bits, name, getattr(reached_in_bits, name).__wrapped__)
    monkeypatch.setattr(reached_in_bits, "count_bits", lambda word: int(word).bit_count())
    t = np.abs(observe(measure).delta) / observe(measure).se
    chosen = np.argsort(t)
    count_in_bits(draws, measure, replicates=16, chosen=chosen, least=t[chosen])
    assert 0 < len(made) < 0.03 * 16 * len(PAIRS)


def test_other_statistics_strata_and_little_work_are_left_to_others(monkeypatch):
    units, rng, draws = 40, np.random.default_rng(5), Draws(3, 40, 40)
    right, chosen, least = calm(rng, units), np.arange(len(PAIRS)), np.ones(len(PAIRS))
    stratum = np.repeat([0, 1], 20)

    def ask(measure, by=draws):
        return count_in_bits(by, measure, replicates=16, chosen=chosen, least=least)

    assert ask(measured(right)) is not None
    lengths = measured(right)
    lengths.statistics[3, 5, 1] = 2
    twice = measured(right)
    twice.statistics[7, 9, 0] = 2
    vast = measured(right, denominator=2**25)
    plain = measured(right)
    layered = Measure(plain.statistics, plain.score, "ratio", True, PAIRS, plain.keep, stratum=stratum)
    negative = measured(right, denominator=-1)  # of which no t* is known
    assert [ask(lengths), ask(twice), ask(vast), ask(negative), ask(measured(right, form="general"))] == [None] * 5
    assert ask(layered, StratifiedDraws(3, stratum)) is None
    monkeypatch.setattr(reached_in_bits, "MANY", 2**36)
    monkeypatch.setattr(reached_in_bits, "_is_little", lambda work: True)
    assert ask(measured(right)) is None


@pytest.mark.parametrize("at_hand", [False, True])
def test_little_work_that_comes_again_is_counted_in_bits_too_and_sooner_where_the_kernels_are_on_disk(monkeypatch, at_hand):
    """Families of many test sets, of which each is too small for the compiler to be worth while."""
    units, draws = 40, Draws(3, 40, 40)
    measure, chosen = measured(calm(np.random.default_rng(7), units)), np.arange(len(PAIRS))
    given = {"replicates": 16, "least": np.ones(len(PAIRS))}
    assert count_in_bits(draws, measure, chosen=chosen, **given) is not None
    assert reached_in_bits._is_at_hand()  # now: it is asked for what is called
    work = 16 * units * len(PAIRS)
    monkeypatch.setattr(reached_in_bits, "MANY", 32 * work)
    few = FewSoFar(32 * work - 1, 32 * work, at_hand=lambda: at_hand and reached_in_bits._is_at_hand())
    monkeypatch.setattr(reached_in_bits, "_is_little", few)
    found = [count_in_bits(draws, measure, chosen=chosen, **given) is not None for _ in range(34)]
    assert found == ([False] * 2 + [True] * 32 if at_hand else [False] * 32 + [True] * 2)
    few_pairs = {"chosen": chosen[:127], "replicates": 16, "least": np.ones(127)}
    assert count_in_bits(draws, measure, **few_pairs) is None  # of so few, bits save nothing
    assert count_in_bits(draws, measure, chosen=chosen[:0], replicates=16, least=np.ones(0)) is None


def test_where_one_system_is_right_and_the_other_wrong_on_all_units_each_t_is_made():
    right = calm(np.random.default_rng(6), 40)
    right[:, 0], right[:, 1] = True, False
    chosen = np.arange(len(PAIRS))
    assert count_in_bits(Draws(3, 40, 40), measured(right), replicates=16, chosen=chosen, least=np.ones(len(PAIRS))) is None
