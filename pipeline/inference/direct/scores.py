"""The scores of single units: which pairs have them, and the differences between two systems unit by unit.

If the two systems of a pair have the same denominators c, the gain is Σd / Σc with d the differences of numerators; if c is also
constant, it is the mean of the units' differences d/c.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.result import REASONS, code_of
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import ratio_factor

__all__ = [
    "MEMORY",
    "count_right",
    "denominator_groups",
    "differences",
    "gain_of_a_win",
    "has_two_values",
    "is_mean",
    "why_no_numerators",
]

MEMORY = 2**26
"""Bytes of a block of pairs × units."""


def denominator_groups(measure: Measure) -> NDArray[np.int64]:
    """Give each system of a ratio a group number; systems with the same denominators share one.

    Returns
    -------
    (system,) int64
    """
    numbers: dict[bytes, int] = {}  # np.unique of rows compares them as records of as many fields as there are units
    denominators = np.moveaxis(measure.statistics[:, :, 1], 1, 0)
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in denominators], np.int64)


def why_no_numerators(measure: Measure) -> NDArray[np.int8]:
    """Say why the gain of a pair cannot be written as Σd / Σc over common denominators.

    Returns
    -------
    (pair,) int8
        Codes of `REASONS`; 0 where it can.
    """
    if measure.form != "ratio":
        return np.full(len(measure.pairs), code_of("not a ratio", REASONS))
    first, second = measure.pairs.T
    groups = denominator_groups(measure)
    negative = measure.statistics[:, :, 1].min(axis=0) < 0
    return np.select(
        [groups[first] != groups[second], negative[first]],
        [code_of("denominators differ", REASONS), code_of("negative denominators", REASONS)],
        np.int8(0),
    ).astype(np.int8)


def is_mean(measure: Measure) -> NDArray[np.bool_]:
    """Tell which pairs have one constant denominator: their gain is a mean of differences of units.

    Returns
    -------
    (pair,) bool
    """
    if measure.form != "ratio":
        return np.zeros(len(measure.pairs), np.bool_)
    denominators = measure.statistics[:, :, 1]
    constant = (denominators.min(axis=0) == denominators.max(axis=0)) & (denominators[0] > 0)
    first, second = measure.pairs.T
    return np.asarray(constant[first] & constant[second] & (denominators[0, first] == denominators[0, second]))


def has_two_values(measure: Measure) -> NDArray[np.bool_]:
    """Tell for which pairs the numerators of all units take at most two values, such as 0 and 1.

    Returns
    -------
    (pair,) bool
    """
    numerators = measure.statistics[:, :, 0]
    least, most = numerators.min(axis=0), numerators.max(axis=0)
    alone = np.all((numerators == least) | (numerators == most), axis=0)
    first, second = measure.pairs.T
    low, high = np.minimum(least[first], least[second]), np.maximum(most[first], most[second])
    result = alone[first] & alone[second]
    for system in (first, second):
        for value in (least[system], most[system]):
            result &= (value == low) | (value == high)
    return np.asarray(result)


def gain_of_a_win(measure: Measure) -> NDArray[np.float64]:
    """Return what winning one discordant unit adds to a system's gain, where units score one of two values.

    The gain is this times wins minus losses; all discordant units are wins or losses.

    Returns
    -------
    (pair,) float64
        In points; nan where a pair's score is not a mean of two values.
    """
    found = np.full(len(measure.pairs), np.nan)
    chosen = is_mean(measure)
    if chosen.any():
        chosen &= has_two_values(measure)
        first, second = measure.pairs[chosen].T
        numerators, denominators = measure.statistics[:, :, 0], measure.statistics[0, :, 1]
        low, high = (np.stack([ends[first], ends[second]]) for ends in (numerators.min(axis=0), numerators.max(axis=0)))
        points = ratio_factor(measure) * (high.max(axis=0) - low.min(axis=0)) / (denominators[first] * len(measure.statistics))
        found[chosen] = np.where(points > 0, points, np.nan)
    return found


def count_right(measure: Measure) -> NDArray[np.int64]:
    """Count the units that each system has right, where every unit of all systems scores 0 or one other value.

    Returns
    -------
    (system,) int64
        The score is this times the score of a right unit, divided by the number of units; −1 for all systems otherwise.
    """
    numerators, denominators = measure.statistics[:, :, 0], measure.statistics[:, :, 1:2]
    best = numerators.max()
    right = numerators == best
    mean = measure.form == "ratio" and denominators.min() == denominators.max() and denominators.min() > 0
    if not mean or best <= 0 or not (right | (numerators == 0)).all():
        return np.full(numerators.shape[1], -1, np.int64)
    return np.asarray(right.sum(axis=0), np.int64)


def differences(
    measure: Measure, observed: Observed, members: NDArray[np.integer], *, memory_bytes: int, row_bytes: int = 8
) -> Iterator[tuple[NDArray[np.integer], NDArray[np.int64]]]:
    """Yield the units' differences of numerators in blocks of pairs, each ordered so that the observed gain is not negative.

    Parameters
    ----------
    measure : Measure
    observed : Observed
    members : (member,) int
        The pairs that are wanted.
    memory_bytes : int
        Of a block, which has at least one pair.
    row_bytes : int
        Memory for a unit of a pair, including what the caller computes from it.

    Yields
    ------
    pairs : (block,) int
    differences : (block, unit) int64
    """
    by_system = np.ascontiguousarray(measure.statistics[:, :, 0].T)
    sign = np.where(observed.delta < 0, -1, 1) * (1 if measure.higher_is_better else -1)
    length = max(memory_bytes // (row_bytes * by_system.shape[1]), 1)
    for start in range(0, len(members), length):
        block = members[start : start + length]
        first, second = measure.pairs[block].T
        yield block, (by_system[first] - by_system[second]) * sign[block, None]
