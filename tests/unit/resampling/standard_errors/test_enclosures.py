"""Bounds of t* in bytes: they hold to the last bit, t* itself has the bits of `studentise`, and max-T counts the same by either."""

from __future__ import annotations

import itertools
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.inference.multiple_comparisons import studentised_max_t as max_t
from pipeline.inference.multiple_comparisons.studentised_max_t import studentised_max_t
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.products.byte_product import forms
from pipeline.resampling.standard_errors import enclosures as enclosing
from pipeline.resampling.standard_errors.enclosure_loops import find_open
from pipeline.resampling.standard_errors.enclosures import enclosures
from pipeline.resampling.standard_errors.influence_products import InfluenceLines, bits_of_squares, squares_of
from pipeline.resampling.standard_errors.influence_spread import influences
from pipeline.resampling.standard_errors.studentise import studentise
from pipeline.resampling.strata import StratifiedDraws

FORMS = forms() or [pytest.param("none", marks=pytest.mark.skip(reason="no product in bytes"))]
SYSTEMS, REPLICATES = 13, 150


def mean_of_roots(sums):
    return np.sqrt(sums[0] * sums[1])


def calm(rng, units):
    return rng.integers(1, 40, (units, SYSTEMS, 2))


def one_unit_for_all(rng, units):
    """Nearly all spread is that of one unit, which many replicates miss."""
    statistics = np.repeat(rng.integers(30, 40, (units, 1, 2)), SYSTEMS, axis=1)
    statistics[0] = rng.integers(1, 10**6, (SYSTEMS, 2))
    statistics[1:, :, 0] += rng.integers(0, 2, (units - 1, SYSTEMS))
    return statistics


def near_copies(rng, units):
    """All pairs but some differ on one or two units; two systems are copies."""
    statistics = np.repeat(rng.integers(1, 40, (units, 1, 2)), SYSTEMS, axis=1)
    for system in range(2, SYSTEMS):
        statistics[rng.integers(0, units, 2), system] += 1
    statistics[:, -1] = rng.integers(1, 40, (units, 2))
    return statistics


def measured(statistics, score=mean_of_roots):
    pairs = np.array(list(combinations(range(SYSTEMS), 2)))
    return Measure(statistics, score, "general", True, pairs, np.zeros(SYSTEMS, np.bool_))


def scores_of(measure, draws, *, undefined=()):
    """Return the scores of replicates, as they are kept."""
    weights = draw_weights(draws, 0, REPLICATES).astype(np.int64)
    scores = np.ascontiguousarray(measure.score(np.einsum("ru,usk->ksr", weights, measure.statistics)))
    for system, replicate in undefined:
        scores[system, replicate] = np.nan
    return scores


def t_by(measure, draws, scores):
    chosen = np.arange(len(measure.pairs))
    found = np.concatenate([block.t for block in studentise(draws, measure, replicates=REPLICATES, chosen=chosen, scores=scores)])
    return np.where(np.isnan(found), np.inf, np.abs(found))


def enclose(measure, draws, scores, **options):
    chosen = np.arange(len(measure.pairs))
    return enclosures(draws, measure, replicates=REPLICATES, chosen=chosen, scores=scores, **options)


def look(block, least, largest):
    """Return what is open, and what is counted as reaching a number."""
    counts = np.zeros(len(least), np.int64)
    shape = len(least), len(largest)
    pair, replicate, reaches = block.find_open(cap=np.full(len(least), np.inf), least=least, largest=largest, own=counts)
    assert np.all(np.diff(pair * len(largest) + replicate) > 0)
    is_open, told = np.zeros((2, *shape), np.bool_)
    is_open[pair, replicate], told[pair, replicate] = True, reaches
    return is_open, told, counts


def holds(block, own, least, largest):
    """Tell whether what is not open is counted as it should be, and is not the largest so far."""
    is_open, told, counts = look(block, least, largest)
    reached = own >= least[:, None]
    before = np.maximum.accumulate(np.concatenate([largest[None], own]))[:-1]
    right = np.array_equal(counts, ((reached & ~is_open) | told).sum(axis=1)) and not np.any(told & ~reached)
    return right and np.all(is_open | (own <= before))


def thresholds(rng, own):
    """Yield numbers to be reached, of which many are t* or their neighbours, and the largest of earlier pairs."""
    at = np.maximum(own[np.arange(len(own)), rng.integers(own.shape[1], size=len(own))], 1e-100)  # whose square is a number
    for least in (at, np.nextafter(at, np.inf), np.nextafter(at, 0), np.zeros(len(own)), np.full(len(own), 3.0)):
        for largest in (np.zeros(own.shape[1]), rng.permutation(own[0]), np.full(own.shape[1], 2.0)):
            yield least, largest


