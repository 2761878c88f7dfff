"""The textbook tests of signs and ranks of paired units, for all pairs at once: McNemar, sign, Wilcoxon.

They are cross-checks, and the right choice where few units are discordant. Each has a null of its own, and none is about the gain.
SciPy computes them, except for logarithms of tails that floats cannot represent, including those of Student's law, which are
computed here from the incomplete beta function.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.result import LABELS, METHODS, REASONS, Bounds, DirectP, assemble, code_of
from pipeline.inference.direct.scores import MEMORY, differences, has_two_values, is_mean, why_no_numerators
from pipeline.numerics.special import betainc, betaln, log_ndtr
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.measures import Measure, Observed

__all__ = ["log_binomial_tail", "log_student_tail", "mcnemar", "mcnemar_mid_p", "sign_test", "wilcoxon"]

_SAFE = 1e-280
_SMALL = 2.0**-53


def log_binomial_tail(hits: NDArray[np.integer], trials: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return log P(X ≥ hits) of a binomial with chance ½: what `scipy.stats.binom.sf` gives, however small.

    Examples
    --------
    >>> np.exp(log_binomial_tail(np.array([8, 0]), np.array([12, 12]))).round(4)
    array([0.1938, 1.    ])
    """
    k = np.maximum(np.asarray(hits, np.float64), 1.0)
    logs = _log_betainc(k, np.asarray(trials, np.float64) - k + 1, np.full(k.shape, 0.5))
    return np.where(np.asarray(hits) > 0, logs, 0.0)


