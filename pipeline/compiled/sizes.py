"""How much the loops take at a time that are written in LLVM's own language: what their callers lay out is made to fit."""

from __future__ import annotations

__all__ = [
    "BITS_SIDE_BY_SIDE", "BLOCK", "CUTS", "ESTIMATES", "FINER", "GROUP", "LANES", "MOST", "STATISTICS", "TILE", "VECTORS",
]  # fmt: skip

VECTORS = 2
"""Vectors of counts that `pipeline.compiled.byte_dot` multiplies together."""

TILE = 16
"""Rows of a tile of AMX, and numbers of 32 bits in a row: columns, quads of units and replicates at a time."""

LANES = 32
"""Replicates that `pipeline.compiled.gain_loops` takes at a time, each with an accumulator of its own."""

FINER = 256
"""Parts of a bin that thresholds are compared by."""

GROUP = 256
"""Replicates whose bins are counted at a time, in bytes: at most 255 groups of `LANES` of them."""

BLOCK = 64
"""Replicates that `pipeline.compiled.byte_gains` takes at a time."""

MOST = 2048
"""The most replicates of a call of its loops: the sums of their distances fit into the narrow integers that hold them."""

CUTS = 4
"""Cuts that are counted together, while their gains are in registers."""

ESTIMATES = 16
"""Replicates that `pipeline.compiled.swap_estimates` takes at a time."""

STATISTICS = 10
"""Of BLEU: two lengths, matches and totals of four orders."""

BITS_SIDE_BY_SIDE = 16
"""Replicates whose bits `pipeline.compiled.bit_loops` takes at a time, a word of each."""
