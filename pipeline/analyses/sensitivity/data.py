"""The pairs of systems that several measures have in common, with what each measure says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pairs import find_copies
from pipeline.analyses.standard_errors import read_standard_errors
from pipeline.analyses.units import read_unit_statistics, read_units_of_items
from pipeline.dataclass import dataclass
from pipeline.inference.across.pairwise_accuracy import UnitValues
from pipeline.interfaces import ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.standard_errors.influence import leave_one_out

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CommonPairs", "Ruler", "list_groups", "read_common", "read_items", "read_unit_values"]


class Ruler(NamedTuple):
    """A measure: a metric on a test set."""

    test_set: str
    metric: str


@dataclass(frozen=True, eq=False)
class CommonPairs:
    """Pairs of systems that differ by every measure; rows are measures, columns pairs.

    Parameters
    ----------
    rulers : tuple of Ruler
    systems : tuple of str
        Sorted.
    pairs : (pair, 2) int64
        Positions of systems, the first by name first.
    z : (ruler, pair) float64
        Gain of the first over the second over its standard error, above zero where it is better.
    p : (ruler, pair) float64
        Two-sided and unadjusted, by the convention of the procedure's verdicts; nan where there is none.
    one_sided : (ruler, pair) float64
        That the first is not better; ½ where the scores are equal, nan where there is none.
    separated : (ruler, pair) int8
        1 where the pair's verdict at α is that they differ, 0 where it is not, −1 where there is none.
    """

    rulers: tuple[Ruler, ...]
    systems: tuple[str, ...]
    pairs: NDArray[np.int64]
    z: NDArray[np.float64]
    p: NDArray[np.float64]
    one_sided: NDArray[np.float64]
    separated: NDArray[np.int8]


def list_groups(cubes: Mapping[str, xr.Dataset], *, across: bool) -> list[tuple[str, tuple[Ruler, ...]]]:
    """Return the procedures and the measures that are compared with one another under each."""
    groups: dict[tuple[str, str], list[Ruler]] = {}
    for name, cube in cubes.items():
        for procedure in map(str, cube["procedure"].values.tolist()):
            for metric in map(str, cube["metric"].values.tolist()):
                groups.setdefault((procedure, "" if across else name), []).append(Ruler(name, metric))
    return [(procedure, tuple(rulers)) for (procedure, _), rulers in groups.items()]


def read_common(cubes: Mapping[str, xr.Dataset], rulers: Sequence[Ruler], procedure: str, alpha: float | None) -> CommonPairs:
    """Read the pairs that differ, have a gain and a standard error by every measure, and are no copies."""
    read = [_read(cubes[ruler.test_set], ruler.metric, procedure, alpha) for ruler in rulers]
    common = sorted(set.intersection(*(set(of_ruler) for of_ruler in read)))
    systems = tuple(sorted({name for pair in common for name in pair}))
    place = {name: position for position, name in enumerate(systems)}
    values = np.array([[of_ruler[pair] for pair in common] for of_ruler in read], np.float64).reshape(len(rulers), len(common), 4)
    return CommonPairs(
        rulers=tuple(rulers),
        systems=systems,
        pairs=np.array([[place[name] for name in pair] for pair in common], np.int64).reshape(-1, 2),
        z=values[:, :, 0],
        p=values[:, :, 1],
        one_sided=values[:, :, 2],
        separated=values[:, :, 3].astype(np.int8),
    )


_Values = tuple[float, float, float, float]


def _read(cube: xr.Dataset, metric: str, procedure: str, alpha: float | None) -> dict[tuple[str, str], _Values]:
    """Return z, p, the one-sided p and the verdict of each usable pair, in the order of names."""
    where = {"metric": metric, "test_size": FULL}
    delta, se = cube["observed_delta"].sel(where).values.astype(np.float64), read_standard_errors(cube, **where)
    identical = cube["identical"].sel(where).values.astype(np.bool_)
    tested = where | {"procedure": procedure}
    known = PROCEDURES.get(procedure)
    convention = known.verdict if known is not None else "two-sided"
    there = set(map(str, cube["convention"].values.tolist()))

    def p_of(name: str) -> NDArray[np.float64]:
        if name not in there:
            return np.full(len(delta), np.nan)
        return np.asarray(cube["p_value"].sel(tested | {"convention": name}).values, np.float64)

    p, ordered = p_of(convention), p_of("one-sided")
    adjusted = (
        cube["p_adjusted"].sel(tested).values.astype(np.float64) if "p_adjusted" in cube.variables else np.full(len(delta), np.nan)
    )
    undecided = cube["undecided"].sel(tested).values > 0 if "undecided" in cube.variables else np.zeros(len(delta), np.bool_)
    level = float(cube.attrs.get("alpha", 0.05)) if alpha is None else alpha
    verdict = np.where(np.isnan(adjusted), -1, (adjusted <= level) & ~undecided)
    # p is of the pair turned so that its gain is positive.
    first_not_better = np.where(delta > 0, ordered, np.where(delta < 0, 1 - ordered, 0.5))
    usable = ~identical & np.isfinite(delta) & np.isfinite(se) & (se > 0)
    copies = find_copies(cube, metric)
    found: dict[tuple[str, str], _Values] = {}
    for at in np.flatnonzero(usable).tolist():
        a, b = str(cube["system_a"].values[at]), str(cube["system_b"].values[at])
        if a in copies or b in copies:
            continue
        z, one = delta[at] / se[at], first_not_better[at]
        flipped = b < a
        key = (b, a) if flipped else (a, b)
        found[key] = (-z if flipped else z, p[at], 1 - one if flipped else one, float(verdict[at]))
    return found


def read_items(scored: ScoredStatistics | None) -> tuple[str, ...]:
    """Return the names of the items of a test set, in its order; none where they are not at hand."""
    if scored is None or "item" not in scored.data.coords:
        return ()
    return tuple(map(str, scored.data["item"].values.tolist()))


def read_unit_values(scored: ScoredStatistics | None, cube: xr.Dataset, systems: Sequence[str]) -> UnitValues | None:
    """Return what each unit adds to the score of each system: the jackknife's pseudo-values, larger is better.

    Returns
    -------
    (system, unit) float64 or None
        None where the statistics or units are not at hand, or a score is not defined without one of the units.
    """
    unit = None if scored is None else read_units_of_items(scored.data, str(cube.attrs.get("unit", "item")))
    if scored is None or unit is None:
        return None
    statistics = read_unit_statistics(scored.data, unit, systems)
    without = leave_one_out(statistics, scored.score)
    whole = np.asarray(scored.score(np.moveaxis(statistics.sum(axis=0), -1, 0).astype(np.float64)), np.float64)
    values = whole[:, None] + (without.shape[1] - 1) * (whole[:, None] - without)
    if not np.isfinite(values).all():
        return None
    return np.asarray(values if scored.higher_is_better else -values, np.float64)
