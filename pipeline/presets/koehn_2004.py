"""Koehn's bootstrap: the share of samples in which the better system loses."""

from __future__ import annotations

from pipeline.interfaces import Preset, PresetRule

__all__ = ["PRESET"]

PRESET = Preset(
    name="koehn-2004",
    rules=(PresetRule("paired-bootstrap", "below-zero", counts=("below_zero",), plus_one=False, identical="0"),),
    replicates=1_000,
    prints="the share of samples in which the better system does not lose: 1 − p",
    null="A is not the better one",
    misleads=(
        "One-sided, with the side chosen after looking. Exactly 0 if nothing is lost: one win in 100 units gives p = 0. On 0/1 "
        "scores it rejects every true null with 1 discordant unit, and half of them with 2. Identical outputs have p = 0."
    ),
    reference="Koehn 2004, W04-3250",
    # The interval that belongs to the p of verdicts comes first, beside it the one that its own p inverts.
    settings={"resampling.intervals": ["symmetric", "percentile"]},
)
