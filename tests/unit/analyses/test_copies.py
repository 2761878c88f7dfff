"""A system's outputs under a second name change no answer of an analysis."""

import numpy as np
import pytest
from support.synthetic_cubes import build_cube

from pipeline.analyses.calibration_transfer.analysis import CalibrationTransfer
from pipeline.analyses.pairs import describe_copies, find_copies, read_pairs
from pipeline.analyses.size_curve.analysis import SizeCurve
from pipeline.analyses.thresholds.analysis import Thresholds

SIZES = {"100": 100, "200": 200, "400": 400, "full": 800}
NAMES = [f"s{i:02d}" for i in range(14)]


def cubes(copies=(), *, shift=0.0):
    """Two test sets; ``copies`` are names with the scores of s03."""
    rng = np.random.default_rng(11)
    n = np.array(list(SIZES.values()))[:, None]
    truth = rng.normal(50, 1.2, len(NAMES))
    found = {}
    for name in ("news", "other"):
        scores = truth + shift + rng.normal(0, 9, (4, len(NAMES))) / np.sqrt(n)
        scores = np.hstack([scores, np.repeat(scores[:, [3]], len(copies), axis=1)])
        spread = rng.uniform(6, 10, len(NAMES))
        spread = np.append(spread, np.repeat(spread[3], len(copies)))
        first, second = np.triu_indices(len(spread), 1)
        se = np.hypot(spread[first], spread[second]) / np.sqrt(n)
        same = ["s03", *copies]
        identical = [(a, b) for i, a in enumerate(same) for b in same[i + 1 :]]
        found[name] = build_cube(scores, [*NAMES, *copies], name=name, sizes=SIZES, se=se, identical=identical)
    return found


@pytest.mark.parametrize("analysis", [Thresholds, SizeCurve, CalibrationTransfer])
def test_copies_change_no_number_of_an_analysis(analysis):
    drop = {"identical_pairs", "copied_pairs"}
    without, with_copies = (analysis().find(c, {}) for c in (cubes(), cubes(["zz", "zy"])))
    assert [{k: v for k, v in row.items() if k not in drop} for row in with_copies.rows] == [
        {k: v for k, v in row.items() if k not in drop} for row in without.rows
    ]
    assert with_copies.details == without.details
    assert not any("copies" in note for note in without.notes)
    assert "2 of 16 on news, BLEU (zy = s03, zz = s03)" in with_copies.notes[-1]


def test_of_equals_the_first_by_name_stays_whatever_the_order_of_the_cube():
    for names in (list("abcd"), list("dcba")):
        scores = np.array([50.0 if name in "bcd" else 52.0 for name in names])
        cube = build_cube(scores, names, identical=[("b", "c"), ("c", "d"), ("b", "d")])
        assert find_copies(cube, "bleu") == {"c": "b", "d": "b"}
        table = read_pairs(cube, metric="bleu", test_size="full", procedure="paired-bootstrap")
        assert [pair for pair, use in zip(zip(table.better, table.worse, strict=True), table.usable, strict=True) if use] == [
            ("a", "b")
        ]
        assert table.systems == ("a", "b")


def test_no_copies_no_words():
    assert describe_copies(cubes()) is None
