"""What each significance test is called, what it supposes and what it cannot give, in words. This module tells no numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["WORDS", "Method", "Words", "name_procedure", "procedures_of"]


@dataclass(frozen=True)
class Method:
    """One method that was used.

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
class Words:
    """A procedure in words.

    Parameters
    ----------
    title : str
        As a paper names it.
    null : str
        What is tested, in one line.
    convention : str
        Whose p leads the rows of its pairs.
    p : str
        The formula of the p that verdicts use.
    methods : tuple of Method
        What it computes.
    missing : mapping of str to str
        Fields of a pair that it has no value for, and why.
    unchecked : str or None
        What it supposes that no number of the report can show.
    """

    title: str
    null: str
    convention: str
    p: str
    methods: tuple[Method, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    unchecked: str | None = None


_BOOTSTRAP = Words(
    title="the paired bootstrap",
    null="the expected scores of A and B are equal (two-sided) or A is not the better one (one-sided)",
    convention="one-sided",
    p="(#(|δ* − δ| ≥ δ) + 1)/(b + 1)",
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
            "Does not depend on which system was put first; verdicts use it. Both counts include the observed value: p is never 0. "
            "Where two systems have the same score p is 1 by definition.",
            "Phipson and Smyth 2010, doi:10.2202/1544-6115.1585",
            "https://doi.org/10.2202/1544-6115.1585",
        ),
        Method(
            "Standard error and interval",
            "δ ± q(|δ* − δ|)",
            "The standard error is the jackknife's; q is the 1 − α quantile of the replicates, read off a histogram with bins of a "
            "quarter of a standard error by linear interpolation, with the share of replicates within δ, 1 − p, as one more "
            "point: the interval leaves 0 out exactly where the two-sided p is below α. Its ends may be off by 0.15 standard "
            "errors where the metric takes few values. It is not adjusted for the number of pairs.",
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
)

_RANDOMIZATION = Words(
    title="approximate randomization",
    null="the outputs of the two systems are exchangeable unit by unit",
    convention="two-sided-plus-one",
    p="(#(|δ°| ≥ δ) + 1)/(b + 1)",
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
    missing={
        "interval": "approximate-randomization gives no interval: swapped outputs are centred at 0, not at the observed gain",
        "bias": "approximate-randomization has no bias to estimate: its replicates are not centred at the observed gain",
    },
    unchecked=(
        "Approximate randomization has its level exactly if outputs are exchangeable unit by unit; for equal expected scores alone "
        "it is asymptotic, and not assured where the denominators or lengths of two systems differ (precision, BLEU)."
    ),
)


def _computed(title: str, null: str, p: str, words: str, reference: str, link: str | None = None, **more: Any) -> Words:
    """Give the words for a procedure that draws nothing."""
    name = title.removeprefix("the ").capitalize()
    missing = {
        field: f"{name}: nothing is drawn, so there is none"
        for field in ("bias", "count", "interval", "replicates", "empty_replicates")
    }
    return Words(title, null, "two-sided", p, (Method(name, p, words, reference, link),), missing, **more)


_EXACT_BOOTSTRAP = _computed(
    "the exact bootstrap",
    "the expected scores of A and B are equal (two-sided) or A is not the better one (one-sided)",
    "P(|δ* − δ| ≥ δ)",
    "What infinitely many replicates of the paired bootstrap would give, computed by convolution; for scores that divide by "
    "what both systems share. Free of Monte-Carlo error, not of the bootstrap's own: it is too small with few units.",
    "Efron and Tibshirani 1993, An Introduction to the Bootstrap, doi:10.1201/9780429246593",
    "https://doi.org/10.1201/9780429246593",
)
_EXACT_SIGN_FLIP = _computed(
    "the exact sign-flip test",
    "the outputs of the two systems are exchangeable unit by unit",
    "P(|δ°| ≥ δ)",
    "Approximate randomization with all 2^m swaps, computed by convolution; for scores that divide by what both systems share.",
    "Fisher 1935, The Design of Experiments, Oliver and Boyd; Pitman 1937, doi:10.2307/2984124",
    "https://doi.org/10.2307/2984124",
)
_MCNEMAR = _computed(
    "McNemar's test",
    "A is right where B is wrong as often as the other way round",
    "min(1, 2 P(X ≥ max(wins, losses)))",
    "X is binomial over the discordant units with ½; for scores of 0 or 1. Exact: its level is at most α.",
    "McNemar 1947, doi:10.1007/BF02295996",
    "https://doi.org/10.1007/BF02295996",
)
_MCNEMAR_MID_P = _computed(
    "McNemar's test with mid-p",
    "A is right where B is wrong as often as the other way round",
    "2 (P(X > max(wins, losses)) + ½ P(X = max(wins, losses)))",
    "Half of the chance of the observed split counts; less conservative, and its level may be passed a little.",
    "Fagerland, Lydersen and Laake 2013, doi:10.1186/1471-2288-13-91",
    "https://doi.org/10.1186/1471-2288-13-91",
)
_SIGN = _computed(
    "the sign test",
    "A is better on as many units as B is",
    "min(1, 2 P(X ≥ max(wins, losses)))",
    "X is binomial over the units without a tie, with ½; how much better does not count, so it can be false where δ is 0.",
    "Dixon and Mood 1946, doi:10.1080/01621459.1946.10501898",
    "https://doi.org/10.1080/01621459.1946.10501898",
)
_PAIRED_T = _computed(
    "the paired t-test",
    "the expected scores of A and B are equal",
    "2 P(t ≥ δ / se)",
    "Student's law with n − 1 degrees of freedom, se the jackknife's: exact for means of Gaussian differences, else asymptotic.",
    "Student 1908, doi:10.1093/biomet/6.1.1; Miller 1974, doi:10.1093/biomet/61.1.1",
    "https://doi.org/10.1093/biomet/6.1.1",
)
_WILCOXON = _computed(
    "Wilcoxon's signed-rank test",
    "the differences of A and B on a unit are symmetric about 0",
    "signed-rank",
    "Ranks of the differences that are not 0; the exact law with at most 50 of them, else Gaussian with a correction for ties.",
    "Wilcoxon 1945, doi:10.2307/3001968",
    "https://doi.org/10.2307/3001968",
)

WORDS: Mapping[str, Words] = {
    "paired-bootstrap": _BOOTSTRAP,
    "approximate-randomization": _RANDOMIZATION,
    "exact-bootstrap": _EXACT_BOOTSTRAP,
    "exact-sign-flip": _EXACT_SIGN_FLIP,
    "mcnemar": _MCNEMAR,
    "mcnemar-mid-p": _MCNEMAR_MID_P,
    "sign": _SIGN,
    "paired-t": _PAIRED_T,
    "wilcoxon": _WILCOXON,
}
"""By the procedure's name."""


def procedures_of(document: Mapping[str, Any]) -> list[str]:
    """Give the procedures of a document in the study's order."""
    return list(dict.fromkeys(row["procedure"] for row in document["signature"]))


def name_procedure(document: Mapping[str, Any], procedure: str) -> str:
    """Give what a title must add to say whose numbers are shown: nothing where there is one procedure."""
    return f", {procedure}" if len(procedures_of(document)) > 1 else ""
