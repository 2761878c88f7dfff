"""What a report says of units and strata, from cubes made up for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.synthetic_cubes import build_cube
from support.synthetic_reports import build_document, make_report

NAMES = list("abc")
CLUSTERS = {"column": "document", "count": 100, "effective": 80.0}


def cube(name: str = "news", effects: list[float] | None = None, **attributes: Any) -> Any:
    made = build_cube(np.array([50.0, 51.0, 52.0]), NAMES, name=name, sizes={"full": 1000}).assign_attrs(**attributes)
    if effects is None:
        return made
    shape = made["se"].dims, np.broadcast_to(np.array(effects), made["se"].shape)
    return made.assign(design_effect=shape, intra_cluster_correlation=(shape[0], shape[1] / 10))


def built(*cubes: Any, **resampling: Any) -> dict[str, Any]:
    return build_document(make_report({f"set {k}": one for k, one in enumerate(cubes)}, analyses=(), resampling=resampling))


def told(document: dict[str, Any], check: str) -> dict[str, str] | None:
    return next((row for row in document["trust"] if row["check"] == check), None)


@pytest.mark.parametrize(("effects", "status"), [([1.0, 1.05, 9.0], "ok"), ([0.9, 1.5, 1.6], "check")])
def test_the_median_decides_whether_drawing_items_is_remarked_on(effects: list[float], status: str) -> None:
    row = told(built(cube(effects=effects, clusters=CLUSTERS)), "Items in documents")
    assert row is not None
    assert row["status"] == status
    assert "100 documents, worth 80 of equal size" in row["detail"]
    assert f"by {np.median(effects):.2f} (median of 3 pairs), at most by {max(effects):.2f}" in row["detail"]
    assert ("resampling.unit: document" in row["detail"]) == (status == "check")
    if status == "check":
        assert "rejects about 11 % of true nulls" in row["detail"]  # 2 Φ(−1.96/√1.5) = .1096


def test_pairs_have_the_numbers_or_the_report_says_why_not() -> None:
    known, unknown = cube(effects=[1.2, 1.3, np.nan], clusters=CLUSTERS), cube()
    rows = built(known)["pairs"]
    assert sorted((row["design_effect"] or 0.0, row["intra_cluster_correlation"] or 0.0) for row in rows) == [
        (0.0, 0.0),
        (1.2, pytest.approx(0.12)),
        (1.3, pytest.approx(0.13)),
    ]
    assert "pairs.design_effect" not in built(known)["reasons"]
    assert "on set 1: it is not known" in built(known, unknown)["reasons"]["pairs.design_effect"]
    alone = built(unknown)
    assert alone["reasons"]["pairs.design_effect"].startswith("no design effect: it is not known")
    assert {row["design_effect"] for row in alone["pairs"]} == {None}
    assert [told(alone, check) for check in ("Items in documents", "Design effect", "Strata")] == [None] * 3


def test_units_of_their_own_are_no_reason_to_look() -> None:
    row = told(built(cube(effects=[1.5, 1.6, 1.7], clusters=CLUSTERS), unit="document"), "Design effect")
    assert row is not None
    assert row["status"] == "ok"
    assert "drawing documents, not items, multiplies the variance of a gain by 1.60" in row["detail"]


@pytest.mark.parametrize(
    ("strata", "status", "words"),
    [
        ({"count": 4, "smallest": 250, "largest": 250, "alone": 0}, "ok", "4 strata of domain (250 each); about 5.1 % of"),
        ({"count": 4, "smallest": 1, "largest": 900, "alone": 2}, "check", "(1 to 900 each); 2 alone in theirs never vary; about"),
        ({"count": 250, "smallest": 4, "largest": 4, "alone": 0}, "check", "(4 each); about 9.0 % of true nulls"),
    ],
)
def test_strata_are_told_with_what_they_cost(strata: dict[str, int], status: str, words: str) -> None:
    document = built(cube(strata={"column": "domain", **strata}), strata="domain")
    row = told(document, "Strata")
    assert row is not None
    assert row["status"] == status
    assert words in row["detail"]
    assert "|unit:item|strata:domain|" in document["signature"][0]["line"]
