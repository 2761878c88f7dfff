"""Why a pair has no ordinary p-value, and what must be said beside one. This module gives the words for the codes of a cube."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from pipeline.inference.direct.result import LABELS, REASONS
from pipeline.report.cube_facts import read_flags
from pipeline.report.values import format_p

__all__ = ["read_labels", "read_reasons", "say_missing", "say_p"]


def _by_flag(names: Mapping[str, str]) -> dict[str, str]:
    return {name.replace(",", "").replace(" ", "-"): words for name, words in names.items() if name}


_REASONS = {**_by_flag(REASONS), "no-defined-replicate": "no replicate gives both systems a score"}
_LABELS = _by_flag(LABELS)


def read_reasons(cube: xr.Dataset, **where: str) -> list[str | None]:
    """Say why each pair has no ordinary p-value; None where it has one, or the cube is silent."""
    return [_REASONS.get(flag or "") for flag in read_flags(cube, "p_reason", **where)]


def read_labels(cube: xr.Dataset, **where: str) -> list[str | None]:
    """Say what the p-value of each pair is worth where it is approximate; None where nothing must be said."""
    return [_LABELS.get(flag or "") for flag in read_flags(cube, "p_label", **where)]


def say_missing(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Say why rows have no p: each reason with its number of pairs, where there are several. None where all have one.

    Examples
    --------
    >>> say_missing([{"p": None, "p_reason": "there is one unit"}, {"p": 0.5, "p_reason": None}])
    'there is one unit'
    """
    lacking = Counter(row["p_reason"] or "nothing was written" for row in rows if row["p"] is None)
    if len(lacking) <= 1:
        return next(iter(lacking), None)
    return "; ".join(f"{why} ({count:,})" for why, count in lacking.most_common())


def say_p(row: Mapping[str, Any]) -> str:
    """Say the p that a pair is judged by; its own where it is in no family.

    Examples
    --------
    >>> say_p({"p": 0.0134, "p_adjusted": 0.0703, "log10_p": -1.87})
    'two-sided p = 0.0703'
    """
    decides, own = row["p_adjusted"], row["p"]
    if decides is None or decides == own:
        return f"two-sided p = {format_p(own, log10=row['log10_p'])}"
    return f"two-sided p = {format_p(decides)}"
