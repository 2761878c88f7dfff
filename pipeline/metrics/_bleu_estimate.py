"""BLEU in single precision with a proven error, for comparisons that seldom need more, in a third of the time.

With u = 2^-24, the largest relative error of one operation, and sums below 2^24, which float32 holds exactly:

- A count plus the constant of add-k has 2u, because the constant is rounded too; a product of four, the first without a constant,
  6u + 3u = 9u. C is that of the matches, D that of the n-grams, h the output's length: C h has 10u, 1 / (D h) 11u, their product
  C / D 22u. Two roots halve it and round: 22u → 12u → 7u. Times 100: 8u.
- h − r, r the reference's length, is exact. (h − r) D and 1 / (D h) have the *computed* D, whose error cancels, so that only four
  operations err in x = (h − r) / h: by 4u |x| ≤ 4u, the relative error it causes in the penalty e^x.
- e^t with t = x/2 in [−½, 0] is 1 + (t + t² q): the series of q leaves out 0.1u of e^t, q has an error of 1u (Horner's, and that of
  its coefficients) and is at most ½, so that t² q has 0.5u; the addition of t rounds by 0.25u and that of 1 by 0.5u. The sum, 1.35u
  of at least 0.6, is below 2.7u; squared 5.4u + u.
- The penalty has 4u + 6.4u, the score 8u + 10.4u + u < 20u.

`RELATIVE_ERROR` is 24u: ample room for what is of second order and for the rounding of the score itself in double precision.
Products of five factors are between 2^-72 and 2^123, so that no intermediate number is subnormal; what may be is no estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["LARGEST_ADDED", "LEAST_ADDED", "RELATIVE_ERROR", "estimate_kernel"]

RELATIVE_ERROR = 24 * 2.0**-24
LEAST_ADDED, LARGEST_ADDED = 2.0**-24, 2.0**24  # constants of add-k, besides 0, for which the argument above holds

_TILE = 512  # replicates; what swaps move in them fits the first-level cache
_ROW = _TILE + 16  # rows a power of two apart would share cache lines
_NOTHING, _HALF, _ONE, _HUNDRED = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(100.0)
_LEAST_RATIO = np.float32(2.0**-100)
_NAN = np.float32(np.nan)
_2, _3, _4, _5 = np.float32(1 / 2), np.float32(1 / 6), np.float32(1 / 24), np.float32(1 / 120)
_6, _7, _8 = np.float32(1 / 720), np.float32(1 / 5040), np.float32(1 / 40320)


@kernel(error_model="numpy")
def estimate_kernel(
    totals: NDArray[Any], moved: NDArray[Any], rows: NDArray[np.int64], start: int, out: NDArray[np.float32], added: float
) -> None:
    """Estimate BLEU after swaps; nan where an order has no match or no n-grams, and where the output is below half the reference.

    Sums never leave the first-level cache: written to memory and read again they would cost as much as the score.
    """
    moves = np.zeros((10, _ROW), np.float32)
    matched, counted = np.empty(_TILE, np.float32), np.empty(_TILE, np.float32)
    more = np.float32(added)
    for pair in range(len(rows)):
        a, b = rows[pair, 0], rows[pair, 1]
        for first in range(0, out.shape[1], _TILE):
            stop = min(first + _TILE, out.shape[1])
            for k in range(10):
                given, taken, move = moved[a, k, start + first : start + stop], moved[b, k, start + first : start + stop], moves[k]
                for i in range(stop - first):
                    move[i] = np.float32(taken[i]) - np.float32(given[i])
            for side in range(2):
                total, sign = totals[rows[pair, side]], _ONE if side == 0 else -_ONE
                _multiply(total, sign, moves, 2, more, matched)
                _multiply(total, sign, moves, 6, more, counted)
                _combine(total, sign, moves, matched, counted, out[2 * pair + side, first:stop])


@kernel
def _multiply(
    totals: NDArray[Any], sign: np.float32, moves: NDArray[np.float32], first: int, added: np.float32, out: NDArray[np.float32]
) -> None:
    total_1, total_2 = np.float32(totals[first]), np.float32(totals[first + 1])
    total_3, total_4 = np.float32(totals[first + 2]), np.float32(totals[first + 3])
    move_1, move_2, move_3, move_4 = moves[first], moves[first + 1], moves[first + 2], moves[first + 3]
    for i in range(_TILE):
        left = (total_1 + sign * move_1[i]) * ((total_2 + sign * move_2[i]) + added)
        out[i] = left * (((total_3 + sign * move_3[i]) + added) * ((total_4 + sign * move_4[i]) + added))


@kernel(error_model="numpy")
def _combine(
    totals: NDArray[Any],
    sign: np.float32,
    moves: NDArray[np.float32],
    matched: NDArray[np.float32],
    counted: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    total_h, total_r = np.float32(totals[0]), np.float32(totals[1])
    move_h, move_r = moves[0], moves[1]
    for i in range(len(out)):
        length, reference = total_h + sign * move_h[i], total_r + sign * move_r[i]
        inverse = _ONE / (counted[i] * length)  # one division for the precisions and the brevity penalty
        ratio = (matched[i] * length) * inverse
        ratio = ratio if ratio >= _LEAST_RATIO else _NAN
        x = ((length - reference) * counted[i]) * inverse
        x = x if x >= -_ONE else _NAN
        t = _HALF * (x if not x > _NOTHING else _NOTHING)
        tail = _8
        tail = tail * t + _7
        tail = tail * t + _6
        tail = tail * t + _5
        tail = tail * t + _4
        tail = tail * t + _3
        tail = tail * t + _2
        root = _ONE + (t + t * t * tail)
        out[i] = (_HUNDRED * np.sqrt(np.sqrt(ratio))) * (root * root)
