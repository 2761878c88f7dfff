"""The same pairs on many test sets: join cubes by the names of systems, and give each direction its own p."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.exact_laws import drawn_replicates, is_exact
from pipeline.analyses.standard_errors import read_standard_errors
from pipeline.analyses.units import read_few_units, read_student_tails
from pipeline.dataclass import dataclass
from pipeline.inference.across.suites import directed_hits, directed_p, least_directed
from pipeline.inference.decision import bound_computed, bound_counted
from pipeline.inference.multiple_comparisons.families import lacks_spread
from pipeline.inference.skewness import skewed_tail
from pipeline.inference.unit_diagnostics.few_units import evidence_floor
from pipeline.inference.unit_diagnostics.undecided import UNDECIDED
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["NoDirection", "Question", "SuiteData", "join_cubes"]


@dataclass(frozen=True)
class Question:
    """What is asked of a suite.

    Parameters
    ----------
    metric, procedure : str
    direction : {"both", "better", "worse"}
    baseline : str or None
        The second system of every pair; without it all pairs are asked.
    alpha : float
    """

    metric: str
    procedure: str
    direction: Literal["both", "better", "worse"]
    baseline: str | None
    alpha: float

    @property
    def sides(self) -> tuple[int, ...]:
        """Directions that are tested, of better and worse."""
        return {"both": (0, 1), "better": (0,), "worse": (1,)}[self.direction]


class NoDirection(ValueError):
    """A procedure whose numbers give no p of a direction that was fixed before looking."""


@dataclass(frozen=True, eq=False)
class SuiteData:
    """The pairs of a suite at full size; rows are test sets, columns pairs.

    Parameters
    ----------
    test_sets : tuple of str
    pairs : tuple of (str, str)
        The first of which the direction "better" is asked: with a baseline that is always the second.
    present : (test_set, pair) bool
        Both systems are on the test set.
    delta, se : (test_set, pair) float64
        Gain of the first over the second, above zero where it is better, whichever way the metric points.
    identical : (test_set, pair) bool
    discordant : (test_set, pair) int64
        −1 where it is not known.
    undecided : (test_set, pair) int8
        Position in `pipeline.inference.unit_diagnostics.undecided.UNDECIDED`: why the pair has no verdict there, and so is no
        evidence; 0 where it has one.
    units : (test_set,) int64
    p : (2, test_set, pair) float64
        One-sided, of "better" and of "worse", corrected for few units; 1 where the pair is not decided, nan where there is none.
    lo, hi : (2, test_set, pair) float64
        Between what infinitely many replicates would have p lie, all together with a chance of .99.
    replicates : int or None
        The most that any p counts; None where none are drawn.
    """

    test_sets: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    present: NDArray[np.bool_]
    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    identical: NDArray[np.bool_]
    discordant: NDArray[np.int64]
    undecided: NDArray[np.int8]
    units: NDArray[np.int64]
    p: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    replicates: int | None


@dataclass(frozen=True, eq=False)
class _Sides:
    """The p of both directions on one test set, in the order of the cube's pairs: (2, pair) arrays."""

    p: NDArray[np.float64]
    hits: NDArray[np.int64]
    trials: NDArray[np.int64]
    error: NDArray[np.float64]


