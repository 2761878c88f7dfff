"""How the numbers were made: one entry a method, with its formula and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.report.procedures import WORDS, Method, procedures_of

__all__ = ["Method", "describe_methods", "methods_paragraph"]


def describe_methods(document: Mapping[str, Any]) -> list[Method]:
    """List the methods behind a document."""
    methods = [
        *(method for procedure in procedures_of(document) for method in WORDS[procedure].methods),
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
    procedures = procedures_of(document)
    titles = " and by ".join(WORDS[procedure].title for procedure in procedures)
    first = f", verdicts those of {WORDS[procedures[0]].title}" if len(procedures) > 1 else ""
    return (
        f"We compared all pairs of systems by {titles} over {sets[0]['unit']}s with b = {sets[0]['replicates'] or 0:,} "
        f"replicates shared by all systems (seed {document['seed']}; {where}; {', '.join(metrics)}). P-values are two-sided, "
        f"(s + 1)/(b + 1) (Phipson and Smyth, 2010), and corrected by Holm's method within each test set and metric{count}, at "
        f"α = {document['alpha']:g}{first}; thresholds follow Berg-Kirkpatrick et al. (2012)."
    )
