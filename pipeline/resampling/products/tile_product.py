"""Counts times statistics with AMX tiles: the layout of columns, and the kernel.

The counts of a block of replicates already are a tile: sixteen quads of units, each with four units of sixteen replicates. So are
the sums of sixteen columns on sixteen replicates. Only the columns need another layout, sixteen columns by sixteen quads, so that a
tile of them has no gaps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import tile_dot
from pipeline.compiled.sizes import TILE, VECTORS
from pipeline.compiled.tile_permission import may_use_tiles

__all__ = ["fill_by_tiles", "lay_tiles", "multiply_tiles"]

_ROW = 4 * TILE  # bytes of a row of a tile
_GROUP = 2**19  # bytes of counts that stay in the cache while all columns pass by

_ONE_PANEL, _TWO_PANELS = (tile_dot(panels) for panels in (1, 2))


def lay_tiles(rows: NDArray[np.int8], laid: NDArray[np.int8]) -> None:
    """Fill (panel, step, 16, 64) zeros with (column, 4 · quad) digits.

    A panel is 16 columns, a step 16 quads. The last step is the last 16 quads, since nothing may be read beyond the counts;
    quads that the step before has too are 0 in it.
    """
    panels, steps = laid.shape[:2]
    width = rows.shape[1]
    done = max(steps - 1, 0) * _ROW
    wide = np.zeros((panels * TILE, steps * _ROW), np.int8)
    wide[: len(rows), :done] = rows[:, :done]
    end = wide.shape[1] if steps > 1 else width  # where there is a single step, it begins with the first quad
    wide[: len(rows), end - (width - done) : end] = rows[:, done:]
    laid[:] = wide.reshape(panels, TILE, steps, _ROW).transpose(0, 2, 1, 3)


def multiply_tiles(counts: NDArray[np.uint8], laid: NDArray[np.int8], out: NDArray[np.int32]) -> None:
    """Fill (column, 16 · block) sums of the columns of `lay_tiles` over (block, quad, 16, 4) counts.

    Raises
    ------
    RuntimeError
        If this process may not use the tiles: their first instruction would end it.
    """
    if not may_use_tiles():
        raise RuntimeError("the tiles of AMX are not granted to this process")
    fill_by_tiles(counts, laid, out)


@bare_kernel
def fill_by_tiles(counts: NDArray[np.uint8], laid: NDArray[np.int8], out: NDArray[np.int32]) -> None:
    """Multiply as `multiply_tiles` does, in a process that may use the tiles."""
    quads, block, across = counts.shape[1], counts.shape[1] * 64, 4 * out.shape[1]
    steps, high, panel_bytes = laid.shape[1], min(quads, TILE), laid.shape[1] * TILE * _ROW
    last = 64 * (quads - high)
    group, pairs = max(_GROUP // (VECTORS * block), 1), counts.shape[0] // VECTORS
    shapes = np.zeros(64, np.uint8)
    for first in range(0, pairs, group):
        times = min(group, pairs - first)
        p = counts.ctypes.data + first * VECTORS * block
        for panel in range(0, len(laid), 2):
            left = len(out) - panel * TILE
            s = laid.ctypes.data + panel * panel_bytes
            o = out.ctypes.data + panel * TILE * across + first * VECTORS * _ROW
            if left > TILE:
                _shape(shapes, 2, left, high)
                _TWO_PANELS(shapes.ctypes.data, s, steps, p, last, block, times, o, across)
            else:
                _shape(shapes, 1, left, high)
                _ONE_PANEL(shapes.ctypes.data, s, steps, p, last, block, times, o, across)


@kernel
def _shape(shapes: NDArray[np.uint8], panels: int, columns: int, quads: int) -> None:
    """Fill what `ldtilecfg` reads: at 16 the bytes of a row of each tile, in 16 bits each, at 48 its rows; 1 is the palette."""
    shapes[:] = 0
    shapes[0] = 1
    digits, counts = VECTORS * panels, (VECTORS + 1) * panels
    for tile in range(counts + VECTORS):
        panel = tile // VECTORS if tile < digits else tile - digits
        shapes[16 + 2 * tile] = 4 * quads if digits <= tile < counts else _ROW
        shapes[48 + tile] = quads if tile >= counts else min(columns - panel * TILE, TILE)