def join_cubes(cubes: Mapping[str, xr.Dataset], *, metric: str, procedure: str, baseline: str | None) -> SuiteData:
    """Read the pairs of every cube and bring them into one order; with a baseline only its pairs.

    Raises
    ------
    NoDirection
        Where the procedure has no one-sided p.
    """
    names = list(cubes)
    found = [_oriented(cube, baseline) for cube in cubes.values()]
    pairs = tuple(sorted({pair for pairs, _ in found for pair in pairs if pair is not None}))
    column = {pair: position for position, pair in enumerate(pairs)}
    shape = (len(names), len(pairs))
    present, identical = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    delta, se = np.full(shape, np.nan), np.full(shape, np.nan)
    discordant, undecided = np.full(shape, -1, np.int64), np.zeros(shape, np.int8)
    units = np.array([int(cube["n_units"].sel(test_size=FULL).item()) for cube in cubes.values()], np.int64)
    p, error, lowest = np.full((2, *shape), np.nan), np.zeros((2, *shape)), np.zeros((2, *shape))
    hits, trials = np.zeros((2, *shape), np.int64), np.zeros((2, *shape), np.int64)
    for row, (name, (own, turned)) in enumerate(zip(names, found, strict=True)):
        there = np.array([pair is not None for pair in own], np.bool_)
        at = np.array([column[pair] for pair in own if pair is not None], np.int64)
        cube, where = cubes[name], {"metric": metric, "test_size": FULL}
        if metric not in cube["metric"].values.tolist() or procedure not in cube["procedure"].values.tolist():
            continue
        gain = cube["observed_delta"].sel(where).values.astype(np.float64) * np.where(turned, -1.0, 1.0)
        same = cube["identical"].sel(where).values.astype(np.bool_)
        differ = cube["discordant"].sel(where).values.astype(np.int64) if "discordant" in cube else np.full(len(gain), -1)
        # Counts are of the system that is ahead; of equal scores, of the cube's first.
        ahead = np.where(gain == 0, ~turned, gain > 0)
        sides = _read_sides(cube, gain, same, np.stack([ahead, ~ahead]), **where, procedure=procedure)
        why = _read_undecided(cube, same, **where, procedure=procedure)
        least = np.where(why > 0, 1.0, _least(cube, differ, ahead, len(gain), **where, procedure=procedure))
        present[row, at], delta[row, at], identical[row, at], discordant[row, at] = True, gain[there], same[there], differ[there]
        undecided[row, at] = why[there]
        se[row, at] = read_standard_errors(cube, **where)[there]
        for side in (0, 1):
            raised = np.where(np.isnan(sides.p[side]), np.nan, np.fmax(sides.p[side], least[side]))
            p[side, row, at], lowest[side, row, at] = raised[there], least[side, there]
            hits[side, row, at], trials[side, row, at] = sides.hits[side, there], sides.trials[side, there]
            error[side, row, at] = sides.error[side, there]
    undecided[np.isnan(p[0])] = 0
    lo, hi = _bounds(p, hits, trials, error, lowest)
    drawn = int(trials.max(initial=0)) or None
    return SuiteData(tuple(names), pairs, present, delta, se, identical, discordant, undecided, units, p, lo, hi, drawn)


def _oriented(cube: xr.Dataset, baseline: str | None) -> tuple[list[tuple[str, str] | None], NDArray[np.bool_]]:
    """Return each pair of a cube as (first, second), None outside the family, and where that turns the cube's own order."""
    own: list[tuple[str, str] | None] = []
    turned = []
    for a, b in zip(map(str, cube["system_a"].values.tolist()), map(str, cube["system_b"].values.tolist()), strict=True):
        turn = a == baseline if baseline is not None else b < a
        own.append(((b, a) if turn else (a, b)) if baseline in (None, a, b) else None)
        turned.append(turn)
    return own, np.array(turned, np.bool_)


def _least(
    cube: xr.Dataset, discordant: NDArray[np.int64], ahead: NDArray[np.bool_], pairs: int, **where: str
) -> NDArray[np.float64]:
    """Return (2, pair) what the p of "better" and of "worse" are not below: corrected for few units, and exact where few differ."""
    reading = PROCEDURES.get(where["procedure"])
    if reading is None or not reading.needs_units:
        return np.zeros((2, pairs))
    at: dict[str, Any] = {"metric": where["metric"], "test_size": where["test_size"]}
    exact = np.asarray(cube["p_sign_flip"].sel(at).values, np.float64) if "p_sign_flip" in cube.variables else None
    floor = evidence_floor(discordant, exact, mid_p=reading.mid_p)
    return least_directed(ahead, by_t=_by_t(cube, **where), floor=floor, flat=_without_spread(cube, **at))


def _read_undecided(cube: xr.Dataset, same: NDArray[np.bool_], **where: str) -> NDArray[np.int8]:
    """Return why each pair has no verdict by the procedure, 0 where it has one; identical outputs need none."""
    if "undecided" not in cube.variables:
        return np.zeros(len(same), np.int8)
    codes = np.asarray(cube["undecided"].sel(where).values, np.int8)
    return np.where((codes > 0) & (codes < len(UNDECIDED)) & ~same, codes, np.int8(0))


def _by_t(cube: xr.Dataset, *, metric: str, test_size: str, procedure: str) -> NDArray[np.float64]:
    """Return the one-sided p of the system ahead by Student's t, also of t without the skewness of units where it is known."""
    student = read_few_units(cube, metric=metric, test_size=test_size, procedure=procedure) / 2
    tails = read_student_tails(cube, test_size=test_size)
    if tails is None or "acceleration" not in cube.variables:
        return student
    at = {"metric": metric, "test_size": test_size}
    delta, se, bend = (np.asarray(cube[name].sel(at).values, np.float64) for name in ("observed_delta", "se", "acceleration"))
    t = np.divide(np.abs(delta), se, out=np.full(delta.shape, np.nan), where=se > 0)
    return np.where(np.isfinite(student), np.fmax(student, skewed_tail(t, np.sign(delta) * bend, tails=tails)), student)


