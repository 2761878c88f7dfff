"""All facts that a cube holds about the pairs of one metric and procedure, the better system first.

`read_columns` asks in four steps: what was observed, what the procedure says by itself, what decides, and the intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.exact_laws import drawn_replicates, is_exact
from pipeline.analyses.standard_errors import prefer_replicates
from pipeline.analyses.units import read_few_units, read_student_tails
from pipeline.dataclass import dataclass
from pipeline.inference.decision import without_zero
from pipeline.inference.p_values import CONVENTIONS
from pipeline.inference.unit_diagnostics.few_units import evidence_floor
from pipeline.interfaces import Procedure
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.families.adjustment import Adjusted, FamilyOf, adjust
from pipeline.report.families.verdicts import Evidence, Judged, judge_pairs, read_equivalence
from pipeline.report.pairs.columns import Column, coded, constant, counts, flags, numbers, unless
from pipeline.report.pairs.cube_facts import (
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
    read_wins,
    summed,
    without_spread,
)
from pipeline.report.pairs.intervals import decision_intervals, read_intervals

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["PairColumns", "read_columns"]

ALL_PAIRS = FamilyOf()

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairColumns:
    """What is known of all pairs of one metric and procedure at a test size, in the order of the cube.

    Parameters
    ----------
    columns : dict of str to Column
        By the paths of `pipeline.report.rows.PairRow`.
    adjusted_by : str
        Whose adjusted p decides for all of them.
    against : (pair,) bool
        The test rejects in favour of the system that is behind.
    """

    columns: dict[str, Column]
    adjusted_by: Literal["max_t", "holm"]
    against: NDArray[np.bool_]

    def take(self, path: str) -> list[Any]:
        """Return plain values of all pairs, None where nothing is known."""
        return self.columns[path].take(slice(None))


@dataclass(frozen=True, eq=False)
class _Observed:
    """The pairs as they were observed, in the order of the cube; ``delta`` has the sign that it has there.

    ``jackknife`` is the standard error that tests of few units divide by, ``se`` the one that is shown. ``flat`` pairs gain the
    same on every unit, where the procedure rests on the spread of units; ``floor`` is what no p is below.
    """

    delta: _Floats
    jackknife: _Floats
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
    methods: Column


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
    brief: bool = False,
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
    brief : bool, optional
        Without intervals, tails, verdicts, and what else no table of smaller sizes has.
    """
    where = {"metric": metric, "test_size": test_size}
    full = where | {"procedure": procedure}
    reading = PROCEDURES[procedure]
    seen = _observe(cube, reading, **where)
    tested = _test(cube, reading, effective, **full)
    known = _weigh(cube, seen, tested, family=family, alpha=alpha, **full)
    adjusted = known.adjusted
    within, tails = None, read_student_tails(cube, test_size=test_size, units=effective)
    wins = read_wins(cube, seen.discordant, **where)
    if margin is not None and counted:
        bend = np.where(seen.delta < 0, -1.0, 1.0) * read_floats(cube, "acceleration", **where)
        within = read_equivalence(
            cube, known, margin=margin, tails=tails, corrected=tested.corrected, acceleration=bend, wins=wins, **full
        )
    judged = judge_pairs(cube, known, within, alpha=alpha, margin=margin is not None, **full)
    pairs = len(seen.delta)
    columns = _decided(cube, seen, tested, known, judged, **where)
    if brief:
        return PairColumns(columns, adjusted.decision.by, judged.against)
    if reading.gives_interval:
        columns |= decision_intervals(known, judged, wins=wins, tails=tails, alpha=alpha)
    columns |= read_intervals(cube, seen.delta, alpha=alpha, wanted=intervals, **full)
    columns |= read_tails(cube, **full) if reading.draws else {}
    exact, exact_log10 = read_exact(cube, **where) if reading.needs_units else (None, None)
    verdict, own = full | {"convention": reading.verdict}, adjusted.decision.own
    by_convention, ordered = (own == tested.verdict) & ~(own == adjusted.alone), seen.delta != 0
    above = count_of(cube, "above_twice_delta", **full)
    number, count = partial(numbers, pairs=pairs), partial(counts, pairs=pairs)
    columns |= {
        "log10_p": number(np.where(by_convention, read_floats(cube, "log10_p", **verdict), np.nan)),
        "p_few_units": number(tested.corrected),
        "p_exact": number(exact),
        "log10_p_exact": number(exact_log10),
        "p_floor": number(np.where(seen.floor > 0, seen.floor, np.nan)),
        # What is said of the procedure's own p is not said of one of max-T's replicates.
        "p_label": unless(own == adjusted.alone, read_labels(cube, **verdict)),
        "p_reason": unless(seen.flat, read_reasons(cube, **full), NO_SPREAD),
        "method": _methods(seen, tested, adjusted),
        "monte_carlo_error_one_sided": number(read_floats(cube, "p_error", convention="one-sided", **full)),
        "count": count(None if above is None else np.where(ordered & (tested.replicates >= 0), above, -1)),
        "bias": number(np.where(ordered, _bias(cube, reading, tested, **full), np.nan)),
        "replicates": count(tested.replicates),
        "empty_replicates": count(tested.empty),
        "tail_reason": read_tail_reasons(cube, **full),
        "in_family": flags(adjusted.member),
        "p_equivalence": number(None if within is None else within.own),
        "p_equivalence_holm": number(judged.equivalence_holm),
        "p_ahead": number(None if within is None else within.p_ahead),
        "p_behind": number(None if within is None else within.p_behind),
        "separated": flags(judged.separated),
        "undecided": read_undecided(cube, **full),
        "verdict": judged.verdict,
        "differs_within_margin": judged.differs_within_margin,
    }
    return PairColumns(columns, adjusted.decision.by, judged.against)


