"""Scores of single items in compact form, from which a page shows the items that drive the gain of any two systems."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.interfaces.wording import name_metric

__all__ = ["MOST_BYTES", "ItemScores", "encode_item_scores"]

MOST_BYTES = 1_000_000
"""Limit over all test sets and metrics of a page together."""
_FEW = 256
_SCALE = 32_767


@dataclass(frozen=True, eq=False)
class ItemScores:
    """The effect of the items of a test set on the scores of some systems by one metric.

    Parameters
    ----------
    test_set, metric : str
    kind : {"scores", "effects"}
        The scores of items, where a system's score is their mean; else the score less that without the item.
    systems : sequence of str
        The best first.
    left_out : int
        Systems for which the page has no room.
    items : sequence of str, optional
        Names; numbers from 1 where there are none.
    values : (system, item) float64
    higher_is_better : bool
    """

    test_set: str
    metric: str
    kind: Literal["scores", "effects"]
    systems: Sequence[str]
    left_out: int
    items: Sequence[str] | None
    values: NDArray[np.float64]
    higher_is_better: bool


def encode_item_scores(found: Sequence[ItemScores]) -> str:
    """Return the values of items as JSON for a script element: indices of few distinct values, or many on a 16-bit scale."""
    text = json.dumps([_encode(of) for of in found], ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _encode(of: ItemScores) -> dict[str, Any]:
    known = np.isfinite(of.values)
    levels = np.unique(of.values[known])
    if len(levels) < _FEW:  # the largest byte stands for unknown values
        codes = np.where(known, np.searchsorted(levels, np.where(known, of.values, 0.0)), _FEW - 1).astype(np.uint8)
        packed: dict[str, Any] = {"levels": levels.tolist()}
    else:
        step = float(np.abs(levels).max()) / _SCALE
        codes = np.where(known, np.rint(np.where(known, of.values, 0.0) / step), -_SCALE - 1).astype("<i2")
        packed = {"step": step}
    told = {
        "testSet": of.test_set,
        "metric": name_metric(of.metric),
        "kind": of.kind,
        "systems": [*of.systems],
        "leftOut": of.left_out,
    }
    told |= {"count": of.values.shape[1], "direction": 1 if of.higher_is_better else -1}
    named = {} if of.items is None else {"items": [*of.items]}
    return {**told, **named, **packed, "values": b64encode(codes.tobytes()).decode()}
