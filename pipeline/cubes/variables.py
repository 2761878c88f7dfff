"""Every variable of a cube, declared once: dimensions, type, units, meaning and where it is defined.

Counts, sums, histogram and p-values are for the pair *ordered so that the observed gain δ is not negative*: for (``system_b``,
``system_a``) where ``observed_delta`` is below zero, and in the order of the statistics of both where it is zero. δ* is the
difference on one replicate, b the number of replicates. For approximate-randomization δ* means δ + δ°, with δ° the difference
after the swaps of one replicate: δ* < 0, = 0, < δ, = δ, = 2δ, > 2δ are δ° < −δ, = −δ, < 0, = 0, = δ, > δ.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.cubes.declarations import (
    BCA,
    DECISIONS,
    INFLUENCE,
    INTERVAL_REASONS,
    MAX_T,
    METHODS,
    P_LABELS,
    P_REASONS,
    TAIL_REASONS,
    TOOL_REASONS,
    UNIT_EFFECTS,
    UNIT_SHAPES,
    Variable,
)

__all__ = ["CHUNKS", "COORDINATES", "COUNTS", "STATISTICS", "SUMS", "TABLE", "VARIABLES"]

CHUNKS: Mapping[str, int] = {
    "metric": 1,
    "procedure": 1,
    "test_size": 1,
    "system": 16,
    "pair": 4096,
    "cell": 64,
    "replicate": 2**14,
    "item": 2**16,
}
"""Length of a chunk along each dimension, where a variable is large (`pipeline.cubes.layout.SMALL_BYTES`); others are not cut.
Chunks never depend on blocks or workers.

Conventions, adjustments and methods of intervals are not cut: they are written together, and a further file would take longer than
their numbers."""

BERG_KIRKPATRICK = (
    "Berg-Kirkpatrick, Burkett & Klein 2012, An Empirical Investigation of Statistical Significance in NLP, EMNLP, ACL D12-1091"
)
EFRON = "Efron & Tibshirani 1993, An Introduction to the Bootstrap, doi:10.1201/9780429246593"
CLOPPER_PEARSON = "Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404"
PITMAN = "Pitman 1937, doi:10.2307/2984124"
TAILS = "Davison & Hinkley 1997, Bootstrap Methods and their Application, doi:10.1017/CBO9780511802843"


_NAN = float("nan")
_SYSTEM = ("metric", "test_size", "system")
_PAIRS = ("metric", "test_size", "pair")
_CELLS = ("procedure", *_PAIRS, "cell")
_TESTS = ("procedure", "convention", *_PAIRS)


def _count(name: str, meaning: str) -> Variable:
    return Variable(f"count_{name}", _CELLS, "int32", -1, "replicates", f"replicates of the cell {meaning}", BERG_KIRKPATRICK)


def _sum(name: str, formula: str) -> Variable:
    return Variable(f"sum_{name}", _CELLS, "float64", _NAN, "points", f"{formula}, summed over the replicates of the cell", EFRON)


def _code(name: str, dims: tuple[str, ...], meaning: str, flags: tuple[str, ...]) -> Variable:
    return Variable(name, dims, "int8", -1, "1", meaning, flags=flags)


def _shift(name: str, formula: str) -> Variable:
    meaning = f"{formula} over all replicates; NaN where these are not centred at δ"
    return Variable(name, ("procedure", *_PAIRS), "float64", _NAN, "points", meaning, EFRON)


COUNTS = (
    _count("below_zero", "with δ* < 0"),
    _count("at_zero", "with δ* = 0"),
    _count("below_delta", "with δ* < δ"),
    _count("at_delta", "with δ* = δ"),
    _count("at_twice_delta", "with δ* = 2δ"),
    _count("above_twice_delta", "with δ* > 2δ"),
    _count("margin_above", "with δ* ≥ 2δ + margin; -1 where no margin is given"),
    _count("margin_below", "with δ* ≤ 2δ − margin; -1 where no margin is given"),
)
"""In the order of the last axis of a block's counts."""

SUMS = (
    _sum("shift", "δ* − δ"),
    _sum("squared_shift", "(δ* − δ)²"),
    _sum("absolute", "|δ*|, after swaps |δ°|"),
)
"""In the order of the last axis of a block's sums."""

