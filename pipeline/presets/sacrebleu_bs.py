"""``sacrebleu --paired-bs``: the paired bootstrap as sacreBLEU draws and counts it."""

from __future__ import annotations

from pipeline.interfaces import Preset, PresetRule

__all__ = ["PRESET"]

PRESET = Preset(
    name="sacrebleu-bs",
    rules=(
        PresetRule(
            "paired-bootstrap",
            "riezler-maxwell, strict",
            compute="pipeline.presets.sacrebleu_paired:bootstrap",
            identical="1/(b + 1)",
        ),
    ),
    replicates=1_000,
    prints="score (mean ± half width of the percentile interval), then (p = …), starred up to .05",
    null="the expected scores of A and B are equal",
    misleads=(
        "It uses the convention of riezler-maxwell-2005 with > in place of ≥, and rejects .110 of true nulls at .05. With the "
        "tool's default, b = 1000, a p of .05 has an error of ± .014. The interval is for the system's own score: that two of "
        "them overlap does not show that the systems are equal. Identical outputs have p = 1/(b + 1)."
    ),
    reference="Post 2018, W18-6319, doi:10.18653/v1/W18-6319; sacreBLEU 2.6, --paired-bs",
    settings={"seed": 12345, "resampling.intervals": ["symmetric", "percentile"]},
    compares_with_baseline=True,
)
