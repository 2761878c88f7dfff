"""Loops in the middle of kernels that Numba would not write as well: written in LLVM's own language, in modules of their own.

Here is what kernels call. Such a loop is written when Numba compiles a kernel with it: until then neither Numba nor LLVM is
imported.
"""

from __future__ import annotations

from typing import Any

from pipeline.compiled.intrinsics import intrinsic, written_by

__all__ = [
    "byte_dot", "count_below", "count_bins", "count_bits", "count_differing", "estimate_added", "estimate_plain",
    "exchange_bits", "lowest_bit", "subtract_estimates", "take_distances", "tile_dot", "walk_gains",
]  # fmt: skip


def byte_dot(form: str, lanes: int, columns: int) -> Any:
    """Return the innermost loop as an intrinsic: sums of some columns over the counts of two vectors of replicates.

    Its arguments are addresses and strides in bytes: of the counts of the first vector, from there to the second, and from a quad
    of units to the next; of the first column, and from there to the next; the number of quads, which is not 0; of the first sum,
    and from the sums of a column to those of the next.

    Parameters
    ----------
    form : str
        ``vnni-512``, ``vnni-256``, ``arm-i8mm`` or ``avx2``. The last adds to the sums that are there, and has 16 bits for its own:
        a call has no more quads than they hold.
    lanes : int
        Sums of 32 bits in a vector.
    columns : int
        At a time: twice as many vectors of sums are held in registers.
    """

    @intrinsic
    def micro(typing: Any, counts: Any, apart: Any, step: Any, digits: Any, stride: Any, quads: Any, out: Any, across: Any) -> Any:
        from numba import types

        from pipeline.compiled.byte_dot import write_dot

        return types.void(*[types.int64] * 8), written_by(lambda builder, given: write_dot(builder, given, form, lanes, columns))

    return micro


def tile_dot(panels: int) -> Any:
    """Return a loop by the tiles of AMX as an intrinsic: sums of one or two panels of columns over blocks of counts.

    A panel is up to `TILE` columns, a block as many replicates. The arguments are addresses, numbers and strides in bytes:

    - of what `ldtilecfg` reads: the shapes of tiles of sums (two for each panel), of digits (one for each), and of counts (two);
    - of the digits, (panel, step, column, 4 · quad) with `TILE` quads a step, and the number of steps, which is not 0;
    - of the counts, where the last step begins in a block, and from a block to the next;
    - how often two blocks are taken, which is not 0;
    - of the sums, and from those of a column to those of the next.

    Parameters
    ----------
    panels : int
        1 or 2, as there are eight tiles.
    """

    @intrinsic
    def tiles(
        typing: Any, shapes: Any, digits: Any, steps: Any, counts: Any, last: Any, block: Any, times: Any, out: Any, across: Any
    ) -> Any:
        from numba import types

        from pipeline.compiled.tile_dot import write_tile_dot

        return types.void(*[types.int64] * 9), written_by(lambda builder, given: write_tile_dot(builder, given, panels))

    return tiles


@intrinsic
def take_distances(typing: Any, a: Any, b: Any, blocks: Any, center: Any, distances: Any, found: Any) -> Any:
    """Write down a − b − center of some replicates in bytes, −128 and 127 for all beyond, and add them up.

    Parameters
    ----------
    a, b : address of int16
        Less than 2¹⁴ in size.
    blocks : int
        `BLOCK` of replicates, ≥ 1 and at most `MOST` replicates.
    center : int
        Less than 2¹⁵ − 128 in size.
    distances : address of int8
        Filled.
    found : address of (5,) int64
        Filled: the sum of distances, of their squares, of what gains (distance + center) are below 0; the lowest and the highest.
    """
    from numba import types

    from pipeline.compiled.byte_gains import write_distances

    return types.void(*[types.int64] * 6), written_by(write_distances)


@intrinsic
def count_below(typing: Any, distances: Any, blocks: Any, cuts: Any, fours: Any, below: Any) -> Any:
    """Add to a number for each cut how many distances are less.

    Parameters
    ----------
    distances : address of int8
    blocks : int
        As of `take_distances`.
    cuts : address of (fours · CUTS,) int8
    fours : int
        ≥ 1.
    below : address of (fours · CUTS,) uint16
    """
    from numba import types

    from pipeline.compiled.byte_gains import write_below

    return types.void(*[types.int64] * 5), written_by(write_below)


@intrinsic
def walk_gains(
    typing: Any, a: Any, b: Any, times: Any, lanes: Any, center: Any, scale: Any, middle: Any, last: Any,
    limit_0: Any, limit_1: Any, limit_2: Any, width: Any, bins: Any, doubts: Any, found: Any,
) -> Any:  # fmt: skip
    """Sum the gains a − b of some replicates, find their bins, and count those that are surely below three limits.

    A gain x has the part trunc(min(max((x − center) · scale + middle, 0), last)), of which `FINER` are a bin. It is below a limit
    where its part is, and doubtful where it is less than ``width`` + 1 parts above. A nan stays in the sums: nothing is then added.

    Parameters
    ----------
    a, b : address of float64
    times : int
        `pipeline.compiled.sizes.LANES` of replicates, ≥ 1.
    lanes : address of (3, LANES) float64
        Σ (x − center), Σ (x − center)² and Σ |x| so far.
    center, scale, middle, last : float
        ``last`` is below 2¹⁵.
    limit_0, limit_1, limit_2, width : int
        Parts.
    bins : address of (replicate,) uint8
        Filled.
    doubts : address of (times,) uint32
        Filled: a bit for each replicate that is doubtful.
    found : address of (5,) int64
        Filled: how many are below each limit, and the lowest and the highest bin.

    Returns
    -------
    int
        How many are doubtful; −1 where a gain is nan, and nothing holds.
    """
    from numba import types

    from pipeline.compiled.gain_loops import write_walk

    whole, real = types.int64, types.float64
    return whole(*[whole] * 4, *[real] * 4, *[whole] * 7), written_by(write_walk)


