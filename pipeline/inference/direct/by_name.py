"""Procedures without draws by name. This module computes those that are asked for, what they share once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from pipeline.inference.direct.exact import EXACT_TESTS, exact_tests
from pipeline.inference.direct.result import DirectP
from pipeline.inference.direct.scores import MEMORY
from pipeline.inference.direct.unit_tests import mcnemar, paired_t, sign_test, wilcoxon
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.measures import Measure, Observed

__all__ = ["DIRECT", "direct_tests"]

_TESTS: Mapping[str, Callable[..., DirectP]] = {
    "mcnemar": mcnemar,
    "mcnemar-mid-p": partial(mcnemar, mid_p=True),
    "sign": sign_test,
    "wilcoxon": wilcoxon,
}

DIRECT = (*EXACT_TESTS, "mcnemar", "mcnemar-mid-p", "sign", "paired-t", "wilcoxon")
"""Their names."""


def direct_tests(
    names: Collection[str], measure: Measure, observed: Observed, *, budget: Budget = QUICK, memory_bytes: int = MEMORY
) -> dict[str, DirectP]:
    """Compute procedures of all pairs of a measure.

    Parameters
    ----------
    names : collection of str
        Of `DIRECT`.
    measure : Measure
    observed : Observed
        From `pipeline.resampling.observe.observe`.
    budget : Budget, default QUICK
        Of one tail of an exact procedure.
    memory_bytes : int, optional
        Of a block of pairs × units; changes no result.

    Returns
    -------
    dict of str to DirectP
        In the order of ``names``.
    """
    unknown = sorted(set(names) - set(DIRECT))
    if unknown:
        raise ValueError(f"there is no procedure {unknown}: {DIRECT}")
    asked = [name for name in EXACT_TESTS if name in names]
    exact = exact_tests(measure, observed, names=asked, budget=budget) if asked else {}
    found: dict[str, DirectP] = {}
    for name in names:
        if name in exact:
            found[name] = exact[name]
        elif name == "paired-t":
            found[name] = paired_t(measure, observed)
        else:
            found[name] = _TESTS[name](measure, observed, memory_bytes=memory_bytes)
    return found
