"""Sentences on what pairs that are not separated could have shown, for pairs of systems and of models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

import numpy as np

from pipeline.inference.sample_size.power import POWER
from pipeline.inference.unit_diagnostics.undecided import FEWEST_EFFECTIVE, FEWEST_UNITS
from pipeline.report.pairs.pairs import Pairs, as_pairs
from pipeline.report.rows import PairRow
from pipeline.report.values import format_gain

__all__ = [
    "FIRST_STEP", "NO_VERDICT", "OPEN", "SHOWN", "describe_detectable", "name_discordant", "say_smallest", "why_no_gain",
]  # fmt: skip

OPEN = ("not separated", "not decided", "inconclusive")
"""Verdicts beside which the smallest gain that could have been shown is told."""

SHOWN = f"{100 * POWER:.0f} % power"

NO_VERDICT = {
    "few units": f"graded scores get no verdict from fewer than {FEWEST_UNITS} units, or from units worth fewer than "
    f"{FEWEST_EFFECTIVE:g} of equal size",
    "rare losses": "a gain that comes with large losses on a few units gets no verdict, however large it is",
    "failures of others": "where other systems fail on single units, so few units give no verdict, however large the gain is",
}
"""Why a pair has no verdict, by the word of its `undecided`."""

_FEW_DISCORDANT = "so few discordant units can show none"
_FEW_AT_FIRST = "so few discordant units can show none before other pairs are separated"
FIRST_STEP = "are not beyond the critical value"
"""What a reason says of wins that a later step may separate."""


def describe_detectable(rows: Sequence[PairRow], digits: int, noun: str) -> str:
    """Return a sentence on what pairs that are not separated could have shown; nothing where that is not known."""
    pairs = as_pairs(rows)
    still = np.any([pairs.equal("verdict", word) for word in OPEN], axis=0)
    known = pairs.where(pairs.known("minimum_detectable_effect") & still)
    if not len(known):
        return ""
    if len(known) > 1:
        return _describe_many(known, digits, noun)
    row, effect = known[0], known[0].minimum_detectable_effect
    assert effect is not None
    whose = f" of {row.system_a} over {row.system_b}" if len(rows) > 1 else ""
    needed = f"; a true gain of {format_gain(row.delta, digits)}{whose} needs about {effect.units_needed or 0:,} {noun}"
    needed = needed if effect.units_needed else ""
    if effect.gain is None:
        return f"No gain could have been shown: {effect.reason}{needed and f'{needed} for {SHOWN}'}."
    return f"{say_smallest([effect.gain], digits, how=f'here with {SHOWN}')}{needed}."


def _describe_many(known: Pairs, digits: int, noun: str) -> str:
    found = known.floats("minimum_detectable_effect.gain")
    gains, none = found[np.isfinite(found)].tolist(), known.where(~np.isfinite(found))
    why = "; ".join(dict.fromkeys(_say_why_at_first(none))) + "."
    needed = [units for units in none.values("minimum_detectable_effect.units_needed").tolist() if units]
    if needed:
        least, most = min(needed), max(needed)
        spread = f" (median of {least:,} to {most:,})" if least < most else ""
        why += f" If true, their gains need about {math.ceil(median(needed)):,} {noun} for {SHOWN}{spread}."
    if not gains:
        return f"None of these pairs could have shown a gain: {why}"
    told = f"{say_smallest(gains, digits, how=f'in these pairs with {SHOWN}')}."
    return f"{told} {len(none):,} could have shown none: {why}" if len(none) else told


def _say_why_at_first(pairs: Pairs) -> Iterator[str]:
    """Yield why each pair can show no gain, in few words."""
    effect = "minimum_detectable_effect"
    cells = (pairs.values(path).tolist() for path in ("undecided", f"{effect}.critical", f"{effect}.reason"))
    for undecided, critical, reason in zip(*cells, strict=True):
        steps = undecided is None and critical is not None and FIRST_STEP in (reason or "")
        yield _FEW_AT_FIRST if steps else why_no_gain([undecided])


def name_discordant(m: int) -> str:
    """Return a number of discordant units with their name.

    Examples
    --------
    >>> name_discordant(1), name_discordant(1200)
    ('1 discordant unit', '1,200 discordant units')
    """
    return f"{m:,} discordant unit{'' if m == 1 else 's'}"


def why_no_gain(undecided: Iterable[str | None]) -> str:
    """Say why pairs can show no gain: each reason once, of those that are not decided, and of others that too few units differ."""
    return "; ".join(dict.fromkeys(NO_VERDICT.get(reason or "", _FEW_DISCORDANT) for reason in undecided))


def say_smallest(gains: Sequence[float], digits: int, *, how: str) -> str:
    """Return the smallest, largest and median of several smallest gains, or the one that all of them are, without a full stop."""
    least, most, middle = (format_gain(gain, digits) for gain in (min(gains), max(gains), median(gains)))
    if least == most:
        return f"The smallest true gain detectable {how} (minimum detectable effect) is {least}"
    return f"The smallest true gains detectable {how} (minimum detectable effects) are {least} to {most} (median {middle})"