@intrinsic
def count_bins(typing: Any, bins: Any, groups: Any, first: Any, fours: Any, histogram: Any) -> Any:
    """Add to a histogram how often some bins occur: quicker than looking every replicate's place up, as most bins are few.

    Parameters
    ----------
    bins : address of (groups · GROUP,) uint8
    groups : int
        1 … 31.
    first, fours : int
        The first bin, and how many fours of bins; others do not occur.
    histogram : address of uint16
        Of bin 0.
    """
    from numba import types

    from pipeline.compiled.gain_loops import write_bins

    return types.void(*[types.int64] * 5), written_by(write_bins)


@intrinsic
def lowest_bit(typing: Any, bits: Any) -> Any:
    """Return the place of the lowest bit that is set, of a number of 64 bits that is not 0."""
    from numba import types

    from pipeline.compiled.gain_loops import write_lowest_bit

    return types.int64(types.uint64), written_by(write_lowest_bit)


@intrinsic
def count_bits(typing: Any, bits: Any) -> Any:
    """Return how many bits are set, of a number of 64 bits: Numba has no function of its own for it."""
    from numba import types

    return types.int64(types.uint64), written_by(lambda builder, given: builder.ctpop(given[0]))


@intrinsic
def count_differing(typing: Any, one: Any, a: Any, b: Any, c: Any, words: Any, out_a: Any, out_b: Any, out_c: Any) -> Any:
    """Count the bits in which one system differs from three others, on `pipeline.compiled.sizes.BITS_SIDE_BY_SIDE` replicates.

    Parameters
    ----------
    one, a, b, c : address of (words, BITS_SIDE_BY_SIDE) uint64
    words : int
        ≥ 1 and less than 1024, so that 16 bits hold a number.
    out_a, out_b, out_c : address of (BITS_SIDE_BY_SIDE,) uint16
        Filled, in this order.
    """
    from numba import types

    from pipeline.compiled.bit_loops import write_differing

    return types.void(*[types.int64] * 8), written_by(write_differing)


@intrinsic
def exchange_bits(typing: Any, low: Any, high: Any, by: Any, mask: Any) -> Any:
    """Exchange the bits of ``low`` that stand ``by`` places higher than a mask's with those of ``high`` where the mask is.

    Parameters
    ----------
    low, high : address of (BITS_SIDE_BY_SIDE,) uint64
    by : int
    mask : int
    """
    from numba import types

    from pipeline.compiled.bit_loops import write_exchange

    return types.void(*[types.int64] * 4), written_by(write_exchange)


@intrinsic
def estimate_plain(typing: Any, total_a: Any, total_b: Any, a: Any, b: Any, row: Any, out: Any, line: Any, blocks: Any) -> Any:
    """Estimate the scores of a pair after swaps, of T_a − M_a + M_b and of T_b − M_b + M_a.

    Parameters
    ----------
    total_a, total_b : address of (10,) float32
        T.
    a, b : address of (10, …) float32
        M, from the first replicate on.
    row : int
        Bytes from one statistic of M to the next.
    out : address of float32
        Of the estimates of the first system.
    line : int
        Bytes from there to those of the second.
    blocks : int
        `ESTIMATES` of replicates, ≥ 1.
    """
    from numba import types

    from pipeline.compiled.swap_estimates import write_estimates

    return types.void(*[types.int64] * 8), written_by(write_estimates)


@intrinsic
def estimate_added(
    typing: Any, total_a: Any, total_b: Any, a: Any, b: Any, row: Any, out: Any, line: Any, blocks: Any, added: Any
) -> Any:  # fmt: skip
    """Do what `estimate_plain` does with a constant of add-k, a float32."""
    from numba import types

    from pipeline.compiled.swap_estimates import write_estimates

    return types.void(*[types.int64] * 8, types.float32), written_by(write_estimates)


@intrinsic
def subtract_estimates(
    typing: Any, a: Any, b: Any, blocks: Any, error: Any,
    low_0: Any, low_1: Any, low_2: Any, high_0: Any, high_1: Any, high_2: Any, gains: Any, doubts: Any,
) -> Any:  # fmt: skip
    """Subtract estimates, and say which gains may be on either side of a threshold or are nan.

    Parameters
    ----------
    a, b : address of float32
    blocks : int
        `ESTIMATES` of replicates, ≥ 1.
    error : float
        How far an estimate may be off, as a share of itself.
    low_0, low_1, low_2, high_0, high_1, high_2 : float
        The ends of thresholds.
    gains : address of float64
        Filled.
    doubts : address of (blocks,) uint16
        Filled: a bit for each replicate that is doubtful.

    Returns
    -------
    int
        0 where no replicate is doubtful.
    """
    from numba import types

    from pipeline.compiled.swap_estimates import write_gains

    whole, real = types.int64, types.float64
    return whole(*[whole] * 3, *[real] * 7, *[whole] * 2), written_by(write_gains)
