"""The tests that null data sets are given: one p-value of each null for each procedure and convention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.type_one.own_p import OwnP
from pipeline.dataclass import dataclass
from pipeline.inference.direct.scores import is_mean
from pipeline.inference.p_values import CONVENTIONS, p_values
from pipeline.interfaces import ScoredStatistics
from pipeline.procedures.direct import direct_tests
from pipeline.procedures.registry import PROCEDURES, usable_procedures
from pipeline.resampling.draws import Draws
from pipeline.resampling.exact.factors import common_step
from pipeline.resampling.measures import SUMS, Measure
from pipeline.resampling.null_laboratory import NullCounts, NullSwaps, TwoOutputs, make_nulls, randomize_nulls, resample_nulls
from pipeline.resampling.observe import observe
from pipeline.resampling.strata import StratifiedDraws

__all__ = ["LEVELS", "REFERENCE", "Tested", "ask_nulls"]

LEVELS = (0.01, 0.05, 0.10)
REFERENCE = 9999
"""Swaps that all null data sets of a pair are compared with: they have one randomization law."""

_NULLS = 100  # data sets that are made at a time
_FEWEST, _UNITS = 200, 4_000_000  # of very large test sets fewer null data sets are made for procedures that look at each unit
_FEW_SIZES = 16  # distinct sizes of a difference up to which exact laws take microseconds
_SHORT = 2**20  # sizes times points of a lattice: a law takes a millisecond or two
_FEW_SWAPS = 20  # of which all are gone through by halves, a thousand sums each
_TOO_LONG = "exact laws of so many different sizes take too long for thousands of data sets; their level is that of "


@dataclass(frozen=True, eq=False)
class Tested:
    """One test of all null data sets of a pair.

    Parameters
    ----------
    procedure, convention : str
    in_study : bool
        The study asks for this procedure; those that draw stand side by side everywhere.
    decides : bool
        Verdicts use this convention, and this procedure is one of the study's.
    p : (null,) float64 or None
        nan where a null has none.
    replicates : int or None
        Of each p; None where nothing is drawn.
    reference : int or None
        Draws of a law that all null data sets share: its error is common to their p-values.
    reason : str or None
        Why there is no p.
    """

    __test__ = False  # not a test class, whatever its name says to a collector

    procedure: str
    convention: str
    in_study: bool
    decides: bool
    p: NDArray[np.float64] | None
    replicates: int | None = None
    reference: int | None = None
    reason: str | None = None


def ask_nulls(
    outputs: TwoOutputs,
    scored: ScoredStatistics,
    procedures: Sequence[str],
    *,
    nulls: NullSwaps,
    resamples: Draws | StratifiedDraws,
    swaps: Draws,
    count: int,
    replicates: int,
    own: OwnP | None = None,
) -> Iterator[Tested]:
    """Yield every test of the null data sets of a pair.

    Parameters
    ----------
    outputs : TwoOutputs
    scored : ScoredStatistics
        Form and direction of the metric.
    procedures : sequence of str
        Those of the study.
    nulls : NullSwaps
        How null data sets are made.
    resamples : Draws or StratifiedDraws
        Of the bootstrap: within the strata in which the study draws.
    swaps : Draws
        Of the randomization, unit by unit however null data sets are made: that is the test.
    count, replicates : int
        Null data sets, and replicates of each.
    own : OwnP, optional
        Of the study's preset.
    """
    look = own.look if own is not None and own.looks else None
    resampled = resample_nulls(outputs, nulls, resamples, nulls=count, replicates=replicates, look=look)
    swapped = randomize_nulls(outputs, nulls, swaps, nulls=count, replicates=REFERENCE)
    for known in usable_procedures():
        procedure = known.name
        counted = swapped if known.nulls == "swapped" else resampled
        for convention in known.nulls_shown if known.nulls else ():
            yield Tested(
                procedure,
                convention,
                procedure in procedures,
                procedure in procedures and known.verdict == convention,
                _read(counted, convention),
                *_describe_draws(procedure, replicates),
            )
    if own is not None:
        for rule, p, reason in own.read(resampled, swapped):
            drawn, law = _describe_draws(rule.procedure, replicates) if p is not None else (None, None)
            yield Tested(rule.procedure, rule.convention, rule.procedure in procedures, False, p, drawn, law, reason)
    yield from _direct(outputs, scored, [name for name in procedures if not PROCEDURES[name].draws], nulls, count)


def _describe_draws(procedure: str, replicates: int) -> tuple[int, int | None]:
    """Return how many draws a p is made of, and of how many the law that all null data sets share."""
    return (REFERENCE, REFERENCE) if PROCEDURES[procedure].nulls == "swapped" else (replicates, None)


def _read(counted: NullCounts, convention: str) -> NDArray[np.float64]:
    found = p_values(
        counted.counts,
        counted.defined,
        delta=counted.delta,
        identical=np.zeros(len(counted.delta), np.bool_),
        sums=np.zeros((len(counted.delta), len(SUMS))),
        bias=False,
    )
    return np.asarray(found.p[CONVENTIONS.index(convention)])


def _direct(outputs: TwoOutputs, scored: ScoredStatistics, names: Sequence[str], swaps: NullSwaps, nulls: int) -> Iterator[Tested]:
    """Ask the procedures that draw nothing, some null data sets at a time."""
    exact = {name: PROCEDURES[PROCEDURES[name].limit_of].nulls == "swapped" for name in names if PROCEDURES[name].limit_of}
    costly = {name for name, of_swaps in exact.items() if _is_costly(outputs, scored, of_swaps=of_swaps)}
    for name in sorted(costly):
        known = PROCEDURES[name]
        yield Tested(name, known.verdict, True, True, None, reason=_TOO_LONG + known.limit_of)
    asked = [name for name in names if name not in costly]
    if not asked:
        return
    nulls = min(nulls, max(_FEWEST, _UNITS // len(outputs.statistics)))
    p = {name: np.full(nulls, np.nan) for name in asked}
    reason: dict[str, str] = {}
    for first in range(0, nulls, _NULLS):
        count = min(_NULLS, nulls - first)
        measure = _measure(make_nulls(outputs, swaps, first, count), scored)
        seen = observe(measure)
        for name, found in direct_tests(asked, measure, seen).items():
            own = found.of(PROCEDURES[name].verdict)
            p[name][first : first + count] = np.where(seen.delta == 0, 1.0, own)  # nobody is ahead, whatever a test is about
            told = [words for words, value in zip(found.reasons, p[name][first : first + count], strict=True) if np.isnan(value)]
            if told:
                reason.setdefault(name, told[0])
    for name in asked:
        nothing = bool(np.isnan(p[name]).all())
        yield Tested(
            name, PROCEDURES[name].verdict, True, True, None if nothing else p[name], reason=reason.get(name) if nothing else None
        )


def _measure(statistics: NDArray[np.int64], scored: ScoredStatistics) -> Measure:
    systems = statistics.shape[1]
    pairs = np.arange(systems, dtype=np.int64).reshape(-1, 2)
    return Measure(statistics, scored.score, scored.form, scored.higher_is_better, pairs, np.zeros(systems, np.bool_))


def _is_costly(outputs: TwoOutputs, scored: ScoredStatistics, *, of_swaps: bool) -> bool:
    """Tell whether an exact law takes a tenth of a second, and not microseconds: it does not matter where there is none."""
    if scored.form != "ratio":
        return False
    measure = _measure(outputs.statistics, scored)
    sizes = np.unique(np.abs(outputs.difference[:, 0]))
    # Of few units there are few sizes, and a lattice that is all the same too wide to be looked through thousands of times.
    reach = int(sizes.max(initial=0)) // common_step(sizes)
    is_wide = len(sizes) * len(outputs.statistics) * reach > _SHORT
    if of_swaps and np.count_nonzero(outputs.difference[:, 0]) <= _FEW_SWAPS:
        is_wide = False
    return not bool(is_mean(measure)[0]) or len(sizes) > _FEW_SIZES or is_wide
