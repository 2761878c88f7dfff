"""What published procedures and tools compute, and where it misleads. This module is one table, and reads their own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.measures import COUNTS

__all__ = ["PRESETS", "Preset", "PresetRule", "own_p"]


@dataclass(frozen=True)
class PresetRule:
    """One p-value of a preset.

    Parameters
    ----------
    procedure : str
        What is drawn.
    convention : str
        What is counted, in words of the package.
    counts : tuple of str
        Those of `COUNTS` that are hits; empty where replicates are looked at a second time.
    plus_one : bool
        (s + 1)/(b + 1) rather than s/b.
    identical_hits : bool
        Replicates of identical outputs are hits, all of them; otherwise none is.
    analysis : str
        The analysis that has the number, where it is of models with several runs; ``procedure`` is then one of its nulls. Empty
        where it is read off what was counted of two outputs.
    """

    procedure: str
    convention: str
    counts: tuple[str, ...]
    plus_one: bool
    identical_hits: bool
    analysis: str = ""

    def of_identical(self, replicates: int) -> float:
        """Return the own number for identical outputs; verdicts have p = 1 there.

        Examples
        --------
        >>> PRESETS["sacrebleu-bs"].rules[0].of_identical(1000) == 1 / 1001
        True
        """
        hits, one = replicates if self.identical_hits else 0, int(self.plus_one)
        return (hits + one) / (replicates + one)


@dataclass(frozen=True)
class Preset:
    """A published procedure or tool.

    Parameters
    ----------
    name : str
        Of the preset, and of the column that holds its own number. Verdicts never use it.
    rules : tuple of PresetRule
    replicates : int
        Its default; ours, where the paper names none.
    prints : str
        What the tool prints or the paper reports.
    null : str
        What is tested, in one line.
    misleads : str
        Where the number says something else than it seems to.
    reference : str
    """

    name: str
    rules: tuple[PresetRule, ...]
    replicates: int
    prints: str
    null: str
    misleads: str
    reference: str


_EQUAL = "the expected scores of A and B are equal"
_EXCHANGEABLE = "the outputs of A and B are exchangeable unit by unit"
_TWO_SIDED = ("above_twice_delta", "at_twice_delta", "below_zero", "at_zero")

_ROWS = (
    Preset(
        "koehn-2004",
        (PresetRule("paired-bootstrap", "below-zero", ("below_zero",), plus_one=False, identical_hits=False),),
        1_000,
        "the share of samples in which the better system wins: 1 − p",
        "A is not the better one",
        "One-sided, with the side chosen after looking. Exactly 0 where nothing is lost: one win in 100 units gives p = 0. On "
        "0/1 scores it rejects every null with 1 discordant unit, half of them with 2. Identical outputs have p = 0.",
        "Koehn 2004, W04-3250",
    ),
    Preset(
        "berg-kirkpatrick-2012",
        (PresetRule("paired-bootstrap", "one-sided", ("above_twice_delta",), plus_one=False, identical_hits=False),),
        1_000_000,
        "p(x), one-sided",
        "A is not the better one",
        "One-sided, with the side chosen after looking: read as “A and B differ” it rejects 2α, .10 at .05, and .12 to .26 with "
        "20 discordant units of 100 or of 20. The strict > leaves ties out: identical outputs have p = 0.",
        "Berg-Kirkpatrick, Burkett and Klein 2012, D12-1091, Fig. 1",
    ),
    Preset(
        "riezler-maxwell-2005",
        (
            PresetRule("paired-bootstrap", "riezler-maxwell", (), plus_one=True, identical_hits=True),
            PresetRule("approximate-randomization", "two-sided-plus-one", _TWO_SIDED, plus_one=True, identical_hits=True),
        ),
        10_000,
        "p of both tests, side by side",
        f"bootstrap: {_EQUAL}; randomization: {_EXCHANGEABLE}",
        "The bootstrap test compares the fold of a distribution about δ with that of one about 0: it rejects .110 of nulls at .05 "
        "and .246 at .10, and p is about .43 where δ is 0. What is liberal there is the convention, more than the bootstrap. The "
        "randomization test has its level wherever outputs are exchangeable.",
        "Riezler and Maxwell 2005, W05-0908, Figs. 1 and 2",
    ),
    Preset(
        "sacrebleu-bs",
        (PresetRule("paired-bootstrap", "riezler-maxwell, strict", (), plus_one=True, identical_hits=False),),
        1_000,
        "score (mean ± half width of the percentile interval), then (p = …), starred up to .05",
        _EQUAL,
        "The convention of riezler-maxwell-2005 with > in place of ≥: .110 of nulls at .05. With the tool's default, b = 1000, a p "
        "of .05 has an error of ± .014. The interval is of the system's own score: two that overlap say nothing of the difference. "
        "Identical outputs have p = 1/(b + 1).",
        "Post 2018, W18-6319, doi:10.18653/v1/W18-6319; sacreBLEU 2.6, --paired-bs",
    ),
    Preset(
        "sacrebleu-ar",
        (
            PresetRule(
                "approximate-randomization",
                "two-sided-plus-one, strict",
                ("above_twice_delta", "below_zero"),
                plus_one=True,
                identical_hits=False,
            ),
        ),
        10_000,
        "score, then (p = …), starred up to .05",
        _EXCHANGEABLE,
        "The strict > does not count swaps that gain as much as was observed: on 0/1 scores with 20 discordant units it rejects "
        ".115 of nulls at .05 where ≥ rejects .041; on BLEU of many segments ties are rare. Identical outputs have "
        "p = 1/(b + 1).",
        "Post 2018, W18-6319, doi:10.18653/v1/W18-6319; sacreBLEU 2.6, --paired-ar",
    ),
    Preset(
        "multeval",
        (PresetRule("multeval", "two-sided-plus-one, strict", (), plus_one=True, identical_hits=False, analysis="replicas"),),
        10_000,
        "p of each system against the baseline",
        "the outputs of A and B are exchangeable segment by segment, whatever optimizer run they come from",
        "Outputs of a segment go to X by a permutation of run numbers and to Y by its inverse: from three runs on some stand in "
        "both and some in neither, and X and Y come too near to each other. Where all outputs are independent it rejects .074, "
        ".101, .129 of nulls at .05 with 3, 5, 10 runs, and more where runs differ as a whole or segments suit a system: new runs "
        "are no part of its claim. It scores pooled runs. The strict > leaves ties out: identical systems have p = 1/(b + 1).",
        "Clark, Dyer, Lavie and Smith 2011, P11-2031",
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ROWS})
"""By name. A tool's own number stands in a column of that name."""


