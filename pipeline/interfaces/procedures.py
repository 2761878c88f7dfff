"""Significance tests as values: assumptions, requirements, computation, and the text for reports.

A procedure is data. Where it names code (`compute`, `counter`), that is text, "module:function", which is imported when something
is computed: listing procedures, checking a study and planning it load neither SciPy nor Numba. A function in the same module as the
value imports them itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pipeline.dataclass import dataclass, field

__all__ = ["Method", "Procedure"]

_OF_DRAWS = ("bias", "count", "interval", "replicates", "empty_replicates")


@dataclass(frozen=True)
class Method:
    """A method that was used, as a report lists it.

    Parameters
    ----------
    name, formula, words, reference : str
        What it is called, its formula, what it means, and the publication.
    link : str or None
        The DOI as a URL, where there is one.
    """

    name: str
    formula: str
    words: str
    reference: str
    link: str | None = None


@dataclass(frozen=True)
class Procedure:
    """A significance test of two systems on the same units.

    The defaults are those of a test that is computed from the statistics of units and draws nothing.

    Parameters
    ----------
    name : str
        As studies, cubes and reports have it: that of the entry point.
    title : str
        As a paper names it, with its article: "the sign test".
    null : str
        What is tested, in one line.
    when : str
        When to prefer it, to follow "prefer it".
    formula : str
        Of the p that verdicts use.
    methods : tuple of Method
        What it computes, with references.
    page : str or None
        Where it is documented: a path in this repository, or an address.
    compute : str
        "module:function" of ``f(measure, observed, *, budget, memory_bytes)``, which returns a
        `pipeline.inference.direct.result.DirectP`; empty where replicates are drawn.
    part : str
        Where ``compute`` computes several procedures at once, which of them this is: the function is called with ``parts`` too and
        returns a mapping.
    counter : str
        "module:function" that counts the replicates of a block of cells; empty where nothing is drawn. It is called as those of
        `pipeline.tasks.resample` are.
    also_called : tuple of str
        What other tools and papers call it: who asks for it by such a name is told ours.
    default : bool
        Studies that name no procedure have this one.
    keeps_scores : bool
        Its replicates are scores of single systems, which `keep_replicates` can keep; otherwise each pair has its own.
    tests_margin : bool
        It can test whether a difference is within a margin; otherwise it knows no null but "no difference".
    strata : {"drawn", "apart", "refused"}
        What `resampling.strata` means to it: its units are drawn within them; it draws no units, and they change nothing; it
        would have another law within strata, which is not built.
    needs_ratio : bool
        It is about differences of units, which only a score that is a ratio of sums over units has.
    conventions : tuple of str
        Those of `pipeline.inference.p_values.CONVENTIONS` that mean something here; the p-values of the others are nan.
    verdict : str
        The convention that verdicts use.
    leads : str
        The convention whose p leads the rows of pairs.
    one_sided : str or None
        What the convention ``one-sided`` is here, where it is another thing than #(δ* > 2δ)/b.
    centred_at_gain : bool
        Replicates are centred at the observed gain, so that mean δ* − δ is a bias.
    gives_interval : bool
        Their spread about it gives an interval of the gain.
    has_tails : bool
        Counted p-values that are very small have computed ones beside them.
    needs_units : bool
        p holds for many units only, and is too small with few of them.
    few_units : bool
        With few units p can be corrected by Student's t, and verdicts use no p that is not; t tests are corrected by themselves.
    of_gain : bool
        Its null is that there is no gain. Tests of signs or ranks have another: they may reject where there is none, and for the
        system that is behind.
    mid_p : bool
        Half of the observed outcome's chance is left out of p: its floor is half of that of an exact test.
    backs_others : bool
        Its p is the exact one that stands beside those of procedures that need many units.
    limit_of : str
        The procedure that draws what this one computes, if any: of scores with many different values that is expensive.
    nulls : {"", "resampled", "swapped"}
        How null data sets are tested by it in bulk, if they are whether a study asks for it or not.
    nulls_shown : tuple of str
        The conventions that are then shown.
    missing : mapping of str to str
        Fields of a pair that it has no value for, and why; of one that draws nothing those that need draws are known.
    unchecked : str or None
        What it supposes that no number of the report can show.

    Examples
    --------
    >>> words = {"title": "the coin test", "null": "either system wins", "when": "never", "formula": "½"}
    >>> coin = Procedure("coin", **words, compute="coins:toss")
    >>> coin.draws, coin.missing["bias"]
    (False, 'Coin test: nothing is drawn, so there is none')
    """

    name: str
    title: str
    null: str
    when: str
    formula: str
    methods: tuple[Method, ...] = ()
    page: str | None = None
    compute: str = ""
    part: str = ""
    counter: str = ""
    also_called: tuple[str, ...] = ()
    default: bool = False
    keeps_scores: bool = False
    tests_margin: bool = False
    strata: Literal["drawn", "apart", "refused"] = "refused"
    needs_ratio: bool = False
    conventions: tuple[str, ...] = ("one-sided", "two-sided")
    verdict: str = "two-sided"
    leads: str = "two-sided"
    one_sided: str | None = None
    centred_at_gain: bool = False
    gives_interval: bool = False
    has_tails: bool = False
    needs_units: bool = False
    few_units: bool = False
    of_gain: bool = True
    mid_p: bool = False
    backs_others: bool = False
    limit_of: str = ""
    nulls: Literal["", "resampled", "swapped"] = ""
    nulls_shown: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    unchecked: str | None = None

    def __post_init__(self) -> None:
        if bool(self.compute) == bool(self.counter):
            raise ValueError(f"{self.name}: either `compute` or `counter` names its code, and not both")
        # Thresholds read the one-sided p, verdicts and rows their own.
        absent = sorted({"one-sided", self.verdict, self.leads} - set(self.conventions))
        if absent:
            raise ValueError(f"{self.name}: its conventions are {', '.join(self.conventions)}, without {', '.join(absent)}")
        named = self.title.removeprefix("the ")
        known = (
            {} if self.draws else dict.fromkeys(_OF_DRAWS, f"{named[:1].upper()}{named[1:]}: nothing is drawn, so there is none")
        )
        object.__setattr__(self, "missing", MappingProxyType(known | dict(self.missing)))

    @property
    def draws(self) -> bool:
        """It counts replicates, in tasks of their own; otherwise its p-values are computed when a cube is collected."""
        return bool(self.counter)
