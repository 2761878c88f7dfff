"""The law of a sum of independent integers: small laws, and how often each is drawn from.

Units without a denominator count only where a unit with one is drawn too. Such atoms are *hollow*, and a law with hollow atoms is
that of the sum *given* that not every draw is hollow. With f the transform of one draw and g its hollow part, that law has the
transform (fⁿ − gⁿ) / (1 − g(0)ⁿ). It is never formed as a difference (`ring.raise_both`), so nothing cancels.

Before a law is made, `check_sums` holds the integers to what int64 can add, and `common_step` finds the factor to take out of
them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.products.contract import largest_magnitude

__all__ = [
    "INT64_LIMIT",
    "Factors",
    "check_sums",
    "common_step",
    "ends",
    "expected_hits",
    "highest",
    "is_partial",
    "log_bottom",
    "log_end",
    "make_factor",
    "one_dimensional",
    "reflect",
]

INT64_LIMIT = 2**63


def common_step(values: NDArray[np.int64]) -> int:
    """Return the greatest common divisor, 1 for zeros."""
    return int(np.gcd.reduce(values)) or 1 if len(values) else 1


def one_dimensional(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one or more integers as int64, and refuse anything else."""
    if values.ndim != 1 or not values.size or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"one or more integers are needed, not {values.dtype} of shape {values.shape}")
    return values.astype(np.int64)


def check_sums(values: NDArray[np.int64]) -> None:
    """Refuse values of which four times the sum of any n could leave int64."""
    bound = 4 * len(values) * largest_magnitude(values)
    if bound >= INT64_LIMIT:
        raise ValueError(f"sums up to {bound} do not fit: int64 ends at {INT64_LIMIT}")


class Factors(NamedTuple):
    """The law of a sum of independent draws from one or more small laws.

    Parameters
    ----------
    atoms : (atom,) int64
        Values of all laws one after the other; ascending within a law, from 0.
    chances : (atom,) float64
        Their probabilities; they sum to 1 within a law.
    hollow : (atom,) bool
        Of these at least one draw is another; not all of a law, and only where there is one law.
    starts : (factor + 1,) int64
        Where each law begins.
    powers : (factor,) int64
        How often each law is drawn from.
    """

    atoms: NDArray[np.int64]
    chances: NDArray[np.float64]
    hollow: NDArray[np.bool_]
    starts: NDArray[np.int64]
    powers: NDArray[np.int64]


def make_factor(
    values: NDArray[np.int64],
    counts: NDArray[np.int64] | NDArray[np.float64],
    *,
    draws: int,
    hollow: NDArray[np.bool_] | None = None,
) -> Factors:
    """Make the law of ``draws`` draws of ascending values, the first of them 0, that occur in proportion to ``counts``."""
    starts, powers = np.array([0, len(values)], np.int64), np.array([draws], np.int64)
    flags = np.zeros(len(values), np.bool_) if hollow is None else hollow
    return Factors(values.astype(np.int64), counts / counts.sum(), flags, starts, powers)


@kernel
def is_partial(law: Factors) -> bool:
    """Tell whether some atoms are hollow."""
    for flag in law.hollow:  # noqa: SIM110  only a loop compiles
        if flag:
            return True
    return False


@kernel
def highest(law: Factors) -> int:
    """Return the largest value of the sum of any draws, hollow or not; the smallest is 0."""
    total = 0
    for j in range(len(law.powers)):
        total += law.powers[j] * law.atoms[law.starts[j + 1] - 1]
    return total


def ends(law: Factors) -> tuple[int, int]:
    """Return the smallest and the largest value of the sum where at least one draw is not hollow."""
    low, high = 0, highest(law)
    if is_partial(law):
        solid = law.atoms[~law.hollow]
        low, high = int(solid[0]), high - int(law.atoms[-1]) + int(solid[-1])
    return low, high


@kernel
def reflect(law: Factors) -> Factors:
    """Return the law of highest − S."""
    length = len(law.atoms)
    atoms, chances, hollow = np.empty(length, np.int64), np.empty(length, np.float64), np.empty(length, np.bool_)
    for j in range(len(law.powers)):
        start, stop = law.starts[j], law.starts[j + 1]
        for a in range(start, stop):
            to = start + stop - 1 - a
            atoms[to] = law.atoms[stop - 1] - law.atoms[a]
            chances[to] = law.chances[a]
            hollow[to] = law.hollow[a]
    return Factors(atoms, chances, hollow, law.starts, law.powers)


@kernel
def expected_hits(draws: int, share: float) -> float:
    """Return the mean number of draws that are not hollow, given that it is not 0: n·share / (1 − (1 − share)ⁿ)."""
    if share < 1e-300:
        return 1.0
    if share >= 1:
        return float(draws)
    return draws * share / -math.expm1(draws * math.log1p(-share))


def log_end(law: Factors) -> float:
    """Return log P(S = its smallest value)."""
    return _log_end_of_both(law) if is_partial(law) else log_bottom(law)


@kernel
def log_bottom(law: Factors) -> float:
    """Return log P(S = 0) of a law without hollow atoms."""
    value = 0.0
    for j in range(len(law.powers)):
        value += law.powers[j] * math.log(law.chances[law.starts[j]])
    return value


@kernel
def _log_end_of_both(law: Factors) -> float:
    draws, solid = int(law.powers[0]), np.flatnonzero(~law.hollow)
    bottom, share = 0.0, 0.0  # of hollow atoms at the bottom, and of the others at theirs
    least = law.atoms[solid[0]]
    for a in range(len(law.atoms)):
        if law.hollow[a]:
            bottom += law.chances[a] if law.atoms[a] == 0 else 0.0
        elif law.atoms[a] == least:
            share += law.chances[a]
    value = -math.log(law.chances[solid].sum() / expected_hits(draws, law.chances[solid].sum()))
    if bottom == 0:
        return value - math.log(draws) + draws * math.log(share)
    if least > 0:
        return value + math.log(share) + (draws - 1) * math.log(bottom)
    whole = bottom + share
    return value + draws * math.log(whole) + math.log(share / whole / expected_hits(draws, share / whole))
