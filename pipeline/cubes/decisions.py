"""The p-values by which pairs are judged, as a cube declares them, and every adjustment beside them."""

from __future__ import annotations

from pipeline.cubes.declared import Variable

__all__ = ["DECISIONS", "HOLM", "MAX_T"]

NAN = float("nan")
PAIRS = ("metric", "test_size", "pair")
MAX_T = "Romano & Wolf 2005, doi:10.1198/016214504000000539"
HOLM = "Holm 1979, Scand. J. Statist. 6(2), 65-70; Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x"

DECISIONS = (
    Variable(
        "p",
        ("procedure", *PAIRS),
        "float64",
        NAN,
        "1",
        "two-sided p-value of the pair by itself, as reports print it: never 0, counted ones are (s + 1)/(b + 1)",
        "Phipson & Smyth 2010, doi:10.2202/1544-6115.1585",
    ),
    Variable(
        "p_few_units",
        ("procedure", *PAIRS),
        "float64",
        NAN,
        "1",
        "two-sided p-value of a bootstrap corrected for few units by Student's t; NaN for other procedures",
        "Hesterberg 2015, doi:10.1080/00031305.2015.1089789",
    ),
    Variable(
        "p_adjusted",
        ("procedure", *PAIRS),
        "float64",
        NAN,
        "1",
        "the p-value that the pair is judged by: two-sided, corrected for few units and adjusted for its family at the study's "
        "level, all pairs of this test set, metric, test size and procedure, or those with the baseline",
        f"{MAX_T}; {HOLM}",
    ),
    Variable(
        "p_by_adjustment",
        ("procedure", "convention", "adjustment", *PAIRS),
        "float64",
        NAN,
        "1",
        "p-values of every convention by every adjustment, not corrected for few units but by max-t, which is read off the kept "
        "replicates; `p_adjusted` is the one that decides",
        f"{HOLM}; {MAX_T}",
    ),
)
"""Of each pair and procedure; the last one of each convention and adjustment too."""
