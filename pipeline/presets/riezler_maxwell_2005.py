"""Both tests of Riezler and Maxwell: a bootstrap whose distribution is folded, and approximate randomization."""

from __future__ import annotations

from pipeline.interfaces import Preset, PresetRule

__all__ = ["PRESET"]

PRESET = Preset(
    name="riezler-maxwell-2005",
    rules=(
        PresetRule("paired-bootstrap", "riezler-maxwell", kept="pipeline.inference.conventions:riezler_maxwell"),
        PresetRule(
            "approximate-randomization",
            "two-sided-plus-one",
            counts=("above_twice_delta", "at_twice_delta", "below_zero", "at_zero"),
        ),
    ),
    replicates=10_000,
    prints="p of both tests, side by side",
    null="bootstrap: the expected scores of A and B are equal; randomization: the outputs of A and B are exchangeable unit by unit",
    misleads=(
        "The bootstrap test folds a distribution that is centred at δ as if it were centred at 0: it rejects .110 of true nulls "
        "at .05 and .246 at .10, and p is about .43 if δ is 0. The convention is to blame for that more than the bootstrap. The "
        "randomization test has its level wherever outputs are exchangeable."
    ),
    reference="Riezler and Maxwell 2005, W05-0908, Figs. 1 and 2",
    settings={"resampling.keep_replicates": 10_000},  # the fold is read off kept ones
)
