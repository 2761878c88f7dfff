"""Compare the standard errors of one kind of pair with those of all others; p comes from permuting the systems' labels.

With se_j and gain_j of pair j, and D_j = 1 for the pairs of the kind, the least squares fit

    se = β₀ + β₁ gain + γ D

controls for the gain. The ratio is the fitted se of the kind to that of all other pairs, at the mean gain of all pairs: (β₀ + β₁ ḡ
+ γ) / (β₀ + β₁ ḡ). Pairs share systems and are not independent, so p permutes what belongs to systems, their labels: every
arrangement has its own D and γ, and p is the share of arrangements, the observed one among them, with |γ| at least as large
(regression on pairs whose nodes are permuted: Krackhardt 1988, doi:10.1016/0378-8733(88)90004-4; the observed arrangement is
counted: Phipson & Smyth 2010, doi:10.2202/1544-6115.1585).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.philox import philox

__all__ = ["LabelTest", "count_arrangements", "draw_orders", "list_arrangements", "permute_labels"]

_SLACK = 1e-9


@dataclass(frozen=True)
class LabelTest:
    """Standard errors of one kind of pair compared with those of all other pairs.

    Parameters
    ----------
    ratio : float
        At the mean gain of all pairs.
    p : float
        Two-sided.
    arrangements : int
        The number on which p is based, including the observed one.
    """

    ratio: float
    p: float
    arrangements: int


def count_arrangements(labels: NDArray[np.int64]) -> int:
    """Count the distinct assignments of the labels to the systems.

    Examples
    --------
    >>> count_arrangements(np.array([0, 0, 1, 1, 2]))
    30
    """
    return factorial(len(labels)) // prod(factorial(int(times)) for times in np.bincount(labels))


def list_arrangements(labels: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the distinct assignments of the labels, in lexicographic order.

    Examples
    --------
    >>> [a.tolist() for a in list_arrangements(np.array([1, 0, 0]))]
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    now = sorted(labels.tolist())
    while True:
        yield np.array(now, dtype=np.int64)
        at = next((k for k in range(len(now) - 2, -1, -1) if now[k] < now[k + 1]), None)
        if at is None:
            return
        other = next(k for k in range(len(now) - 1, at, -1) if now[k] > now[at])
        now[at], now[other] = now[other], now[at]
        now[at + 1 :] = now[:at:-1]


def draw_orders(key: int, first: int, count: int, size: int) -> NDArray[np.int64]:
    """Return consecutive random permutations of a number of things, drawn by address: (order, thing) int64.

    An order sorts the things by the random words of its replicate. With a thousand things two words are equal once in 8000 orders,
    and those things keep their order.

    Examples
    --------
    >>> draw_orders(1, 0, 2, 5).tolist()
    [[2, 4, 3, 0, 1], [3, 1, 2, 0, 4]]
    """
    quads = -(-size // 4)
    counter = np.zeros((4, count, quads), np.uint32)
    counter[0] = np.arange(quads)
    counter[1] = (first + np.arange(count))[:, None]
    words = philox(counter, np.array([key & 0xFFFFFFFF, key >> 32], np.uint32))
    return np.argsort(words.transpose(1, 2, 0).reshape(count, -1)[:, :size], axis=1, kind="stable")


def permute_labels(
    se: NDArray[np.float64],
    gain: NDArray[np.float64],
    kind: NDArray[np.bool_],
    arranged: Callable[[], Iterator[NDArray[np.bool_]]],
    *,
    complete: bool,
) -> LabelTest | None:
    """Return the ratio of the standard errors of a kind of pairs, and its p.

    Parameters
    ----------
    se, gain : (pair,) float64
    kind : (pair,) bool
        The pairs of the kind; all others are what they are compared with.
    arranged : callable
        Yields the kind under other arrangements of the labels, several at a time: (arrangement, pair).
    complete : bool
        Whether these are all arrangements, the observed one among them.

    Returns
    -------
    LabelTest or None
        None if the gain alone distinguishes the kind from the others, or if either has no pair.
    """
    design = np.column_stack([np.ones_like(gain), gain])
    base, _ = np.linalg.qr(design)
    rest = se - base @ (base.T @ se)
    observed = float(_effects(kind[None], base, rest)[0])
    if not np.isfinite(observed):
        return None
    level = _fitted_level(se - observed * kind, design)
    least, extreme, arrangements = abs(observed) * (1 - _SLACK), 0, 0
    for kinds in arranged():
        effects = _effects(kinds, base, rest)
        # An arrangement under which no pair is of the kind, or all are, says nothing for labels at random.
        extreme += int(np.sum(~(np.abs(effects) < least)))
        arrangements += len(effects)
    if not complete:
        extreme, arrangements = extreme + 1, arrangements + 1
    return LabelTest(float((level + observed) / level), extreme / arrangements, arrangements)


def _effects(kinds: NDArray[np.bool_], base: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return γ for each row of kinds, by regressing what the gain leaves of se on what it leaves of the kind."""
    dealt = kinds.astype(np.float64)
    left = dealt.sum(axis=1) - np.sum((dealt @ base) ** 2, axis=1)
    told = left > _SLACK * np.maximum(dealt.sum(axis=1), 1)
    return np.where(told, (dealt @ rest) / np.where(told, left, 1.0), np.nan)


def _fitted_level(se: NDArray[np.float64], design: NDArray[np.float64]) -> float:
    fit, *_ = np.linalg.lstsq(design, se, rcond=None)
    return float(design.mean(axis=0) @ fit)
