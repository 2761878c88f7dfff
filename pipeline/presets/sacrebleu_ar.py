"""``sacrebleu --paired-ar``: approximate randomization as sacreBLEU draws and counts it."""

from __future__ import annotations

from pipeline.interfaces import Preset, PresetRule

__all__ = ["PRESET"]

PRESET = Preset(
    name="sacrebleu-ar",
    rules=(
        PresetRule(
            "approximate-randomization",
            "two-sided-plus-one, strict",
            compute="pipeline.presets.sacrebleu_paired:randomization",
            identical="1/(b + 1)",
        ),
    ),
    replicates=10_000,
    prints="score, then (p = …), starred up to .05",
    null="the outputs of A and B are exchangeable unit by unit",
    misleads=(
        "The strict > does not count swaps that gain exactly as much as was observed: on 0/1 scores with 20 discordant units it "
        "rejects .115 of true nulls at .05, where ≥ rejects .041. On BLEU of many segments ties are rare. Identical outputs "
        "have p = 1/(b + 1)."
    ),
    reference="Post 2018, W18-6319, doi:10.18653/v1/W18-6319; sacreBLEU 2.6, --paired-ar",
    settings={"seed": 12345},
    compares_with_baseline=True,
)
