"""Addresses of random draws: a key made from names, and a cell and replicate number. Every draw has one."""

from __future__ import annotations

import hashlib
import json

__all__ = ["CELL", "MOST_REPLICATES", "cell_bounds", "count_cells", "draw_key"]

CELL = 2**14
"""Consecutive replicates of one (test set, size, procedure): the grid of storage and of reduction."""

MOST_REPLICATES = 10**9
"""A p of 1e-7 then has a Monte-Carlo error of a tenth; a plan of them is made in seconds, and of a thousand times as many never."""

_VERSION = "pipeline-draws-1"  # a new tag means new draws: every stored count would become stale


def draw_key(*, seed: int, purpose: str, test_set: str, size: str, rule: str) -> int:
    """Return the 64-bit key of a stream of draws.

    Systems and metrics are not part of it: replicates are shared by all systems, which is what makes comparisons paired.

    Parameters
    ----------
    seed : int
        The study's seed; any integer.
    purpose : str
        What is drawn for, such as ``"paired-bootstrap"``.
    test_set, size : str
        Name of the test set and label of its size (``"100"`` or ``"full"``).
    rule : str
        How units are drawn.

    Returns
    -------
    int
        The first 64 bits of SHA-256 over a JSON array of a version tag and the arguments: no two different
        arguments have the same encoding.

    Examples
    --------
    >>> hex(draw_key(seed=1, purpose="bootstrap", test_set="news", size="full", rule="units"))
    '0x331a933adc4c9595'
    """
    encoded = json.dumps([_VERSION, int(seed), purpose, test_set, size, rule], ensure_ascii=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(encoded.encode("ascii")).digest()[:8], "big")


def count_cells(replicates: int) -> int:
    """Count the cells that hold this many replicates; the last one may be partial.

    Examples
    --------
    >>> count_cells(10**6), count_cells(2**14), count_cells(0)
    (62, 1, 0)
    """
    if replicates < 0:
        raise ValueError(f"replicates must be at least 0, not {replicates}")
    return -(-replicates // CELL)


def cell_bounds(cell: int, replicates: int) -> tuple[int, int]:
    """Return the first replicate of a cell and the one after its last.

    Examples
    --------
    >>> cell_bounds(1, 20_000)
    (16384, 20000)
    """
    cells = count_cells(replicates)
    if not 0 <= cell < cells:
        raise ValueError(f"cell {cell} is not one of the {cells} cells of {replicates} replicates")
    return cell * CELL, min((cell + 1) * CELL, replicates)
