"""The default verdict itself: how often `compare` and `run` call a system better that is not, and how often one that is.

`judge_together` decides about many data sets on the same draws, by the functions that decide about one, and gives the same p to the
bit; `levels_table.decision.decide_as_compare` is the decision of one, and what `pipeline.compare` says of the same scores in a file
(`tests/scripts/test_levels_verdicts.py`). Beside it stand two others on the same data: Holm over Student's t, and what decided
before max-T was studentised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levels_table.verdict_nulls import Sample, draw_sample, true_gain
from pipeline.inference.direct.exact import sign_flips_of_few
from pipeline.inference.direct.scores import gain_of_a_win
from pipeline.inference.intervals.compatible_intervals import CompatibleIntervals, Wins, compatible_intervals, critical_of_wins
from pipeline.inference.multiple_comparisons.families import order_family
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.multiple_comparisons.reached import count_reaching
from pipeline.inference.multiple_comparisons.studentised_max_t import critical_maximum, largest_counted, least_reached, z_of_p
from pipeline.inference.unit_diagnostics.few_units import (
    FEW_DISCORDANT,
    FEW_EFFECTIVE,
    StudentTails,
    evidence_floor,
    sign_flip_floor,
)
from pipeline.inference.unit_diagnostics.few_wins import FewWins
from pipeline.inference.unit_diagnostics.undecided import UnitShape, find_undecided
from pipeline.inference.unit_diagnostics.units import effective_units
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE, observe
from pipeline.resampling.resample import resample
from pipeline.resampling.standard_errors.influence import PairMoments, leave_one_out, pair_moments
from pipeline.resampling.standard_errors.influence_spread import linear_errors
from pipeline.resampling.standard_errors.studentise import BEYOND, studentise

__all__ = ["ALPHA", "Cell", "Judged", "add_trials", "judge_together"]

ALPHA = 0.05
_SLACK = 1e-12  # p at the level counts as rejected
_TOGETHER = {2: 20, 5: 10, 15: 4}  # data sets on the same draws
GAIN = 3.0
"""What the first system gains where power is measured, in standard errors of a difference."""

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Judged:
    """What is said of the pairs of one data set.

    Parameters
    ----------
    p : (pair,) float64
        p_adjusted; nan where there is none.
    undecided : (pair,) bool
        No verdict is given, whatever p is.
    delta : (pair,) float64
        Observed gains.
    previous, student : (pair,) float64
        The p that decided before, and Holm over Student's t.
    separated : (pair,) bool
        Called better.
    interval : CompatibleIntervals
        Of the gain of the system that is ahead; nan where only the missing verdict keeps it from being called better.
    """

    p: _Floats
    undecided: _Flags
    delta: _Floats
    previous: _Floats
    student: _Floats
    separated: _Flags
    interval: CompatibleIntervals


def judge_together(samples: Sequence[Sample], *, draws: Draws, replicates: int) -> list[Judged]:
    """Decide about all pairs of each data set, all of one kind, by the same draws; each data set is a family."""
    measure = _side_by_side([sample.measure for sample in samples])
    seen = observe(measure)
    moments = pair_moments(leave_one_out(measure.statistics, measure.score), measure.pairs)
    floor = evidence_floor(seen.discordant, sign_flips_of_few(measure, seen))
    (counted,) = resample(draws, [measure], cells=range(1), replicates=replicates, keep_replicates=replicates, observed=[seen])
    pairs = len(measure.pairs) // len(samples)
    max_t, critical, se = _studentise_each(measure, seen, draws, counted.score, floor, pairs)
    win = gain_of_a_win(measure)
    first, second = counted.score[measure.pairs[:, 0]], counted.score[measure.pairs[:, 1]]
    with np.errstate(divide="ignore", invalid="ignore"):  # identical systems have no t
        z = np.abs(first - second - seen.delta[:, None]) / seen.se[:, None]
    found = []
    for trial, sample in enumerate(samples):
        own = slice(trial * pairs, (trial + 1) * pairs)
        units = effective_units(sample.sizes)
        parts = {name: getattr(seen, name)[own] for name in ("delta", "se", "discordant", "identical")}
        shapes = {name: getattr(moments, name)[own] for name in ("se", "acceleration", "kurtosis")}
        shape = UnitShape.of(sample.measure, replace(seen, **parts), PairMoments(**shapes), effective=units)
        undecided = find_undecided(shape) > 0
        p = np.maximum(max_t[own], floor[own])
        student = np.fmax(StudentTails(units).p_value(seen.delta[own], seen.se[own]), floor[own])
        previous = _previous(z[own], seen.delta[own], seen.se[own], floor[own], student, units)
        with np.errstate(invalid="ignore"):  # without a p nothing is rejected
            rejected = (p <= ALPHA + _SLACK) & (seen.delta[own] != 0)
        separated = rejected & ~undecided
        interval = compatible_intervals(
            np.abs(seen.delta[own]),
            np.where(seen.identical[own], np.nan, se[own]),
            critical=critical[trial],
            critical_of_wins=critical_of_wins(critical[trial], len(measure.statistics), ALPHA),
            separated=separated,
            wins=Wins(seen.discordant[own], win[own], len(measure.statistics)),
        )
        interval = _hide(interval, rejected & undecided)
        found.append(Judged(p, undecided, seen.delta[own], previous, holm(student), separated, interval))
    return found


def _hide(interval: CompatibleIntervals, hidden: _Flags) -> CompatibleIntervals:
    """Return the intervals without those of pairs that are not decided, though their p is small enough."""
    lo, hi = (np.where(hidden, np.nan, end) for end in (interval.lo, interval.hi))
    return replace(interval, lo=lo, hi=hi)


def _studentise_each(
    measure: Measure, seen: Observed, draws: Draws, scores: _Floats, floor: _Floats, size: int
) -> tuple[_Floats, list[float], _Floats]:
    """Return (pair,) p of each family of so many pairs, as `studentised_max_t` of each: t* of all of them are made at once.

    With the critical value of each family, and (pair,) what it divides gains by.
    """
    replicates = scores.shape[1]
    se, cap = linear_errors(measure), largest_counted(measure.pairs, scores)
    wins = FewWins.of(measure, seen, se)
    cap, reach = np.minimum(cap, wins.most), np.full(len(se), np.inf)
    (block,) = studentise(draws, measure, replicates=replicates, scores=scores, memory_bytes=2**30)
    few = np.flatnonzero((seen.discordant > 0) & (seen.discordant < FEW_DISCORDANT) & ~wins.chosen)
    with np.errstate(divide="ignore", invalid="ignore"):  # pairs without a standard error are no members
        slack = 2 * TOLERANCE * np.abs(seen.score[measure.pairs[few]]).sum(axis=1) / se[few]
    least = sign_flip_floor(seen.discordant[few])
    held, reach[few] = (least_reached(block.t[few], share) + slack for share in (least, np.fmax(floor[few], least)))
    cap[few] = np.minimum(cap[few], np.where(held < BEYOND, held, z_of_p(least)))
    wins.put_on_scale(block)
    held_to: dict[str, Any] = {"se": se, "identical": seen.identical, "counts": wins.counts, "reach": np.minimum(cap, reach)}
    family = order_family(measure.pairs, score=seen.score, delta=seen.delta, **held_to)
    p = np.where(family.certain, 1.0, np.nan)
    critical = []
    for first in range(0, len(p), size):
        places = np.flatnonzero(family.pair // size == first // size)[::-1]
        own, hits = family.pair[places], np.zeros((2, len(places)), np.int64)
        largest = np.zeros(replicates)
        count_reaching(block.t[own], cap[own], family.members.least[places], largest, *hits)
        c = critical_maximum(np.sort(largest), ALPHA)
        critical.append(c if c < BEYOND else np.inf)
        p[own[::-1]] = np.maximum.accumulate((hits[1, ::-1] + 1) / (replicates + 1))
        if len(own) == 1 and wins.chosen[own[0]]:
            p[own] = wins.p[own]
    return p, critical, se


def _side_by_side(measures: Sequence[Measure]) -> Measure:
    systems = len(measures[0].keep)
    return replace(
        measures[0],
        statistics=np.concatenate([measure.statistics for measure in measures], axis=1),
        pairs=np.concatenate([measure.pairs + systems * place for place, measure in enumerate(measures)]),
        keep=np.ones(systems * len(measures), np.bool_),
    )


def _previous(z: _Floats, delta: _Floats, se: _Floats, floor: _Floats, student: _Floats, units: float) -> _Floats:
    """Return step-down max-T over one standard error a pair, with Student's correction; of few units no less than Holm.

    Holm stands over t, as counted p would be too coarse with few replicates.
    """
    there = np.flatnonzero(se > 0)
    least = StudentTails(units).to_replicates(np.abs(delta[there]) / se[there])
    order = np.argsort(-least, kind="stable")
    largest = np.maximum.accumulate(z[there[order]][::-1], axis=0)[::-1]
    hits = np.count_nonzero(largest >= least[order, None] * (1 - 1e-9), axis=1)
    p = np.where(np.isfinite(student), 1.0, np.nan)
    p[there[order]] = np.maximum.accumulate((hits + 1) / (z.shape[1] + 1))
    p = np.fmax(p, floor)
    return np.fmax(p, holm(student)) if units < FEW_EFFECTIVE else p


@dataclass(frozen=True)
class Cell:
    """Scores of one kind, a number of units, and of systems; what ``records`` holds of it is counted by `add_trials`."""

    kind: str
    units: int
    systems: int

    @property
    def key(self) -> str:
        """Name it in records."""
        return f"{self.kind} {self.units} {self.systems}"


_COUNTS = ("false", "false_p", "false_previous", "false_student", "unseen", "false_unseen")
_POWERS = ("found", "found_p", "found_previous", "found_student")
_MISSES = ("missed", "above", "below", "missed_gains", "above_gains", "below_gains")


def add_trials(cell: Cell, record: dict[str, Any] | None, *, nulls: int, gains: int, replicates: int, seed: int) -> dict[str, Any]:
    """Count until there are so many trials of a true null, and of a gain; what ``record`` has is kept.

    Returns
    -------
    dict
        ``nulls`` and ``gains``, trials. Of nulls, data sets in which a pair was called better (``false``), in which some p was at
        most .05, decided or not (``false_p``), by the rule before and by t; in which no failure was drawn (``unseen``), and a pair
        was called better yet. Of gains, the same of pairs of the better system that were called so (``found``). Of both, data sets
        in which an interval misses its true gain (``missed``), and pairs whose interval lies beyond it (``above``), or short of it.
    """
    known = {"kind": cell.kind, "units": cell.units, "systems": cell.systems, "replicates": replicates, "seed": seed}
    counted: dict[str, Any] = known | {"nulls": 0, "gains": 0} | dict.fromkeys((*_COUNTS, *_POWERS, *_MISSES), 0) | (record or {})
    if any(counted[name] != value for name, value in known.items()):
        raise ValueError(f"{cell.key}: the record has another seed or number of replicates")
    size = _TOGETHER[cell.systems]
    for gain, name, least in ((0.0, "nulls", nulls), (GAIN, "gains", gains)):
        while counted[name] < least:
            place = f"{cell.key} {name} {counted[name]}"
            generator = np.random.default_rng([seed, *place.encode()])
            samples = [draw_sample(cell.kind, cell.units, cell.systems, gain=gain, generator=generator) for _ in range(size)]
            key = draw_key(seed=seed, purpose="paired-bootstrap", test_set=place, size="full", rule="prefix")
            judged = judge_together(samples, draws=Draws(key, cell.units, cell.units), replicates=replicates)
            counted[name] += size
            for sample, found in zip(samples, judged, strict=True):
                _add(counted, sample, found, gain > 0)
                _add_misses(counted, sample, found, true_gain(cell.kind, sample.sizes, gain))
    return counted


def _add_misses(counted: dict[str, Any], sample: Sample, found: Judged, gain: float) -> None:
    """Count the intervals that miss their true gains, which a pair without an interval does not."""
    first, second = sample.measure.pairs.T
    truth = gain * ((first == 0).astype(float) - (second == 0))
    of_ahead = np.where(found.delta < 0, -truth, truth)
    with np.errstate(invalid="ignore"):
        outside = (found.interval.lo == 0) & found.separated & (of_ahead <= 0)  # an open end
        above, below = (of_ahead < found.interval.lo) | outside, of_ahead > found.interval.hi
    name = "_gains" if gain else ""
    counted[f"missed{name}"] += int((above | below).any())
    counted[f"above{name}"] += int(above.sum())
    counted[f"below{name}"] += int(below.sum())


def _add(counted: dict[str, Any], sample: Sample, found: Judged, gains: bool) -> None:
    rejected = {"_p": found.p, "_previous": found.previous, "_student": found.student}
    best = (sample.measure.pairs == 0).any(axis=1)
    with np.errstate(invalid="ignore"):  # without a p nothing is rejected
        at_level = {name: (p <= ALPHA + _SLACK) & (found.delta != 0) for name, p in rejected.items()}
    at_level[""] = found.separated
    if gains:
        for name, flags in at_level.items():
            counted[f"found{name}"] += int((flags & best & (found.delta > 0)).sum())
        return
    for name, flags in at_level.items():
        counted[f"false{name}"] += int(flags.any())
    counted["unseen"] += int(sample.failures == 0)
    counted["false_unseen"] += int(at_level[""].any() and sample.failures == 0)