WAYS = {"two digits": (2, 2), "one digit": (1, 2), "all units": (1, 2), "half": (1, 1), "quarter": (1, 0)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [calm, one_unit_for_all, near_copies])
@pytest.mark.parametrize("units", [5, 64, 301])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_open_is_counted_as_every_t_would_be_which_are_made_to_the_bit(monkeypatch, make, units, form, way) -> None:
    monkeypatch.setenv("PIPELINE_PRODUCT", form)
    answers = {"all units": [False, False, True], "half": [False, True], "quarter": [True]}
    asked = itertools.cycle(answers.get(way, [False]))  # but of the first block of pairs
    monkeypatch.setattr(enclosing, "_are_far", lambda *pairs: next(asked))
    monkeypatch.setattr(enclosing, "_SHARP", 0 if way == "two digits" else 1e9)
    rng, draws = np.random.default_rng(units), Draws(7, units, units)
    measure = measured(make(np.random.default_rng(units), units))
    scores = scores_of(measure, draws, undefined=[(3, 17), (12, 149)])
    expected, seen = t_by(measure, draws, scores), np.zeros((len(measure.pairs), REPLICATES), np.int64)
    ways = []
    for block in enclose(measure, draws, scores, memory_bytes=80 * units):  # twenty pairs at a time
        ways.append((block._part.number, block._part.taken))
        own = expected[block.rows, block.replicates]
        for least, largest in thresholds(rng, own):
            assert holds(block, own, least, largest)
        pair, replicate = np.indices(own.shape).reshape(2, -1)
        assert np.array_equal(block.exactly(pair, replicate), own.ravel())
        odd = np.flatnonzero(replicate % 3 == 1)  # some alone are the same
        assert np.array_equal(block.exactly(pair[odd], replicate[odd]), own.ravel()[odd])
        seen[block.rows, block.replicates] += 1
    assert np.all(seen == 1)
    assert set(ways) == {WAYS["two digits" if way == "two digits" else "one digit"], WAYS[way]}


@pytest.mark.parametrize("form", FORMS)
def test_a_square_that_is_rounded_up_to_a_power_of_2_is_within_the_bounds_too(monkeypatch, form) -> None:
    """By rounding, influence values of the best unit are 128 less 2^-46, and their squares 2^14 less 2^-38: on the lattice 2^14."""
    monkeypatch.setenv("PIPELINE_PRODUCT", form)
    units, rng = 44, np.random.default_rng(4)
    sums = np.repeat([128, 120, 0], [1, 22, 21])
    statistics = np.stack([rng.permutation(sums) for _ in range(SYSTEMS)], axis=1)[:, :, None].repeat(2, axis=2)
    measure, draws = measured(statistics, lambda s: s[0] * (units / (units - 1))), Draws(1, units, units)
    squares, _ = squares_of(InfluenceLines.of(influences(measure)), measure.pairs)
    assert np.count_nonzero(squares == 2.0 ** bits_of_squares(units)) > SYSTEMS
    scores = scores_of(measure, draws)
    expected = t_by(measure, draws, scores)
    for block in enclose(measure, draws, scores):
        own = expected[block.rows, block.replicates]
        for least, largest in thresholds(rng, own):
            assert holds(block, own, least, largest)


@pytest.mark.parametrize("form", FORMS)
def test_of_scores_without_outliers_only_what_is_within_a_hundredth_is_open(monkeypatch, form) -> None:
    monkeypatch.setenv("PIPELINE_PRODUCT", form)
    draws, measure = Draws(7, 301, 301), measured(calm(np.random.default_rng(3), 301))
    scores = scores_of(measure, draws)
    expected = t_by(measure, draws, scores)
    for block in enclose(measure, draws, scores):
        own = expected[block.rows, block.replicates]
        is_open, _, _ = look(block, np.full(len(own), 1.0), np.full(own.shape[1], np.inf))
        assert is_open.any()
        assert np.all(np.abs(own[is_open] - 1.0) < 0.01)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_of_pairs_and_batches_of_replicates_leave_the_same_open(monkeypatch, form) -> None:
    monkeypatch.setenv("PIPELINE_PRODUCT", form)
    monkeypatch.setattr(enclosing, "_are_far", lambda *pairs: False)
    draws, measure = Draws(7, 64, 64), measured(calm(np.random.default_rng(4), 64))
    scores, found = scores_of(measure, draws), []
    for memory in (2**28, 2**13):
        is_open = np.zeros((len(measure.pairs), REPLICATES), np.bool_)
        blocks = list(enclose(measure, draws, scores, memory_bytes=memory))
        for block in blocks:
            place = block.rows, block.replicates
            is_open[place] = look(block, np.full(len(is_open[place]), 1.0), np.full(is_open[place].shape[1], np.inf))[0]
        found.append((is_open, len(blocks)))
    assert found[0][1] < found[1][1]
    assert np.array_equal(found[0][0], found[1][0])
    assert found[0][0].any()


