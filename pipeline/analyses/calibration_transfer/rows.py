"""Rows of the calibration across test sets: kept signs and gains by p, and the p up to which enough signs are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.calibration_transfer.options import CalibrationOptions
from pipeline.analyses.pair_classes import find_base
from pipeline.analyses.pairs import FEW_PAIRS, PairTable, list_slices, read_pairs
from pipeline.analyses.system_bootstrap import SystemBootstrap, share_of_weight, system_interval
from pipeline.dataclass import dataclass
from pipeline.interfaces.analyses import FULL

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Carried", "carry", "list_bins", "list_levels", "nothing"]

_EMPTY = ("p_low", "p_high", "share", "interval", "retained", "retained_interval")
_UNKNOWN = ("interval_note", "warning", "unmatched_pairs", "shared_items")


def nothing(base: str | None, against: str | None, reason: str, **where: Any) -> dict[str, Any]:
    """Return a row that says why there is no share."""
    place = {"test_set": base, "against": against, "metric": None, "procedure": None, **where}
    counts = dict.fromkeys(("pairs", "same_sign", "ties", "systems"), 0)
    return {**place, "kind": "none", **dict.fromkeys(_EMPTY), **counts, "reason": reason, **dict.fromkeys(_UNKNOWN)}


@dataclass(frozen=True, eq=False)
class Carried:
    """The pairs of a base test set that have an order there, and their gains on another test set.

    Parameters
    ----------
    where : mapping
        ``test_set`` (the base), ``against`` (the other), ``metric``, ``procedure``.
    table : PairTable
        All pairs on the base.
    ordered : (pair,) bool
        Pairs with a gain on the base: one without has no order to keep.
    delta : (pair,) float64
        On the other test set, of the better over the worse on the base; nan where a system is absent there.
    systems : SystemBootstrap
    """

    where: Mapping[str, Any]
    table: PairTable
    ordered: NDArray[np.bool_]
    delta: NDArray[np.float64]
    systems: SystemBootstrap


def carry(base: str, other: str, cubes: Mapping[str, xr.Dataset]) -> Iterator[Carried | dict[str, Any]]:
    """Go through the metrics and procedures of a base: its pairs with their gains elsewhere, or the row that says why not."""
    cube = cubes[base]
    there = {str(metric) for metric in cubes[other]["metric"].values.tolist()}
    for metric, procedure in list_slices(cube):
        where = {"test_set": base, "against": other, "metric": metric, "procedure": procedure}
        if metric not in there:
            reason = f"the test set {other!r} has no metric {metric!r}"
            yield nothing(base, other, reason, metric=metric, procedure=procedure)
            continue
        table = read_pairs(cube, metric=metric, test_size=FULL, procedure=procedure)
        found = _deltas(cubes[other], metric)
        delta = np.array([found.get(pair, np.nan) for pair in zip(table.better, table.worse, strict=True)])
        systems = SystemBootstrap(table.systems, find_base(cube), int(cube.attrs.get("seed", 0)), base, FULL)
        yield Carried(where, table, table.usable & (table.gain > 0), delta, systems)


def _deltas(cube: xr.Dataset, metric: str) -> dict[tuple[str, str], float]:
    """Return the observed difference of every pair in both orders, at full size."""
    values = cube["observed_delta"].sel(metric=metric, test_size=FULL).values.tolist()
    found: dict[tuple[str, str], float] = {}
    for a, b, value in zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), values, strict=True):
        found[str(a), str(b)] = value
        found[str(b), str(a)] = -value
    return found


def list_bins(carried: Carried, options: CalibrationOptions) -> Iterator[dict[str, Any]]:
    """Go through the rows of a test set, metric and procedure: each bin of p, and the window."""
    p, ordered = carried.table.p, carried.ordered
    edges = (0.0, *options.bins, *((1.0,) if options.bins[-1] < 1 else ()))
    for number, (low, high) in enumerate(pairwise(edges)):
        inside = ordered & (p <= high) & ((p > low) | (number == 0))
        yield {**carried.where, "kind": "bin", "p_low": low, "p_high": high, **_kept(carried, inside, options)}
    low, high = options.window
    inside = ordered & (p >= low) & (p <= high)
    yield {**carried.where, "kind": "window", "p_low": low, "p_high": high, **_kept(carried, inside, options)}


def _kept(carried: Carried, inside: NDArray[np.bool_], options: CalibrationOptions) -> dict[str, Any]:
    """Return what the other test set keeps of some pairs: signs, of the pairs that have one there, and of all their gains."""
    table, delta, systems = carried.table, carried.delta, carried.systems
    matched = inside & np.isfinite(delta)
    signed = matched & (delta != 0)
    hits = delta[signed] > 0
    pairs = len(hits)
    interval, note = system_interval(
        systems,
        table.first[signed],
        table.second[signed],
        lambda weights: share_of_weight(hits, weights),
        replicates=options.interval_replicates,
    )
    gain, kept = table.gain[matched], delta[matched]
    retained_interval, _ = system_interval(
        systems,
        table.first[matched],
        table.second[matched],
        lambda weights: _ratio(weights @ kept, weights @ gain),
        replicates=options.interval_replicates,
    )
    return {
        "pairs": int(matched.sum()),
        "same_sign": int(hits.sum()),
        "ties": int(matched.sum()) - pairs,
        "share": float(hits.mean()) if pairs else None,
        "interval": interval,
        "retained": float(kept.sum() / gain.sum()) if len(gain) else None,
        "retained_interval": retained_interval,
        "systems": len({*table.first[signed].tolist(), *table.second[signed].tolist()}),
        "reason": None if pairs else "no pair with a sign in this bin",
        "interval_note": (note or systems.note) if pairs else None,
        "warning": f"only {pairs} pairs" if 0 < pairs < FEW_PAIRS else None,
        "unmatched_pairs": int(inside.sum()) - int(matched.sum()),
    }


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)


def list_levels(carried: Carried, options: CalibrationOptions) -> Iterator[dict[str, Any]]:
    """Go through the shares of kept signs that are asked for: up to which p pairs reach them, or why none does.

    Only the edges of the bins are looked at, from the smallest on: the last p at which a share happens to be reached would be too
    large, and the more so the more places are tried.
    """
    edges = [row for row in _list_edges(carried, options) if row["pairs"]]
    for level in options.levels:
        reached = list(takewhile(partial(_reaches, level), edges))
        # Where every pair keeps its sign in every draw there is no interval, and nothing is claimed of that edge alone.
        certain = list(takewhile(partial(_surely_reaches, level), [row for row in edges if row["interval"] is not None]))
        last = reached[-1] if reached else None
        yield {
            **carried.where,
            "level": level,
            "largest_p": last and last["p"],
            "certain_p": certain[-1]["p"] if certain else None,
            "pairs": last["pairs"] if last else 0,
            "share": last and last["share"],
            "interval": last and last["interval"],
            "reason": None if last else _why_none(edges),
            "warning": f"only {last['pairs']} pairs" if last and last["pairs"] < FEW_PAIRS else None,
            "interval_note": last and (last["note"] or carried.systems.note),
        }


def _list_edges(carried: Carried, options: CalibrationOptions) -> Iterator[dict[str, Any]]:
    """Go through the edges of the bins: of the pairs with a sign and no larger p, the share that keeps it."""
    table, delta = carried.table, carried.delta
    signed = carried.ordered & np.isfinite(delta) & (delta != 0)
    for edge in (*options.bins, *((1.0,) if options.bins[-1] < 1 else ())):
        inside = signed & (table.p <= edge)
        hits = delta[inside] > 0
        interval, note = system_interval(
            carried.systems,
            table.first[inside],
            table.second[inside],
            partial(share_of_weight, hits),
            replicates=options.interval_replicates,
        )
        share = float(hits.mean()) if len(hits) else None
        yield {"p": edge, "pairs": len(hits), "share": share, "interval": interval, "note": note}


def _reaches(level: float, row: Mapping[str, Any]) -> bool:
    return bool(row["share"] >= level)


def _surely_reaches(level: float, row: Mapping[str, Any]) -> bool:
    return bool(row["interval"]["lo"] >= level)


def _why_none(edges: Sequence[Mapping[str, Any]]) -> str:
    if not edges:
        return "no pair with a sign"
    return f"not even pairs with p up to {edges[0]['p']:g} reach it: {100 * edges[0]['share']:.0f} % of {edges[0]['pairs']:,}"
