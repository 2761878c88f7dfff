"""McNemar's test with mid-p, less conservative than the exact one."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="mcnemar-mid-p",
    title="McNemar's test with mid-p",
    null="A is right where B is wrong as often as the other way round",
    when="where mcnemar is too cautious and a level that is met on average will do",
    formula="2 (P(X > max(wins, losses)) + ½ P(X = max(wins, losses)))",
    methods=(
        Method(
            "McNemar's test with mid-p",
            "2 (P(X > max(wins, losses)) + ½ P(X = max(wins, losses)))",
            "Half of the chance of the observed split counts; less conservative, and its level may be passed a little.",
            "Fagerland, Lydersen and Laake 2013, doi:10.1186/1471-2288-13-91",
            "https://doi.org/10.1186/1471-2288-13-91",
        ),
    ),
    page="docs/procedures/mcnemar.md",
    compute="pipeline.inference.direct.unit_tests:mcnemar_mid_p",
    also_called=("mid-p McNemar test", "mid-p"),
    strata="apart",
    needs_ratio=True,
    one_sided="P(X > wins) + ½ P(X = wins), X binomial over the discordant units",
    mid_p=True,
)
