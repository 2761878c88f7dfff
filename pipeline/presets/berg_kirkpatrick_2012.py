"""The one-sided bootstrap of Berg-Kirkpatrick, Burkett and Klein."""

from __future__ import annotations

from pipeline.interfaces import Preset, PresetRule

__all__ = ["PRESET"]

PRESET = Preset(
    name="berg-kirkpatrick-2012",
    rules=(PresetRule("paired-bootstrap", "one-sided", counts=("above_twice_delta",), plus_one=False, identical="0"),),
    replicates=1_000_000,
    prints="p(x), one-sided",
    null="A is not the better one",
    misleads=(
        "One-sided, with the side chosen after looking: read as “A and B differ” it rejects 2α of true nulls, .10 at .05, and "
        ".12 to .26 if 20 units of 100 or of 20 are discordant. The strict > leaves ties out: identical outputs have p = 0."
    ),
    reference="Berg-Kirkpatrick, Burkett and Klein 2012, D12-1091, Fig. 1",
    # The interval that belongs to the p of verdicts comes first, beside it the one that its own p inverts.
    settings={"resampling.intervals": ["symmetric", "basic"]},
)