def _log_binomial_term(hits: NDArray[np.integer], trials: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return log P(X = hits) of a binomial with chance ½."""
    k, m = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    return np.asarray(-betaln(k + 1, m - k + 1) - np.log(m + 1) - m * math.log(2))


def log_student_tail(t: NDArray[np.float64], freedom: float) -> NDArray[np.float64]:
    """Return log P(T ≥ t), t ≥ 0, of Student's law: what `scipy.stats.t.sf` gives, however small.

    Examples
    --------
    >>> np.exp(log_student_tail(np.array([0.0, 2.228]), 10)).round(3)
    array([0.5  , 0.025])
    """
    x = freedom / (freedom + t * t)
    return _log_betainc(np.full(x.shape, freedom / 2), np.full(x.shape, 0.5), x) - math.log(2)


def _log_betainc(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log I_x(a, b); where it is small by a series of positive terms, https://dlmf.nist.gov/8.17#E8."""
    value = betainc(a, b, x)
    result = np.log(value, out=np.zeros(value.shape), where=value > 0)
    small = value < _SAFE
    if small.any():
        result[small] = _series(a[small], b[small], x[small])
    return np.asarray(result)


def _series(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    # I_x(a, b) = xᵃ (1 − x)ᵇ / (a B(a, b)) · Σ (a + b)ₖ / (a + 1)ₖ · xᵏ; scipy.special.hyp2f1 overflows at large a.
    term, total, k = np.ones_like(x), np.ones_like(x), 0
    while np.any(term > _SMALL * total):
        term = term * (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    return np.asarray(a * np.log(x) + b * np.log1p(-x) - np.log(a) - betaln(a, b) + np.log(total))


_EXACT_UNITS = 25  # discordant units up to which SciPy enumerates the law of the signed-rank sum, where no ranks are tied
_ROWS = 1000  # whose laws are held together
_MIDRANK_UNITS = 50  # up to which the law is computed here; the Gaussian one rejects 7 % at .05 with so few
_WILCOXON_BYTES = 96  # a unit of a pair in SciPy's ranking: a dozen arrays of doubles
_LN2 = math.log(2)


def mcnemar(
    measure: Measure, observed: Observed, *, mid_p: bool = False, budget: Budget = QUICK, memory_bytes: int = MEMORY
) -> DirectP:
    """Compute McNemar's exact test: wins against losses on 0/1 scores, as fair coins.

    With m = wins + losses and X binomial (m, ½): two-sided 2 P(X ≥ max(wins, losses)), at most 1, one-sided P(X ≥ wins); the mid-p
    subtracts ½ P(X = ·) from each tail (Lancaster 1961, doi:10.1080/01621459.1961.10482105; Fagerland and others 2013,
    doi:10.1186/1471-2288-13-91). McNemar 1947, doi:10.1007/BF02295996.

    Parameters
    ----------
    measure : Measure
    observed : Observed
    mid_p : bool, optional
        Use the mid-p, which is less conservative and may slightly exceed its level.
    budget : Budget, optional
        As of other procedures; of no use here.
    memory_bytes : int, optional
        Of a block of pairs × units.

    Returns
    -------
    DirectP
    """
    refused = why_no_numerators(measure)
    refused[(refused == 0) & ~is_mean(measure)] = code_of("not a mean of units", REASONS)
    refused[(refused == 0) & ~has_two_values(measure)] = code_of("not 0/1", REASONS)
    wins, losses = _count_signs(measure, observed, refused, memory_bytes)
    found = _coins(wins, losses, mid_p=mid_p)
    return assemble(found, observed=observed, reason=refused, method="exact", label="mid-p" if mid_p else "")


def mcnemar_mid_p(measure: Measure, observed: Observed, *, budget: Budget = QUICK, memory_bytes: int = MEMORY) -> DirectP:
    """Compute McNemar's test with mid-p."""
    return mcnemar(measure, observed, mid_p=True, budget=budget, memory_bytes=memory_bytes)


def sign_test(measure: Measure, observed: Observed, *, budget: Budget = QUICK, memory_bytes: int = MEMORY) -> DirectP:
    """Compute the sign test: units on which one system is better against those on which the other is, as fair coins.

    The null is "better as often as worse", which can be false although the gain is 0. A unit's sign is that of its difference of
    numerators; the label says if denominators vary.

    Parameters
    ----------
    measure : Measure
    observed : Observed
    budget : Budget, optional
        As of other procedures; of no use here.
    memory_bytes : int, optional
        Of a block of pairs × units.

    Returns
    -------
    DirectP
    """
    refused = why_no_numerators(measure)
    wins, losses = _count_signs(measure, observed, refused, memory_bytes)
    label = np.where(is_mean(measure), code_of("", LABELS), code_of("numerators", LABELS))
    found = _coins(wins, losses, mid_p=False)
    return assemble(found, observed=observed, reason=refused, method="exact", label=label, about_gain=False)


def wilcoxon(measure: Measure, observed: Observed, *, budget: Budget = QUICK, memory_bytes: int = MEMORY) -> DirectP:
    """Compute Wilcoxon's signed-rank test of the units' differences; those that are 0 are dropped.

    Exact with up to 50 discordant units: by `scipy.stats.wilcoxon` with up to 25 units without ties, otherwise by the law of random
    signs of the midranks. With more units it is SciPy's Gaussian approximation with the correction for ties. The null is that
    differences are symmetric about 0. If denominators vary, differences of numerators are ranked, whose sign swapping the outputs
    of a unit reverses; the label says so. Wilcoxon 1945, doi:10.2307/3001968.

    Parameters
    ----------
    measure : Measure
    observed : Observed
    budget : Budget, optional
        As of other procedures; of no use here.
    memory_bytes : int, optional
        Of a block of pairs × units with what SciPy makes of it.

    Returns
    -------
    DirectP
    """
    refused = why_no_numerators(measure)
    one, two = np.full((2, len(refused)), np.nan)
    is_exact = np.zeros(len(refused), np.bool_)
    members = _comparable(observed, refused)
    for block, rows in differences(measure, observed, members, memory_bytes=memory_bytes, row_bytes=_WILCOXON_BYTES):
        one[block], two[block], is_exact[block] = _rank_block(rows)
    exactly = code_of("exact", METHODS), np.where(is_mean(measure), code_of("", LABELS), code_of("numerators", LABELS))
    normal = np.where(is_mean(measure), code_of("normal", LABELS), code_of("normal, numerators", LABELS))
    return assemble(
        {"one-sided": (one, one), "two-sided": (two, two)},
        observed=observed,
        reason=refused,
        method=np.where(is_exact, exactly[0], code_of("asymptotic", METHODS)),
        label=np.where(is_exact, exactly[1], normal),
        about_gain=False,
    )


def _comparable(observed: Observed, refused: NDArray[np.int8]) -> NDArray[np.int64]:
    return np.flatnonzero((refused == 0) & ~observed.identical & np.isfinite(observed.delta))


def _count_signs(
    measure: Measure, observed: Observed, refused: NDArray[np.int8], memory_bytes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    wins, losses = np.zeros((2, len(refused)), np.int64)
    for block, rows in differences(measure, observed, _comparable(observed, refused), memory_bytes=memory_bytes, row_bytes=24):
        wins[block], losses[block] = np.count_nonzero(rows > 0, axis=1), np.count_nonzero(rows < 0, axis=1)
    return wins, losses


def _coins(wins: NDArray[np.int64], losses: NDArray[np.int64], *, mid_p: bool) -> dict[str, Bounds]:
    trials, most = wins + losses, np.maximum(wins, losses)
    one, both = log_binomial_tail(wins, trials), log_binomial_tail(most, trials) + _LN2
    if mid_p:
        # Never more than half of a tail is taken away, so that no digit is lost.
        one = one + np.log1p(-0.5 * np.exp(np.minimum(_log_binomial_term(wins, trials) - one, 0.0)))
        both = both + np.log1p(-np.exp(_log_binomial_term(most, trials) - both))
    both = np.minimum(both, 0.0)
    return {"one-sided": (one, one), "two-sided": (both, both)}


def _rank_block(rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the logarithms of the one-sided and the two-sided p of each row, and whether its law was enumerated."""
    from scipy import stats  # takes half a second to import, and nothing else here needs it

    one, two = np.empty((2, len(rows)))
    discordant = np.count_nonzero(rows, axis=1)
    is_exact = _without_ties(rows, discordant)
    for m in np.unique(discordant[is_exact]).tolist():
        chosen = np.flatnonzero(is_exact & (discordant == m))
        kept = rows[chosen][rows[chosen] != 0].reshape(len(chosen), m).astype(np.float64)
        one[chosen] = np.log(stats.wilcoxon(kept, axis=1, method="exact", alternative="greater").pvalue)
        two[chosen] = np.log(stats.wilcoxon(kept, axis=1, method="exact").pvalue)
    tied = np.flatnonzero(~is_exact & (discordant <= _MIDRANK_UNITS))
    for start in range(0, len(tied), _ROWS):
        some = tied[start : start + _ROWS]
        one[some], two[some] = _midrank_tails(rows[some])
    is_exact[tied] = True
    rest = np.flatnonzero(~is_exact)
    if rest.size:
        asked = rows[rest].astype(np.float64)
        z = stats.wilcoxon(asked, axis=1, zero_method="wilcox", method="asymptotic", alternative="greater").zstatistic
        one[rest], two[rest] = log_ndtr(-z), np.minimum(log_ndtr(-np.abs(z)) + _LN2, 0.0)
    return one, two, is_exact


def _midrank_tails(rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms of both p of rows with ties: W is a sum of doubled midranks, each with probability ½."""
    from scipy import stats

    width = min(_MIDRANK_UNITS, rows.shape[1])
    order = np.argsort(np.abs(rows), axis=1, kind="stable")[:, rows.shape[1] - width :]
    largest = np.take_along_axis(rows, order, axis=1)
    zeros = np.count_nonzero(largest == 0, axis=1)[:, None]  # zeros come first and share the lowest ranks
    ranks = np.where(largest == 0, 0, np.rint(2 * (stats.rankdata(np.abs(largest), axis=1) - zeros))).astype(np.int64)
    total = int(ranks.sum(axis=1).max(initial=0))
    law = np.zeros((len(rows), total + 1))
    law[:, 0] = 1.0
    places = np.arange(total + 1)
    for rank in ranks.T:
        source = places - rank[:, None]
        shifted = np.take_along_axis(law, np.maximum(source, 0), axis=1)
        law = (law + np.where(source >= 0, shifted, 0.0)) / 2
    won = np.where(largest > 0, ranks, 0).sum(axis=1)[:, None]
    above, below = np.where(places >= won, law, 0.0).sum(axis=1), np.where(places <= won, law, 0.0).sum(axis=1)
    return np.log(above), np.log(np.minimum(2 * np.minimum(above, below), 1.0))


def _without_ties(rows: NDArray[np.int64], discordant: NDArray[np.int64]) -> NDArray[np.bool_]:
    result = discordant <= _EXACT_UNITS
    few = np.flatnonzero(result)
    width = min(_EXACT_UNITS, rows.shape[1])
    sizes = np.sort(np.abs(rows[few]), axis=1)[:, rows.shape[1] - width :]
    result[few] = ~np.any((np.diff(sizes, axis=1) == 0) & (sizes[:, 1:] > 0), axis=1)
    return result
