"""Which gain is usually significant? Answered from the borderline pairs, and from the standard errors of all pairs.

Each pair is ordered so that its gain is not negative and has the one-sided strict p-value of Figure 1 of Berg-Kirkpatrick and
others (2012). Of the pairs with p in [.04, .06] the 95th percentile of the gains is their threshold: 95 % of the borderline
differences were at most as large. Few studies have enough borderline pairs. Since p is nearly 1 − Φ(gain/se), a pair is borderline
at the gain 1.645 se: the 95th percentile of 1.645 se over all pairs of a class needs no pair in the window, and agrees with the
other threshold if there are many. Two-sided thresholds would be 1.96/1.645, 19 % higher. A threshold describes this test set and
systems like these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pair_classes import ALL, DIFFERENT, SAME, PairClass, Relation, find_base, find_relation, read_classes
from pipeline.analyses.pairs import (
    BORDERLINE,
    FEW_PAIRS,
    NEAR,
    PairTable,
    Window,
    describe_copies,
    describe_one_sided,
    list_slices,
    percentile_of,
    read_pairs,
    read_units,
)
from pipeline.analyses.standard_errors import describe_replaced
from pipeline.analyses.system_sample import Sampled, describe_interval, sample_systems
from pipeline.analyses.thresholds.curves import curve_rows, draw_curves, show_curves
from pipeline.analyses.thresholds.kinship import kinship_rows
from pipeline.analyses.thresholds.pages import (
    SECTION,
    describe_rules,
    draw_thresholds,
    mark_scatters,
    show_tables,
    state_thresholds,
)
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Analysis, Finding
from pipeline.interfaces.analyses import FULL
from pipeline.numerics.special import expit, logit
from pipeline.options import read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ThresholdOptions", "Thresholds"]

_STEPS = 50
_CONVERGED = 1e-10


@dataclass(frozen=True)
class ThresholdOptions:
    """Options: ``relation`` names the coordinate that splits pairs, ``classes`` and ``combinations`` add classes by its values."""

    window: tuple[float, float] = BORDERLINE
    percentile: float = 95.0
    relation: str | None = None
    combinations: bool = False
    classes: Mapping[str, Any] = field(default_factory=dict)
    alpha: float | None = None
    permutations: int = 1999

    def __post_init__(self) -> None:
        if len(self.window) != 2:
            raise ValueError(f"window takes two numbers, got {len(self.window)}")
        self.spec.holds(np.zeros(1))
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"alpha {self.alpha} must be between 0 and 1")
        if not 99 <= self.permutations <= 1_000_000:
            raise ValueError(f"permutations {self.permutations} must be between 99 and 1000000")
        read_classes(self.classes)

    @property
    def spec(self) -> Window:
        """The window and the percentile."""
        return Window(*self.window, percentile=self.percentile)

    def alpha_of(self, cube: xr.Dataset) -> float:
        """Return the level: that of the options, else that of the study."""
        return float(self.alpha if self.alpha is not None else cube.attrs.get("alpha", 0.05))

    def classes_of(self, relation: Relation | None, table: PairTable) -> list[PairClass]:
        """Return the classes of the pairs of a table: all, same and different, those that are named, the combinations if asked."""
        if relation is None:
            return [ALL]
        named = [*read_classes(self.classes), *(relation.combinations(table) if self.combinations else ())]
        return [ALL, SAME, DIFFERENT, *{kind.label: kind for kind in named}.values()]


class Thresholds(Analysis):
    """The gain above which a difference is usually significant, by test size and relation of the systems."""

    name: ClassVar[str] = "thresholds"
    of_single_runs: ClassVar[bool] = True

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or have no effect."""
        read_options(ThresholdOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each test set, metric, procedure, test size and class of pairs, and kinship among the details."""
        chosen = read_options(ThresholdOptions, options, analysis=self.name)
        rows = [row for name, cube in cubes.items() for row in _rows(name, cube, chosen)]
        kinship = [row for name, cube in cubes.items() for row in _kinship(name, cube, chosen)]
        curves = [row for name, cube in cubes.items() for row in _curves(name, cube, chosen)]
        notes = [*describe_rules(chosen.spec, NEAR, FEW_PAIRS), *describe_one_sided(cubes)]
        if any(find_relation(cube, chosen.relation) is None for cube in cubes.values()):
            wanted = chosen.relation or "model or group"
            notes.append(f"Pairs are not split everywhere: no coordinate {wanted} says which systems belong together.")
        notes += [note for note in [describe_copies(cubes), describe_replaced(cubes)] if note]
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            {"kinship": tuple(kinship)},
            tables=(*show_tables(rows, kinship, notes), *show_curves(curves, SECTION.key)),
            figures=(*draw_thresholds(cubes, rows), *draw_curves(cubes, curves, SECTION.key)),
            sections=(SECTION,),
            csv={"thresholds": rows, "threshold_curves": curves, "kinship": kinship},
            interval_of={"thresholds": "gain"},
            headlines=tuple(state_thresholds(cubes, rows, few=FEW_PAIRS)),
            marks=tuple(mark_scatters(cubes, rows, few=FEW_PAIRS)),
        )


def _rows(name: str, cube: xr.Dataset, options: ThresholdOptions) -> Iterator[dict[str, Any]]:
    relation, base = find_relation(cube, options.relation), find_base(cube)
    alpha = options.alpha_of(cube)
    for metric, procedure in list_slices(cube):
        for size, units in read_units(cube).items():
            table = read_pairs(cube, metric=metric, test_size=size, procedure=procedure)
            sampled = sample_systems(table.systems, base, relation)
            for kind in options.classes_of(relation, table):
                members = relation.mask(table, kind) if relation is not None else np.ones(len(table.gain), dtype=np.bool_)
                yield {
                    "test_set": name,
                    "metric": metric,
                    "test_size": size,
                    "units": units,
                    "procedure": procedure,
                    "relation": kind.label,
                    "relation_by": relation.name if relation is not None else None,
                    "values": [list(two) for two in kind.values],
                    **_from_window(table, members, sampled, options.spec),
                    **_from_errors(table, members, sampled, options.spec),
                    **_from_curve(table, members, alpha),
                    "window": [options.spec.low, options.spec.high],
                    "percentile": options.spec.percentile,
                }


def _from_window(table: PairTable, members: NDArray[np.bool_], sampled: Sampled, spec: Window) -> dict[str, Any]:
    """Return the threshold of the borderline pairs of a class."""
    usable = members & table.usable
    inside = usable & spec.holds(table.p)
    gains = table.gain[inside]
    gain = percentile_of(gains, spec.percentile)
    count = f"{len(gains)} pair{'' if len(gains) == 1 else 's'}"
    few = f"only {count} in the window: fewer than {FEW_PAIRS} say little" if 0 < len(gains) < FEW_PAIRS else None
    interval, note = describe_interval(sampled, gains, table.first[inside], table.second[inside], spec.percentile)
    return {
        "gain": gain,
        "reason": None if gain is not None else f"no pair has a p-value in [{spec.low:g}, {spec.high:g}]",
        "interval": interval,
        "interval_note": note,
        "pairs_in_window": len(gains),
        "systems_in_window": len({*table.first[inside].tolist(), *table.second[inside].tolist()}),
        "pairs": int(usable.sum()),
        "identical_pairs": int((members & table.identical).sum()),
        "copied_pairs": int((members & ~table.identical & table.copied).sum()),
        "pairs_without_p": int((members & ~table.identical & ~table.copied & ~table.usable).sum()),
        "warning": few,
        "median_gain": float(np.median(gains)) if len(gains) else None,
        "gaussian_gain": gaussian_gain(table.se[inside], spec),
        "gaussian_z": spec.z,
    }


def _from_errors(table: PairTable, members: NDArray[np.bool_], sampled: Sampled, spec: Window) -> dict[str, Any]:
    """Return the thresholds by the standard errors of all pairs of a class, and of those near borderline."""
    measured = members & table.measured
    near = members & table.near
    borderline = spec.z * table.se
    values, first, second = borderline[measured], table.first[measured], table.second[measured]
    interval, note = describe_interval(sampled, values, first, second, spec.percentile)
    return {
        "se_gain": percentile_of(values, spec.percentile),
        "se_interval": interval,
        "se_interval_note": note,
        "se_pairs": int(measured.sum()),
        "near_gain": percentile_of(borderline[near], spec.percentile) if int(near.sum()) >= FEW_PAIRS else None,
        "near_pairs": int(near.sum()),
        "near_p": list(NEAR),
    }


def _from_curve(table: PairTable, members: NDArray[np.bool_], alpha: float) -> dict[str, Any]:
    usable = members & table.usable
    curve, reason = fit_logistic(table.gain[usable], table.p[usable] <= alpha, share=1 - alpha)
    return {"logistic_gain": curve, "logistic_reason": reason, "alpha": alpha}


def _kinship(name: str, cube: xr.Dataset, options: ThresholdOptions) -> Iterator[dict[str, Any]]:
    """Yield the ratios of standard errors: by test set, metric and test size, since they do not depend on the procedure."""
    relation = find_relation(cube, options.relation)
    if relation is None:
        return
    for metric, procedure in dict(list_slices(cube)).items():
        for size, units in read_units(cube).items():
            table = read_pairs(cube, metric=metric, test_size=size, procedure=procedure)
            where = {"test_set": name, "metric": metric, "test_size": size, "units": units, "relation_by": relation.name}
            # All has no others, and different is the rest of same. Dealing labels for many classes takes time: once is enough.
            known = options.classes_of(relation, table)
            classes = [kind for kind in known if kind == SAME or (kind.values and size == FULL)]
            for row in kinship_rows(
                table,
                relation,
                classes,
                permutations=options.permutations,
                seed=int(cube.attrs.get("seed", 0)),
                test_set=name,
                test_size=size,
            ):
                yield where | row


def _curves(name: str, cube: xr.Dataset, options: ThresholdOptions) -> Iterator[dict[str, Any]]:
    """Yield how often a gain is significant, on the full test set."""
    relation = find_relation(cube, options.relation)
    for metric, procedure in list_slices(cube):
        table = read_pairs(cube, metric=metric, test_size=FULL, procedure=procedure)
        classes = options.classes_of(relation, table)
        where = {"test_set": name, "metric": metric, "procedure": procedure}
        for row in curve_rows(table, relation, classes, alpha=options.alpha_of(cube)):
            yield where | row


def gaussian_gain(se: NDArray[np.float64], window: Window) -> float | None:
    """Return the median gain expected in the window if differences were Gaussian: z times the median se."""
    return window.z * float(np.median(se)) if len(se) else None


def fit_logistic(gain: NDArray[np.float64], significant: NDArray[np.bool_], *, share: float) -> tuple[float | None, str | None]:
    """Return the gain at which the fitted chance of ``p ≤ α`` reaches ``share``, or the reason why there is none.

    All pairs are used, not only those in the window: logit P(p ≤ α) = β₀ + β₁ · gain, by Newton's method from zero, so that the
    same pairs give the same bits.
    """
    if significant.all() or not significant.any():
        return None, "no curve: every pair is on the same side of α"
    if gain[significant].min() >= gain[~significant].max():
        return None, "no curve: the gain alone separates the pairs with p ≤ α from the others"
    scale = float(gain.std())
    if scale == 0:
        return None, "no curve: all gains are equal"
    centre = float(gain.mean())
    design = np.column_stack([np.ones_like(gain), (gain - centre) / scale])
    beta = np.zeros(2)
    for _ in range(_STEPS):
        fitted = expit(design @ beta)
        curvature = design.T @ (design * (fitted * (1 - fitted))[:, None])
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), design.T @ (significant - fitted))
        beta = beta + step
        if float(np.abs(step).max()) < _CONVERGED:
            break
    else:
        return None, f"no curve: the fit did not settle in {_STEPS} steps"
    if beta[1] <= 0:
        return None, "no curve: larger gains are not more often significant here"
    found = centre + scale * (float(logit(share)) - float(beta[0])) / float(beta[1])
    return (found, None) if found > 0 else (None, "no curve: the fit reaches the level below a gain of 0")
