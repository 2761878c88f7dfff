"""Test sets drawn from a population of units, and the p-value of every pair on each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.drawn_test_sets import bootstrap_pairs
from pipeline.dataclass import dataclass
from pipeline.interfaces import ScoredStatistics
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_units

__all__ = ["DrawnTestSets", "PairsOnDraw"]

_PURPOSE = "calibration-iid"


@dataclass(frozen=True, eq=False)
class PairsOnDraw:
    """What the pairs are on a drawn test set.

    Parameters
    ----------
    sign : (pair,) int8
        Of the gain of the first system over the second; 0 where the two score the same or a score is undefined.
    p : (pair,) float64
        One-sided and strict, of the pair turned so that its gain is positive: #(δ* > 2δ) / b; nan where the sign is 0.
    """

    sign: NDArray[np.int8]
    p: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DrawnTestSets:
    """Test sets of ``units`` units, drawn with replacement from those of a population, and their bootstrap.

    Parameters
    ----------
    population : (unit, system, statistic) int64
    scored : ScoredStatistics
        What scores the sums.
    pairs : (pair, 2) int64
        Positions of systems.
    units, drawn, replicates : int
        Units of a drawn test set, how many are drawn, and the bootstrap replicates of each.
    seed : int
    test_set : str
        The population's name; with the seed it makes the address of the draws.
    """

    population: NDArray[np.int64]
    scored: ScoredStatistics
    pairs: NDArray[np.int64]
    units: int
    drawn: int
    replicates: int
    seed: int
    test_set: str

    def compare_all(self) -> Iterator[PairsOnDraw]:
        """Bootstrap one drawn test set after the other: of a thousand systems all of them would be gigabytes."""
        return map(self._compare, range(self.drawn))

    def draw(self, number: int) -> NDArray[np.int64]:
        """Return the units of a drawn test set, (units,) positions in the population."""
        return draw_units(Draws(self._key("test sets"), len(self.population), self.units), number)

    def _compare(self, number: int) -> PairsOnDraw:
        # Test sets have resamples of their own: shared ones would make their p-values dependent.
        draws = Draws(self._key(f"resamples of {number}"), self.units, self.units)
        found = bootstrap_pairs(self.population[self.draw(number)], self.scored, self.pairs, draws, replicates=self.replicates)
        sign = np.where(np.isfinite(found.p), np.sign(found.delta), 0).astype(np.int8)
        return PairsOnDraw(sign, found.p)

    def _key(self, rule: str) -> int:
        return draw_key(seed=self.seed, purpose=_PURPOSE, test_set=self.test_set, size=str(self.units), rule=rule)
