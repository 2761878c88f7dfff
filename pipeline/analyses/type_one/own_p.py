"""The p that a study's preset prints, of every null data set: what its paper or tool rejects where nothing differs.

Verdicts never use it. Where it is a convention that the laboratory shows anyhow, it has no row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.p_values import counted_p
from pipeline.interfaces import PresetRule, Procedure
from pipeline.plugins import import_function
from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.null_laboratory import SHARED, NullCounts

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["OwnP", "own_rules", "say_own"]

_MOST_REPLICATES = 2**27 // (2 * 8 * SHARED)  # 128 MiB of the scores that a p is read off together
_DRAWS = "the tool draws for itself, which thousands of data sets would take too long"
_AT_ONCE = "it is read off all replicates at once, and there are more than {most:,}"
_MARGIN = "a count with a margin, which null data sets do not have"


def own_rules(cube: xr.Dataset) -> tuple[PresetRule, ...]:
    """Return the numbers of the study's preset that null data sets are asked for: those of tests that are asked in bulk."""
    facts = cube.attrs.get("preset") or {}
    if facts.get("name") not in PRESETS:
        return ()
    rules = [rule for rule in PRESETS[facts["name"]].rules if not rule.analysis and rule.procedure in PROCEDURES]
    return tuple(rule for rule in rules if _is_asked(rule, PROCEDURES[rule.procedure]))


def _is_asked(rule: PresetRule, known: Procedure) -> bool:
    """Tell whether the laboratory has what the rule needs, and not yet a row of its convention."""
    return bool(known.nulls) and rule.convention not in known.nulls_shown and (known.nulls == "resampled" or not rule.kept)


def say_own(cubes: Sequence[xr.Dataset]) -> tuple[str, ...]:
    """Say what these rows are, once a preset; nothing where no study's preset has one."""
    told = {
        f"{rule.convention} is what {cube.attrs['preset']['name']} itself prints for {rule.procedure}: no verdict uses it."
        for cube in cubes
        for rule in own_rules(cube)
    }
    return tuple(sorted(told))


class OwnP:
    """The own p of one preset's rules on the null data sets of a pair.

    Parameters
    ----------
    rules : sequence of PresetRule
        From `own_rules`.
    nulls, replicates : int
        Null data sets, and resamples of each.
    """

    def __init__(self, rules: Sequence[PresetRule], *, nulls: int, replicates: int) -> None:
        self._rules = rules
        kept = [rule for rule in rules if rule.kept and replicates <= _MOST_REPLICATES]
        self._kept = {rule: np.full(nulls, np.nan) for rule in kept}

    @property
    def looks(self) -> bool:
        """Some number is read off scores, which must be held for it."""
        return bool(self._kept)

    def look(self, first: int, scores: NDArray[np.float64], score: NDArray[np.float64], delta: NDArray[np.float64]) -> None:
        """Read numbers off the scores of null data sets from ``first`` on.

        Parameters
        ----------
        first : int
        scores : (side, null, replicate) float64
        score : (side, null) float64
        delta : (null,) float64
        """
        nulls = len(delta)
        sides = np.stack([np.arange(nulls), nulls + np.arange(nulls)], axis=1)  # rows of all first sides, then of all second ones
        for rule, p in self._kept.items():
            found = import_function(rule.kept)(
                scores.reshape(2 * nulls, -1), sides, score=score.ravel(), delta=delta, identical=np.zeros(nulls, np.bool_)
            )
            p[first : first + nulls] = found.own

    def read(
        self, resampled: NullCounts, swapped: NullCounts
    ) -> Iterator[tuple[PresetRule, NDArray[np.float64] | None, str | None]]:
        """Yield each rule with its p of every null data set, or with the reason why it has none.

        Parameters
        ----------
        resampled, swapped : NullCounts
            Of all null data sets.
        """
        for rule in self._rules:
            p, reason = self._kept.get(rule), None
            if rule.counts and not _has_margin(rule):
                counted = swapped if PROCEDURES[rule.procedure].nulls == "swapped" else resampled
                p = counted_p(rule.counts, counted.counts, counted.defined, plus_one=rule.plus_one)
            elif p is None:
                reason = _MARGIN if rule.counts else _DRAWS if rule.compute else _AT_ONCE.format(most=_MOST_REPLICATES)
            yield rule, p, reason


def _has_margin(rule: PresetRule) -> bool:
    return any(name.startswith("margin") for name in rule.counts)