def _without_spread(cube: xr.Dataset, **where: str) -> NDArray[np.bool_]:
    """Tell which pairs gain the same on every unit: resampling finds nothing else, so that their p says nothing."""
    values = {name: cube[name].sel(where).values for name in ("observed_score", "observed_delta", "se", "identical")}
    order = {str(name): place for place, name in enumerate(cube["system"].values.tolist())}
    pairs = np.array([[order[str(name)] for name in cube[side].values.tolist()] for side in ("system_a", "system_b")], np.int64).T
    return lacks_spread(
        pairs,
        score=values["observed_score"].astype(np.float64),
        delta=values["observed_delta"].astype(np.float64),
        se=values["se"].astype(np.float64),
        identical=values["identical"].astype(np.bool_),
    )


def _read_sides(
    cube: xr.Dataset, gain: NDArray[np.float64], same: NDArray[np.bool_], ahead: NDArray[np.bool_], **where: str
) -> _Sides:
    """Read the p of "better" and of "worse" off the counts, or, of a test that draws nothing, off its own p-values."""
    defined = ~np.isnan(gain) | same
    above, at, empty = (_count(cube, name, **where) for name in ("above_twice_delta", "at_twice_delta", "empty"))
    if above is not None and at is not None and not is_exact(cube, where):
        b = np.where(defined, drawn_replicates(cube, where) - (0 if empty is None else empty), 0).astype(np.int64)
        p = directed_p(above, at, b, ahead=ahead, identical=same)
        hits = directed_hits(above, at, b, ahead=ahead)
        trials = np.broadcast_to(np.where(same, 0, b), p.shape)
        return _Sides(p, hits, trials, np.zeros(p.shape))
    ours, error = _computed(cube, **where)
    p = np.where(same, 1.0, np.where(defined & np.isfinite(ours), np.where(ahead & (gain != 0), ours, 1.0), np.nan))
    nothing = np.zeros(p.shape, np.int64)
    return _Sides(p, nothing, nothing, np.where(p == 1.0, 0.0, np.nan_to_num(error)))


def _count(cube: xr.Dataset, name: str, **where: str) -> NDArray[np.int64] | None:
    """Return a count by pair, or None where the procedure counts no replicates."""
    if f"count_{name}" not in cube.variables:
        return None
    cells = cube[f"count_{name}"].sel(where).values
    return None if (cells < 0).any() or not cells.size else cells.astype(np.int64).sum(axis=-1)


def _computed(cube: xr.Dataset, **where: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the one-sided p of the system that is ahead, ties counted, and its error; 1 where there is no order.

    The side that is behind has a p above ½, which a discrete law does not tell from the other's: 1 stands for it, the safe end.
    """
    procedure = where["procedure"]
    reading = PROCEDURES.get(procedure)
    conventions = reading.conventions if reading is not None else ()
    if "one-sided" not in conventions:
        raise NoDirection(f"{procedure} has no p of one side, and the sign of a gain tells no side of a law that may be skew")
    read = {
        name: (cube["p_value"].sel(at := where | {"convention": name}).values, cube["p_error"].sel(at).values)
        for name in ("one-sided", "two-sided", "at-or-below-zero")
        if name in cube["convention"].values.tolist()
    }
    one, error = read["one-sided"]
    two, two_error = read["two-sided"]
    if reading is not None and reading.one_sided is None:
        # Strict, P(δ* > 2δ). Both tails together count ties: what lies at or below 0 taken off, P(δ* ≥ 2δ) is left.
        low, low_error = read["at-or-below-zero"]
        one, error = np.maximum(two - low, one), np.maximum(two_error + low_error, error)
    no_order = np.isnan(one) & (two == 1.0)
    return np.where(no_order, 1.0, one), error


def _bounds(
    p: NDArray[np.float64],
    hits: NDArray[np.int64],
    trials: NDArray[np.int64],
    error: NDArray[np.float64],
    lowest: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if trials.any():
        found = bound_counted(hits, trials, p=p)
    else:
        found = bound_computed(p, error, random=np.zeros(p.shape, np.bool_), decisions=1)
    # What is raised to a floor is known to be no smaller, whatever other draws would count.
    return np.maximum(found.lo, lowest), np.maximum(found.hi, lowest)
