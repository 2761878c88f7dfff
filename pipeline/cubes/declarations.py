"""The declaration of a cube's variable, and the variables that belong together.

- `Variable`, the declaration.
- What codes mean, by position: the words that stand in the attributes of variables, once.
- The p-values by which pairs are judged, and every adjustment beside them (`DECISIONS`).
- What the units of each pair look like (`UNIT_SHAPES`), what they do to it (`UNIT_EFFECTS`), and the one it hangs on (`INFLUENCE`).
- All others are declared in `variables`, which puts the whole table together.
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

    ``fill`` stands where nothing was written. ``chunks`` overrides `CHUNKS` for single dimensions; ``inner`` cuts chunks again.
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
"""Of ``undecided``: why a small p of a pair is no verdict."""

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
        "two-sided p-value of the pair by itself, of the test that it is judged by, as reports print it: where max-T decides "
        "p_studentised, else by the procedure's convention and corrected for few units; never 0, and never above p_adjusted",
        "Phipson & Smyth 2010, doi:10.2202/1544-6115.1585",
    ),
    Variable(
        "p_studentised",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "share (s + 1)/(b + 1) of replicates whose |δ* − δ| over a standard error of their own is as large as |δ| / max_t_se; "
        "exact where fewer than 20 units differ, right or wrong; NaN without such a standard error, and where max-T is not made",
        "Hall 1988, doi:10.1214/aos/1176350933",
    ),
    Variable(
        "max_t_se",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "points",
        "what max-T divides the observed gain by: the standard error by linearised influence values",
        MAX_T,
    ),
    Variable(
        "max_t_largest",
        ("procedure", "metric", "test_size", "max_t_replicate"),
        "float64",
        _NAN,
        "1",
        "largest |δ* − δ| / se* of all pairs of the family on a replicate, ascending, of pairs with an exact p what that counts "
        "for; infinite where it is undefined for any. Its 1 − α quantile is the critical value of all pairs together",
        MAX_T,
    ),
    Variable(
        "p_few_units",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "two-sided p-value of a bootstrap corrected for few units by Student's t, as Holm adjusts it; NaN for other procedures",
        "Hesterberg 2015, doi:10.1080/00031305.2015.1089789",
    ),
    Variable(
        "p_adjusted",
        ("procedure", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "the p-value that the pair is judged by: two-sided, adjusted for its family, all pairs of this test set, metric, test size "
        "and procedure, or those with the baseline; of the paired bootstrap at the full size by studentised max-T, else by Holm",
        f"{MAX_T}; {HOLM}",
    ),
    Variable(
        "undecided",
        ("procedure", *_PAIRS),
        "int8",
        -1,
        "1",
        "why p_adjusted is no verdict however small it is; -1 where nothing was written",
        flags=UNDECIDED,
    ),
    Variable(
        "p_by_adjustment",
        ("procedure", "convention", "adjustment", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "p-values of every convention by every adjustment, not corrected for few units but by max-t, which is studentised and read "
        "off the kept replicates; `p_adjusted` is the one that decides",
        f"{HOLM}; {MAX_T}",
    ),
)
"""Of each pair and procedure; the last one of each convention and adjustment too."""


BCA = "DiCiccio & Efron 1996, doi:10.1214/ss/1032280214"

UNIT_SHAPES = (
    Variable(
        "acceleration",
        _PAIRS,
        "float64",
        _NAN,
        "1",
        "a sixth of the skewness of the units' influence on the gain of system_a, over the root of their number",
        BCA,
    ),
    Variable("kurtosis", _PAIRS, "float64", _NAN, "1", "of the units' influence on the gain, 3 of a Gaussian"),
)
"""Of each pair."""


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
        "of the items' influence on the gain, within units, or within documents where items are the units",
        _DONNER_KOVAL,
    ),
    Variable(
        "design_effect",
        _PAIRS,
        "float64",
        _NAN,
        "1",
        "variance of the gain where units are drawn over that where items are; of documents where items are the units",
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
"""What units do to each pair; only where items are known to stand in units or documents."""

_INFLUENCE = "Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 21, doi:10.1201/9780429246593"

INFLUENCE = (
    Variable(
        "largest_share",
        _PAIRS,
        "float64",
        _NAN,
        "1",
        "share of the gain's jackknife variance that comes from the one unit of the largest influence",
        _INFLUENCE,
    ),
    Variable(
        "largest_unit", _PAIRS, "int64", -1, "1", "position of that unit, in the order of first items; -1 where there is none"
    ),
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
        "what one unit that only one of the systems has right adds to its gain, where units score one of two values such as 0 and "
        "1; NaN elsewhere",
    ),
)
"""What single units do to each pair."""
