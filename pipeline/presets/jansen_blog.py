"""The bootstrap of Jansen's primer: the share of samples without a gain, ties counted."""

from __future__ import annotations

from pipeline.interfaces import Preset, PresetRule

__all__ = ["PRESET"]

PRESET = Preset(
    name="jansen-blog",
    rules=(PresetRule("paired-bootstrap", "at-or-below-zero", counts=("below_zero", "at_zero"), plus_one=False, identical="1"),),
    replicates=10_000,
    prints="the proportion of samples whose mean difference is at or below zero",
    null="A is not the better one",
    misleads=(
        "One-sided, with the side chosen after looking: read as “A and B differ” it rejects .115 of true nulls at .05 with 20 "
        "discordant units. Its ≤ counts ties, and there are many if few units are discordant: 2 wins and no loss in 100 units "
        "have p = .13."
    ),
    reference="Jansen, “Bootstrap resampling in NLP” (blog post), with a program in Scala",
    # The interval that belongs to the p of verdicts comes first, beside it the one that its own p inverts.
    settings={"resampling.intervals": ["symmetric", "percentile"]},
)
