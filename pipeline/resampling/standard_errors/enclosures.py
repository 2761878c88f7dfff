"""Bounds of |t*| of many pairs at a small part of the cost of |t*|, and |t*| itself where it is needed.

Who counts how often |t*| reach a number, or looks for the largest of a replicate, needs few of them: most are far from either. Of a
metric that is no ratio, the squares of influence values are whole numbers of some 41 bits (`influence_products`). Cut to their
highest bits they are summed by a product of bytes, and what is cut off is less than a known number of steps for each unit drawn.
Each operation that makes the spread of a sum is monotone, rounding included: the least and the greatest sum there can be give
bounds. What is left is a division of squares, whose rounding has room: roots of all would take as long as the sums.

The bounds of some places can be made closer, from more bits or more units, at a small part of what t* takes.
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
    unpack_counts,
    zero_counts,
)
from pipeline.resampling.standard_errors.enclosure_loops import DIGIT, DIGITS, fill_digits, find_open, sum_squares
from pipeline.resampling.standard_errors.heavy_units import count_rare, ends_of, floors_of, heaviest_first
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
_TOGETHER = 240  # pairs, at least, and less than twice as many: for each part and batch a dozen calls of kernels, and more of NumPy
_LARGEST = 1e150  # influence value whose differences have squares
_FAR, _USUAL = 1.9, 3.2  # a |t*| of which one in twenty is as large, and what the largest of a replicate soon exceeds
_SEEN = 8  # one of so many pairs tells which units and digits are enough
_SHARP = 1 / 3  # of a sum of squares: where a digit leaves no more of it unknown, few t* are near enough to need another


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Some pairs on some replicates, whose t* are between bounds; infinite where t* is undefined.

    Parameters
    ----------
    rows : slice
        Of the pairs that were asked for.
    replicates : slice
    """

    rows: slice
    replicates: slice
    _part: _Part
    _sample: _Sample

    def find_open(
        self, *, cap: NDArray[np.float64], least: NDArray[np.float64], largest: NDArray[np.float64], own: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Find the |t*| that may be the largest so far, or of which bounds do not tell whether they reach a number.

        Parameters
        ----------
        cap, least : (pair,) float64
            What |t*| count for at most, and what is to be reached; the pair with the smallest t first.
        largest : (replicate,) float64
            Of the pairs before.
        own : (pair,) int64
            Added to: how many surely reach it.

        Returns
        -------
        pair, replicate : (open,) int64
            Sorted.
        reaches : (open,) bool
            Whether it is among those that were added.
        """
        return self._part.find_open(self._sample, cap, least, largest, own)

    def exactly(self, pair: NDArray[np.int64], replicate: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return |t*| at some places; those of a pair are adjacent."""
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
    batch, several = replicates_at_a_time(units, memory_bytes), max(memory_bytes // (2 * DIGITS * units), 1)
    noise, score = noise_of(measure)[chosen], score_observed(measure)
    pairs = measure.pairs.astype(np.int64)[chosen]
    order = heaviest_first(lines.centred[np.unique(pairs)])
    lines, ends = lines.of_units(order), ends_of(units)
    drawn, ordered = zero_counts(batch, units), [zero_counts(batch, end) for end in ends]
    one = lay_out(np.ones((1, units), np.int64), form)
    asked: dict[str, Any] = {"values": values, "order": order, "lines": lines, "score": score, "noise": noise, "form": form}
    for start in range(0, len(chosen), several):
        rows = np.arange(start, min(start + several, len(chosen)))
        parts = [_Part.of(own, pairs[own], **asked, may_be_far=bool(own[0])) for own in in_cache(rows, together=_TOGETHER)]
        for first in range(0, replicates, batch):
            some = slice(first, min(first + batch, replicates))
            count = some.stop - first
            packed, counts = drawn[: blocks_of(count)], tuple(each[: blocks_of(count)] for each in ordered)
            draw_counts(draws, first, count, packed)
            for end, each in zip(ends, counts, strict=True):
                take_units(packed, order[:end], each)
            number = multiply_bytes(packed, one)[0]
            weights = _weights(draws, first, counts[-1], number[:count], order)
            rare = tuple(count_rare(weights, end) for end in ends)
            sums = lines.sums(weights, first=first)
            sample = _Sample(counts, number, rare, weights, sums, np.ascontiguousarray(scores[:, some]))
            for part in parts:
                yield Enclosed(part.rows, some, part, sample)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some replicates: the units by which pairs differ most come first."""

    counts: tuple[NDArray[np.uint8], ...]  # (block, quad, 16, 4) of the first units, of more of them, and of all
    drawn: NDArray[np.int32]  # (replicate,) sums of counts: the number of units, unless a byte did not hold one
    rare: tuple[NDArray[np.float64], ...]  # (2, replicate) of the units beyond these: not drawn, and at most once
    weights: NDArray[np.uint8] | NDArray[np.float32]  # (replicate, unit), the same: in bytes, if these hold them
    sums: NDArray[np.float64]  # (system, replicate) Σwx
    scores: NDArray[np.float64]  # (system, replicate)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some pairs, prepared for summing; units in the order of `_Sample`."""

    rows: slice  # of the pairs that were asked for
    values: NDArray[np.float64]  # (system, unit) in the order of the units themselves
    order: NDArray[np.int64]  # (unit,) these in the order of `_Sample`
    lines: InfluenceLines
    pairs: NDArray[np.int64]
    delta: NDArray[np.float64]  # (pair,)
    noise: NDArray[np.float64]  # (pair,)
    step: NDArray[np.float64]  # (pair,) of squares
    of_line: NDArray[np.float64]  # (pair,) the most that Σwx may have lost
    number: int  # of digits of each pair that are multiplied
    taken: int  # of which units, by the place among the counts of a sample
    digits: ByteColumns  # of the highest bits: the lower ones of all pairs if there are two, and the higher ones
    light: NDArray[np.float64]  # (pair, 3) of the other units, from `floors_of`
    kept: NDArray[np.int8] | NDArray[np.int16]  # (pair, unit) what closer bounds are made from: a digit, or both

    @classmethod
    def of(
        cls,
        rows: NDArray[np.int64],
        pairs: NDArray[np.int64],
        *,
        values: NDArray[np.float64],
        order: NDArray[np.int64],
        lines: InfluenceLines,
        score: NDArray[np.float64],
        noise: NDArray[np.float64],
        form: str,
        may_be_far: bool,
    ) -> _Part:
        units, (a, b) = lines.centred.shape[1], score[pairs].T
        ends = ends_of(units)
        high, both = np.empty((len(pairs), units), np.int8), np.empty((len(pairs), units), np.int16)
        step, whole = np.empty((2, len(pairs)))
        fill_digits(lines.centred, pairs, bits_of_squares(units), _bits_cut_off(units), high, both, step, whole)
        unit_of_digit = 2.0 ** _bits_cut_off(units, 1) * step
        seen = slice(None, None, _SEEN)

        def are_far(digit: NDArray[np.int8]) -> bool:
            told = digit[seen].sum(axis=1, dtype=np.int64) * unit_of_digit[seen]
            return may_be_far and _are_far(np.abs(a - b)[seen], whole[seen], told, units)

        taken = next((taken for taken, end in enumerate(ends[:-1]) if are_far(high[:, :end])), len(ends) - 1)
        is_part, digits, light = ends[taken] < units, [high], np.zeros((len(pairs), 3))
        if is_part:
            digits = [high[:, : ends[taken]]]
            light = floors_of(both, ends[taken]) * 2.0 ** _bits_cut_off(units)
        elif not are_far(high):
            is_sharp = np.median(units * unit_of_digit - _SHARP * whole) <= 0
            digits = [high] if is_sharp else [both & (2**DIGIT - 1), high]
        of_line = lines.step[pairs].sum(axis=1) * units / 2
        place, laid = slice(int(rows[0]), int(rows[-1]) + 1), lay_out(np.concatenate(digits), form)
        kept = high if is_part else both
        return cls(place, values, order, lines, pairs, a - b, noise[rows], step, of_line, len(digits), taken, laid, light, kept)

    def find_open(
        self,
        sample: _Sample,
        cap: NDArray[np.float64],
        least: NDArray[np.float64],
        largest: NDArray[np.float64],
        own: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Do what `Enclosed.find_open` says."""
        sums, units = multiply_bytes(sample.counts[self.taken], self.digits), self.lines.centred.shape[1]
        places = np.empty(len(self.pairs) * len(largest), np.int64)
        units_of = 2.0 ** _bits_cut_off(units, self.number), 2.0 ** _bits_cut_off(units, self.kept.itemsize)
        ends = ends_of(units)
        end = ends[self.taken]
        found = find_open(
            sums,
            sample.drawn,
            sample.rare[self.taken],
            sample.sums,
            sample.scores,
            sample.weights,
            self.pairs,
            self.delta,
            self.step,
            self.of_line,
            self.light,
            self.kept,
            (end, ends[-2]) if end < units else (0, 0),
            units_of,
            cap,
            least,
            largest,
            own,
            places,
        )
        pair, replicate = np.divmod(places[:found] >> 1, len(largest))
        return pair, replicate, (places[:found] & 1) > 0

    def exactly(self, sample: _Sample, pair: NDArray[np.int64], replicate: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return |t*| at some places."""
        units, steps = self.lines.centred.shape[1], np.empty(len(pair))
        sum_squares(self.lines.centred, self.pairs, self.step, sample.weights, pair, replicate, steps)
        a, b = self.pairs[pair].T
        line = sample.sums[a, replicate] - sample.sums[b, replicate]
        spread, doubtful = left_of(steps, line, step=self.step[pair], of_line=self.of_line[pair], units=units)
        for own in np.unique(pair[doubtful]).tolist():
            places = np.flatnonzero(doubtful & (pair == own))
            weights = np.empty((len(places), units), np.float32)
            weights[:, self.order] = sample.weights[replicate[places]]  # sums of floats depend on the order
            spread[places] = spread_of_influences(self.values, self.pairs[own : own + 1], weights, np.array([units]))[0]
        gain = sample.scores[a, replicate] - sample.scores[b, replicate]
        found = np.abs(t_of(gain, spread, delta=self.delta[pair], noise=self.noise[pair]))
        return np.where(np.isnan(found), np.inf, found)


def _weights(
    draws: Draws, first: int, packed: NDArray[np.uint8], number: NDArray[np.int32], order: NDArray[np.int64]
) -> NDArray[np.uint8] | NDArray[np.float32]:
    """Return (replicate, unit) counts of the replicates from ``first``, drawn again where a byte did not hold one of them."""
    if np.all(number == draws.n_draws):
        return unpack_counts(packed, len(number), draws.n_units)
    return np.ascontiguousarray(draw_weights(draws, first, len(number))[:, order])


def _bits_cut_off(units: int, digits: int = DIGITS) -> int:
    return max(bits_of_squares(units) - DIGITS * DIGIT, 0) + (DIGITS - digits) * DIGIT


def _are_far(gain: NDArray[np.float64], whole: NDArray[np.float64], kept: NDArray[np.float64], units: int) -> bool:
    """Tell whether of most pairs what is kept of the sum of squares shows that t* are neither as large as t nor the largest.

    It makes a t* look larger, as much as is left out. That need not be exact: it changes no count.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # of a pair that does not vary
        t = gain / np.sqrt(whole * (units / (units - 1)))
        return bool(np.median(np.minimum(t, _USUAL) * np.sqrt(kept / whole)) > _FAR)
