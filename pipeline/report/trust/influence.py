"""Checks on how single units move gains: skewness, and units that make much of a gain's variance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.interfaces.wording import name_metric
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.pairs.pairs import Pairs, as_pairs
from pipeline.report.rows import PairRow
from pipeline.report.values import on_set

__all__ = ["SKEWED", "WEIGHTY", "check_influence", "noise_of_acceleration"]

SKEWED = 0.03
"""|acceleration| above which a tail of the bootstrap or of Student's law at .025 is off by more than a tenth of itself."""

WEIGHTY = 0.2
"""Share of a gain's variance that one unit makes, above which it is remarked on."""

_ERRORS = 2.0  # of the skewness of Gaussian units: few of them are often skewed by chance

_JUDGED = ("better", "not separated", "not decided", "equivalent", "inconclusive")


def check_influence(pairs: Sequence[PairRow], *, noun: str = "") -> Iterator[tuple[str, bool, str]]:
    """Yield the checks on skewness and leverage of pairs with a verdict: name, whether to check, and the words.

    ``noun`` says what the pairs are, after their number.
    """
    pairs = as_pairs(pairs)
    procedures = pairs.values("procedure").tolist()
    needs = {name: PROCEDURES[name].needs_units for name in dict.fromkeys(procedures)}
    resting = np.fromiter(map(needs.__getitem__, procedures), np.bool_, len(procedures))
    judged = pairs.where(np.any([pairs.equal("verdict", word) for word in _JUDGED], axis=0) & resting)
    two_values = judged.equal("minimum_detectable_effect.law", "binomial")
    # The exact test of few wins and losses, which judges these, knows nothing of skewness.
    exact = judged.holds("few_discordant") & judged.known("p_exact") & two_values
    bent = judged.where(judged.known("acceleration") & ~exact)
    if len(bent):
        yield "Skewness", *_skewness(bent, noun)
    # Where every discordant unit weighs as much as the others, few of them are another check.
    moved = judged.where(judged.known("leverage") & ~two_values)
    if len(moved):
        yield "Leverage", *_leverage(moved, noun)


def _name(row: PairRow) -> str:
    return f"{row.system_a} and {row.system_b}, {name_metric(row.metric)} {on_set(row.test_set)}"


def noise_of_acceleration(units: int) -> float:
    """Return the standard error of the acceleration of Gaussian units, that of their skewness over 6√n; infinite below three.

    √(6(n − 2)/((n + 1)(n + 3))) is the standard error of the skewness m₃/m₂^1.5 (Cramér 1946, Mathematical Methods of Statistics,
    section 29.3); of the one without bias, √(n(n − 1))/(n − 2) times it, it is √(6n(n − 1)/((n − 2)(n + 1)(n + 3))).

    Examples
    --------
    >>> [round(noise_of_acceleration(units), 4) for units in (2, 10, 20, 100)]
    [inf, 0.0305, 0.0176, 0.004]
    """
    if units < 3:
        return math.inf
    return math.sqrt((units - 2) / (6 * units * (units + 1) * (units + 3)))


def _skewness(bent: Pairs, noun: str) -> tuple[bool, str]:
    units = bent.floats("units")
    noise = {float(n): noise_of_acceleration(int(n)) for n in np.unique(units)}
    bound = np.fmax(SKEWED, _ERRORS * np.array([noise[n] for n in units.tolist()]))
    many = bent.where(np.abs(bent.floats("acceleration")) > bound)
    shown = many if len(many) else bent
    size = np.abs(shown.floats("acceleration"))
    most, row = float(size.max()), shown[int(size.argmax())]
    count = (
        f"Gains with a skewed influence of units, |acceleration| above {SKEWED:g} and two standard errors: "
        f"{len(many):,} of {len(bent):,}{noun}"
    )
    if not len(many):
        return False, f"{count}; the largest is {most:.3f}{', which chance makes as well' if most > SKEWED else ''}."
    needed = math.ceil(row.units * (most / SKEWED) ** 2)
    return True, (
        f"{count}, at most {most:.3f} ({_name(row)}). Tests of such gains reject too often on one side, and intervals are off to "
        f"it. Acceleration falls with the root of the number of units: that pair needs about {needed:,}. "
        "Swaps are no way out: they take gains to be symmetric."
    )


def _leverage(moved: Pairs, noun: str) -> tuple[bool, str]:
    shares = moved.floats("leverage.share")
    most, row = float(shares.max()), moved[int(shares.argmax())]
    heavy = int((shares > WEIGHTY).sum())
    count = f"One unit makes more than {100 * WEIGHTY:.0f} % of a gain's variance: {heavy:,} of {len(shares):,}{noun}"
    if not heavy or row.leverage is None:
        return False, f"{count}; the largest share is {100 * most:.1f} %."
    gain = f"{row.delta:.4g}" if row.delta is not None else "undefined"
    return True, (
        f"{count}, at most {100 * most:.0f} % ({_name(row)}: unit {row.leverage.unit + 1:,} of {row.units:,}; the gain is {gain}, "
        f"without it {row.leverage.delta_without:.4g}). Look at these units; more units, or a score that bounds what one of them "
        "can do, help."
    )
