"""The declaration of a cube's variable, and the variables that belong together.

- `Variable`, the declaration.
- What codes mean, by position: the words that stand in the attributes of variables, once.
- The p-values that decide verdicts, and every adjustment beside them (`DECISIONS`).
- The shape of the units' influence on each pair (`UNIT_SHAPES`), the effect of units and documents (`UNIT_EFFECTS`), and the most
  influential unit (`INFLUENCE`).
- All other variables are declared in `variables`, which puts the whole table together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.dataclass import dataclass, field

__all__ = [
    "BCA",
    "DECISIONS",
    "HOLM",
    "INFLUENCE",
    "INTERVAL_REASONS",
    "MAX_T",
    "METHODS",
    "P_LABELS",
    "P_REASONS",
    "TAIL_REASONS",
    "TOOL_REASONS",
    "UNDECIDED",
    "UNIT_EFFECTS",
    "UNIT_REASONS",
    "UNIT_SHAPES",
    "Variable",
]


@dataclass(frozen=True)
class Variable:
    """One declared variable.

    ``fill`` is read where nothing was written. ``chunks`` overrides `CHUNKS` for single dimensions; ``inner`` cuts chunks again.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    fill: Any
    units: str
    description: str
    reference: str = ""
    chunks: Mapping[str, int] = field(default_factory=dict)
    inner: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes stored with the numbers."""
        attributes: dict[str, Any] = {"units": self.units, "description": self.description}
        if self.reference:
            attributes["reference"] = self.reference
        if self.flags:
            attributes |= {"flag_values": list(range(len(self.flags))), "flag_meanings": " ".join(self.flags)}
        return attributes


METHODS = ("monte-carlo", "exact", "tail", "definition", "asymptotic")
"""Of ``method`` and ``tail_method``; by definition p is 1 where systems are identical or score the same."""

P_REASONS = (
    "none",
    "identical",
    "no-order",
    "undefined-score",
    "not-a-ratio",
    "denominators-differ",
    "negative-denominators",
    "not-a-mean-of-units",
    "not-0/1",
    "integers-too-large",
    "one-unit",
    "undefined-without-a-unit",
    "no-spread",
    "out-of-reach",
    "not-asked",
    "within-strata",
    "no-defined-replicate",
)
"""Of ``p_reason``: why a pair has no ordinary p-value."""

P_LABELS = (
    "none",
    "model-tail",
    "mid-p",
    "t-law",
    "jackknife-t",
    "numerators",
    "normal",
    "normal-numerators",
    "saddlepoint",
)
"""Of ``p_label`` and ``tail_label``: what must be said beside a number."""

TAIL_REASONS = (
    "none",
    "enough-replicates",
    "by-definition",
    "beyond-the-budget",
    "no-exact-law",
    "out-of-reach",
    "within-strata",
    "not-asked",
)
"""Of ``tail_reason``: why a pair has no computed tail beside its counted p-values."""

INTERVAL_REASONS = (
    "none",
    "identical",
    "undefined",
    "no-standard-error",
    "no-spread",
    "too-few-replicates",
    "no-correction",
    "not-in-the-family",
    "not-a-ratio",
    "rounding",
    "not-0-1",
    "no-max-t",
)
"""Of ``interval_reason``: why a pair has no interval."""

TOOL_REASONS = (
    "none",
    "not-with-the-baseline",
    "not-a-metric-of-the-tool",
    "not-a-seed-of-the-tool",
    "too-many-draws",
    "no-kept-replicates",
    "no-replicate",
)
"""Of ``tool_reason``: why a pair has no number of the tool's own."""

UNDECIDED = ("none", "few-units", "rare-losses", "failures-of-others")
"""Of ``undecided``: why a small p of a pair decides nothing."""

_NAN = float("nan")
_PAIRS = ("metric", "test_size", "pair")
MAX_T = "Romano & Wolf 2005, doi:10.1198/016214504000000539"
HOLM = "Holm 1979, Scand. J. Statist. 6(2), 65-70; Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x"

