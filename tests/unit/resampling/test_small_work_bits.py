"""Kernels that run in plain Python where there is little to do: the same bits as compiled, whatever the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import small_measures as small

from pipeline.compiled.small_work import FEW_STEPS, FewSoFar, plain_python
from pipeline.resampling import resample as passes
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.exact import pairs as exact_pairs
from pipeline.resampling.exact.batch import compare_short
from pipeline.resampling.exact.pairs import compare_pairs
from pipeline.resampling.standard_errors import influence
from pipeline.resampling.standard_errors.influence import (
    _count_discordant,
    _pair_errors,
    _pair_moments,
    count_discordant,
    pair_errors,
    pair_moments,
)
from pipeline.resampling.standard_errors.leverage import _largest, pair_leverage

DRAWS = Draws(draw_key(seed=1, purpose="few", test_set="fifty units", size="full", rule="units"), 50, 50)
PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (3, 2)])


def both(function: Any, *arguments: Any) -> list[list[bytes]]:
    found = []
    for form in (function, plain_python(function)):
        given = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        result = form(*given)
        made = [] if result is None else [*result] if isinstance(result, tuple) else [result]
        found.append([each.tobytes() for each in (*made, *given) if isinstance(each, np.ndarray)])
    return found


def draw_numerators(rng: np.random.Generator) -> np.ndarray:
    units = int(rng.choice([1, 2, 3, 10, 60, 400, 1500]))
    found = rng.integers(0, int(rng.choice([1, 1, 2, 7])) + 1, (4, units))
    if rng.random() < 0.7:
        found[1] = np.where(rng.random(units) < rng.random(), found[1], found[0])
        found[2] = np.where(rng.random(units) < 0.05, found[2], found[0])
    return found


@pytest.mark.parametrize("seed", range(20))
def test_exact_laws_of_short_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numerators = draw_numerators(rng)
    reach = int(numerators.max()) - int(numerators.min())
    asked = reach, True, bool(rng.random() < 0.8), bool(rng.random() < 0.8)
    none = np.zeros(len(PAIRS), np.int64)
    compiled, plain = both(compare_short, numerators, PAIRS, *asked, np.full((len(PAIRS), 6), np.nan), none, none)
    assert compiled == plain


@pytest.mark.parametrize(("at_hand", "forms"), [(False, "ppppk"), (True, "pkkkk")])
def test_laws_of_a_first_table_do_not_wait_for_a_compiler(monkeypatch: pytest.MonkeyPatch, at_hand: bool, forms: str) -> None:
    used: list[str] = []
    monkeypatch.setattr(exact_pairs, "is_at_hand", lambda *arguments: at_hand)
    monkeypatch.setattr(exact_pairs, "_is_little", FewSoFar(2**18, 2**20, at_hand=exact_pairs._is_at_hand))
    monkeypatch.setattr(exact_pairs, "compare_short", lambda *arguments: used.append("k"))
    monkeypatch.setattr(exact_pairs, "plain_python", lambda kernel: lambda *arguments: used.append("p"))
    pairs = np.array([(first, second) for second in range(12) for first in range(second)])
    for units in (1, 800, 2500, 2900, 3000):  # items of the tables, in one process
        compare_pairs(np.zeros((units, 12), np.int64), pairs[: 10 if units == 1 else None], events=())
    assert "".join(used) == forms


def test_the_kernel_is_known_by_the_types_it_is_called_with(monkeypatch: pytest.MonkeyPatch) -> None:
    numerators = np.eye(3, dtype=np.int64).repeat(3, axis=0)
    monkeypatch.setattr(exact_pairs, "_is_little", lambda steps: False)
    compare_pairs(numerators, np.array([(0, 1), (1, 2)]))
    assert exact_pairs._is_at_hand()


@pytest.mark.parametrize(
    ("at_hand", "in_all", "statistics", "forms"),
    [
        (False, 9000, small.own_statistics(50, 3, seed=1), "nnnk"),
        (True, 64_000, small.own_statistics(50, 3, seed=1), "nkkk"),
        (True, 9000, small.accuracy_statistics(50, 3, seed=1), "nnnn"),  # whole gains, whose kernels are other ones
    ],
)
def test_small_passes_are_compared_by_the_kernel_once_there_were_many(
    monkeypatch: pytest.MonkeyPatch, at_hand: bool, in_all: int, statistics: np.ndarray, forms: str
) -> None:
    used: list[str] = []
    monkeypatch.setattr(passes, "is_at_hand", lambda *arguments: at_hand)
    monkeypatch.setattr(passes, "_is_little", FewSoFar(2**12, in_all, at_hand=passes._is_at_hand))
    monkeypatch.setattr(passes, "compare_few", lambda *arguments: used.append("n"))
    monkeypatch.setattr(passes, "compare_values", lambda *arguments: used.append("k"))
    for _ in forms:
        passes.resample(DRAWS, [small.make_measure(statistics)], cells=range(1), replicates=1000)
    assert "".join(used) == forms


def test_the_kernel_of_comparisons_is_known_by_the_types_it_is_called_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "_is_little", lambda gains: False)
    passes.resample(DRAWS, [small.make_measure(small.own_statistics(50, 3, seed=1))], cells=range(1), replicates=1000)
    assert passes._is_at_hand()


def draw_scores(rng: np.random.Generator) -> np.ndarray:
    units = int(rng.choice([1, 2, 3, 10, 300]))
    scores = rng.normal(rng.normal(), 10.0 ** rng.integers(-12, 6), (4, units))
    scores[1] = np.where(rng.random(units) < 0.5, scores[0], scores[1])
    scores[2] = scores[3] if rng.random() < 0.3 else scores[2]
    if rng.random() < 0.3:
        scores[3, rng.integers(units)] = np.nan
    if rng.random() < 0.3:
        scores[0], scores[1] = 0.0, -0.0
    return scores


@pytest.mark.parametrize("seed", range(40))
def test_moments_of_influence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = draw_scores(rng)
    stratum = rng.integers(0, 3, scores.shape[1])
    numbers, places, sizes = np.full((3, len(PAIRS)), np.nan), np.full(len(PAIRS), -1), np.bincount(stratum).astype(np.int64)
    for kernel, *more in ((_pair_errors, numbers[0]), (_pair_moments, numbers), (_largest, sizes, numbers[0], places, numbers[1])):
        compiled, plain = both(kernel, scores, PAIRS, *more)
        assert compiled == plain


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("limits", [(10**6, 10**9), (10**6, -1), (-1, 10**9)])
def test_discordant_units_are_counted_the_same_by_numpy_and_by_the_kernel(
    seed: int, limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    high = int(rng.choice([2, 400]))  # in bytes, or not
    statistics = rng.integers(-1 if high > 255 else 0, high, (int(rng.choice([1, 300, 1000])), 4, int(rng.integers(1, 4))))
    statistics[:, 1] = np.where(rng.random(len(statistics))[:, None] < 0.7, statistics[:, 0], statistics[:, 1])
    ran: list[int] = []
    kernel = _count_discordant
    monkeypatch.setattr(influence, "_count_discordant", lambda *arguments: ran.append(1) or kernel(*arguments))  # type: ignore[func-returns-value]
    monkeypatch.setattr(influence, "_FEW_PAIRS", limits[0])
    monkeypatch.setattr(influence, "_FEW_COMPARED", limits[1])
    found = count_discordant(statistics, PAIRS)
    assert found.tolist() == [int((statistics[:, a] != statistics[:, b]).any(axis=1).sum()) for a, b in PAIRS]
    assert bool(ran) == (min(limits) < 0)
    assert count_discordant(statistics, PAIRS[:0]).shape == (0,)


def test_much_work_is_compiled_and_little_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def note(function: Any, *, steps: int) -> Any:
        asked.append(steps)
        return plain_python(function)

    for module in ("standard_errors.influence", "standard_errors.leverage"):
        monkeypatch.setattr(f"pipeline.resampling.{module}.suited", note)
    monkeypatch.setattr(exact_pairs, "_is_little", lambda steps: note(compare_short, steps=steps) is not None)

    def steps_of(pairs: int, units: int) -> list[int]:
        asked.clear()
        rng = np.random.default_rng(1)
        scores, systems = rng.normal(size=(3, units)), rng.integers(0, 2, (units, 3))
        some = np.tile(np.array([(0, 1)]), (pairs, 1))
        pair_errors(scores, some)
        pair_moments(scores, some)
        pair_leverage(scores, some)
        compare_pairs(systems, some)
        return asked.copy()

    few, many = steps_of(3, 1000), steps_of(40, 2000)
    assert len(few) == len(many) == 4
    assert max(few) <= FEW_STEPS < min(many)
