"""The exact sign-flip test: approximate randomization with all swaps."""

from __future__ import annotations

from pipeline.interfaces import Method, Procedure

__all__ = ["PROCEDURE"]

PROCEDURE = Procedure(
    name="exact-sign-flip",
    title="the exact sign-flip test",
    null="the outputs of the two systems are exchangeable unit by unit",
    when="whenever it can be computed and few units differ",
    formula="P(|δ°| ≥ δ)",
    methods=(
        Method(
            "Exact sign-flip test",
            "P(|δ°| ≥ δ)",
            "Approximate randomization with all 2^m swaps, computed by convolution; for scores that divide by "
            "what both systems share.",
            "Fisher 1935, The Design of Experiments, Oliver and Boyd; Pitman 1937, doi:10.2307/2984124",
            "https://doi.org/10.2307/2984124",
        ),
    ),
    page="docs/procedures/exact-sign-flip.md",
    compute="pipeline.inference.direct.exact:exact_tests",
    also_called=("sign flip", "exact permutation test", "exact randomization test", "Fisher's randomization test"),
    part="sign-flip",
    strata="apart",
    needs_ratio=True,
    one_sided="P(δ° ≥ δ), the exact sign-flip test of the system that is ahead: ties count",
    backs_others=True,
    limit_of="approximate-randomization",
    unchecked=(
        "The exact sign-flip test has its level exactly if outputs are exchangeable unit by unit, for which equal rates of right "
        "answers are enough; for equal expected scores alone it is asymptotic, and rejects too often where few units have skewed "
        "gains."
    ),
)
