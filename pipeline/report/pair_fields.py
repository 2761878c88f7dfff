"""Everything a cube and its counts say of pairs, the better system first. This module reads it as lists of plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.analyses.units import read_few_units
from pipeline.inference.decision import without_zero
from pipeline.inference.few_units import evidence_floor
from pipeline.inference.p_values import CONVENTIONS
from pipeline.interfaces import Procedure
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.adjustment import FamilyOf, adjust
from pipeline.report.cube_facts import count_of, effective_units_of, read_flags, read_variable, summed
from pipeline.report.intervals import choose_intervals, half_widths, read_intervals
from pipeline.report.no_variation import NO_SPREAD, without_spread
from pipeline.report.p_value_notes import read_labels, read_reasons
from pipeline.report.tails import read_tail_reasons, read_tails
from pipeline.report.values import plain
from pipeline.report.verdicts import Evidence, judge_pairs, read_equivalence

__all__ = ["read_columns"]

ALL_PAIRS = FamilyOf()


def read_columns(
    cube: xr.Dataset,
    *,
    metric: str,
    test_size: str,
    procedure: str,
    alpha: float,
    margin: bool,
    family: FamilyOf = ALL_PAIRS,
    intervals: Sequence[str] = (),
    effective: float | None = None,
    counted: bool = True,
) -> dict[str, list[Any]]:
    """Return what is known of all pairs of one metric and procedure, a list by name; None where it is not known.

    Parameters
    ----------
    cube : Dataset
    metric, test_size, procedure : str
    alpha : float
    margin : bool
        One was asked for: verdicts are those of equivalence.
    family : FamilyOf, optional
        Which pairs are tested together.
    intervals : sequence of str, optional
        Which method's interval is wanted: the first that the cube has.
    effective : float, optional
        Effective units, where they are known.
    counted : bool, optional
        The cube's counts against a margin are of the margin that was asked for.
    """
    where = {"metric": metric, "test_size": test_size}
    full = where | {"procedure": procedure}
    delta, se = (np.asarray(read_variable(cube, name, **where), dtype=np.float64) for name in ("observed_delta", "se"))
    identical = np.asarray(read_variable(cube, "identical", **where), dtype=np.bool_)
    reading, draws = PROCEDURES[procedure], PROCEDURES[procedure].draws
    there = set(map(str, cube["convention"].values.tolist()))
    nowhere = np.full(len(delta), np.nan)
    p = {name: _floats(cube, "p_value", len(delta), convention=name, **full) if name in there else nowhere for name in CONVENTIONS}
    verdict_p = without_zero(p[reading.verdict])
    verdict = full | {"convention": reading.verdict}
    error = _floats(cube, "p_error", len(delta), **verdict)
    total = float(cube.attrs["replicates"]) if draws else -1.0
    empty = count_of(cube, "empty", **full)
    replicates = np.full(len(delta), total) - (0 if empty is None else np.maximum(empty, 0))
    discordant = read_variable(cube, "discordant", **where)
    flips = _floats(cube, "p_sign_flip", len(delta), **where) if reading.needs_units else None
    floor = _floor(discordant, flips, reading, len(delta))
    flat = without_spread(cube, **where) if reading.needs_units else np.zeros(len(delta), np.bool_)
    tested_p = np.where(flat & np.isfinite(verdict_p), 1.0, verdict_p)  # as in the family of max-T
    gain, ordered = np.abs(delta), delta != 0
    corrected = read_few_units(cube, **full, units=effective)
    worth = effective_units_of(cube, test_size)
    asked: dict[str, Any] = {"units": effective if worth is None else worth, "family": family, "alpha": alpha, **full}
    adjusted = adjust(cube, tested_p, corrected=corrected, floor=floor, **asked)
    decision = adjusted.decision
    within = read_equivalence(cube, replicates, identical, adjusted.member, **full) if margin and counted else None
    shift = summed(cube, "sum_shift", **full) if reading.centred_at_gain else None
    histogram = read_variable(cube, "histogram", **full) if reading.gives_interval else None
    nothing = np.full(len(delta), np.nan)
    scores = dict(zip(cube["system"].values.tolist(), cube["observed_score"].sel(where).values.tolist(), strict=True))
    better, worse = _ordered(cube, delta)
    methods = read_flags(cube, "method", **verdict)
    known = Evidence(
        gain=gain,
        se=se,
        identical=identical,
        p=tested_p,
        flat=flat,
        one_sided=p["one-sided"],
        error=error,
        replicates=replicates,
        estimated=np.array([method == "tail" for method in methods], np.bool_),
        adjusted=adjusted,
    )
    judged = judge_pairs(cube, known, within, alpha=alpha, margin=margin, **full)
    exact, exact_log10 = _exact(cube, len(delta), **where) if reading.needs_units else (nothing, nothing)
    numbers = {
        "score_a": [scores[name] for name in better],
        "score_b": [scores[name] for name in worse],
        "delta": gain,
        "se": se,
        "bias": np.where(ordered, _divide(shift, replicates), np.nan) if shift is not None else nothing,
        "p": verdict_p,
        "log10_p": _floats(cube, "log10_p", len(delta), **verdict),
        "p_few_units": corrected,
        "p_exact": exact,
        "log10_p_exact": exact_log10,
        "p_floor": np.where(floor > 0, floor, np.nan),
        "p_adjusted": decision.p,
        "max_t": decision.max_t,
        "holm": decision.holm,
        "benjamini_hochberg": decision.benjamini_hochberg,
        "monte_carlo_error": error,
        "monte_carlo_error_one_sided": _floats(cube, "p_error", len(delta), convention="one-sided", **full),
        "p_equivalence": within.p_plus_one if within is not None else nothing,
        "p_ahead": within.p_ahead if within is not None else nothing,
        "p_behind": within.p_behind if within is not None else nothing,
    }
    counts = {
        "count": _hide(count_of(cube, "above_twice_delta", **full), ~ordered),
        "discordant": discordant,
        "replicates": replicates,
        "empty_replicates": empty,
    }
    defined = (verdict_p == 1) & (identical | ~ordered)  # the p of a test whose null is not about the gain is its own
    half = half_widths(histogram, 1 - alpha, se=se, gain=gain, p=verdict_p) if histogram is not None else nothing
    several = read_intervals(cube, delta, alpha=alpha, **full)
    return {
        "system_a": better,
        "system_b": worse,
        **{name: plain(np.asarray(values, dtype=np.float64)) for name, values in numbers.items()},
        **{name: _whole(values, len(delta)) for name, values in counts.items()},
        "method": ["definition" if known else method for known, method in zip(defined.tolist(), methods, strict=True)],
        "p_label": read_labels(cube, **verdict),
        "p_reason": [NO_SPREAD if alike else why for alike, why in zip(flat.tolist(), read_reasons(cube, **full), strict=True)],
        "tail": read_tails(cube, **full) if draws else [None] * len(delta),
        "tail_reason": read_tail_reasons(cube, **full),
        "identical": identical.tolist(),
        "in_family": adjusted.member.tolist(),
        "adjusted_by": [decision.by] * len(delta),
        "p_raw": _raw(p),
        **judged.columns(),
        "interval": choose_intervals(several, gain, half, p, wanted=intervals, alpha=alpha),
        "intervals": several,
    }


def _floor(
    discordant: NDArray[Any] | None, exact: NDArray[np.float64] | None, reading: Procedure, pairs: int
) -> NDArray[np.float64]:
    """Return what p may not be below; a count that was not written says nothing against it."""
    return np.zeros(pairs) if discordant is None else evidence_floor(discordant, exact, mid_p=reading.mid_p)


def _raw(p: Mapping[str, NDArray[np.float64]]) -> list[dict[str, float | None]]:
    """Return the p-values of each pair by every convention, as it defines them; None where one means nothing."""
    names = [name.replace("-", "_") for name in p]
    return [dict(zip(names, of, strict=True)) for of in zip(*(plain(values) for values in p.values()), strict=True)]


def _exact(cube: xr.Dataset, pairs: int, **where: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exact sign-flip p and its logarithm, of all pairs if it was asked for, else of those with few discordant units."""
    for exact in (PROCEDURES[name] for name in cube["procedure"].values.tolist() if PROCEDURES[name].backs_others):
        at = {**where, "procedure": exact.name, "convention": exact.verdict}
        return _floats(cube, "p_value", pairs, **at), _floats(cube, "log10_p", pairs, **at)
    found = _floats(cube, "p_sign_flip", pairs, **where)
    return found, np.log10(found, out=np.full(pairs, np.nan), where=found > 0)


def _floats(cube: xr.Dataset, name: str, pairs: int, **where: str) -> NDArray[np.float64]:
    values = read_variable(cube, name, **where)
    return np.full(pairs, np.nan) if values is None else np.asarray(values, dtype=np.float64)


def _ordered(cube: xr.Dataset, delta: NDArray[np.float64]) -> tuple[list[str], list[str]]:
    names = list(zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True))
    turned = [(b, a) if gain < 0 else (a, b) for (a, b), gain in zip(names, delta, strict=True)]
    return [str(a) for a, _ in turned], [str(b) for _, b in turned]


def _hide(values: NDArray[np.int64] | None, hidden: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    return None if values is None else np.where(hidden, -1, values)


def _whole(values: NDArray[Any] | None, pairs: int) -> list[int | None]:
    """Return counts as integers; below 0 means that nothing was written."""
    return [None] * pairs if values is None else [int(value) if value >= 0 else None for value in values.tolist()]


def _divide(values: NDArray[Any], by: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(values, by, out=np.full(len(by), np.nan), where=by > 0), dtype=np.float64)
