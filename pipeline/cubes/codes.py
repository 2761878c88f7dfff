"""What the codes of a cube's variables mean, by position. This module has the words that stand in the attributes, once."""

from __future__ import annotations

__all__ = ["INTERVAL_REASONS", "METHODS", "P_LABELS", "P_REASONS", "TAIL_REASONS", "TOOL_REASONS"]

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
