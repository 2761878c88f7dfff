"""The sign test of the units that are not tied."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="sign",
    title="the sign test",
    null="A is better on as many units as B is",
    when="where only the direction of a unit's difference means something",
    formula="min(1, 2 P(X ≥ max(wins, losses)))",
    methods=(
        Method(
            "Sign test",
            "min(1, 2 P(X ≥ max(wins, losses)))",
            "X is binomial over the units without a tie, with ½; how much better does not count, so it can be false where δ is 0.",
            "Dixon and Mood 1946, doi:10.1080/01621459.1946.10501898",
            "https://doi.org/10.1080/01621459.1946.10501898",
        ),
    ),
    page="docs/procedures/sign.md",
    compute="pipeline.inference.direct.unit_tests:sign_test",
    also_called=("binomial test", "Dixon-Mood test"),
    strata="apart",
    needs_ratio=True,
    of_gain=False,
    one_sided="P(X ≥ wins), X binomial over the units without a tie",
)
