"""Everything that a cube and its counts say of the pairs of one metric and procedure, the better system first.

`read_columns` asks in four steps: what was observed, what the procedure says by itself, what decides, and the intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.exact import drawn_replicates, is_exact
from pipeline.analyses.units import read_few_units, read_student_tails
from pipeline.inference.decision import without_zero
from pipeline.inference.few_units import evidence_floor
from pipeline.inference.p_values import CONVENTIONS
from pipeline.interfaces import Procedure
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.adjustment import Adjusted, FamilyOf, adjust
from pipeline.report.cube_facts import (
    NO_SPREAD,
    better_first,
    count_of,
    read_exact,
    read_flags,
    read_floats,
    read_labels,
    read_reasons,
    read_tail_reasons,
    read_tails,
    read_undecided,
    read_variable,
    summed,
    whole_numbers,
    without_spread,
)
from pipeline.report.intervals import Methods, decision_intervals, read_intervals, read_wins
from pipeline.report.pair_parts import Interval
from pipeline.report.rows import PairTails, PairVerdict, RawP
from pipeline.report.values import plain
from pipeline.report.verdicts import Evidence, judge_pairs, read_equivalence

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["PairColumns", "read_columns"]

ALL_PAIRS = FamilyOf()

_Floats = NDArray[np.float64]
_Numbers = list[float | None]
_Counts = list[int | None]


@dataclass(frozen=True, eq=False)
class PairColumns:
    """What is known of all pairs of one metric and procedure at a test size, a list by name; None where it is not known.

    The names are those of `pipeline.report.rows.PairRow`. ``adjusted_by`` says whose adjusted p decides for all of them;
    ``against`` marks pairs where the test rejects in favour of the system that is behind.
    """

    system_a: list[str]
    system_b: list[str]
    score_a: _Numbers
    score_b: _Numbers
    delta: _Numbers
    se: _Numbers
    identical: list[bool]
    discordant: _Counts
    p: _Numbers
    log10_p: _Numbers
    p_raw: list[RawP]
    p_few_units: _Numbers
    p_exact: _Numbers
    log10_p_exact: _Numbers
    p_floor: _Numbers
    p_label: list[str | None]
    p_reason: list[str | None]
    method: list[str | None]
    monte_carlo_error: _Numbers
    monte_carlo_error_one_sided: _Numbers
    count: _Counts
    bias: _Numbers
    replicates: _Counts
    empty_replicates: _Counts
    tail: list[PairTails | None]
    tail_reason: list[str | None]
    in_family: list[bool]
    adjusted_by: Literal["max_t", "holm"]
    p_adjusted: _Numbers
    max_t: _Numbers
    holm: _Numbers
    benjamini_hochberg: _Numbers
    p_equivalence: _Numbers
    p_equivalence_holm: _Numbers
    p_ahead: _Numbers
    p_behind: _Numbers
    separated: list[bool]
    undecided: list[str | None]
    against: list[bool]
    verdict: list[PairVerdict | None]
    differs_within_margin: list[bool | None]
    stable: list[bool | None]
    interval: list[Interval | None]
    intervals: list[Methods | None]


@dataclass(frozen=True, eq=False)
class _Observed:
    """The pairs as they were observed, in the order of the cube; ``delta`` has the sign that it has there.

    ``flat`` pairs gain the same on every unit, where the procedure rests on the spread of units; ``floor`` is what no p is below.
    """

    delta: _Floats
    se: _Floats
    identical: NDArray[np.bool_]
    flat: NDArray[np.bool_]
    discordant: NDArray[Any] | None
    floor: _Floats


@dataclass(frozen=True, eq=False)
class _Tested:
    """What the procedure says of the pairs by itself.

    ``p`` is by convention, ``verdict`` the one that verdicts use, never 0; ``corrected`` is for few units. ``replicates`` are those
    that p is counted on, and below 0 where it is not counted; ``drawn`` are there besides.
    """

    p: Mapping[str, _Floats]
    verdict: _Floats
    error: _Floats
    corrected: _Floats
    replicates: _Floats
    drawn: _Floats
    empty: NDArray[np.int64] | None
    methods: list[str | None]


def read_columns(
    cube: xr.Dataset,
    *,
    metric: str,
    test_size: str,
    procedure: str,
    alpha: float,
    margin: float | None,
    family: FamilyOf = ALL_PAIRS,
    intervals: Sequence[str] = (),
    effective: float | None = None,
    counted: bool = True,
) -> PairColumns:
    """Return what is known of all pairs of one metric and procedure.

    Parameters
    ----------
    cube : Dataset
    metric, test_size, procedure : str
    alpha : float
    margin : float or None
        In metric points; with one, verdicts are those of equivalence.
    family : FamilyOf, optional
        Which pairs are tested together.
    intervals : sequence of str, optional
        The methods of ``intervals``, of those that the cube has; all by default.
    effective : float, optional
        Effective units, where they are known.
    counted : bool, optional
        The cube's counts against a margin are of the margin that was asked for.
    """
    where = {"metric": metric, "test_size": test_size}
    full = where | {"procedure": procedure}
    reading = PROCEDURES[procedure]
    seen = _observe(cube, reading, **where)
    tested = _test(cube, reading, effective, **full)
    known = _weigh(cube, seen, tested, family=family, alpha=alpha, **full)
    adjusted = known.adjusted
    within, tails = None, read_student_tails(cube, test_size=test_size, units=effective)
    if margin is not None and counted:
        within = read_equivalence(cube, known, margin=margin, tails=tails, corrected=tested.corrected, **full)
    judged = judge_pairs(cube, known, within, alpha=alpha, margin=margin is not None, **full)
    better, worse = better_first(cube, seen.delta)
    scores = dict(zip(cube["system"].values.tolist(), cube["observed_score"].sel(where).values.tolist(), strict=True))
    pairs, ordered = len(better), seen.delta != 0
    beside: list[Interval | None] = [None] * pairs
    if reading.gives_interval:
        wins = read_wins(cube, seen.discordant, **where)
        beside = decision_intervals(known, judged, wins=wins, tails=tails, alpha=alpha)
    nothing, above = np.full(pairs, np.nan), count_of(cube, "above_twice_delta", **full)
    exact, exact_log10 = read_exact(cube, **where) if reading.needs_units else (nothing, nothing)
    verdict, own = full | {"convention": reading.verdict}, adjusted.decision.own
    by_convention = (own == tested.verdict) & ~(own == adjusted.alone)
    return PairColumns(
        system_a=better,
        system_b=worse,
        score_a=plain(np.array([scores[name] for name in better])),
        score_b=plain(np.array([scores[name] for name in worse])),
        delta=plain(known.gain),
        se=plain(seen.se),
        identical=seen.identical.tolist(),
        discordant=whole_numbers(seen.discordant, pairs),
        p=plain(own),
        log10_p=plain(np.where(by_convention, read_floats(cube, "log10_p", **verdict), np.nan)),
        p_raw=[RawP(*of) for of in zip(*(plain(tested.p[name]) for name in CONVENTIONS), strict=True)],
        p_few_units=plain(tested.corrected),
        p_exact=plain(exact),
        log10_p_exact=plain(exact_log10),
        p_floor=plain(np.where(seen.floor > 0, seen.floor, np.nan)),
        # What is said of the procedure's own p is not said of one of max-T's replicates.
        p_label=[
            None if other else label for label, other in zip(read_labels(cube, **verdict), own == adjusted.alone, strict=True)
        ],
        p_reason=[NO_SPREAD if flat else why for flat, why in zip(seen.flat.tolist(), read_reasons(cube, **full), strict=True)],
        method=_methods(seen, tested, adjusted),
        monte_carlo_error=plain(adjusted.own_error(tested.error)),
        monte_carlo_error_one_sided=plain(read_floats(cube, "p_error", convention="one-sided", **full)),
        count=whole_numbers(None if above is None else np.where(ordered & (tested.replicates >= 0), above, -1), pairs),
        bias=plain(np.where(ordered, _bias(cube, reading, tested, **full), np.nan)),
        replicates=whole_numbers(tested.replicates, pairs),
        empty_replicates=whole_numbers(tested.empty, pairs),
        tail=read_tails(cube, **full) if reading.draws else [None] * pairs,
        tail_reason=read_tail_reasons(cube, **full),
        in_family=adjusted.member.tolist(),
        adjusted_by=adjusted.decision.by,
        p_adjusted=plain(adjusted.decision.p),
        max_t=plain(adjusted.decision.max_t),
        holm=plain(adjusted.decision.holm),
        benjamini_hochberg=plain(adjusted.decision.benjamini_hochberg),
        p_equivalence=plain(nothing if within is None else within.own),
        p_equivalence_holm=plain(judged.equivalence_holm),
        p_ahead=plain(nothing if within is None else within.p_ahead),
        p_behind=plain(nothing if within is None else within.p_behind),
        separated=judged.separated.tolist(),
        undecided=read_undecided(cube, **full),
        against=judged.against.tolist(),
        verdict=judged.verdict,
        differs_within_margin=judged.differs_within_margin,
        stable=judged.stable,
        interval=beside,
        intervals=read_intervals(cube, seen.delta, alpha=alpha, wanted=intervals, **full),
    )


def _observe(cube: xr.Dataset, reading: Procedure, **where: str) -> _Observed:
    delta, se = (np.asarray(read_variable(cube, name, **where), dtype=np.float64) for name in ("observed_delta", "se"))
    discordant = read_variable(cube, "discordant", **where)
    flips = read_floats(cube, "p_sign_flip", **where) if reading.needs_units else None
    return _Observed(
        delta=delta,
        se=se,
        identical=np.asarray(read_variable(cube, "identical", **where), dtype=np.bool_),
        flat=without_spread(cube, **where) if reading.needs_units else np.zeros(len(delta), np.bool_),
        discordant=discordant,
        # A count that was not written says nothing against p.
        floor=np.zeros(len(delta)) if discordant is None else evidence_floor(discordant, flips, mid_p=reading.mid_p),
    )


def _test(cube: xr.Dataset, reading: Procedure, effective: float | None, **full: str) -> _Tested:
    pairs, there = cube.sizes["pair"], set(map(str, cube["convention"].values.tolist()))
    nowhere = np.full(pairs, np.nan)
    p = {name: read_floats(cube, "p_value", convention=name, **full) if name in there else nowhere for name in CONVENTIONS}
    total, empty = float(drawn_replicates(cube, full)) if reading.draws else -1.0, count_of(cube, "empty", **full)
    exact = is_exact(cube, full)
    drawn = np.full(pairs, total) - (0 if empty is None else np.maximum(empty, 0))
    verdict = full | {"convention": reading.verdict}
    return _Tested(
        p=p,
        verdict=without_zero(p[reading.verdict]),
        error=read_floats(cube, "p_error", **verdict),
        corrected=read_few_units(cube, **full, units=effective),
        replicates=np.full(pairs, -1.0) if exact else drawn,
        drawn=drawn,
        empty=None if exact else empty,
        methods=read_flags(cube, "method", **verdict),
    )


def _weigh(cube: xr.Dataset, seen: _Observed, tested: _Tested, *, family: FamilyOf, alpha: float, **full: str) -> Evidence:
    """Adjust the p-values for their family, and put together what verdicts are made of."""
    p = np.where(seen.flat & np.isfinite(tested.verdict), 1.0, tested.verdict)  # as in the family of max-T
    adjusted: Adjusted = adjust(cube, p, corrected=tested.corrected, floor=seen.floor, family=family, alpha=alpha, **full)
    return Evidence(
        gain=np.abs(seen.delta),
        se=seen.se,
        identical=seen.identical,
        p=p,
        flat=seen.flat,
        one_sided=tested.p["one-sided"],
        error=tested.error,
        replicates=tested.replicates,
        estimated=np.array([method == "tail" for method in tested.methods], np.bool_),
        adjusted=adjusted,
        undecided=np.array([reason is not None for reason in read_undecided(cube, **full)], np.bool_),
    )


def _methods(seen: _Observed, tested: _Tested, adjusted: Adjusted) -> list[str | None]:
    """Return how each p is known; the p of a test whose null is not about the gain is its own, also where the gain is 0."""
    own, defined = adjusted.decision.own, (tested.verdict == 1) & (seen.identical | (seen.delta == 0))
    cases = {"definition": defined, "exact": adjusted.exact | ((own > tested.verdict) & (own == seen.floor) & (seen.floor > 0))}
    cases |= {"monte-carlo": own == adjusted.alone, "asymptotic": (own > tested.verdict) & (own == tested.corrected)}
    known = np.select(list(cases.values()), list(cases), "")
    return [name or method for name, method in zip(known.tolist(), tested.methods, strict=True)]


def _bias(cube: xr.Dataset, reading: Procedure, tested: _Tested, **full: str) -> _Floats:
    bias, shift = np.full(cube.sizes["pair"], np.nan), summed(cube, "sum_shift", **full) if reading.centred_at_gain else None
    return bias if shift is None else np.divide(shift, tested.drawn, out=bias, where=tested.drawn > 0)