@pytest.mark.parametrize("form", FORMS)
def test_a_count_that_no_byte_holds_leaves_its_replicate_open(monkeypatch, form) -> None:
    monkeypatch.setenv("PIPELINE_PRODUCT", form)
    draws, measure = Draws(7, 64, 64), measured(calm(np.random.default_rng(5), 64))
    scores, honest = scores_of(measure, draws), enclosing.draw_counts

    def wrap_around(draws, first, count, out):
        honest(draws, first, count, out)
        out[0, 0, 2, 0] += 1  # of replicate 2 the counts no longer add up

    monkeypatch.setattr(enclosing, "draw_counts", wrap_around)
    expected = t_by(measure, draws, scores)
    for block in enclose(measure, draws, scores):
        own = expected[block.rows, block.replicates]
        is_open, told, _ = look(block, np.full(len(own), 1.0), np.full(own.shape[1], np.inf))
        assert is_open[:, 2].all()
        assert not told[:, 2].any()
        assert np.delete(is_open, 2, axis=1).mean() < 0.05
        pair = np.arange(len(own))
        assert np.array_equal(block.exactly(pair, np.full(len(pair), 2)), expected[block.rows, 2])


def test_ratios_strata_few_pairs_unknown_influences_and_floats_are_left_to_others(monkeypatch) -> None:
    rng, draws = np.random.default_rng(6), Draws(7, 64, 64)
    measure, stratum = measured(calm(rng, 64)), np.repeat([0, 1], 32)
    scores = scores_of(measure, draws)
    if forms():
        monkeypatch.setenv("PIPELINE_PRODUCT", forms()[0])
        assert enclose(measure, draws, scores) is not None
    few = enclosures(draws, measure, replicates=REPLICATES, chosen=np.arange(64), scores=scores)
    of_ratio = Measure(measure.statistics, lambda s: s[0] / s[1], "ratio", True, measure.pairs, measure.keep)
    layered = Measure(measure.statistics, mean_of_roots, "general", True, measure.pairs, measure.keep, stratum=stratum)
    within = enclose(layered, StratifiedDraws(7, stratum), scores)
    unknown = measured(measure.statistics - 20)  # roots of numbers below 0, without some units
    vast = Measure(measure.statistics, lambda sums: 1e155 * mean_of_roots(sums), "general", True, measure.pairs, measure.keep)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        others = (enclose(one, draws, scores) for one in (of_ratio, unknown, vast))
        assert [few, within, *others] == [None] * 5
    monkeypatch.setenv("PIPELINE_PRODUCT", "float")
    assert enclose(measure, draws, scores) is None


