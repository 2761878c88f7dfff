"""What units do to each pair, as a cube declares it. This module has variables that only some cubes hold."""

from __future__ import annotations

from pipeline.cubes.declared import Variable

__all__ = ["UNIT_EFFECTS", "UNIT_REASONS"]

NAN = float("nan")
PAIRS = ("metric", "test_size", "pair")
DONNER_KOVAL = "Donner & Koval 1980, doi:10.2307/2530491"
KISH = "Kish 1965, Survey Sampling, ISBN 0-471-10949-5"

UNIT_REASONS = ("none", "undefined-influence", "no-variation", "one-unit", "one-item-a-unit")
"""Codes of the variable ``unit_effect_reason``, by position: why a pair has no intra-cluster correlation."""

UNIT_EFFECTS = (
    Variable(
        "intra_cluster_correlation",
        PAIRS,
        "float64",
        NAN,
        "1",
        "of the items' influence on the gain, within units, or within documents where items are the units",
        DONNER_KOVAL,
    ),
    Variable(
        "design_effect",
        PAIRS,
        "float64",
        NAN,
        "1",
        "variance of the gain where units are drawn over that where items are; of documents where items are the units",
        KISH,
    ),
    Variable(
        "unit_effect_reason",
        PAIRS,
        "int8",
        -1,
        "1",
        "why there is no intra-cluster correlation; -1 where nothing was written",
        flags=UNIT_REASONS,
    ),
)
"""What units do to each pair; only where items are known to stand in units or documents."""
