"""The scores of units in the order in which they came, and their bounds; or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.presentation import baseline_of
from pipeline.analyses.sequential.options import SequentialOptions
from pipeline.analyses.units import EARLIER, read_units_of_items
from pipeline.dataclass import dataclass
from pipeline.interfaces import ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import draw_order
from pipeline.resampling.measures import sum_by_unit

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["OrderedScores", "choose_curves", "list_pairs", "read_scores"]

_ZERO_ONE = (1.0, 100.0)
"""What an item scores that is right, where the others score 0."""


@dataclass(frozen=True, eq=False)
class OrderedScores:
    """Scores of units, whose means are those of their items.

    Parameters
    ----------
    systems : tuple of str
    values : (system, unit) float64
        In points of the metric; turned round where a lower score is better, so that a gain is a difference.
    reach : float
        The largest difference there can be, the span of the bounds.
    bounds : (float, float)
        Those of the score of an item, in points of the metric.
    declared : bool
        Whether the study says so; otherwise all items score 0 or one other number.
    items : int
    """

    systems: tuple[str, ...]
    values: NDArray[np.float64]
    reach: float
    bounds: tuple[float, float]
    declared: bool
    items: int

    def gains(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return how much better the first system of each pair is on every unit, (pair, unit)."""
        place = {name: position for position, name in enumerate(self.systems)}
        ends = np.array([(place[a], place[b]) for a, b in pairs], np.int64).reshape(-1, 2)
        # A difference of two numbers within the bounds may be a rounding error beyond their span.
        return np.clip(self.values[ends[:, 0]] - self.values[ends[:, 1]], -self.reach, self.reach)


def read_scores(
    scored: ScoredStatistics | None, cube: xr.Dataset, test_set: str, metric: str, options: SequentialOptions
) -> OrderedScores | str:
    """Read the scores of the units of a test set in order, or say why the metric has no sequence."""
    if scored is None:
        return "the statistics of its items are not at hand"
    data = scored.data
    statistics = np.asarray(data["statistics"].values, np.int64)
    if scored.form != "ratio":
        return "the score is no mean over items: what is bounded for one item says nothing of it"
    if statistics[..., 1].min() != statistics[..., 1].max() or statistics[0, 0, 1] <= 0:
        return "the score is a ratio of sums, not a mean over items: items have different denominators"
    unit_of_item = read_units_of_items(data, str(cube.attrs.get("unit", "item")))
    if unit_of_item is None:
        return EARLIER.format(what="units")
    of_items = scored.score(np.moveaxis(statistics, 2, 0).astype(np.float64))
    bounds = _find_bounds(of_items, metric, options)
    if isinstance(bounds, str):
        return bounds
    summed = sum_by_unit(np.moveaxis(statistics, 1, 0), unit_of_item)
    values = scored.score(np.moveaxis(summed, 2, 0).astype(np.float64)).T
    if options.order == "permuted":
        seed = int(cube.attrs.get("seed", 0))
        key = draw_key(seed=seed, purpose="sequential", test_set=test_set, size=FULL, rule="order")
        values = values[:, draw_order(key, len(summed))]
    return OrderedScores(
        systems=tuple(str(name) for name in data["system"].values.tolist()),
        values=values if scored.higher_is_better else -values,
        reach=bounds[1] - bounds[0],
        bounds=bounds,
        declared=options.bounds_of(metric) is not None,
        items=statistics.shape[1],
    )


def _find_bounds(of_items: NDArray[np.float64], metric: str, options: SequentialOptions) -> tuple[float, float] | str:
    least, most = float(of_items.min()), float(of_items.max())
    said = options.bounds_of(metric)
    if said is not None:
        low, high = map(float, said)
        if low <= least and most <= high:
            return low, high
        return f"items score from {least:g} to {most:g}, which is not within the bounds {low:g} and {high:g} that the study gives"
    right = next((one for one in _ZERO_ONE if most == one and ((of_items == 0) | (of_items == one)).all()), None)
    if right is not None:
        return 0.0, right
    return (
        f"items score from {least:g} to {most:g}, and not just 0 or 1: say which bounds no score can leave, as "
        f"`sequential: {{bounds: {{{metric}: [low, high]}}}}`"
    )


def list_pairs(cube: xr.Dataset, scores: OrderedScores) -> list[tuple[str, str]]:
    """Return the pairs of the family, the one with the better mean first; pairs without a difference keep their order."""
    mean = dict(zip(scores.systems, scores.values.mean(axis=1).tolist(), strict=True))
    baseline = baseline_of(cube)
    named = [(str(a), str(b)) for a, b in zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)]
    there = [(a, b) for a, b in named if a in mean and b in mean and (baseline is None or baseline in (a, b))]
    return [(b, a) if mean[b] > mean[a] else (a, b) for a, b in there]


def choose_curves(scores: OrderedScores, pairs: Sequence[tuple[str, str]], most: int) -> Iterator[tuple[str, str]]:
    """Return the pairs to draw: neighbours in rank from the top, or the pairs with the baseline in their order."""
    mean = scores.values.mean(axis=1)
    ranked = [scores.systems[place] for place in sorted(range(len(mean)), key=lambda place: (-mean[place], scores.systems[place]))]
    neighbours = {frozenset(two) for two in pairwise(ranked)}
    place = {name: rank for rank, name in enumerate(ranked)}
    ordered = sorted(pairs, key=lambda pair: (frozenset(pair) not in neighbours, place[pair[0]] + place[pair[1]]))
    return iter(ordered[:most])
