"""How the numbers were made: one entry a method, with its formula and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Method", "describe_methods", "methods_paragraph"]


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


def describe_methods(document: Mapping[str, Any]) -> list[Method]:
    """List the methods behind a document."""
    methods = [
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
            "Many pairs",
            "p₍ᵢ₎ · (K − i + 1), made monotone",
            "Holm's correction over the K pairs of a family, which is a test set, metric, test size and procedure: the chance of "
            "any false separation within it is at most α. Benjamini and Hochberg's stands beside it.",
            "Holm 1979, Scandinavian Journal of Statistics 6:65-70; Benjamini and Hochberg 1995, "
            "doi:10.1111/j.2517-6161.1995.tb02031.x",
            "https://doi.org/10.1111/j.2517-6161.1995.tb02031.x",
        ),
        Method(
            "Would other draws decide otherwise",
            "Holm(lo) ≤ α ⟺ Holm(hi) ≤ α",
            "lo and hi are the Clopper-Pearson bounds of all p-values of a family at level 1 − .01/K; an asterisk where Holm "
            "decides differently at the two ends. The Monte-Carlo error of a p is half the width of its 95 % interval.",
            "Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404",
            "https://doi.org/10.1093/biomet/26.4.404",
        ),
        Method(
            "Few discordant units",
            "2^(1 − m)",
            "With m units on which two systems differ no exact sign-flip, sign or McNemar test has a smaller two-sided p. A pair "
            "is not called better where Holm would not separate it with this p in place of its own.",
            "Fisher 1935, The Design of Experiments, Oliver and Boyd",
        ),
        Method(
            "Few units",
            "2 · P(t > 1.96 √((G − 1)/G)), G − 1 degrees of freedom",
            "The share of true nulls that a bootstrap test of G units rejects at .05, if differences are Gaussian; G is "
            "(Σn)²/Σn² where units hold n items each (Kish 1965, Survey Sampling, Wiley).",
            "Hesterberg 2015, What Teachers Should Know About the Bootstrap, doi:10.1080/00031305.2015.1089789",
            "https://doi.org/10.1080/00031305.2015.1089789",
        ),
        Method(
            "Rank intervals",
            "[1 + #(separately better), S − #(separately worse)]",
            "Ranks that the separated pairs do not exclude; all intervals hold together.",
            "Mogstad, Romano, Shaikh and Wilhelm 2024, doi:10.1093/restud/rdad006",
            "https://doi.org/10.1093/restud/rdad006",
        ),
    ]
    if any(row["margin"] is not None for row in document["pairs"]):
        methods.append(
            Method(
                "Equivalence",
                "p = (max(#(δ* ≥ 2δ + margin), #(δ* ≤ 2δ − margin)) + 1) / (b + 1)",
                "Two one-sided tests against the margin; equivalent where p, corrected by Holm's method over the pairs, is at most "
                "α.",
                "Schuirmann 1987, doi:10.1007/BF01068419",
                "https://doi.org/10.1007/BF01068419",
            )
        )
    return methods


def methods_paragraph(document: Mapping[str, Any]) -> str:
    """Give a paragraph that can be pasted into a paper."""
    sets, metrics = document["test_sets"], sorted({row["metric"] for row in document["signature"]})
    if not sets:
        return ""
    where = "; ".join(f"{t['name']}: {t['units']:,} {t['unit']}s, {t['systems']} systems, {t['pairs']:,} pairs" for t in sets)
    families = document["families"]["full_size"]
    count = "" if families == 1 else f", {families:,} families in all"
    return (
        f"We compared all pairs of systems by the paired bootstrap over {sets[0]['unit']}s with b = {sets[0]['replicates'] or 0:,} "
        f"replicates shared by all systems (seed {document['seed']}; {where}; {', '.join(metrics)}). P-values are two-sided, "
        f"(s + 1)/(b + 1) (Phipson and Smyth, 2010), and corrected by Holm's method within each test set and metric{count}, at "
        f"α = {document['alpha']:g}; thresholds follow Berg-Kirkpatrick et al. (2012)."
    )
