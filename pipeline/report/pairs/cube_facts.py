"""Facts that a cube holds about its pairs beside p-values and gains; None where it lacks them.

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
from pipeline.inference.intervals.compatible_intervals import Wins
from pipeline.inference.multiple_comparisons.families import lacks_spread
from pipeline.inference.unit_diagnostics.undecided import UNDECIDED
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.pairs.columns import Column, coded, constant, numbers, unless

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "BEYOND_THE_BUDGET",
    "MISSING_TAILS",
    "NOT_TESTABLE",
    "NO_SPREAD",
    "better_first",
    "count_of",
    "effective_units_of",
    "metric_fact",
    "pair_positions",
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
    "read_wins",
    "summed",
    "without_spread",
]


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


def read_flags(cube: xr.Dataset, name: str, *, said: Mapping[str, str] | None = None, where: Mapping[str, str]) -> Column:
    """Return the words of a variable of codes by pair; none where nothing was written, or the cube does not hold it.

    Parameters
    ----------
    cube : Dataset
    name : str
    said : mapping of str to str, optional
        What to say for the words that the cube has; nothing for the others.
    where : mapping of str to str
        The labels of all other dimensions.
    """
    values = read_variable(cube, name, **where)
    if values is None:
        return constant(None, cube.sizes["pair"])
    attributes = cube[name].attrs
    codes, meanings = list(map(int, attributes["flag_values"])), str(attributes["flag_meanings"]).split()
    words = [word if said is None else said.get(word) for word in meanings]
    places = np.full(256, -1, np.int16)  # codes are bytes
    places[codes] = [place if word is not None else -1 for place, word in enumerate(words)]
    return coded(places[np.asarray(values, np.int64)], words)


def _by_flag(names: Mapping[str, str]) -> dict[str, str]:
    return {name.replace(",", "").replace(" ", "-"): words for name, words in names.items() if name}


_REASONS = {**_by_flag(NO_P), "no-defined-replicate": "no replicate gives both systems a score"}
_LABELS = _by_flag(LABELS)


def read_reasons(cube: xr.Dataset, **where: str) -> Column:
    """Say why a pair has no ordinary p-value; nothing where it has one, or the cube does not say."""
    return read_flags(cube, "p_reason", said=_REASONS, where=where)


def read_labels(cube: xr.Dataset, **where: str) -> Column:
    """Say how good the p-value of a pair is where it is approximate; nothing elsewhere."""
    return read_flags(cube, "p_label", said=_LABELS, where=where)


_UNDECIDED = _by_flag({reason: reason for reason in UNDECIDED})


def read_undecided(cube: xr.Dataset, **where: str) -> Column:
    """Say why a small p of a pair is not a verdict; nothing where it is one, or the cube does not say."""
    return read_flags(cube, "undecided", said=_UNDECIDED, where=where)


def read_unit_effect(cube: xr.Dataset, name: str, *, metric: str) -> Column:
    """Return ``intra_cluster_correlation`` or ``design_effect`` of all pairs at the full size; unknown where a cube has none."""
    values = read_variable(cube, name, metric=metric, test_size=FULL)
    return numbers(None if values is None else np.asarray(values, np.float64), cube.sizes["pair"])


def read_tails(cube: xr.Dataset, **where: str) -> dict[str, Column]:
    """Return the computed tails of pairs by path; no column where no pair has one. No verdict uses them."""
    found: dict[str, Column] = {}
    for side in ("one_sided", "two_sided"):
        found |= _read_tails(cube, f"tail.{side}", convention=side.replace("_", "-"), **where)
    return found


_TAIL_METHODS = {"exact": "exact", "tail": "tilted"}


def _read_tails(cube: xr.Dataset, path: str, **at: str) -> dict[str, Column]:
    p = read_variable(cube, "tail_p", **at)
    if p is None or not np.isfinite(p).any():
        return {}
    pairs = len(p)
    known = read_flags(cube, "tail_method", where=at)
    methods = tuple(_TAIL_METHODS.get(word, word) for word in known.words or ())
    label = unless(
        read_flags(cube, "tail_label", where=at).equal(slice(None), "model-tail"), coded(known.values, methods), "model tail"
    )
    return {
        f"{path}.p": numbers(p, pairs),
        f"{path}.log10_p": numbers(read_variable(cube, "tail_log10_p", **at), pairs),
        f"{path}.error": numbers(read_variable(cube, "tail_p_error", **at), pairs),
        f"{path}.method": coded(known.values, methods),
        f"{path}.label": label,
    }


def read_tail_reasons(cube: xr.Dataset, **where: str) -> Column:
    """Say why a pair has no tail; nothing where it has one, or needs none."""
    return read_flags(cube, "tail_reason", said=MISSING_TAILS, where=where)


def without_spread(cube: xr.Dataset, **where: str) -> NDArray[np.bool_]:
    """Tell which pairs have a gain and a standard error of 0, but for rounding.

    It is what the family of max-T leaves out, asked of all pairs, so that Holm and max-T have one rule.

    Parameters
    ----------
    cube : Dataset
    **where : str
        Metric and test size.
    """
    return lacks_spread(
        pair_positions(cube).T,
        score=np.asarray(read_variable(cube, "observed_score", **where), np.float64),
        delta=np.asarray(read_variable(cube, "observed_delta", **where), np.float64),
        se=np.asarray(read_variable(cube, "se", **where), np.float64),
        identical=np.asarray(read_variable(cube, "identical", **where), np.bool_),
    )


def read_wins(cube: xr.Dataset, discordant: NDArray[np.integer] | None, *, metric: str, test_size: str) -> Wins:
    """Return on how many units of a test size the pairs differ, and what each of these adds to a gain; within strata nothing."""
    win = read_floats(cube, "gain_of_a_win", metric=metric, test_size=test_size)
    if cube.attrs.get("strata"):  # the law of wins is another one
        win = np.full(len(win), np.nan)
    units = int(cube["n_units"].sel(test_size=test_size).item())
    return Wins(np.full(len(win), -1) if discordant is None else discordant, win, units)


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


def better_first(cube: xr.Dataset, delta: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the better and the worse system of each pair by position, as the cube has them where neither is.

    ``delta`` has the sign of the cube.
    """
    pairs = pair_positions(cube)
    return np.where(delta < 0, pairs[::-1], pairs)


def pair_positions(cube: xr.Dataset) -> NDArray[np.int64]:
    """Return where the two systems of each pair stand among all of them, (2, pair)."""
    place = {name: position for position, name in enumerate(cube["system"].values.tolist())}
    sides = (cube[side].values.tolist() for side in ("system_a", "system_b"))
    return np.array([list(map(place.__getitem__, names)) for names in sides], np.int64).reshape(2, -1)
