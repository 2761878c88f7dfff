"""The paired bootstrap: test sets are redrawn, the same for all systems."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="paired-bootstrap",
    title="the paired bootstrap",
    null="the expected scores of A and B are equal (two-sided) or A is not the better one (one-sided)",
    when="for an interval, a margin, or a metric whose denominators differ",
    formula="(#(|δ* − δ| ≥ δ) + 1)/(b + 1)",
    methods=(
        Method(
            "Paired bootstrap, one-sided",
            "p = #(δ* > 2δ) / b",
            "The pair is ordered by its observed gain δ; test sets are redrawn from the units with replacement, "
            "the same for all systems.",
            "Berg-Kirkpatrick, Burkett and Klein 2012, An Empirical Investigation of Statistical Significance in NLP, D12-1091",
        ),
        Method(
            "Paired bootstrap, two-sided",
            "p = (#(|δ* − δ| ≥ δ) + 1) / (b + 1)",
            "Does not depend on which system was put first. Verdicts are by max-T over replicates with standard errors of their "
            "own where enough are kept, else by the larger of this p and Student's. Both counts include the observed value: p is "
            "never 0. Where two systems have the same score p is 1 by definition.",
            "Phipson and Smyth 2010, doi:10.2202/1544-6115.1585",
            "https://doi.org/10.2202/1544-6115.1585",
        ),
        Method(
            "Standard error and symmetric interval",
            "δ ± q(|δ* − δ|)",
            "The standard error is the jackknife's. q is the 1 − α quantile of the kept replicates. This is one of the further "
            "intervals that a study asks for: it leaves 0 out where the counted two-sided p is below α, and is not adjusted for "
            "the number of pairs, as the interval beside a verdict is.",
            "Efron and Tibshirani 1993, An Introduction to the Bootstrap, doi:10.1201/9780429246593",
            "https://doi.org/10.1201/9780429246593",
        ),
        Method(
            "Bootstrap tests of translation systems",
            "#(δ* < 0) / b",
            "The older convention, in the cubes as below-zero; it is 0 when a system never loses, so no verdict uses it.",
            "Koehn 2004, Statistical Significance Tests for Machine Translation Evaluation, W04-3250",
        ),
        Method(
            "Few units",
            "2 · P(t > 1.96 √((G − 1)/G)), G − 1 degrees of freedom",
            "The share of true nulls that a bootstrap test of G units rejects at .05, if differences are Gaussian; G is "
            "(Σn)²/Σn² where units hold n items each (Kish 1965, Survey Sampling, Wiley).",
            "Hesterberg 2015, What Teachers Should Know About the Bootstrap, doi:10.1080/00031305.2015.1089789",
            "https://doi.org/10.1080/00031305.2015.1089789",
        ),
    ),
    page="docs/procedures/paired-bootstrap.md",
    counter="pipeline.tasks.resample:count_resamples",
    also_called=("bootstrap", "paired-bs", "bootstrap resampling", "paired bootstrap resampling", "Koehn's bootstrap"),
    default=True,
    keeps_scores=True,
    tests_margin=True,
    strata="drawn",
    conventions=("one-sided", "two-sided", "below-zero", "at-or-below-zero", "one-sided-plus-one", "two-sided-plus-one"),
    verdict="two-sided-plus-one",
    leads="one-sided",
    centred_at_gain=True,
    gives_interval=True,
    has_tails=True,
    needs_units=True,
    few_units=True,
    nulls="resampled",
    nulls_shown=("two-sided-plus-one", "one-sided", "below-zero"),
)