DECISIONS = (
    Variable(
        "p",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "two-sided p-value of the pair by itself, as reports print it: p_studentised where max-T decides, else by the procedure's "
        "convention and corrected for few units; never 0, and never above p_adjusted",
        "Phipson & Smyth 2010, doi:10.2202/1544-6115.1585",
    ),
    Variable(
        "p_studentised",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "share (s + 1)/(b + 1) of replicates whose |δ* − δ|, divided by a standard error of their own, is at least |δ| / max_t_se; "
        "exact where units are right or wrong and fewer than 20 differ; NaN without such a standard error, or without max-T",
        "Hall 1988, doi:10.1214/aos/1176350933",
    ),
    Variable(
        "max_t_se",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "points",
        "standard error that max-T divides the observed gain by, from linearised influence values",
        MAX_T,
    ),
    Variable(
        "max_t_largest",
        ("procedure", "metric", "test_size", "max_t_replicate"),
        "float64",
        _NAN,
        "1",
        "largest |δ* − δ| / se* of all pairs of the family on each replicate, in ascending order; a pair with an exact p takes "
        "part with quantiles of exact p; infinite where any is undefined. Its 1 − α quantile is the critical value of all pairs",
        MAX_T,
    ),
    Variable(
        "p_few_units",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "two-sided p-value of a bootstrap, corrected for few units by Student's t, that Holm adjusts; NaN for other procedures",
        "Hesterberg 2015, doi:10.1080/00031305.2015.1089789",
    ),
    Variable(
        "p_adjusted",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "p-value that decides the verdict: two-sided, adjusted for its family, which is all pairs of this test set, metric, test "
        "size and procedure, or those with the baseline; by studentised max-T for the paired bootstrap at the full size, unless "
        "that is beyond its budget, and by Holm otherwise",
        f"{MAX_T}; {HOLM}",
    ),
    Variable(
        "undecided",
        ("procedure", *_PAIRS),
        "int8",
        -1,
        "1",
        "why p_adjusted decides nothing, however small it is; -1 where nothing was written",
        flags=UNDECIDED,
    ),
    Variable(
        "p_by_adjustment",
        ("procedure", "convention", "adjustment", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "p-values of every convention by every adjustment; max-t is studentised, from the kept replicates; the others are not "
        "corrected for few units; p_adjusted is the one that decides",
        f"{HOLM}; {MAX_T}",
    ),
)
"""For each pair and procedure; the last one for each convention and adjustment too."""


BCA = "DiCiccio & Efron 1996, doi:10.1214/ss/1032280214"

UNIT_SHAPES = (
    Variable(
        "acceleration",
        _PAIRS,
        "float64",
        _NAN,
        "1",
        "skewness of the units' influence on the gain of system_a, divided by 6 times the square root of their number",
        BCA,
    ),
    Variable("kurtosis", _PAIRS, "float64", _NAN, "1", "kurtosis of the units' influence on the gain; 3 for a Gaussian"),
)
"""For each pair."""


_DONNER_KOVAL = "Donner & Koval 1980, doi:10.2307/2530491"
KISH = "Kish 1965, Survey Sampling, ISBN 0-471-10949-5"

UNIT_REASONS = ("none", "undefined-influence", "no-variation", "one-unit", "one-item-a-unit")
"""Codes of the variable ``unit_effect_reason``, by position: why a pair has no intra-cluster correlation."""

UNIT_EFFECTS = (
    Variable(
        "intra_cluster_correlation",
        _PAIRS,
        "float64",
        _NAN,
        "1",
        "correlation between items of one unit, or of one document where items are the units, in their influence on the gain",
        _DONNER_KOVAL,
    ),
    Variable(
        "design_effect",
        _PAIRS,
        "float64",
        _NAN,
        "1",
        "variance of the gain if units are drawn, divided by that if items are; for documents where items are the units",
        KISH,
    ),
    Variable(
        "unit_effect_reason",
        _PAIRS,
        "int8",
        -1,
        "1",
        "why there is no intra-cluster correlation; -1 where nothing was written",
        flags=UNIT_REASONS,
    ),
)
"""The effect of units on each pair; only where items are known to belong to units or documents."""

_INFLUENCE = "Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 21, doi:10.1201/9780429246593"

INFLUENCE = (
    Variable(
        "largest_share",
        _PAIRS,
        "float64",
        _NAN,
        "1",
        "share of the gain's jackknife variance that comes from the most influential unit",
        _INFLUENCE,
    ),
    Variable("largest_unit", _PAIRS, "int64", -1, "1", "position of that unit from 0, by first items; -1 where there is none"),
    Variable(
        "delta_without",
        _PAIRS,
        "float64",
        _NAN,
        "points",
        "observed gain of system_a over system_b without that unit",
        _INFLUENCE,
    ),
    Variable(
        "gain_of_a_win",
        _PAIRS,
        "float64",
        _NAN,
        "points",
        "gain of a system from one unit that only it has right, where units score one of two values such as 0 and 1; else NaN",
    ),
)
"""The effect of single units on each pair."""