TABLE = (
    Variable(
        "p_value",
        _TESTS,
        "float64",
        _NAN,
        "1",
        "p-value by the convention; NaN where the convention does not apply to the procedure",
        BERG_KIRKPATRICK,
    ),
    Variable("log10_p", _TESTS, "float64", _NAN, "1", "decimal logarithm of p_value; NaN where that is 0"),
    Variable(
        "tail_p",
        _TESTS,
        "float64",
        _NAN,
        "1",
        "computed p-value of a pair with fewer than ten replicates against its gain by some convention; below 1e-6 it is the tail "
        "of the resampling model, which the data cannot tell from other models",
        TAILS,
    ),
    Variable("tail_log10_p", _TESTS, "float64", _NAN, "1", "decimal logarithm of tail_p, however small; NaN where that is 0"),
    Variable("tail_p_error", _TESTS, "float64", _NAN, "1", "half the width of an enclosure of tail_p, or of a 95 % interval"),
    _code("tail_method", _TESTS, "how tail_p was computed; -1 where there is none", METHODS),
    _code("tail_label", _TESTS, "what must be said beside tail_p; -1 where there is none", P_LABELS),
    _code(
        "tail_reason",
        ("procedure", *_PAIRS),
        "why a pair has no tail_p by any convention; -1 where the procedure has none, or its p-values are exact",
        TAIL_REASONS,
    ),
    Variable("p_error", _TESTS, "float64", _NAN, "1", "Monte-Carlo error: half the width of a 95 % interval", CLOPPER_PEARSON),
    _code("method", _TESTS, "how p_value was found; -1 where there is none", METHODS),
    _code("p_label", _TESTS, "what must be said beside p_value; -1 where there is none", P_LABELS),
    _code(
        "p_reason",
        ("procedure", *_PAIRS),
        "why a pair has no p-value at all, or one that is 1 by definition; -1 where nothing was written",
        P_REASONS,
    ),
    Variable(
        "stable",
        _TESTS,
        "bool",
        False,
        "1",
        "whether both bounds of the unadjusted p-value, at level 1 - .01/K for K pairs, are on one side of the study's level",
    ),
    _shift("bias", "mean of δ* − δ"),
    _shift("replicate_se", "standard deviation of δ*"),
    *DECISIONS,
    Variable(
        "max_t_replicates",
        ("procedure", *_PAIRS),
        "int64",
        -1,
        "replicates",
        "b of the max-t p-value (s + 1)/(b + 1), from which s follows; -1 where it needs no replicates, or there is none",
        MAX_T,
    ),
    Variable(
        "interval",
        ("procedure", "interval_method", *_PAIRS, "bound"),
        "float64",
        _NAN,
        "points",
        "lower and upper end of an interval of the gain of system_a over system_b, at level 1 − alpha, from the kept replicates",
        f"{EFRON}; {BCA}",
    ),
    _code(
        "interval_reason",
        ("procedure", "interval_method", *_PAIRS),
        "why there is no interval; -1 where nothing was written",
        INTERVAL_REASONS,
    ),
    Variable(
        "interval_p",
        ("procedure", "interval_method", *_PAIRS),
        "float64",
        _NAN,
        "1",
        "p-value that a bootstrap-t interval inverts, from replicates divided by standard errors of their own; NaN for other "
        "intervals, which invert the p-value of a convention, or none",
        EFRON,
    ),
    Variable(
        "tool_p",
        ("preset", "procedure", "metric", "pair"),
        "float64",
        _NAN,
        "1",
        "p-value at the full size as the tool or paper of the preset computes it; no verdict uses it; the attribute preset of the "
        "group says whose it is and where it misleads",
    ),
    _code(
        "tool_reason",
        ("preset", "procedure", "metric", "pair"),
        "why there is no tool_p; -1 where the preset has none for the procedure",
        TOOL_REASONS,
    ),
)
"""What is read off counts and kept replicates; written per metric and test size."""

