"""How often is a gain of this size significant? The share of pairs with p ≤ α against the gain, as curves.

Each class of pairs has two curves. *As found*: the increasing function of the gain that is nearest, by least squares, to whether
p ≤ α for each pair, from pooling adjacent violators. *By standard errors*: p is nearly 1 − Φ(gain/se), so a gain
is significant for the pairs whose z_α se it reaches, and the curve is the distribution function of z_α se over all pairs; it
reaches 95 % at the threshold by standard errors, if the middle of the window is α.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pair_classes import PairClass, Relation, name_class
from pipeline.analyses.pairs import FEW_PAIRS, PairTable
from pipeline.analyses.presentation import in_parts, name_procedure, select, title_of
from pipeline.interfaces import Column, Figure, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import PALETTE, SHAPES
from pipeline.interfaces.wording import name_metric, shorten
from pipeline.numerics.solvers import fit_increasing
from pipeline.numerics.special import ndtri

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["curve_rows", "draw_curves", "rise", "show_curves"]

FOUND, BY_ERRORS = "as found", "by standard errors"
_SHARES = (0.0, 0.01, 0.025, *(k / 20 for k in range(1, 20)), 0.975, 0.99, 1.0)
_PLACE = ("test_set", "metric", "procedure")
_LONGEST = 40
_USUAL = (0.5, 0.95)
_COLUMNS = (
    Column("pairs_of", "pairs of"),
    Column("pairs", "pairs", "count"),
    Column("significant", "significant", "count"),
    Column("found_50", "half significant from, as found", "score"),
    Column("expected_50", "half, by standard errors", "score"),
    Column("found_95", "95 % significant from, as found", "score"),
    Column("expected_95", "95 %, by standard errors", "score"),
)


def curve_rows(
    table: PairTable, relation: Relation | None, classes: Sequence[PairClass], *, alpha: float
) -> Iterator[dict[str, Any]]:
    """Yield the points of both curves of each class that has enough pairs, significant ones and others."""
    for kind in classes:
        members = relation.mask(table, kind) if relation is not None else np.ones(len(table.gain), dtype=np.bool_)
        usable = members & table.usable & table.measured
        significant = table.p[usable] <= alpha
        if int(usable.sum()) < FEW_PAIRS or significant.all() or not significant.any():
            continue
        by = relation.name if relation is not None else None
        counts = {"pairs": int(usable.sum()), "significant": int(significant.sum())}
        where = {"relation": kind.label, "relation_by": by, "alpha": alpha, **counts}
        for gain, share in zip(*rise(table.gain[usable], significant), strict=True):
            yield where | {"curve": FOUND, "gain": float(gain), "share": float(share)}
        borderline = -float(ndtri(alpha)) * table.se[usable]
        for share, gain in zip(_SHARES, np.quantile(borderline, _SHARES).tolist(), strict=True):
            yield where | {"curve": BY_ERRORS, "gain": gain, "share": share}


def rise(gain: NDArray[np.float64], significant: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of the increasing curve of how often a gain is significant: both ends of each level stretch.

    Parameters
    ----------
    gain : (pair,) float64
    significant : (pair,) bool

    Returns
    -------
    gain, share : (corner,) float64

    Examples
    --------
    >>> gain, share = rise(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True]))
    >>> gain.tolist(), share.tolist()
    ([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 0.5, 1.0])
    """
    # Pairs of one gain stand at one place of the curve: they are pooled first.
    at, place, count = np.unique(gain, return_inverse=True, return_counts=True)
    found = np.bincount(place, weights=significant) / count
    fitted, blocks = fit_increasing(found, count)
    corners = np.unique(np.concatenate([blocks[:-1], blocks[1:] - 1]))
    return at[corners], fitted[corners]


