"""The paired t-test, on jackknife pseudo-values where the score is no mean."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="paired-t",
    title="the paired t-test",
    null="the expected scores of A and B are equal",
    when="to check another one: every reader knows it",
    formula="2 P(t ≥ δ / se)",
    methods=(
        Method(
            "Paired t-test",
            "2 P(t ≥ δ / se)",
            "Student's law with n − 1 degrees of freedom, se the jackknife's: exact for means of Gaussian differences, "
            "else asymptotic.",
            "Student 1908, doi:10.1093/biomet/6.1.1; Miller 1974, doi:10.1093/biomet/61.1.1",
            "https://doi.org/10.1093/biomet/6.1.1",
        ),
    ),
    page="docs/procedures/paired-t.md",
    compute="pipeline.inference.direct.unit_tests:paired_t",
    one_sided="P(t_{n−1} ≥ δ / se)",
    needs_units=True,
)
