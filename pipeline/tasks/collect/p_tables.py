"""p-values for the table of a cube: counted on replicates, computed by a procedure, or exact instead of counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.declarations import METHODS, P_REASONS
from pipeline.errors import DataError
from pipeline.inference.decision import bound_computed, stable_alone, stable_level
from pipeline.inference.direct.result import REASONS as NO_LAW
from pipeline.inference.direct.result import DirectP
from pipeline.inference.p_values import CONVENTIONS, REASONS, PValues
from pipeline.procedures.direct import direct_tests
from pipeline.procedures.registry import PROCEDURES, exact_limit
from pipeline.tasks.collect.cube_slice import Part

__all__ = ["computed_table", "counted_table", "exact_p_values"]

_MONTE_CARLO, _TAIL, _DEFINITION = (METHODS.index(name) for name in ("monte-carlo", "tail", "definition"))

_COUNTED_REASONS = np.array([P_REASONS.index(name.replace(" ", "-") or "none") for name in REASONS], np.int8)
"""The codes of a cube for those of counted p-values."""

_NO_RATIO = tuple(list(NO_LAW).index(name) for name in ("not a ratio", "denominators differ", "negative denominators"))


def counted_table(found: PValues, alpha: float, pairs: int) -> dict[str, NDArray[Any]]:
    """Return the variables of counted p-values, for some of a number of pairs."""
    return {
        "p_value": found.p,
        "log10_p": found.log10_p,
        "p_error": found.p_error,
        "method": np.where(np.isnan(found.p), -1, np.where(found.by_definition, _DEFINITION, _MONTE_CARLO)).astype(np.int8),
        "p_label": np.where(np.isnan(found.p), -1, 0).astype(np.int8),
        "p_reason": _COUNTED_REASONS[found.reason],
        "stable": found.keep_side(alpha, stable_level(pairs)),
        "bias": found.bias,
        "replicate_se": found.spread,
    }


def computed_table(found: DirectP, alpha: float, pairs: int) -> dict[str, NDArray[Any]]:
    """Return the variables of p-values computed without replicates, for some of a number of pairs."""
    known = np.isfinite(found.p)
    error = np.where(known, (found.hi - found.lo) / 2, np.nan)
    return {
        "p_value": found.p,
        "log10_p": np.where(np.isfinite(found.log10_p), found.log10_p, np.nan),
        "p_error": error,
        "method": found.method,
        "p_label": np.where(known, found.label, -1).astype(np.int8),
        "p_reason": found.reason,
        "stable": stable_alone(bound_computed(found.p, error, random=found.method == _TAIL, decisions=pairs), alpha),
    }


def exact_p_values(part: Part, procedure: str) -> DirectP:
    """Compute the p-values that a procedure that draws would have with infinitely many replicates, by each of its conventions.

    The correction (s + 1)/(b + 1) then vanishes.

    Raises
    ------
    DataError
        P239, where some pairs have no such law.
    """
    limit = exact_limit(procedure)
    if limit is None:
        raise ValueError(f"{procedure} has no exact law")
    found = direct_tests([limit.name], part.measure, part.observed)[limit.name]
    lacking = np.flatnonzero(np.isin(found.reason, _NO_RATIO))
    if lacking.size:
        raise DataError.of(
            "P239",
            f"{lacking.size:,} of {len(found.reason):,} pairs have no exact p of {part.metric} at size {part.size.label}: "
            f"{found.reasons[lacking[0]]}",
            where="resampling.method",
            help="write `method: monte-carlo`, or `auto` if the metric does not declare a denominator that systems share",
        )
    source = [CONVENTIONS.index(name.removesuffix("-plus-one")) for name in CONVENTIONS]
    meant = np.isin(CONVENTIONS, list(PROCEDURES[procedure].conventions))[:, None]
    fields = {name: getattr(found, name)[source] for name in ("p", "log10_p", "lo", "hi", "relative_error")}
    return replace(
        found,
        **{name: np.where(meant, values, np.nan) for name, values in fields.items()},
        method=np.where(meant, found.method[source], -1).astype(np.int8),
        label=np.where(meant, found.label[source], 0).astype(np.int8),
    )
