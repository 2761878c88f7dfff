"""Which gain is usually significant? This module answers as Berg-Kirkpatrick and others (2012) do.

Each pair is ordered so that its gain is not negative and has the one-sided strict p-value of their Figure 1. Of the pairs with
p in [.04, .06] the 95th percentile of the gains is the threshold: 95 % of the borderline differences were at most as large.
Two-sided thresholds would be 1.96/1.645, 19 % higher. A threshold describes this test set and systems like these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.analyses.options import read_options
from pipeline.analyses.pairs import (
    PairTable,
    describe_copies,
    describe_one_sided,
    find_base,
    find_relation,
    list_slices,
    read_pairs,
    read_units,
)
from pipeline.analyses.system_bootstrap import REPLICATES, Vertices, vertex_interval, weighted_percentile
from pipeline.analyses.window import Window, fit_logistic, gaussian_gain, percentile_of
from pipeline.interfaces import Finding

__all__ = ["FEW_PAIRS", "ThresholdOptions", "Thresholds"]

FEW_PAIRS = 20
NOTES = (
    "A threshold is the {percentile:g}th percentile (type 7) of the gains of the pairs with a one-sided p in [{low:g}, {high:g}]; "
    "two-sided thresholds are about 19 % higher.",
    "It describes this test set and systems like these; it is no substitute for the test (Berg-Kirkpatrick et al. 2012).",
    "Intervals resample systems, not pairs, at an address made from the study's seed: they come out the same every time.",
    "The logistic gain is where a logistic curve of (p ≤ α) on the gain, over all pairs, reaches 1 − α.",
)


@dataclass(frozen=True)
class ThresholdOptions:
    """Options: ``relation`` names the coordinate that splits pairs, ``combinations`` adds a class for each two of its values."""

    window: tuple[float, float] = (0.04, 0.06)
    percentile: float = 95.0
    relation: str | None = None
    combinations: bool = False
    alpha: float | None = None
    interval_replicates: int = REPLICATES

    def __post_init__(self) -> None:
        if len(self.window) != 2:
            raise ValueError(f"window takes two numbers, got {len(self.window)}")
        self.spec.holds(np.zeros(1))
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"alpha {self.alpha} must be between 0 and 1")
        if not 100 <= self.interval_replicates <= 100_000:
            raise ValueError(f"interval_replicates {self.interval_replicates} must be between 100 and 100000")

    @property
    def spec(self) -> Window:
        """The window and the percentile."""
        return Window(*self.window, percentile=self.percentile)


class Thresholds:
    """The gain above which a difference is usually significant, by test size and relation of the systems."""

    name: ClassVar[str] = "thresholds"

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(ThresholdOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Give a row for each test set, metric, procedure, test size and class of pairs."""
        chosen = read_options(ThresholdOptions, options, analysis=self.name)
        rows = [row for name, cube in cubes.items() for row in _rows(name, cube, chosen)]
        spec = chosen.spec
        notes = [note.format(percentile=spec.percentile, low=spec.low, high=spec.high) for note in NOTES]
        notes += describe_one_sided(cubes)
        if any(find_relation(cube, chosen.relation) is None for cube in cubes.values()):
            wanted = chosen.relation or "model or group"
            notes.append(f"Pairs are not split everywhere: no coordinate {wanted} says which systems belong together.")
        notes += [note for note in [describe_copies(cubes)] if note]
        return Finding(self.name, tuple(rows), tuple(notes), {"window": [spec.low, spec.high], "percentile": spec.percentile})


def _rows(name: str, cube: xr.Dataset, options: ThresholdOptions) -> Iterator[dict[str, Any]]:
    relation = find_relation(cube, options.relation)
    base = find_base(cube)
    alpha = float(options.alpha if options.alpha is not None else cube.attrs.get("alpha", 0.05))
    for metric, procedure in list_slices(cube):
        for size, units in read_units(cube).items():
            table = read_pairs(cube, metric=metric, test_size=size, procedure=procedure)
            classes: dict[str, NDArray[np.bool_]] = {"all": np.ones(len(table.gain), dtype=np.bool_)}
            if relation is not None:
                classes |= relation.classes(table, combinations=options.combinations)
            vertices = Vertices(table.systems, base, int(cube.attrs.get("seed", 0)), name, size)
            for label, members in classes.items():
                yield {
                    "test_set": name,
                    "metric": metric,
                    "test_size": size,
                    "units": units,
                    "procedure": procedure,
                    "relation": label,
                    "relation_by": relation.name if relation is not None else None,
                    **_row(table, members, vertices, options, alpha),
                }


def _row(
    table: PairTable, members: NDArray[np.bool_], vertices: Vertices, options: ThresholdOptions, alpha: float
) -> dict[str, Any]:
    spec = options.spec
    usable = members & table.usable
    inside = usable & spec.holds(table.p)
    gains = table.gain[inside]
    gain = percentile_of(gains, spec.percentile)
    interval, interval_reason = vertex_interval(
        vertices,
        table.first[inside],
        table.second[inside],
        lambda weights: weighted_percentile(gains, weights, spec.percentile),
        replicates=options.interval_replicates,
    )
    curve, curve_reason = fit_logistic(table.gain[usable], table.p[usable] <= alpha, share=1 - alpha)
    few = f"only {len(gains)} pairs in the window: fewer than {FEW_PAIRS} say little" if 0 < len(gains) < FEW_PAIRS else None
    return {
        "gain": gain,
        "reason": None if gain is not None else f"no pair has a p-value in [{spec.low:g}, {spec.high:g}]",
        "interval": interval,
        "interval_note": interval_reason or vertices.note,
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
        "logistic_gain": curve,
        "logistic_reason": curve_reason,
        "alpha": alpha,
        "window": [spec.low, spec.high],
        "percentile": spec.percentile,
    }
