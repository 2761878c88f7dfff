"""Computed tails beside counted p-values. This module reads them off a cube and writes them in a cell; no verdict uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from pipeline.report.cube_facts import read_flags, read_variable
from pipeline.report.values import format_p, plain

__all__ = ["BEYOND_THE_BUDGET", "CONVENTIONS", "MISSING", "format_tail", "read_tail_reasons", "read_tails"]

CONVENTIONS = {"one_sided": "one-sided", "two_sided": "two-sided"}
"""Those that stand in a row, by the name that they have there."""

BEYOND_THE_BUDGET = "beyond the budget of tails: pairs with fewer standard errors between them came first"

MISSING = {
    "beyond-the-budget": BEYOND_THE_BUDGET,
    "no-exact-law": "no exact law; `tails: tilted` estimates it",
    "out-of-reach": "no tilted resample reaches the threshold",
    "within-strata": "units are drawn within strata",
    "not-asked": "not asked for",
}
"""Where fewer than ten replicates count against a gain and no tail is computed; elsewhere nothing is missing."""

_HOW = {"exact": "exact", "tail": "tilted"}


def read_tails(cube: xr.Dataset, **where: str) -> list[dict[str, dict[str, Any] | None] | None]:
    """Return the tails of each pair by convention: p, its logarithm, error, method and label; None where there is none."""
    found: list[dict[str, dict[str, Any] | None] | None] = [None] * cube.sizes["pair"]
    for key, convention in CONVENTIONS.items():
        at = {**where, "convention": convention}
        p = read_variable(cube, "tail_p", **at)
        if p is None:
            return found
        pairs = np.flatnonzero(np.isfinite(p)).tolist()
        if not pairs:
            continue
        logs, errors = read_variable(cube, "tail_log10_p", **at), read_variable(cube, "tail_p_error", **at)
        methods, labels = read_flags(cube, "tail_method", **at), read_flags(cube, "tail_label", **at)
        numbers = {"p": plain(p), "log10_p": plain(logs), "error": plain(errors)}
        for pair in pairs:
            method = _HOW.get(methods[pair] or "", methods[pair])
            deep = labels[pair] == "model-tail"
            values = {name: column[pair] for name, column in numbers.items()}
            tails = found[pair] or dict.fromkeys(CONVENTIONS)
            found[pair] = tails | {key: {**values, "method": method, "label": "model tail" if deep else method}}
    return found


def read_tail_reasons(cube: xr.Dataset, **where: str) -> list[str | None]:
    """Say why a pair has no tail; None where it has one, or needs none."""
    return [MISSING.get(flag or "") for flag in read_flags(cube, "tail_reason", **where)]


def format_tail(tail: Mapping[str, Any] | None) -> str:
    """Return a tail with its error, where it was estimated, and its label.

    Examples
    --------
    >>> tail = {"p": 2.31e-5, "log10_p": -4.636, "error": 2e-6, "method": "tilted", "label": "tilted"}
    >>> format_tail(tail), format_tail(None)
    ('2.3e-05 ± 2.0e-06 tilted', '')
    """
    if tail is None:
        return ""
    error = f" ± {format_p(tail['error'])}" if tail["method"] == "tilted" and tail["error"] else ""
    return f"{format_p(tail['p'], log10=tail['log10_p'])}{error} {tail['label']}"
