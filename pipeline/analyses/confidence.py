"""Confidence against gain with a colour a group: the scatter of Berg-Kirkpatrick and others (2012), figures 9 to 11."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.pairs import BORDERLINE
from pipeline.interfaces.figures import GRID, PALETTE, tidy_axes
from pipeline.interfaces.wording import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_confidence"]

_MARKERS = "o^sDvP"
_LONGEST = 28
_MANY = 2000
"""Points beyond which a scatter becomes a picture, whose size no longer grows."""


def draw_confidence(groups: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], metric: str, axes: Axes) -> None:
    """Draw 1 − p against the gain, a point a pair.

    Parameters
    ----------
    groups : sequence of (str, sequence of mapping)
        Of each group the name and its pairs, with ``gain`` and ``p``; as many groups as there are colours.
    metric : str
    axes : Axes
    """
    many = sum(len(pairs) for _, pairs in groups) > _MANY
    # Gains far beyond the point where all pairs are confident would press the others together.
    doubtful = [pair["gain"] for _, pairs in groups for pair in pairs if pair["p"] >= 0.001]
    largest = max((pair["gain"] for _, pairs in groups for pair in pairs), default=1.0)
    right = min(largest, 1.6 * max(doubtful)) if doubtful else largest
    axes.axhspan(100 * (1 - BORDERLINE[1]), 100 * (1 - BORDERLINE[0]), color=GRID, alpha=0.25, linewidth=0)
    for (name, pairs), colour, marker in zip(groups, PALETTE, _MARKERS, strict=False):
        shown = np.array([(pair["gain"], 100 * (1 - pair["p"])) for pair in pairs if pair["gain"] <= right]).reshape(-1, 2)
        axes.plot(
            *shown.T, marker, color=colour, markersize=3.5, alpha=0.55, linestyle="none", markeredgewidth=0,
            label=shorten(name, _LONGEST), rasterized=many,
        )  # fmt: skip
    axes.set_xlim(0, 1.02 * right)
    axes.set_ylim(48, 101)
    tidy_axes(axes, x=f"gain in {metric}", y="confidence, 100 (1 − p)")
    axes.legend(loc="lower right")