VARIABLES: Mapping[str, Variable] = {
    variable.name: variable
    for variable in (
        Variable(
            "score",
            ("metric", "test_size", "system", "replicate"),
            "float64",
            _NAN,
            "points",
            "score on a kept replicate of the bootstrap",
            EFRON,
            inner={"system": 1},  # as files of cells have them, whose bytes are taken over
        ),
        Variable("observed_score", _SYSTEM, "float64", _NAN, "points", "score on the test set itself"),
        Variable("score_se", _SYSTEM, "float64", _NAN, "points", "jackknife standard error of the score, found as `se` is", EFRON),
        Variable("units_right", _SYSTEM, "int64", -1, "units", "units that are right if all score 0 or one other value, else -1"),
        Variable(
            "observed_delta",
            _PAIRS,
            "float64",
            _NAN,
            "points",
            "observed gain δ of system_a over system_b, above zero where system_a is better, whichever way the metric points",
            BERG_KIRKPATRICK,
        ),
        Variable(
            "se",
            _PAIRS,
            "float64",
            _NAN,
            "points",
            "jackknife standard error of the observed gain; within strata where units are drawn within them",
            EFRON,
        ),
        *UNIT_SHAPES,
        *UNIT_EFFECTS,
        Variable("discordant", _PAIRS, "int64", -1, "units", "units on which the statistics of the two systems differ"),
        Variable("identical", _PAIRS, "bool", False, "1", "whether the statistics of all units are equal"),
        Variable(
            "p_sign_flip",
            _PAIRS,
            "float64",
            _NAN,
            "1",
            "exact two-sided p-value: the share of all swaps with at least as large a difference; only where "
            "fewer than 20 units differ, or where denominators are shared and all units differ by the same amount",
            PITMAN,
        ),
        *INFLUENCE,
        *COUNTS,
        *SUMS,
        _count("empty", "on which a score is undefined (0/0)"),
        Variable(
            "histogram",
            ("procedure", *_PAIRS, "bin"),
            "int64",
            -1,
            "replicates",
            "(δ* − δ) / se of replicates, in equal bins from -12 to 12; the end bins include what lies beyond, and the "
            "middle bin everything where se = 0; for approximate-randomization, which ignores strata, se ignores them too",
            chunks={"pair": 1024},
        ),
        *TABLE,
    )
}
"""Every variable of a test set's group."""

COORDINATES: Mapping[str, Variable] = {
    variable.name: variable
    for variable in (
        Variable("metric", ("metric",), "str", "", "1", "name of the metric"),
        Variable("procedure", ("procedure",), "str", "", "1", "significance test"),
        Variable("convention", ("convention",), "str", "", "1", "how a p-value is read off the counts"),
        Variable("adjustment", ("adjustment",), "str", "", "1", "correction for many pairs"),
        Variable("interval_method", ("interval_method",), "str", "", "1", "how an interval is read off the kept replicates"),
        Variable("bound", ("bound",), "str", "", "1", "lower or upper end"),
        Variable("preset", ("preset",), "str", "", "1", "published procedure or tool"),
        Variable("test_size", ("test_size",), "str", "", "1", "label of the test size"),
        Variable("n_units", ("test_size",), "int64", -1, "units", "number of units that are drawn"),
        Variable("system", ("system",), "str", "", "1", "name of the system"),
        Variable("system_a", ("pair",), "str", "", "1", "name of the first system"),
        Variable("system_b", ("pair",), "str", "", "1", "name of the second system"),
        Variable("a", ("pair",), "int64", -1, "1", "position of the first system"),
        Variable("b", ("pair",), "int64", -1, "1", "position of the second system"),
        Variable("cell", ("cell",), "int64", -1, "1", "16384 consecutive replicates; the last cell may be partial"),
        Variable("replicate", ("replicate",), "int64", -1, "1", "number of the replicate"),
        Variable("max_t_replicate", ("max_t_replicate",), "int64", -1, "1", "place in the ascending order of the largest |t*|"),
        Variable("bin", ("bin",), "int64", -1, "1", "number of the bin"),
        Variable("item", ("item",), "str", "", "1", "identifier of the item"),
        Variable("unit", ("item",), "int64", -1, "1", "number of the item's unit, in the order of their first items"),
        Variable("stratum", ("item",), "int64", -1, "1", "stratum of the item's unit, where units are drawn within strata"),
        Variable("document", ("item",), "int64", -1, "1", "document of the item, where it is known but items are drawn"),
        Variable("statistic", ("statistic",), "str", "", "1", "name of the statistic"),
        Variable("decimals", ("statistic",), "int64", -1, "1", "decimal places: the integers are in units of 10^-decimals"),
    )
}
"""Every coordinate; what a study says of its systems (model, group, …) is added to these, along ``system``."""

STATISTICS = Variable(
    "statistics",
    ("system", "item", "statistic"),
    "int64",
    0,
    "10^-decimals",
    "additive statistics of each item",
    chunks={"system": 1},
)
"""The one variable of a metric's own group."""
