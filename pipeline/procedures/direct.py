"""p-values of procedures that draw nothing: what a procedure names as its `compute` is imported and called here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pipeline.inference.direct.result import DirectP
from pipeline.inference.direct.scores import MEMORY
from pipeline.plugins import import_function
from pipeline.procedures.registry import PROCEDURES, usable_procedures
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.measures import Measure, Observed

__all__ = ["direct_tests"]


def direct_tests(
    names: Collection[str], measure: Measure, observed: Observed, *, budget: Budget = QUICK, memory_bytes: int = MEMORY
) -> dict[str, DirectP]:
    """Compute procedures of all pairs of a measure; those that share a function are computed together.

    Parameters
    ----------
    names : collection of str
        Of procedures that draw nothing.
    measure : Measure
    observed : Observed
        From `pipeline.resampling.observe.observe`.
    budget : Budget, default QUICK
        Of one tail of an exact procedure.
    memory_bytes : int, optional
        Of a block of pairs × units; changes no result.

    Returns
    -------
    dict of str to DirectP
        In the order of ``names``.
    """
    unknown = sorted(name for name in names if name not in PROCEDURES or PROCEDURES[name].draws)
    if unknown:
        there = tuple(known.name for known in usable_procedures() if not known.draws)
        raise ValueError(f"there is no procedure {unknown} that computes: {there}")
    asked = [PROCEDURES[name] for name in names]
    together: dict[str, Any] = {}
    found: dict[str, DirectP] = {}
    for procedure in asked:
        compute, settings = procedure.compute, {"budget": budget, "memory_bytes": memory_bytes}
        if not procedure.part:
            made = import_function(compute)(measure, observed, **settings)
        else:
            if compute not in together:
                parts = [other.part for other in asked if other.compute == compute]
                together[compute] = import_function(compute)(measure, observed, parts=parts, **settings)
            made = together[compute][procedure.part]
        if not isinstance(made, DirectP) or made.p.shape[1] != len(measure.pairs):
            raise ValueError(f"{compute} returned no DirectP of {len(measure.pairs)} pairs for {procedure.name}")
        found[procedure.name] = made
    return found
