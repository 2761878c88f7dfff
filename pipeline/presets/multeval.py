"""MultEval's shuffle of several runs of a system; the analysis of replicas has its number."""

from __future__ import annotations

from pipeline.interfaces import Preset, PresetRule

__all__ = ["PRESET"]

PRESET = Preset(
    name="multeval",
    rules=(PresetRule("multeval", "two-sided-plus-one, strict", analysis="replicas", identical="1/(b + 1)"),),
    replicates=10_000,
    prints="p of each system against the baseline",
    null="the outputs of A and B are exchangeable segment by segment, whatever optimizer run they come from",
    misleads=(
        "Outputs of a segment go to X by a permutation of run numbers and to Y by its inverse: with three runs or more some are "
        "in both and some in neither, so X and Y are too much alike. If all outputs are independent it rejects .074, .101, .129 "
        "of true nulls at .05 with 3, 5, 10 runs, and more if whole runs differ or segments suit a system: it says nothing "
        "about new runs. It scores all runs pooled. The strict > leaves ties out: identical systems have p = 1/(b + 1)."
    ),
    reference="Clark, Dyer, Lavie and Smith 2011, P11-2031",
    settings={
        "resampling.procedures": ["approximate-randomization"],
        # Its own shuffle of runs, and beside it the nulls that hold their level.
        "analyses": [
            {
                "name": "replicas",
                "options": {"nulls": ["multeval", "segment-block", "whole-run", "crossed"], "replicates": 10_000},
            }
        ],
    },
)