def decide(measure, draws, scores, **options):
    return studentised_max_t(measure, observe(measure), draws=draws, scores=scores, floor=np.zeros(len(measure.pairs)), **options)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    units=st.sampled_from([5, 30, 90]),
    make=st.sampled_from([calm, one_unit_for_all, near_copies]),
    far=st.lists(st.booleans(), min_size=1, max_size=3),
)
def test_max_t_says_the_same_by_bounds_and_by_every_t(seed, units, make, far) -> None:
    rng, draws = np.random.default_rng(seed), Draws(seed, units, units)
    statistics = make(rng, units)
    statistics[:, 1] += rng.integers(0, 3)  # the family has large t too
    measure = measured(statistics)
    scores = scores_of(measure, draws, undefined=[(int(rng.integers(SYSTEMS)), int(rng.integers(REPLICATES)))])
    found, ways, counted = [], [], max_t.count_enclosed
    with pytest.MonkeyPatch.context() as patch:
        asked = itertools.cycle(far)
        patch.setattr(enclosing, "_are_far", lambda *pairs: next(asked))
        patch.setattr(max_t, "count_enclosed", lambda *args, **limits: ways.append(form) or counted(*args, **limits))
        for form in (*forms()[:1], "float"):
            patch.setenv("PIPELINE_PRODUCT", form)
            found.append(decide(measure, draws, scores, memory_bytes=80 * units))
    one, other = found[0], found[-1]
    for name in ("p", "alone", "largest"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert ways == (list(forms()[:1]) if len(one.family.pair) > 64 else [])


@pytest.mark.skipif(not forms(), reason="no product in bytes")
def test_few_t_are_made(monkeypatch) -> None:
    draws, measure = Draws(7, 301, 301), measured(calm(np.random.default_rng(3), 301))
    scores, asked, exactly = scores_of(measure, draws), [], enclosing.Enclosed.exactly
    monkeypatch.setenv("PIPELINE_PRODUCT", forms()[0])
    monkeypatch.setattr(enclosing.Enclosed, "exactly", lambda self, pair, at: asked.append(len(pair)) or exactly(self, pair, at))
    decide(measure, draws, scores)
    assert 0 < sum(asked) < 0.1 * REPLICATES * len(measure.pairs)


@pytest.mark.skipif(not forms(), reason="no product in bytes")
def test_of_pairs_with_large_t_few_units_are_enough_and_few_t_are_made(monkeypatch) -> None:
    statistics = calm(np.random.default_rng(3), 301) + 9 * np.arange(SYSTEMS)[None, :, None]
    draws, measure = Draws(7, 301, 301), measured(statistics)
    scores, asked, taken, exactly = scores_of(measure, draws), [], [], enclosing.Enclosed.exactly

    def listen(self, pair, at):
        asked.append(len(pair))
        taken.append(self._part.taken)
        return exactly(self, pair, at)

    monkeypatch.setenv("PIPELINE_PRODUCT", forms()[0])
    monkeypatch.setattr(enclosing.Enclosed, "exactly", listen)
    decide(measure, draws, scores, memory_bytes=80 * 301)
    are_few = [place < 2 for place in taken]
    assert are_few == sorted(are_few)  # from the smallest t to the largest
    assert taken.count(0) > 0
    assert are_few.count(True) > are_few.count(False) > 0
    assert sum(asked) < 0.1 * REPLICATES * len(measure.pairs)


@pytest.mark.skipif(not forms(), reason="no product in bytes")
@pytest.mark.parametrize(("heaviest", "digits"), [(1.0, 1), (1e4, 2)])
def test_of_pairs_with_small_t_one_digit_is_multiplied_unless_one_unit_leaves_it_little_to_tell(
    monkeypatch, heaviest, digits
) -> None:
    monkeypatch.setenv("PIPELINE_PRODUCT", forms()[0])
    monkeypatch.setattr(enclosing, "_are_far", lambda *pairs: False)
    statistics = calm(np.random.default_rng(3), 301)
    statistics[0] = (statistics[0] * heaviest).astype(np.int64)
    draws, measure = Draws(7, 301, 301), measured(statistics)
    blocks = enclose(measure, draws, scores_of(measure, draws))
    assert {block._part.number for block in blocks} == {digits}


@pytest.mark.parametrize(("t", "square", "far"), [(5.0, 1.0, True), (1.8, 1.0, False), (5.0, 0.03, False)])
def test_a_pair_is_far_where_t_is_large_and_the_digit_holds_much_of_the_squares(t, square, far) -> None:
    """Of 256 units with one square but for the largest, 4, of whose 128th parts the digit is: it has nothing of less than 1/32."""
    units = 256
    squares = np.full((1, units), square)
    squares[0, 0] = 4.0
    digit, whole = np.minimum(np.floor(32 * squares), 127), squares.sum(axis=1)
    gain = t * np.sqrt(units / (units - 1) * whole)
    assert enclosing._are_far(gain, whole, digit.sum(axis=1) / 32, units) is far


@pytest.mark.parametrize("first", [0, 16])
def test_a_t_is_open_where_the_lattice_may_have_lost_too_much_of_its_spread(first) -> None:
    """Of 64 units whose Σwx² is 5125 · 2^12 at least: 2^-26 of that is 0.31, and lattices lose 0.03 and the line's square / 64."""
    # Two digits of all units; or one of the first, beside which those that are looked at after them are worth nothing.
    sums, kind, units_of = ([[5], [40]], np.int16, (2.0**22, 1.0)) if not first else ([[5125]], np.int8, (2.0**22, 2.0**22))
    of_replicate = (
        np.array([64], np.int32),
        np.zeros((2, 1)),
        np.zeros((2, 1)),
        np.array([[2.0], [1.0]]),
        np.ones((1, 64), np.uint8),
    )
    square = 1 / (64 / 63 * 5125 * 2.0**12)  # of t*, at most
    found = []
    for of_line in (0.0, 4.0, 5.0):
        of_pair = np.array([[0, 1]]), np.zeros(1), np.array([2.0**-10]), np.array([of_line]), np.zeros((1, 3))
        for least in np.sqrt(square) * np.array([1 - 1e-9, 1 + 1e-9]):
            asked = np.zeros((1, 64), kind), (first, 2 * first), units_of
            given = np.full(1, np.inf), np.array([least]), np.full(1, np.inf), np.zeros(1, np.int64), np.empty(1, np.int64)
            found.append(find_open(np.array(sums, np.int32), *of_replicate, *of_pair, *asked, *given))
    assert found == [1, 0, 1, 0, 1, 1]
