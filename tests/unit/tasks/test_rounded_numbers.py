"""Numbers of two systems that were rounded to different decimals: whoever reads the report is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.api import compare

pytestmark = pytest.mark.usefixtures("few_nulls")


def table(path: Path, scale: float, *, digits: int) -> str:
    numbers = scale * np.random.default_rng(5).random(3000)
    path.write_text("item,score\n" + "".join(f"{k},{number:.{digits}f}\n" for k, number in enumerate(numbers)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("digits", "scales", "told"),
    [
        # 3000 · 90 · 10^9 is beyond 2^43, 3000 · .9 · 10^9 is not: seven decimals, and nine.
        (12, (90, 0.9), "to different decimals (7 of large; 9 of small): two that are equal may be apart by up to 5e-08;"),
        (12, (90, 90), ""),
        (12, (0.9, 0.9), ""),
        (4, (90, 0.9), ""),
        # Nine decimals are all there are of the small numbers, and too many for the large ones.
        (9, (90, 0.9), "(7 of large; 9 of small)"),
    ],
)  # fmt: skip
def test_a_report_warns_where_equal_numbers_may_have_become_two(
    digits: int, scales: tuple[float, float], told: str, tmp_path: Path
) -> None:
    tables = {name: table(tmp_path / name, scale, digits=digits) for name, scale in zip(("large", "small"), scales, strict=True)}
    warnings = [w for w in compare(tables, format="scores", replicates=1000)["warnings"] if "rounded" in w]
    assert len(warnings) == bool(told)
    assert all(told in warning for warning in warnings)


def test_a_denominator_of_one_scale_hides_no_numerator_of_two(tmp_path: Path) -> None:
    tables = {}
    for name, scale in (("large", 90), ("small", 0.9)):
        table(tmp_path / name, scale, digits=12)
        rows = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        lines = [f"{rows[0]},of", *(f"{row},0.123456789" for row in rows[1:])]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        tables[name] = str(tmp_path / name)
    ratio = {"name": "ratio", "numerator": "score", "denominator": "of"}
    warnings = compare(tables, format="scores", metrics=[ratio], replicates=1000)["warnings"]
    assert sum("rounded to different decimals" in warning for warning in warnings) == 1
