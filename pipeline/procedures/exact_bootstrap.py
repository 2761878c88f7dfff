"""The exact bootstrap: what infinitely many replicates of the paired bootstrap would give."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="exact-bootstrap",
    title="the exact bootstrap",
    null="the expected scores of A and B are equal (two-sided) or A is not the better one (one-sided)",
    when="for a bootstrap p without Monte-Carlo error, where the denominators are the same",
    formula="P(|δ* − δ| ≥ δ)",
    methods=(
        Method(
            "Exact bootstrap",
            "P(|δ* − δ| ≥ δ)",
            "What infinitely many replicates of the paired bootstrap would give, computed by convolution; for scores that divide "
            "by what both systems share. Free of Monte-Carlo error, not of the bootstrap's own: it is too small with few units.",
            "Efron and Tibshirani 1993, An Introduction to the Bootstrap, doi:10.1201/9780429246593",
            "https://doi.org/10.1201/9780429246593",
        ),
    ),
    page="docs/procedures/exact-bootstrap.md",
    compute="pipeline.inference.direct.exact:exact_tests",
    also_called=("ideal bootstrap",),
    part="bootstrap",
    needs_ratio=True,
    conventions=("one-sided", "two-sided", "below-zero", "at-or-below-zero"),
    needs_units=True,
    few_units=True,
    limit_of="paired-bootstrap",
)