def own_p(rule: PresetRule, counts: NDArray[np.integer], replicates: NDArray[np.integer]) -> NDArray[np.float64]:
    """Read the own number of a rule off three-way counts: no exception is made for ties or for identical outputs.

    Parameters
    ----------
    rule : PresetRule
        One that has ``counts``.
    counts : (pair, 8) int
        In the order of `COUNTS`, summed over cells.
    replicates : (pair,) int
        b.

    Returns
    -------
    (pair,) float64
        nan without replicates.

    Examples
    --------
    >>> counts = np.array([[2, 1, 0, 0, 3, 4, -1, -1]])
    >>> own_p(PRESETS["koehn-2004"].rules[0], counts, np.array([100])).tolist()
    [0.02]
    """
    if not rule.counts:
        raise ValueError(f"{rule.convention} is not read off counts")
    if counts.shape != (len(replicates), len(COUNTS)):
        raise ValueError(f"counts {counts.shape} and {len(replicates)} replicates are not of the same pairs")
    # With δ = 0 the thresholds 0 and 2δ are one, and ties would be counted twice.
    hits = np.minimum(counts[:, [COUNTS.index(name) for name in rule.counts]].astype(np.int64).sum(axis=1), replicates)
    one = int(rule.plus_one)
    return np.where(replicates > 0, (hits + one) / np.maximum(replicates + one, 1), np.nan)
