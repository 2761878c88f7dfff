"""McNemar's exact test of 0/1 scores."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="mcnemar",
    title="McNemar's test",
    null="A is right where B is wrong as often as the other way round",
    when="for 0/1 scores with few discordant units",
    formula="min(1, 2 P(X ≥ max(wins, losses)))",
    methods=(
        Method(
            "McNemar's test",
            "min(1, 2 P(X ≥ max(wins, losses)))",
            "X is binomial over the discordant units with ½; for scores of 0 or 1. Exact: its level is at most α.",
            "McNemar 1947, doi:10.1007/BF02295996",
            "https://doi.org/10.1007/BF02295996",
        ),
    ),
    page="docs/procedures/mcnemar.md",
    compute="pipeline.inference.direct.unit_tests:mcnemar",
    also_called=("exact McNemar test",),
    strata="apart",
    needs_ratio=True,
    one_sided="P(X ≥ wins), X binomial over the discordant units: ties count",
)
