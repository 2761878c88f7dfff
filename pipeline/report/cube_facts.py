"""What a cube says of its pairs beside p-values and gains, None where it is silent.

Attributes and optional variables, counts of replicates, the words for its codes, computed tails, and pairs that gain the same on
every unit: resampling such units always gives the gain that was observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.result import LABELS
from pipeline.inference.direct.result import REASONS as NO_P
from pipeline.inference.families import lacks_spread
from pipeline.inference.undecided import UNDECIDED
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.rows import PairTails, Tail
from pipeline.report.values import plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "BEYOND_THE_BUDGET",
    "FULL",
    "MISSING_TAILS",
    "NOT_TESTABLE",
    "NO_SPREAD",
    "better_first",
    "count_of",
    "effective_units_of",
    "metric_fact",
    "read_exact",
    "read_flags",
    "read_floats",
    "read_labels",
    "read_reasons",
    "read_tail_reasons",
    "read_tails",
    "read_undecided",
    "read_unit_effect",
    "read_variable",
    "summed",
    "whole_numbers",
    "without_spread",
]

FULL = "full"

NO_SPREAD = NO_P["no spread"]
"""Why a pair that gains the same on every unit has no p of resampling, in words."""

NOT_TESTABLE: Final = "not testable"
"""The verdict of such a pair by a procedure that rests on the spread of units."""

BEYOND_THE_BUDGET = "beyond the budget of tails: pairs with fewer standard errors between them came first"

MISSING_TAILS = {
    "beyond-the-budget": BEYOND_THE_BUDGET,
    "no-exact-law": "no exact law; `tails: tilted` estimates it",
    "out-of-reach": "no tilted resample reaches the threshold",
    "within-strata": "units are drawn within strata",
    "not-asked": "not asked for",
}
"""Where fewer than ten replicates count against a gain and no tail is computed; elsewhere nothing is missing."""


def read_variable(cube: xr.Dataset, name: str, **where: str) -> NDArray[Any] | None:
    """Return a variable at some labels, or None where the cube does not hold it."""
    if name not in cube.variables:
        return None
    variable = cube[name]
    return np.asarray(variable.sel({dim: label for dim, label in where.items() if dim in variable.dims}).values)


def read_floats(cube: xr.Dataset, name: str, **where: str) -> NDArray[np.float64]:
    """Return numbers of all pairs; nan where the cube does not hold them."""
    values = read_variable(cube, name, **where)
    return np.full(cube.sizes["pair"], np.nan) if values is None else np.asarray(values, dtype=np.float64)


def whole_numbers(values: NDArray[Any] | None, pairs: int) -> list[int | None]:
    """Return counts as integers; below 0 means that nothing was written."""
    return [None] * pairs if values is None else [int(value) if value >= 0 else None for value in values.tolist()]


def summed(cube: xr.Dataset, name: str, **where: str) -> NDArray[Any] | None:
    """Return a variable summed over its cells, in their order."""
    values = read_variable(cube, name, **where)
    if values is None or "cell" not in cube[name].dims:
        return values
    kept = [dim for dim in cube[name].dims if dim not in where]
    kind = np.int64 if np.issubdtype(values.dtype, np.integer) else np.float64
    return np.asarray(values.astype(kind).sum(axis=kept.index("cell")))


def count_of(cube: xr.Dataset, name: str, **where: str) -> NDArray[np.int64] | None:
    """Return a count of replicates by pair, below 0 where it was not written; None where no pair has it."""
    values = summed(cube, f"count_{name}", **where)
    if values is None or not (values >= 0).any():
        return None
    return values.astype(np.int64)


def metric_fact(cube: xr.Dataset, name: str, metric: str) -> Any:
    """Return what an attribute, a mapping by metric, says of one metric."""
    return dict(cube.attrs.get(name, {})).get(metric)


def effective_units_of(cube: xr.Dataset, test_size: str) -> float | None:
    """Return the effective units of a test size; None where the cube does not know them."""
    by_size = dict(cube.attrs.get("effective_units_by_size") or {})
    found = by_size.get(test_size, cube.attrs.get("effective_units") if test_size == FULL else None)
    return None if found is None else float(found)


def read_flags(cube: xr.Dataset, name: str, **where: str) -> list[str | None]:
    """Return the words of a variable of codes by pair; None where nothing was written, or the cube does not hold it."""
    values = read_variable(cube, name, **where)
    if values is None:
        return [None] * cube.sizes["pair"]
    attributes = cube[name].attrs
    words = dict(zip(map(int, attributes["flag_values"]), str(attributes["flag_meanings"]).split(), strict=True))
    return [words.get(int(code)) for code in values.tolist()]


def _by_flag(names: Mapping[str, str]) -> dict[str, str]:
    return {name.replace(",", "").replace(" ", "-"): words for name, words in names.items() if name}


_REASONS = {**_by_flag(NO_P), "no-defined-replicate": "no replicate gives both systems a score"}
_LABELS = _by_flag(LABELS)


def read_reasons(cube: xr.Dataset, **where: str) -> list[str | None]:
    """Say why each pair has no ordinary p-value; None where it has one, or the cube is silent."""
    return [_REASONS.get(flag or "") for flag in read_flags(cube, "p_reason", **where)]


def read_labels(cube: xr.Dataset, **where: str) -> list[str | None]:
    """Say what the p-value of each pair is worth where it is approximate; None where nothing must be said."""
    return [_LABELS.get(flag or "") for flag in read_flags(cube, "p_label", **where)]


_UNDECIDED = _by_flag({reason: reason for reason in UNDECIDED})


def read_undecided(cube: xr.Dataset, **where: str) -> list[str | None]:
    """Say why a small p of each pair is no verdict; None where it is one, or the cube is silent."""
    return [_UNDECIDED.get(flag or "") for flag in read_flags(cube, "undecided", **where)]


def read_unit_effect(cube: xr.Dataset, name: str, *, metric: str) -> list[float | None]:
    """Return ``intra_cluster_correlation`` or ``design_effect`` of all pairs at the full size; None where a cube has none."""
    values = read_variable(cube, name, metric=metric, test_size=FULL)
    found: list[float | None] = [None] * cube.sizes["pair"] if values is None else plain(np.asarray(values, np.float64))
    return found


def read_tails(cube: xr.Dataset, **where: str) -> list[PairTails | None]:
    """Return the computed tails of each pair; None where there is none. No verdict uses them."""
    sides = (_read_tails(cube, convention=convention, **where) for convention in ("one-sided", "two-sided"))
    return [None if one is None and two is None else PairTails(one, two) for one, two in zip(*sides, strict=True)]


def _read_tails(cube: xr.Dataset, **at: str) -> list[Tail | None]:
    found: list[Tail | None] = [None] * cube.sizes["pair"]
    p = read_variable(cube, "tail_p", **at)
    if p is None:
        return found
    pairs = np.flatnonzero(np.isfinite(p)).tolist()
    if not pairs:
        return found
    logs, errors = plain(read_variable(cube, "tail_log10_p", **at)), plain(read_variable(cube, "tail_p_error", **at))
    methods, labels = read_flags(cube, "tail_method", **at), read_flags(cube, "tail_label", **at)
    for pair in pairs:
        method = {"exact": "exact", "tail": "tilted"}.get(methods[pair] or "", methods[pair])
        label = "model tail" if labels[pair] == "model-tail" else method
        found[pair] = Tail(p=float(p[pair]), log10_p=logs[pair], error=errors[pair], method=method, label=label)
    return found


def read_tail_reasons(cube: xr.Dataset, **where: str) -> list[str | None]:
    """Say why a pair has no tail; None where it has one, or needs none."""
    return [MISSING_TAILS.get(flag or "") for flag in read_flags(cube, "tail_reason", **where)]


def without_spread(cube: xr.Dataset, **where: str) -> NDArray[np.bool_]:
    """Tell which pairs have a gain and a standard error of 0, but for rounding.

    It is what the family of max-T leaves out, asked of all pairs, so that Holm and max-T have one rule.

    Parameters
    ----------
    cube : Dataset
    **where : str
        Metric and test size.
    """
    order = {str(name): place for place, name in enumerate(cube["system"].values.tolist())}
    pairs = np.array([[order[str(name)] for name in cube[side].values.tolist()] for side in ("system_a", "system_b")], np.int64).T
    return lacks_spread(
        pairs,
        score=np.asarray(read_variable(cube, "observed_score", **where), np.float64),
        delta=np.asarray(read_variable(cube, "observed_delta", **where), np.float64),
        se=np.asarray(read_variable(cube, "se", **where), np.float64),
        identical=np.asarray(read_variable(cube, "identical", **where), np.bool_),
    )


def read_exact(cube: xr.Dataset, **where: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exact p of all swaps and its logarithm: of all pairs that a procedure of the study tests so, else of few units."""
    found = read_floats(cube, "p_sign_flip", **where)
    log10 = np.log10(found, out=np.full(found.shape, np.nan), where=found > 0)
    for exact in (PROCEDURES[name] for name in cube["procedure"].values.tolist() if PROCEDURES[name].backs_others):
        own, own_log10 = (
            read_floats(cube, of, **{**where, "procedure": exact.name, "convention": exact.verdict})
            for of in ("p_value", "log10_p")
        )
        found, log10 = np.where(np.isnan(own), found, own), np.where(np.isnan(own), log10, own_log10)
    return found, log10


def better_first(cube: xr.Dataset, delta: NDArray[np.float64]) -> tuple[list[str], list[str]]:
    """Return the better and the worse system of each pair, as the cube has them where neither is; ``delta`` has its sign."""
    names = list(zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True))
    turned = [(b, a) if gain < 0 else (a, b) for (a, b), gain in zip(names, delta, strict=True)]
    return [str(a) for a, _ in turned], [str(b) for _, b in turned]
