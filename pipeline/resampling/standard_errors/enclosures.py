"""Bounds of |t*| of many pairs at a small part of the cost of |t*|, and |t*| itself where it is needed.

Who counts how often |t*| reach a number, or looks for the largest of a replicate, needs few of them: most are far from either. Of a
metric that is no ratio, the squares of influence values are whole numbers of some 41 bits (`influence_products`). Cut to their
highest bits they are summed by two products of bytes, and what is cut off is less than a known number of steps for each unit drawn.
Each operation that makes the spread of a sum is monotone, rounding included: the least and the greatest sum there can be give
bounds. What is left is a division of squares, whose rounding has room: roots of all would take as long as the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    take_units,
    zero_counts,
)
from pipeline.resampling.standard_errors.enclosure_loops import DIGIT, DIGITS, fill_bounds, fill_digits, sum_squares
from pipeline.resampling.standard_errors.influence_products import (
    InfluenceLines,
    bits_of_squares,
    left_of,
)
from pipeline.resampling.standard_errors.influence_spread import influences, spread_of_influences
from pipeline.resampling.standard_errors.studentise import noise_of, replicates_at_a_time, t_of
from pipeline.resampling.standard_errors.studentise_plans import in_cache
from pipeline.resampling.strata import StratifiedDraws

__all__ = ["Enclosed", "enclosures"]

_FEW = 64  # pairs, whose t* are made before a kernel is loaded
_LARGEST = 1e150  # influence value whose differences have squares
_FAR, _USUAL = 2.6, 3.2  # a |t*| of which one in a hundred is as large, and what the largest of a replicate soon exceeds
_FEWER = 2  # one of so many units may be enough


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Bounds of the t*² of some pairs on some replicates; infinite where t* is undefined.

    Parameters
    ----------
    rows : slice
        Of the pairs that were asked for.
    replicates : slice
    least, greatest : (pair, replicate) float64
        t*² is neither smaller nor greater, but for `pipeline.resampling.standard_errors.enclosure_loops.WITHIN`.
    """

    rows: slice
    replicates: slice
    least: NDArray[np.float64]
    greatest: NDArray[np.float64]
    _part: _Part
    _sample: _Sample

    def exactly(self, pair: NDArray[np.int64], replicate: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return |t*| at some places of the bounds; those of a pair are adjacent."""
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
    # Of each batch the squares of pairs are made anew, some of whose t* must be known.
    batch, several = 2 * replicates_at_a_time(units, memory_bytes), max(memory_bytes // (2 * DIGITS * units), 1)
    noise, score = noise_of(measure)[chosen], score_observed(measure)
    pairs = measure.pairs.astype(np.int64)[chosen]
    heavy = _heavy_units(lines.centred[np.unique(pairs)])
    counts, of_heavy, weights = zero_counts(batch, units), zero_counts(batch, len(heavy)), np.empty((batch, units), np.float32)
    one = lay_out(np.ones((1, units), np.int64), form)
    asked: dict[str, Any] = {"values": values, "lines": lines, "score": score, "noise": noise, "form": form, "heavy": heavy}
    for start in range(0, len(chosen), several):
        rows = np.arange(start, min(start + several, len(chosen)))
        parts = [_Part.of(own, pairs[own], **asked, may_be_far=bool(own[0])) for own in in_cache(rows)]
        for first in range(0, replicates, batch):
            some = slice(first, min(first + batch, replicates))
            count = some.stop - first
            packed, fewer = counts[: blocks_of(count)], of_heavy[: blocks_of(count)]
            draw_counts(draws, first, count, packed)
            take_units(packed, heavy, fewer)
            drawn = draw_weights(draws, first, count, out=weights)
            sums, number = lines.sums(drawn, first=first), multiply_bytes(packed, one)[0]
            sample = _Sample(packed, fewer, number, drawn, _in_bytes(drawn), sums, np.ascontiguousarray(scores[:, some]))
            for part in parts:
                yield Enclosed(part.rows, some, *part.bounds(sample), part, sample)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some replicates."""

    counts: NDArray[np.uint8]  # (block, quad, 16, 4)
    of_heavy: NDArray[np.uint8]  # the same of the heavy units alone
    drawn: NDArray[np.int32]  # (replicate,) sums of counts: the number of units, unless a byte did not hold one
    weights: NDArray[np.float32]  # (replicate, unit), the same
    in_bytes: NDArray[np.uint8] | NDArray[np.float32]  # the same again, of which more stay in the cache, if bytes hold them
    sums: NDArray[np.float64]  # (system, replicate) Σwx
    scores: NDArray[np.float64]  # (system, replicate)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some pairs, prepared for summing."""

    rows: slice  # of the pairs that were asked for
    values: NDArray[np.float64]  # (system, unit)
    lines: InfluenceLines
    pairs: NDArray[np.int64]
    delta: NDArray[np.float64]  # (pair,)
    noise: NDArray[np.float64]  # (pair,)
    step: NDArray[np.float64]  # (pair,) of squares
    of_line: NDArray[np.float64]  # (pair,) the most that Σwx may have lost
    number: int  # of digits of each pair
    is_heavy: bool  # they are those of heavy units alone
    digits: ByteColumns  # of the highest bits: the lower ones of all pairs if there are two, and the higher ones

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
        heavy: NDArray[np.int64],
        may_be_far: bool,
    ) -> _Part:
        units, (a, b) = lines.centred.shape[1], score[pairs].T
        low, high = np.empty((2, len(pairs), units), np.int8)
        step, whole = np.empty((2, len(pairs)))
        fill_digits(lines.centred, pairs, bits_of_squares(units), _bits_cut_off(units), low, high, step, whole)

        def are_far(digit: NDArray[np.int8]) -> bool:
            kept = digit.sum(axis=1, dtype=np.int64) * (2.0 ** _bits_cut_off(units, 1) * step)
            return may_be_far and _are_far(np.abs(a - b), whole, kept, units)

        digits, of_heavy = [low, high], np.ascontiguousarray(high[:, heavy])
        is_heavy = are_far(of_heavy)
        if is_heavy:
            digits = [of_heavy]
        elif are_far(high):
            digits = [high]
        of_line = lines.step[pairs].sum(axis=1) * units / 2
        place, laid = slice(int(rows[0]), int(rows[-1]) + 1), lay_out(np.concatenate(digits), form)
        return cls(place, values, lines, pairs, a - b, noise[rows], step, of_line, len(digits), is_heavy, laid)

    def bounds(self, sample: _Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (pair, replicate) bounds of t*²."""
        sums, units = multiply_bytes(sample.of_heavy if self.is_heavy else sample.counts, self.digits), self.lines.centred.shape[1]
        least, greatest = np.empty((2, len(self.pairs), len(sample.weights)))
        unit_of_sums = 2.0 ** _bits_cut_off(units, self.number)
        fill_bounds(
            sums,
            sample.drawn,
            sample.sums,
            sample.scores,
            self.pairs,
            self.delta,
            self.step,
            self.of_line,
            units,
            unit_of_sums,
            np.inf if self.is_heavy else unit_of_sums * units,  # of light units nothing is known
            least,
            greatest,
        )
        return least, greatest

    def exactly(self, sample: _Sample, pair: NDArray[np.int64], replicate: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return |t*| at some places."""
        units, steps = self.lines.centred.shape[1], np.empty(len(pair))
        sum_squares(self.lines.centred, self.pairs, self.step, sample.in_bytes, pair, replicate, steps)
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


def _in_bytes(weights: NDArray[np.float32]) -> NDArray[np.uint8] | NDArray[np.float32]:
    return weights.astype(np.uint8) if weights.max() <= np.iinfo(np.uint8).max else weights


def _bits_cut_off(units: int, digits: int = DIGITS) -> int:
    return max(bits_of_squares(units) - DIGITS * DIGIT, 0) + (DIGITS - digits) * DIGIT


def _are_far(gain: NDArray[np.float64], whole: NDArray[np.float64], kept: NDArray[np.float64], units: int) -> bool:
    """Tell whether of most pairs what is kept of the sum of squares shows that t* are neither as large as t nor the largest.

    It makes a t* look larger, as much as is left out. That need not be exact: it changes no count.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # of a pair that does not vary
        t = gain / np.sqrt(whole * (units / (units - 1)))
        return bool(np.median(np.minimum(t, _USUAL) * np.sqrt(kept / whole)) > _FAR)


def _heavy_units(centred: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the units that hold most of what the pairs of some (system, unit) systems differ by, in their order."""
    spread = len(centred) * (centred * centred).sum(axis=0) - centred.sum(axis=0) ** 2  # the squares of all pairs, summed
    return np.sort(np.argsort(-spread, kind="stable")[: max(centred.shape[1] // _FEWER, 1)])