def _decided(
    cube: xr.Dataset, seen: _Observed, tested: _Tested, known: Evidence, judged: Judged, **where: str
) -> dict[str, Column]:
    """Return what was observed, the p-values, and what they are adjusted to."""
    systems, score = (
        list(map(str, cube["system"].values.tolist())),
        np.asarray(cube["observed_score"].sel(where).values, np.float64),
    )
    better, worse = better_first(cube, seen.delta)
    adjusted, number = known.adjusted, partial(numbers, pairs=len(better))
    return {
        "system_a": coded(better, systems),
        "system_b": coded(worse, systems),
        "score_a": number(score[better]),
        "score_b": number(score[worse]),
        "delta": number(known.gain),
        "se": number(seen.se),
        "identical": flags(seen.identical),
        "discordant": counts(seen.discordant, len(better)),
        **_helped_and_hurt(seen.discordant, known.gain, read_floats(cube, "gain_of_a_win", **where)),
        "p": number(adjusted.decision.own),
        **{f"p_raw.{name.replace('-', '_')}": number(tested.p[name]) for name in CONVENTIONS},
        "monte_carlo_error": number(adjusted.own_error(tested.error)),
        "p_adjusted": number(adjusted.decision.p),
        "adjustment.by": constant(adjusted.decision.by, len(better)),
        "adjustment.others.max_t": number(adjusted.decision.max_t),
        "adjustment.others.holm": number(adjusted.decision.holm),
        "adjustment.others.benjamini_hochberg": number(adjusted.decision.benjamini_hochberg),
        "stable": judged.stable,
    }


def _helped_and_hurt(
    discordant: NDArray[np.integer] | None, gain: NDArray[np.float64], win: NDArray[np.float64]
) -> dict[str, Column]:
    """Return on how many units the better system alone is right, and the other alone; nothing unless units are right or wrong."""
    win = np.abs(win)
    known = np.isfinite(win) & np.isfinite(gain) & (win > 0)
    m = np.full(len(gain), -1) if discordant is None else discordant
    ahead = np.rint(np.where(known, gain / np.where(known, win, 1.0), 0.0)).astype(np.int64)
    known &= (m >= ahead) & ((m - ahead) % 2 == 0)
    return {
        "helped": counts(np.where(known, (m + ahead) // 2, -1), len(gain)),
        "hurt": counts(np.where(known, (m - ahead) // 2, -1), len(gain)),
    }


def _observe(cube: xr.Dataset, reading: Procedure, **where: str) -> _Observed:
    delta, jackknife = (np.asarray(read_variable(cube, name, **where), dtype=np.float64) for name in ("observed_delta", "se"))
    discordant = read_variable(cube, "discordant", **where)
    flips = read_floats(cube, "p_sign_flip", **where) if reading.needs_units else None
    return _Observed(
        delta=delta,
        jackknife=jackknife,
        se=prefer_replicates(cube, jackknife, **where),
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
        methods=read_flags(cube, "method", where=verdict),
    )


def _weigh(cube: xr.Dataset, seen: _Observed, tested: _Tested, *, family: FamilyOf, alpha: float, **full: str) -> Evidence:
    """Adjust the p-values for their family, and put together what verdicts are made of."""
    p = np.where(seen.flat & np.isfinite(tested.verdict), 1.0, tested.verdict)  # as in the family of max-T
    adjusted: Adjusted = adjust(cube, p, corrected=tested.corrected, floor=seen.floor, family=family, alpha=alpha, **full)
    return Evidence(
        gain=np.abs(seen.delta),
        se=seen.jackknife,
        identical=seen.identical,
        p=p,
        flat=seen.flat,
        one_sided=tested.p["one-sided"],
        error=tested.error,
        replicates=tested.replicates,
        estimated=tested.methods.equal(slice(None), "tail"),
        adjusted=adjusted,
        undecided=read_undecided(cube, **full).known(slice(None)),
    )


def _methods(seen: _Observed, tested: _Tested, adjusted: Adjusted) -> Column:
    """Return how each p is known; the p of a test whose null is not about the gain is its own, also where the gain is 0."""
    own, defined = adjusted.decision.own, (tested.verdict == 1) & (seen.identical | (seen.delta == 0))
    cases = {"definition": defined, "exact": adjusted.exact | ((own > tested.verdict) & (own == seen.floor) & (seen.floor > 0))}
    cases |= {"monte-carlo": own == adjusted.alone, "asymptotic": (own > tested.verdict) & (own == tested.corrected)}
    found = tested.methods
    words = (*(found.words or ()), *cases)
    first = len(words) - len(cases)
    return coded(np.select(list(cases.values()), range(first, len(words)), found.values), words)


def _bias(cube: xr.Dataset, reading: Procedure, tested: _Tested, **full: str) -> _Floats:
    bias, shift = np.full(cube.sizes["pair"], np.nan), summed(cube, "sum_shift", **full) if reading.centred_at_gain else None
    return bias if shift is None else np.divide(shift, tested.drawn, out=bias, where=tested.drawn > 0)
