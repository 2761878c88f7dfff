"""Pairs that differ on few right-or-wrong units: their exact p, and a scale that makes it comparable to the t of other pairs.

With m < 20 such units t takes few values, whose chances a bootstrap does not know: by its t* a further win may raise p. But the law
of wins is known, since under the null each discordant unit is equally likely to be a loss. So the p of such a pair is that of
McNemar's exact test (McNemar 1947, doi:10.1007/BF02295996), and in a family its t is replaced by the two-sided quantile of that p.

Each t* is also replaced by the quantile of a chance: that of a resample with a t* at least as large, which is known because the law
of wins W* and losses L* in a resample is. Both are quantiles of Student's law with n − 1 degrees of freedom, which the t of a mean
of n units has, so the maximum over all pairs compares like with like. No t* counts for more than m wins without a loss, whose p is
2^(1 − m).
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.inference.direct.scores import gain_of_a_win
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.numerics.special import gammaln, stdtrit, xlogy
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.standard_errors.studentise import Studentised

__all__ = ["FewWins", "mcnemar_of_few"]

_Floats = NDArray[np.float64]

_STEPS, _PLACES = 256, 2048  # of an index of t*: most are below 8


@dataclass(frozen=True, eq=False)
class FewWins:
    """The pairs of a measure that differ on few such units, and what replaces their t and t*.

    Parameters
    ----------
    wins, losses : (pair,) int64
        Of the better system, for pairs that differ on fewer than `FEW_DISCORDANT` units with one of two values each, not drawn
        within strata, and that have a standard error; −1 for other pairs.
    p : (pair,) float64
        McNemar's exact p, two-sided; nan for other pairs.
    counts : (pair,) float64
        What replaces t; nan for other pairs.
    most : (pair,) float64
        The cap of t*; infinite for other pairs.
    slack : (pair,) float64
        The largest difference at which two t* count as equal.
    units : int
        n.
    """

    wins: NDArray[np.int64]
    losses: NDArray[np.int64]
    p: _Floats
    counts: _Floats
    most: _Floats
    slack: _Floats
    units: int

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """(pair,): whether the pair is one of these."""
        return self.wins >= 0

    @classmethod
    def of(cls, measure: Measure, observed: Observed, se: _Floats) -> FewWins:
        """Find these pairs; ``se`` (pair,) is what t divides the gain by."""
        pairs, units = len(se), len(measure.statistics)
        # Draws within strata have another law.
        win = gain_of_a_win(measure) if measure.stratum is None else np.full(pairs, np.nan)
        own = np.flatnonzero((observed.discordant > 0) & (observed.discordant < FEW_DISCORDANT) & np.isfinite(win) & (se > 0))
        m, ahead = observed.discordant[own].astype(np.int64), np.rint(np.abs(observed.delta[own]) / win[own]).astype(np.int64)
        wins, losses = np.full((2, pairs), -1)
        wins[own], losses[own] = (m + ahead) // 2, (m - ahead) // 2
        p, counts, slack = np.full((3, pairs), np.nan)
        most = np.full(pairs, np.inf)
        p[own] = mcnemar_of_few(wins[own], m)
        counts[own], most[own] = (_quantile(chance, units) for chance in (p[own], np.exp2(1.0 - m)))
        # Of one unit, which is the smallest spread that a replicate can have.
        slack[own] = 2 * TOLERANCE * np.abs(observed.score[measure.pairs[own]]).sum(axis=1) / win[own]
        return cls(wins, losses, p, counts, most, slack, units)

    def put_on_scale(self, block: Studentised) -> None:
        """Overwrite the t* of such pairs in a block by what replaces them, without the cap."""
        scales: dict[tuple[int, int], _Scale] = {}
        for row in np.flatnonzero(self.chosen[block.pair]).tolist():
            pair = block.pair[row]
            drawn = int(self.wins[pair]), int(self.losses[pair])
            if drawn not in scales:
                scales[drawn] = _Scale.of(*drawn, self.units)
            _look_up(block.t[row], float(self.slack[pair]), scales[drawn])


def mcnemar_of_few(wins: NDArray[np.integer], discordant: NDArray[np.integer]) -> _Floats:
    """Return 2 P(X ≥ wins), X binomial (m, ½), at most 1: exactly, for m below `FEW_DISCORDANT` and wins not below losses.

    Examples
    --------
    >>> mcnemar_of_few(np.array([7, 7, 3]), np.array([7, 8, 6])).tolist()
    [0.015625, 0.0703125, 1.0]
    """
    return np.asarray(_MCNEMAR[np.asarray(discordant), np.asarray(wins)])


def _mcnemar() -> _Floats:
    found = np.full((FEW_DISCORDANT, FEW_DISCORDANT), np.nan)
    for m in range(FEW_DISCORDANT):
        for wins in range(m + 1):
            found[m, wins] = min(1.0, 2 * sum(comb(m, k) for k in range(wins, m + 1)) / 2**m)
    return found


_MCNEMAR = _mcnemar()


def _quantile(p: _Floats, units: int) -> _Floats:
    """Return the t that has this two-sided p, for a number of units."""
    return np.asarray(-stdtrit(float(units - 1), p / 2) + 0.0, np.float64)


class _Scale(NamedTuple):
    """What resamples count as."""

    size: _Floats  # (some,) |t*| ascending; the last are infinite, of resamples without spread
    counts: _Floats  # (some,) the quantile of the chance of as much or more
    first: NDArray[np.int64]  # of the sizes from k / _STEPS on

    @classmethod
    def of(cls, wins: int, losses: int, units: int) -> _Scale:
        """Tabulate all numbers of wins and losses that can be drawn."""
        most = (min(units, int(k + 10 * np.sqrt(k) + 20)) if k else 0 for k in (wins, losses))  # beyond is less than 1e-14
        drawn = np.indices([end + 1 for end in most]).reshape(2, -1)
        rest = units - drawn.sum(axis=0)
        (won, lost), rest = (of[..., rest >= 0].astype(np.float64) for of in (drawn, rest))
        chance = gammaln(units + 1) - gammaln(won + 1) - gammaln(lost + 1) - gammaln(rest + 1)
        chance += xlogy(won, wins / units) + xlogy(lost, losses / units) + xlogy(rest, 1 - (wins + losses) / units)
        error = np.sqrt((won + lost - (won - lost) ** 2 / units) * units / (units - 1))
        t = np.divide(np.abs(won - lost - (wins - losses)), error, out=np.full(len(won), np.inf), where=error > 0)
        order = np.argsort(t, kind="stable")
        size, reached = t[order], np.cumsum(np.exp(chance)[order][::-1])[::-1]
        counts = np.maximum.accumulate(_quantile(np.minimum(reached, 1.0), units))
        counts[np.isinf(size)] = counts[np.searchsorted(size, np.inf)]
        return cls(size, counts, np.searchsorted(size, np.arange(_PLACES) / _STEPS))


@bare_kernel
def _look_up(t: _Floats, slack: float, scale: _Scale) -> None:
    """Replace (replicate,) t* by what they count as; nan, which has no spread, counts as infinite."""
    size, counts, first = scale
    end = len(size) - 1
    for i in range(len(t)):
        least = abs(t[i]) - slack
        if least < size[end]:  # not so of nan
            place = max(least, 0.0) * _STEPS
            found = first[int(place)] if place < len(first) else first[-1]
            while size[found] < least:
                found += 1
            t[i] = counts[found]
        else:
            t[i] = counts[end]
