"""What NumPy does in place of a kernel, where there is little to do, has the kernel's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.compiled.small_work import plain_python
from pipeline.inference.multiple_comparisons import max_t
from pipeline.inference.multiple_comparisons.families import Members, count_any
from pipeline.inference.multiple_comparisons.reached import _count_few, count_reaching
from pipeline.metrics.kernels import _ratio_few, _ratio_kernel
from pipeline.resampling.products.columns import _assemble, _assemble_few
from pipeline.resampling.standard_errors.ratio_spread import LOST, largest_differences, spread_by_products, spread_few
from pipeline.resampling.standard_errors.studentise import _divide, _divide_few

ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-310, 1e308, LOST])


def mixed(rng: np.random.Generator, *shape: int, odd: NDArray[np.float64] = ODD) -> NDArray[np.float64]:
    """Return numbers of which a third are odd."""
    return np.where(rng.random(shape) < 1 / 3, rng.choice(odd, shape), rng.normal(0.0, 30.0, shape).round(1))


def ratios(rng: np.random.Generator, score: Callable[..., None]) -> list[NDArray[Any]]:
    sums, out = mixed(rng, 2, 5, 300), np.empty((2, 5, 300))
    score(sums, out[0], 10.0, 1.0, 100.0)
    score(sums, out[1], 1.0, 1000.0, 1.0)
    return [out]


def assembled(rng: np.random.Generator, assemble: Callable[..., None]) -> list[NDArray[Any]]:
    finite = np.array([0.0, -0.0, 2.0**23])
    narrow, sparse = (mixed(rng, 3, 200, odd=finite).astype(np.float32) for _ in range(2))
    recipe = np.array([[0, -1, -1], [1, 6, -1], [2, 0, 5], [-1, 7, 3], [-1, -1, -1]])
    out = np.full((6, 200), np.nan)
    rows = np.array([4, 0, 1, 2, 3, 1])
    assemble(narrow, sparse, mixed(rng, 2, 200, odd=finite), recipe, np.array([1.0, -3.0, 7.0, 1 / 3, 2.0]), rows, out)
    return [out]


def divided(rng: np.random.Generator, divide: Callable[..., None]) -> list[NDArray[Any]]:
    gain, spread = mixed(rng, 3, 400), np.abs(mixed(rng, 3, 400))
    spread[mixed(rng, 3, 400) == LOST] = LOST
    spread[:, ::5], gain[:, ::10] = 0.0, 1.5
    t, empty, lost = np.zeros((4, 500)), np.zeros((4, 500), np.bool_), np.array([1, 2, 3, 4])
    divide(gain, spread, np.array([2, 0, 3]), np.array([0.25, 9.0, 1.5, -3.0]), np.array([0.0, 1.0, 0.5, 1e9]), 70, t, empty, lost)
    return [t, empty, lost]


def counted(rng: np.random.Generator, count: Callable[..., None]) -> list[NDArray[Any]]:
    t = mixed(rng, 4, 500, odd=np.array([np.nan, np.inf, -np.inf, 2.0, -2.0, 0.0]))
    largest, own, successive = np.zeros(500), np.zeros(4, np.int64), np.zeros(4, np.int64)
    count(t, np.array([np.inf, 40.0, 2.0, np.inf]), np.array([0.0, 2.0, 2.0, 35.0]), largest, own, successive)
    return [largest, own, successive]


def exceeding(rng: np.random.Generator, count: Callable[..., Any]) -> list[NDArray[Any]]:
    scores = np.where(rng.random((4, 3000)) < 0.1, np.nan, rng.normal(size=(4, 3000)).round(2))
    first, second = np.array([[0, 2, 3], [1, 0, 1]])
    members = Members(first, second, np.array([0.0, 0.25, -0.5]), np.array([1.0, 4.0, 0.5]), np.zeros(3))
    return [np.array([count(scores, members, two_sided, np.array([2.0, 9.0, 0.5])) for two_sided in (True, False)])]


def ratios_on_replicates(rng: np.random.Generator) -> tuple[list[NDArray[Any]], NDArray[np.float64]]:
    """Return what `spread_by_products` takes of three systems with one denominator, 0 in every fifth replicate."""
    c = rng.integers(1, 5, 40)
    n = rng.integers(0, 9, (3, 40))
    weights = rng.poisson(1.0, (200, 40)).astype(np.float32)
    weights[::5] = 0.0
    pairs = np.array([[0, 1], [2, 0], [1, 2]])
    products, squares = [*n, c, *(n * c), c * c], [(n[a] - n[b]) ** 2 for a, b in pairs]
    rows = np.array([[a, b, 3, k, 4 + a, 4 + b, 7] for k, (a, b) in enumerate(pairs)])
    columns = np.stack([n, np.broadcast_to(c, n.shape)], axis=1)
    sums = (np.array(of) @ weights.T.astype(np.float64) for of in (products, squares))
    return [*sums, rows, columns, pairs, weights], np.empty((2, 3, 200))


@pytest.mark.parametrize("seed", range(5))
def test_the_spread_of_few_has_the_same_bits(seed: int) -> None:
    given, found = ratios_on_replicates(np.random.Generator(np.random.Philox(seed)))
    expected = np.empty_like(found)
    assert spread_few(*given[:3], *found)
    spread_by_products(*given, *expected)
    assert np.isnan(expected[:, :, ::5]).all()
    assert found[~np.isnan(found)].tobytes() == expected[~np.isnan(expected)].tobytes()


def test_a_spread_that_is_lost_among_products_is_left_to_what_looks_at_units() -> None:
    (sums, squares, rows, *_), found = ratios_on_replicates(np.random.Generator(np.random.Philox(1)))
    sums[[0, 1]], squares[0] = sums[3], 0.0  # both systems have all of the denominator
    sums[[4, 5]] = sums[7]
    assert spread_few(sums, squares, rows, *found)  # no gain in any replicate: nothing is lost
    sums[0], squares[0], sums[4] = 3 * sums[3], 4 * sums[7], 3 * sums[7]  # a gain of 2 c on every unit
    assert not spread_few(sums, squares, rows, *found)


def differences(rng: np.random.Generator, largest: Callable[..., Any]) -> list[NDArray[Any]]:
    found = np.full(3, -1)
    largest(rng.integers(-(2**40), 2**40, (3, 50)), np.array([[0, 1], [2, 0], [1, 1]]), found)
    return [found]


@pytest.mark.parametrize(
    ("run", "few", "many"),
    [
        (ratios, _ratio_few, _ratio_kernel),
        (assembled, _assemble_few, _assemble),
        (divided, _divide_few, _divide),
        (counted, _count_few, count_reaching),
        (exceeding, max_t._count_few, count_any),
        (differences, plain_python(largest_differences), largest_differences),
    ],
    ids=["ratios", "assembled", "divided", "counted", "exceeding", "differences"],
)
@pytest.mark.parametrize("seed", range(5))
def test_both_have_the_same_bits(run: Callable[..., Any], few: Any, many: Any, seed: int) -> None:
    found, expected = (run(np.random.Generator(np.random.Philox(seed)), each) for each in (few, many))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        nan = np.isnan(one)
        assert np.array_equal(nan, np.isnan(other))  # whose sign means nothing
        assert one[~nan].tobytes() == other[~nan].tobytes()
