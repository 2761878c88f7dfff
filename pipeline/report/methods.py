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
            "Does not depend on which system was put first; verdicts use it. Both counts include the observed value: p is never 0.",
            "Phipson and Smyth 2010, doi:10.2202/1544-6115.1585",
            "https://doi.org/10.2202/1544-6115.1585",
        ),
        Method(
            "Standard error and interval",
            "δ ± q(|δ* − δ|)",
            "The standard error is the jackknife's; q is the 1 − α quantile of the replicates, from a histogram on a grid of "
            "standard errors. The interval belongs to the two-sided p and is not adjusted for the number of pairs.",
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
            "Holm's correction over all pairs of a test set and metric: the chance of any false separation is at most α. "
            "Benjamini and Hochberg's stands beside it.",
            "Holm 1979, Scandinavian Journal of Statistics 6:65-70; Benjamini and Hochberg 1995, "
            "doi:10.1111/j.2517-6161.1995.tb02031.x",
            "https://doi.org/10.1111/j.2517-6161.1995.tb02031.x",
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
                "p = max(#(δ* ≥ 2δ + margin), #(δ* ≤ 2δ − margin)) / b",
                "Two one-sided tests against the margin; equivalent where p ≤ α.",
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
    return (
        f"We compared all pairs of systems by the paired bootstrap over {sets[0]['unit']}s with b = {sets[0]['replicates'] or 0:,} "
        f"replicates shared by all systems (seed {document['seed']}; {where}; {', '.join(metrics)}). P-values are two-sided, "
        f"(s + 1)/(b + 1) (Phipson and Smyth, 2010), and corrected by Holm's method within each test set and metric at "
        f"α = {document['alpha']:g}; thresholds follow Berg-Kirkpatrick et al. (2012)."
    )
