"""What is written of computed p-values: labels, reasons, and whether other draws would decide otherwise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.declarations import P_LABELS, P_REASONS
from pipeline.inference.direct.result import METHODS, REASONS, DirectP, assemble, code_of
from pipeline.inference.p_values import CONVENTIONS
from pipeline.procedures.direct import direct_tests
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import observe
from pipeline.resampling.standard_errors.influence import PairMoments
from pipeline.tasks.collect.cube_slice import Part
from pipeline.tasks.collect.pairs import write_computed_pairs

TWO_SIDED = CONVENTIONS.index("two-sided")


ONE_PAIR = Observed(np.zeros(2), np.ones(1), np.ones(1), np.array([30]), np.zeros(1, np.bool_))


def written(found: DirectP, procedure: str, observed: Observed = ONE_PAIR, measure: Measure | None = None) -> dict[str, np.ndarray]:
    """Return what a cube would be asked to hold."""
    table: dict[str, np.ndarray] = {}
    measure = measure or Measure(
        np.ones((30, 2, 2), np.int64), lambda s: s[0] / s[1], "ratio", True, np.array([[0, 1]]), np.zeros(2, np.bool_)
    )
    pairs = measure.pairs
    layout = SimpleNamespace(alpha=0.05, pairs=pairs)
    cube = SimpleNamespace(layout=layout, write_table=lambda metric, size, values, procedure, pairs: table.update(values))
    tested = SimpleNamespace(member=np.ones(len(pairs), np.bool_), tails=None)
    part = SimpleNamespace(
        metric="m",
        rows=slice(None),
        size=SimpleNamespace(label="full"),
        tested=tested,
        observed=observed,
        moments=PairMoments(*(np.full(len(pairs), np.nan) for _ in range(3))),
        measure=measure,
        floor=lambda procedure: np.zeros(len(pairs)),
    )
    write_computed_pairs(cast(CubeWriter, cube), cast(Part, part), procedure, found)
    return table


def estimated(p: float, relative: float, method: str) -> DirectP:
    bounds = tuple(np.log(np.array([p * (1 + side * 1.959963984540054 * relative)])) for side in (-1, 1))
    errors: Any = {"relative_error": {"two-sided": np.array([relative])}} if method == "tail" else {}
    return assemble({"two-sided": bounds}, observed=ONE_PAIR, reason=np.zeros(1, np.int8), method=method, **errors)


@pytest.mark.parametrize(("method", "stable"), [("tail", False), ("exact", True)])
def test_an_estimate_is_stable_at_the_level_of_all_pairs_and_an_enclosure_at_any(method: str, stable: bool) -> None:
    found = estimated(0.04, 0.1, method)  # .04 ± .0078 at 95 %, ± .0103 at 99 %
    assert found.hi[TWO_SIDED, 0] < 0.05
    assert METHODS[found.method[TWO_SIDED, 0]] == method
    assert written(found, "exact-sign-flip")["stable"][TWO_SIDED].tolist() == [stable]


def test_labels_and_reasons_are_kept() -> None:
    rng = np.random.default_rng(1)
    numerators = rng.integers(0, 5, (40, 3))
    denominators = np.stack([np.full(40, 5), np.full(40, 5), rng.integers(5, 9, 40)], axis=1)
    pairs = np.array([[0, 1], [0, 2]])
    measure = Measure(
        np.stack([numerators, denominators], axis=2), lambda s: s[0] / s[1], "ratio", True, pairs, np.zeros(3, np.bool_)
    )
    found = direct_tests(["exact-sign-flip", "paired-t"], measure, observe(measure))
    flips, student = (written(found[name], name, observe(measure), measure) for name in ("exact-sign-flip", "paired-t"))
    assert [P_REASONS[code] for code in flips["p_reason"].tolist()] == ["none", "denominators-differ"]
    assert flips["p_label"][TWO_SIDED].tolist() == [0, -1]
    assert [P_LABELS[code] for code in student["p_label"][TWO_SIDED].tolist()] == ["t-law", "jackknife-t"]
    assert [P_REASONS[code] for code in student["p_reason"].tolist()] == ["none", "none"]
    assert P_REASONS.index("denominators-differ") == code_of("denominators differ", REASONS)
