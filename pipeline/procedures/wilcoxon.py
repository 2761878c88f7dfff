"""Wilcoxon's signed-rank test of the units' differences."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="wilcoxon",
    title="Wilcoxon's signed-rank test",
    null="the differences of A and B on a unit are symmetric about 0",
    when="where differences have long tails; it is no test of the mean",
    formula="signed-rank",
    methods=(
        Method(
            "Wilcoxon's signed-rank test",
            "signed-rank",
            "Ranks of the differences that are not 0; the exact law with at most 50 of them, else Gaussian with a "
            "correction for ties.",
            "Wilcoxon 1945, doi:10.2307/3001968",
            "https://doi.org/10.2307/3001968",
        ),
    ),
    page="docs/procedures/wilcoxon.md",
    compute="pipeline.inference.direct.unit_tests:wilcoxon",
    also_called=("signed-rank test", "Wilcoxon signed-rank test"),
    strata="apart",
    needs_ratio=True,
    of_gain=False,
    one_sided="the signed-rank test of the system that is ahead",
)
