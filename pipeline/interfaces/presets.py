"""Presets as values: what a paper or a tool sets in a study, its own number, and where that misleads.

A preset is data. Code that it names is text, "module:function", which is imported when something is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pipeline.dataclass import dataclass, field
from pipeline.interfaces.metrics import Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Preset", "PresetData", "PresetNumbers", "PresetRule"]


@dataclass(frozen=True)
class PresetRule:
    """One p-value of a preset, and where it comes from: exactly one of ``counts``, ``kept``, ``compute`` and ``analysis``.

    Parameters
    ----------
    procedure : str
        The significance test that it belongs to.
    convention : str
        What is counted, in words of the package.
    counts : tuple of str
        Those of `pipeline.resampling.measures.COUNTS` that are hits.
    plus_one : bool
        Of these counts, (s + 1)/(b + 1) rather than s/b.
    kept : str
        "module:function" that reads it off kept scores, called as `pipeline.inference.conventions.riezler_maxwell` is; the result
        has it as ``own``.
    compute : str
        "module:function" that takes a `PresetData` and returns `PresetNumbers`, where the tool draws for itself.
    analysis : str
        The analysis that has the number, where it is of models with several runs; ``procedure`` is then one of its nulls.
    identical : str
        The number of two identical outputs, for which verdicts have p = 1.
    """

    procedure: str
    convention: str
    counts: tuple[str, ...] = ()
    plus_one: bool = True
    kept: str = ""
    compute: str = ""
    analysis: str = ""
    identical: str = "1"

    def __post_init__(self) -> None:
        if sum(map(bool, (self.counts, self.kept, self.compute, self.analysis))) != 1:
            raise ValueError(f"{self.convention}: exactly one of `counts`, `kept`, `compute` and `analysis` has the number")


@dataclass(frozen=True)
class Preset:
    """A published procedure or tool.

    Parameters
    ----------
    name : str
        As studies and reports have it: that of the entry point, and of the column that holds its own number.
    rules : tuple of PresetRule
        Its numbers. Verdicts never use them.
    replicates : int
        Its default; ours, where the paper names none.
    prints : str
        What the tool prints or the paper reports.
    null : str
        What is tested, in one line.
    misleads : str
        Where the number says something else than it seems to.
    reference : str
    settings : mapping of str to Any
        What else it sets in a study that does not say otherwise, by the path of the key: ``{"resampling.intervals": ["basic"]}``.
    compares_with_baseline : bool
        Its tool compares all systems with one: with `resampling.baseline`, or else with the first output.

    Examples
    --------
    >>> words = {"prints": "p", "null": "none", "misleads": "everywhere", "reference": "Nobody 2001"}
    >>> rule = PresetRule("paired-bootstrap", "below-zero", counts=("below_zero",), plus_one=False)
    >>> dict(Preset("nobody-2001", (rule,), 100, **words, settings={"seed": 1}).values)[("seed",)]
    1
    """

    name: str
    rules: tuple[PresetRule, ...]
    replicates: int
    prints: str
    null: str
    misleads: str
    reference: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    compares_with_baseline: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @property
    def values(self) -> Mapping[tuple[str, ...], Any]:
        """All that it sets, by the keys that lead there: procedures, replicates and unit first."""
        # They draw sentences: none knows of documents.
        # Their numbers are of replicates, and of as many.
        common = {
            "resampling.procedures": self.procedures,
            "resampling.replicates": self.replicates,
            "resampling.method": "monte-carlo",
            "resampling.unit": "item",
        }
        return {tuple(path.split(".")): value for path, value in {**common, **self.settings}.items()}

    @property
    def procedures(self) -> list[str]:
        """The significance tests to which its numbers belong, except those of analyses."""
        return [rule.procedure for rule in self.rules if not rule.analysis]


@dataclass(frozen=True, eq=False)
class PresetData:
    """One metric of one test set, for a tool that draws for itself.

    Parameters
    ----------
    metric : Metric
    systems : int
        How many there are.
    pairs : (pair, 2) int
        Positions of systems.
    load : callable
        Returns the statistics of the systems at some positions, (unit, system, statistic) int64: those of as many systems at once
        as memory holds.
    baseline : int or None
        Position of the system that others are compared with; None where it is not there.
    seed, replicates : int
        The study's: the tool is asked for as many.
    references : int
        How many each unit has.
    """

    metric: Metric
    systems: int
    pairs: NDArray[np.integer]
    load: Callable[[Sequence[int]], NDArray[np.int64]]
    baseline: int | None
    seed: int
    replicates: int
    references: int


@dataclass(frozen=True, eq=False)
class PresetNumbers:
    """A preset's own p-values.

    Parameters
    ----------
    p : (pair,) float64
        nan where there is none.
    why_none : str
        Why those that are nan are: one of `pipeline.cubes.declarations.TOOL_REASONS`.
    """

    p: NDArray[np.float64]
    why_none: str
