"""|t*| of many pairs between two bounds each, for a small part of what they cost, and |t*| itself where it is asked for.

Who counts how often |t*| reach a number, or looks for the largest of a replicate, needs few of them: most are far from either. Of a
metric that is no ratio, the squares of influence values are whole numbers of some 41 bits (`influence_products`). Cut to their
highest bits they are summed by two products of bytes, and what is cut off is less than a known number of steps for each unit drawn.
Each operation that makes t* of a sum is monotone, rounding included: the least and the greatest sum there can be give bounds that
hold to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.draws import Draws, draw_counts, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import score_observed
from pipeline.resampling.products.byte_product import (
    MOST_DRAWS,
    ByteColumns,
    blocks_of,
    choose_form,
    lay_out,
    multiply_bytes,
    zero_counts,
)
from pipeline.resampling.standard_errors.influence_products import (
    KNOWN,
    InfluenceLines,
    bits_of_squares,
    left_of,
    squares_of,
)
from pipeline.resampling.standard_errors.influence_spread import influences, spread_of_influences
from pipeline.resampling.standard_errors.studentise import noise_of, replicates_at_a_time, t_of
from pipeline.resampling.standard_errors.studentise_plans import in_cache
from pipeline.resampling.strata import StratifiedDraws

__all__ = ["Enclosed", "enclosures"]

_FEW = 64  # pairs, whose t* are made before a kernel is loaded
_LARGEST = 1e150  # influence value whose differences have squares
_DIGITS, _DIGIT = 2, 7  # of a square, and bits of each, which a signed byte holds whatever they are
_FAR, _USUAL = 2.6, 3.2  # a |t*| of which one in a hundred is as large, and what the largest of a replicate soon exceeds


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Bounds of the |t*| of some pairs on some replicates; infinite where |t*| is undefined.

    Parameters
    ----------
    rows : slice
        Of the pairs that were asked for.
    replicates : slice
    least, greatest : (pair, replicate) float64
        |t*| is neither smaller nor greater.
    """

    rows: slice
    replicates: slice
    least: NDArray[np.float64]
    greatest: NDArray[np.float64]
    _part: _Part
    _sample: _Sample

    def exactly(self, pair: NDArray[np.int64], replicate: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return |t*| at such places of the bounds; those of a pair lie side by side."""
        return self._part.exactly(self._sample, pair, replicate)


def enclosures(
    draws: Draws | StratifiedDraws,
    measure: Measure,
    *,
    replicates: int,
    chosen: NDArray[np.int64],
    scores: NDArray[np.float64],
    memory_bytes: int = 2**28,
) -> Iterator[Enclosed] | None:
    """Enclose |t*| of the replicates 0 …: on every replicate the pairs come in their order.

    None where `pipeline.resampling.standard_errors.studentise.studentise` is the way: of ratios, within strata, of few pairs, of
    scores that are undefined without some unit, and where nothing is multiplied in bytes.

    Parameters
    ----------
    draws, measure, replicates, chosen, scores, memory_bytes
        As of `studentise`.
    """
    units, pairs = len(measure.statistics), measure.pairs.astype(np.int64)[chosen]
    fitting = isinstance(draws, Draws) and measure.stratum is None and 2 <= units <= MOST_DRAWS
    if not isinstance(draws, Draws) or not fitting or measure.form == "ratio" or len(pairs) <= _FEW:
        return None
    form, values = choose_form(replicates * units * len(pairs)), np.ascontiguousarray(influences(measure))
    if form is None or not np.all(np.abs(values[np.unique(pairs)]) < _LARGEST):  # not so of nan
        return None
    return _enclose(draws, measure, InfluenceLines.of(values), values, chosen, scores[:, :replicates], form, memory_bytes)


def _enclose(
    draws: Draws,
    measure: Measure,
    lines: InfluenceLines,
    values: NDArray[np.float64],
    chosen: NDArray[np.int64],
    scores: NDArray[np.float64],
    form: str,
    memory_bytes: int,
) -> Iterator[Enclosed]:
    units, replicates = len(measure.statistics), scores.shape[1]
    batch, several = replicates_at_a_time(units, memory_bytes), max(memory_bytes // (2 * _DIGITS * units), 1)
    noise, score = noise_of(measure)[chosen], score_observed(measure)
    pairs = measure.pairs.astype(np.int64)[chosen]
    counts, weights = zero_counts(batch, units), np.empty((batch, units), np.float32)
    for start in range(0, len(chosen), several):
        rows = np.arange(start, min(start + several, len(chosen)))
        parts = [
            _Part.of(own, pairs[own], values=values, lines=lines, score=score, noise=noise, form=form, may_be_far=bool(own[0]))
            for own in in_cache(rows)
        ]
        for first in range(0, replicates, batch):
            some = slice(first, min(first + batch, replicates))
            count = some.stop - first
            packed = counts[: blocks_of(count)]
            draw_counts(draws, first, count, packed)
            drawn = draw_weights(draws, first, count, out=weights)
            sample = _Sample(packed, drawn, lines.sums(drawn, first=first), np.ascontiguousarray(scores[:, some]))
            for part in parts:
                yield Enclosed(part.rows, some, *part.bounds(sample), part, sample)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some replicates."""

    counts: NDArray[np.uint8]  # (block, quad, 16, 4)
    weights: NDArray[np.float32]  # (replicate, unit), the same
    sums: NDArray[np.float64]  # (system, replicate) Σwx
    scores: NDArray[np.float64]  # (system, replicate)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some pairs, ready to be summed."""

    rows: slice  # of the pairs that were asked for
    values: NDArray[np.float64]  # (system, unit)
    lines: InfluenceLines
    pairs: NDArray[np.int64]
    delta: NDArray[np.float64]  # (pair,)
    noise: NDArray[np.float64]  # (pair,)
    step: NDArray[np.float64]  # (pair,) of squares
    of_line: NDArray[np.float64]  # (pair,) the most that Σwx may have lost
    number: int  # of digits of each pair
    digits: ByteColumns  # of the highest bits: the lower ones of all pairs if there are two, the higher ones, and a column of ones

    @classmethod
    def of(
        cls,
        rows: NDArray[np.int64],
        pairs: NDArray[np.int64],
        *,
        values: NDArray[np.float64],
        lines: InfluenceLines,
        score: NDArray[np.float64],
        noise: NDArray[np.float64],
        form: str,
        may_be_far: bool,
    ) -> _Part:
        squares, step = squares_of(lines, pairs)
        units, (a, b) = squares.shape[1], score[pairs].T
        # The largest may have been rounded up to the next power of 2, and would be a digit that no signed byte holds.
        highest = np.minimum(squares.astype(np.int64) >> _bits_cut_off(units), 2 ** (_DIGITS * _DIGIT) - 1)
        digits = [highest & (2**_DIGIT - 1), highest >> _DIGIT, np.ones((1, units), np.int64)]
        if may_be_far and _are_far(np.abs(a - b), squares, step, digits[1]):
            del digits[0]
        of_line = lines.step[pairs].sum(axis=1) * units / 2
        place, laid = slice(int(rows[0]), int(rows[-1]) + 1), lay_out(np.concatenate(digits), form)
        return cls(place, values, lines, pairs, a - b, noise[rows], step, of_line, len(digits) - 1, laid)

    def bounds(self, sample: _Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (pair, replicate) bounds."""
        sums, units = multiply_bytes(sample.counts, self.digits), self.lines.centred.shape[1]
        least, greatest = np.empty((2, len(self.pairs), len(sample.weights)))
        _bound(
            sums,
            sample.sums,
            sample.scores,
            self.pairs,
            self.delta,
            self.step,
            self.of_line,
            units,
            2.0 ** _bits_cut_off(units, self.number),
            least,
            greatest,
        )
        return least, greatest

    def exactly(self, sample: _Sample, pair: NDArray[np.int64], replicate: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return |t*| at some places."""
        units, steps = self.lines.centred.shape[1], np.empty(len(pair))
        _sum_squares(self.lines.centred, self.pairs, self.step, sample.weights, pair, replicate, steps)
        a, b = self.pairs[pair].T
        line = sample.sums[a, replicate] - sample.sums[b, replicate]
        spread, doubtful = left_of(steps, line, step=self.step[pair], of_line=self.of_line[pair], units=units)
        for own in np.unique(pair[doubtful]).tolist():
            places = np.flatnonzero(doubtful & (pair == own))
            weights = sample.weights[replicate[places]]
            spread[places] = spread_of_influences(self.values, self.pairs[own : own + 1], weights, np.array([units]))[0]
        gain = sample.scores[a, replicate] - sample.scores[b, replicate]
        found = np.abs(t_of(gain, spread, delta=self.delta[pair], noise=self.noise[pair]))
        return np.where(np.isnan(found), np.inf, found)


def _bits_cut_off(units: int, digits: int = _DIGITS) -> int:
    return max(bits_of_squares(units) - _DIGITS * _DIGIT, 0) + (_DIGITS - digits) * _DIGIT


def _are_far(
    gain: NDArray[np.float64], squares: NDArray[np.float64], step: NDArray[np.float64], highest: NDArray[np.int64]
) -> bool:
    """Tell whether of most pairs the highest digit alone shows that t* are neither as large as t nor the largest.

    It makes a t* look larger, as much as it leaves out of the sum of squares. That need not be exact: it changes no count.
    """
    units = squares.shape[1]
    whole, kept = squares.sum(axis=1), highest.sum(axis=1) * 2.0 ** _bits_cut_off(units, 1)
    with np.errstate(divide="ignore", invalid="ignore"):  # of a pair that does not vary
        t = gain / np.sqrt(whole * step * (units / (units - 1)))
        return bool(np.median(np.minimum(t, _USUAL) * np.sqrt(kept / whole)) > _FAR)


@kernel(error_model="numpy")
def _bound(
    sums: NDArray[np.int32],
    line: NDArray[np.float64],
    scores: NDArray[np.float64],
    pairs: NDArray[np.int64],
    delta: NDArray[np.float64],
    step: NDArray[np.float64],
    of_line: NDArray[np.float64],
    units: int,
    unit_of_sums: float,
    least: NDArray[np.float64],
    greatest: NDArray[np.float64],
) -> None:
    """Fill the bounds of |t*| from sums of the (digit, pair) highest bits of squares: 0 and infinite where more must be known."""
    ones, highest = sums[len(sums) - 1], len(sums) - 1 - len(pairs)
    of_low = 1.0 if highest else 0.0
    of_high = 128.0 if highest else 1.0
    scale, cut_off = units / (units - 1), unit_of_sums * units
    for pair in range(len(pairs)):
        a, b = pairs[pair]
        low, high = sums[pair], sums[highest + pair]
        own_step, own_line, middle = step[pair], of_line[pair], delta[pair]
        of_squares = own_step * units / 2
        for i in range(least.shape[1]):
            steps = (of_high * high[i] + of_low * low[i]) * unit_of_sums
            first = line[a, i] - line[b, i]
            mean = first * first / units
            below, above = steps * own_step - mean, (steps + cut_off) * own_step - mean
            lost = of_squares + (2.0 * abs(first) + own_line) * own_line / units
            # As it is told of the sum itself; no byte holds a count of more than 255, and such do not add up.
            known = (own_step > 0.0) & (lost <= KNOWN * below) & (ones[i] == units)
            gain = scores[a, i] - scores[b, i]
            shift = abs(gain - middle)
            smallest, largest = shift / np.sqrt(scale * above), shift / np.sqrt(scale * below)
            undefined = gain != gain
            least[pair, i] = np.inf if undefined else (smallest if known else 0.0)
            greatest[pair, i] = largest if known and not undefined else np.inf


@kernel(error_model="numpy")
def _sum_squares(
    centred: NDArray[np.float64],
    pairs: NDArray[np.int64],
    step: NDArray[np.float64],
    weights: NDArray[np.float32],
    pair: NDArray[np.int64],
    replicate: NDArray[np.int64],
    steps: NDArray[np.float64],
) -> None:
    """Fill Σw of squares on their lattice, at some places: whole numbers below 2^53."""
    units, before = centred.shape[1], -1
    squares = np.empty(units, np.int64)
    for place in range(len(pair)):
        own = pair[place]
        if own != before:
            before = own
            a, b = centred[pairs[own, 0]], centred[pairs[own, 1]]
            size = step[own] if step[own] > 0.0 else 1.0
            for unit in range(units):
                difference = a[unit] - b[unit]
                squares[unit] = np.int64(np.rint(difference * difference / size))
        drawn, total = weights[replicate[place]], 0
        for unit in range(units):
            total += squares[unit] * np.int64(drawn[unit])
        steps[place] = total
