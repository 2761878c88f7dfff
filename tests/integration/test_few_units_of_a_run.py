"""p of a run is corrected for the units that were drawn (documents, strata, a smaller size), and another system changes none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from support.studies import write_study

from pipeline.api import open_run, run

SIZES = np.array([9, 1, 3, 2, 6, 1, 4, 2, 2, 5, 1, 3])  # items of each document
SMALL, SYSTEMS, KEPT = 7, ("east", "north", "south", "west"), 3000
DOMAIN = np.array(list("aabbabababba"))
ASKED: dict[str, dict[str, Any]] = {
    "items": {"unit": "item"},
    "documents": {"unit": "document"},
    "strata": {"unit": "document", "strata": "domain"},
    "a system more": {"unit": "document"},
}


def study(folder: Path, systems: tuple[str, ...], resampling: dict[str, Any]) -> Path:
    folder.mkdir(parents=True)
    document = np.repeat(np.arange(len(SIZES)), SIZES)
    rng = np.random.default_rng(2)
    scores = dict(zip(SYSTEMS, 50 + 2 * rng.normal(size=(len(document), 4)).T + 1.2 * np.arange(4)[:, None], strict=True))
    scores["copy"] = scores["north"]
    rows = [
        ",".join(["item", *systems]),
        *(f"i{i}," + ",".join(f"{scores[s][i]:.1f}" for s in systems) for i in range(len(document))),
    ]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n")
    table = ["item\tdoc\tdomain", *(f"i{i}\td{d:02}\t{DOMAIN[d]}" for i, d in enumerate(document))]
    (folder / "items.tsv").write_text("\n".join(table) + "\n")
    asked = {"replicates": KEPT, "keep_replicates": KEPT, "tails": "none", "intervals": ["symmetric", "simultaneous"]}
    return write_study(
        folder / "study.yaml",
        test_sets={
            "bench": {"format": "scores", "outputs": "scores.csv", "documents": "items.tsv", "columns": {"document": "doc"}}
        },
        metrics=["mean"],
        resampling={**asked, "test_sizes": [SMALL, "full"], **resampling},
    )


@pytest.fixture(scope="module")
def cubes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, xr.Dataset]:
    folder = tmp_path_factory.mktemp("few")
    found = {}
    for name, resampling in ASKED.items():
        systems = (*SYSTEMS, "copy") if name == "a system more" else SYSTEMS
        root = run(study(folder / name, systems, resampling), runs=folder / name / "runs", serial=True).root
        found[name] = open_run(root)["bench"]
    return found


def units_and_strata(name: str, size: str) -> tuple[float, int]:
    """Return G and H by hand."""
    drawn = np.ones(SIZES.sum()) if name == "items" else SIZES.astype(float)
    drawn = drawn[:SMALL] if size != "full" else drawn
    return drawn.sum() ** 2 / (drawn**2).sum(), 2 if name == "strata" else 1


@pytest.mark.parametrize("size", [str(SMALL), "full"])
@pytest.mark.parametrize("name", ["items", "documents", "strata"])
def test_p_of_few_units_is_student_s_with_the_units_and_strata_that_were_drawn(
    cubes: dict[str, xr.Dataset], name: str, size: str
) -> None:
    cube, where = cubes[name], {"metric": "mean", "test_size": size}
    units, strata = units_and_strata(name, size)
    t = np.abs(cube["observed_delta"].sel(where)) / cube["se"].sel(where)
    by_hand = 2 * stats.t.sf(t, units - strata)
    found = cube["p_few_units"].sel(where | {"procedure": "paired-bootstrap"}).values
    np.testing.assert_allclose(found, by_hand, rtol=1e-9)


def test_a_copy_changes_no_corrected_p_and_no_interval_of_another_pair(cubes: dict[str, xr.Dataset]) -> None:
    before, after = cubes["documents"], cubes["a system more"]
    place = {
        pair: k for k, pair in enumerate(zip(after["system_a"].values.tolist(), after["system_b"].values.tolist(), strict=True))
    }
    same = [place[pair] for pair in zip(before["system_a"].values.tolist(), before["system_b"].values.tolist(), strict=True)]
    own, more = (cube["p_by_adjustment"].sel(adjustment="max-t", convention="two-sided-plus-one") for cube in (before, after))
    np.testing.assert_array_equal(own.values, more.values[..., same])
    own, more = (cube["interval"].sel(interval_method="simultaneous").transpose(..., "pair") for cube in (before, after))
    np.testing.assert_array_equal(own.values, more.values[..., same])
    assert np.isfinite(own.sel(test_size="full").values).all()
    why = before["interval_reason"]
    codes = set(why.sel(interval_method="simultaneous", test_size=str(SMALL)).values.ravel().tolist())
    assert {why.attrs["flag_meanings"].split()[code] for code in codes} == {"no-max-t"}  # made at the full size alone
