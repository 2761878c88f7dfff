"""Approximate randomization: outputs of units are swapped at random."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="approximate-randomization",
    title="approximate randomization",
    null="the outputs of the two systems are exchangeable unit by unit",
    when="with few units or few that differ, where the denominators are the same",
    formula="(#(|δ°| ≥ δ) + 1)/(b + 1)",
    methods=(
        Method(
            "Approximate randomization, two-sided",
            "p = (#(|δ°| ≥ δ) + 1) / (b + 1)",
            "δ° is the difference after the outputs of the two systems were swapped at random, each unit with probability ½, the "
            "same units for all pairs. Both counts include the observed difference: p is never 0. The level is at most α if "
            "outputs are exchangeable unit by unit, asymptotic where only expected scores are equal, and not assured where "
            "denominators or lengths differ.",
            "Riezler and Maxwell 2005, On Some Pitfalls in Automatic Evaluation and Significance Testing for MT, W05-0908; "
            "Noreen 1989, Computer-Intensive Methods for Testing Hypotheses, Wiley, ISBN 0-471-61136-0",
        ),
        Method(
            "Standard error",
            "√((n − 1)/n · Σ(d₋ᵢ − d̄)²)",
            "The jackknife's, of the observed gain; swaps are centred at 0 and give no interval of it.",
            "Efron and Tibshirani 1993, An Introduction to the Bootstrap, doi:10.1201/9780429246593",
            "https://doi.org/10.1201/9780429246593",
        ),
    ),
    page="docs/procedures/approximate-randomization.md",
    counter="pipeline.tasks.resample:count_swaps",
    also_called=(
        "permutation test",
        "paired permutation test",
        "randomization test",
        "stratified shuffling",
        "swap test",
        "paired-ar",
    ),
    strata="apart",
    # Swapped outputs are centred at 0, as the null has them: they tell nothing of the gain's own spread. Their two tails are
    # mirror images, so that #(δ° < −δ) is no other test than #(δ° > δ). That one leaves ties out, and serves thresholds only:
    # with + 1 it would pass for a test.
    conventions=("one-sided", "two-sided", "two-sided-plus-one"),
    verdict="two-sided-plus-one",
    leads="two-sided-plus-one",
    one_sided="#(δ° > δ)/b, the share of random swaps with a larger gain: ties are left out, so it is no test by itself",
    nulls="swapped",
    nulls_shown=("two-sided-plus-one",),
    missing={
        "interval": "approximate-randomization gives no interval: swapped outputs are centred at 0, not at the observed gain",
        "bias": "approximate-randomization has no bias to estimate: its replicates are not centred at the observed gain",
    },
    unchecked=(
        "Approximate randomization has its level exactly if outputs are exchangeable unit by unit; for equal expected scores alone "
        "it is asymptotic, and not assured where the denominators or lengths of two systems differ (precision, BLEU)."
    ),
)