def show_curves(rows: Sequence[Mapping[str, Any]], section: str) -> Iterator[Table]:
    """Yield the tables of the gains at which half and 95 % of each class are significant, by both curves."""
    for place in dict.fromkeys(tuple(row[key] for key in _PLACE) for row in rows):
        where = dict(zip(_PLACE, place, strict=True))
        own = select(rows, **where)
        caption = (
            f"The gain from which half, and 95 %, of the pairs have a one-sided p ≤ {own[0]['alpha']:g}: by the increasing curve "
            "nearest to what was found, and by the distribution of the pairs' standard errors alone. Whatever is true, the curve "
            "as found mostly starts at 0 and ends at 100 %: there it follows single pairs."
        )
        shown = tuple(_reach(select(own, relation=name)) for name in dict.fromkeys(row["relation"] for row in own))
        title = f"How often a gain is significant · {title_of(where)}"
        yield Table(title, where, _COLUMNS, caption, section, shown)


def _reach(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first gain of each curve of a class that reaches a share, None if there is none."""
    reached = {
        f"{name}_{100 * share:.0f}": next((row["gain"] for row in select(rows, curve=curve) if row["share"] >= share), None)
        for name, curve in (("found", FOUND), ("expected", BY_ERRORS))
        for share in _USUAL
    }
    return {key: rows[0][key] for key in ("relation", "pairs", "significant")} | {"pairs_of": name_class(rows[0])} | reached


def draw_curves(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]], section: str) -> Iterator[Figure]:
    """Yield the figures, one for each test set, metric and procedure, or several if there are more classes than colours."""
    for place in dict.fromkeys(tuple(row[key] for key in _PLACE) for row in rows):
        where = dict(zip(_PLACE, place, strict=True))
        own = select(rows, **where)
        classes = list(dict.fromkeys(row["relation"] for row in own))
        if len(classes) > 1:
            classes.remove("all")  # the classes together
        alpha, procedure = own[0]["alpha"], name_procedure(cubes, where["procedure"])
        title = f"How often a gain is significant on {where['test_set']}, {name_metric(where['metric'])}"
        caption = (
            f"Share of the pairs with a one-sided p ≤ {alpha:g} at each gain. Solid, with marks: the increasing curve nearest to "
            "what was found, which slopes where there are no pairs. Dashed: by the standard errors of the pairs alone, as if gains "
            "were Gaussian."
        )
        for part, some in in_parts(title + procedure, classes):
            alt = "Share of significant pairs against the gain. " + " ".join(_tell(select(own, relation=name)) for name in some)
            draw = partial(_draw, [select(own, relation=name) for name in some], where["metric"])
            yield Figure("significant", part, alt, caption, draw, "threshold_curves", section, plain=True)


def _tell(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say where the curve as found passes a half."""
    found = select(rows, curve=FOUND)
    gain = next((row["gain"] for row in found if row["share"] >= 0.5), found[-1]["gain"])
    return f"{name_class(rows[0])}, {rows[0]['pairs']:,} pairs: half or more from {gain:.3g} on."


def _draw(classes: Sequence[Sequence[Mapping[str, Any]]], metric: str, chart: Chart) -> None:
    right = 0.0
    for rows, colour, marker in zip(classes, PALETTE, SHAPES, strict=False):
        found, expected = select(rows, curve=FOUND), select(rows, curve=BY_ERRORS)
        gains, shares = [row["gain"] for row in found], [100 * row["share"] for row in found]
        label = f"{shorten(name_class(rows[0]), _LONGEST)} ({rows[0]['pairs']:,})"
        chart.line(gains, shares, colour=colour, width=1.6)
        chart.points(gains, shares, marker, colour=colour, size=4.5, label=label)
        chart.line([r["gain"] for r in expected], [100 * r["share"] for r in expected], colour=colour, width=1.3, dashes="5 3")
        # Beyond the first gain that always is significant there is nothing to see.
        sure = [gain for gain, share in zip(gains, shares, strict=True) if share >= 100] or gains[-1:]
        right = max(right, sure[0], expected[-1]["gain"])
    chart.x.label, chart.x.low, chart.x.high = f"gain in {name_metric(metric)}", 0, 1.1 * right
    chart.y.label, chart.y.low, chart.y.high = "significant, % of pairs", -2, 102
    chart.legend = "above"
