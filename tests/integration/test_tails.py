"""p-values below 10/b are computed where counts cannot tell, and only there."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from support.studies import write_study

from pipeline.api import open_run, run

ITEMS, REPLICATES = 120, 5000
PLAIN = ("one-sided", "two-sided", "below-zero", "at-or-below-zero")


def made() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    low = rng.random(ITEMS) < 0.3
    ever = low.copy()
    ever[np.flatnonzero(~low)[:30]] = True  # never loses to low
    near = low ^ (rng.random(ITEMS) < 0.1)
    high = (low & (rng.random(ITEMS) < 0.9)) | (rng.random(ITEMS) < 0.5)
    return {"low": low, "near": near, "high": high, "copy": low, "ever": ever}


def cube_of(folder: Path, **resampling: object) -> xr.Dataset:
    scores = made()
    rows = ["item," + ",".join(scores), *(f"i{i}," + ",".join(str(int(s[i])) for s in scores.values()) for i in range(ITEMS))]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    asked = {"replicates": REPLICATES, "test_sizes": [90, "full"], **resampling}
    study = write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=asked)
    return next(iter(open_run(run(study, runs=folder / "runs", serial=True).root).values()))


@pytest.fixture(scope="module")
def cubes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, xr.Dataset]:
    return {how: cube_of(tmp_path_factory.mktemp(how), tails=how) for how in ("exact", "none")}


def row(cube: xr.Dataset, name: str, a: str, b: str) -> dict[str, float]:
    (pair,) = np.flatnonzero((cube["system_a"].values == a) & (cube["system_b"].values == b))
    values = cube[name].sel(metric="mean", test_size="full", procedure="paired-bootstrap").values[:, pair]
    return dict(zip(cube["convention"].values.tolist(), values.tolist(), strict=True))


def exact(a: str, b: str) -> dict[str, float]:
    """Enumerate wins and losses of a resample: multinomial, in rational numbers."""
    scores = made()
    wins, losses = (int((scores[x] & ~scores[y]).sum()) for x, y in ((b, a), (a, b)))
    gain = wins - losses
    assert gain > 0
    share = [Fraction(count, ITEMS) for count in (wins, losses, ITEMS - wins - losses)]
    found = dict.fromkeys(PLAIN, Fraction(0))
    for w in range(ITEMS + 1):
        for lost in range(ITEMS + 1 - w):
            ways = math.comb(ITEMS, w) * math.comb(ITEMS - w, lost)
            p = ways * share[0] ** w * share[1] ** lost * share[2] ** (ITEMS - w - lost)
            star = w - lost
            found["one-sided"] += p * (star > 2 * gain)
            found["two-sided"] += p * (abs(star - gain) >= gain)
            found["below-zero"] += p * (star < 0)
            found["at-or-below-zero"] += p * (star <= 0)
    return {name: float(p) for name, p in found.items()}


def test_a_tail_is_the_exact_chance(cubes: dict[str, xr.Dataset]) -> None:
    cube = cubes["exact"]
    tail, logs, method = (row(cube, name, "low", "high") for name in ("tail_p", "tail_log10_p", "tail_method"))
    codes = dict(zip(cube["tail_method"].attrs["flag_meanings"].split(), range(9), strict=False))
    expected = exact("low", "high")
    assert 0 < expected["one-sided"] < 1e-6
    for name in PLAIN:
        assert tail[name] == pytest.approx(expected[name], rel=1e-9)
        assert logs[name] == pytest.approx(math.log10(expected[name]), rel=1e-9)
        assert method[name] == codes["exact"]
        assert row(cube, "p_value", "low", "high")[name] == 0


def test_a_pair_that_counts_can_tell_has_no_tail(cubes: dict[str, xr.Dataset]) -> None:
    assert row(cubes["exact"], "p_value", "low", "near")["two-sided"] > 10 / REPLICATES
    for pair in (("low", "near"), ("low", "copy")):
        assert np.isnan(list(row(cubes["exact"], "tail_p", *pair).values())).all()
        assert set(row(cubes["exact"], "tail_method", *pair).values()) == {-1}


def test_a_chance_that_is_exactly_0_is_exact_and_not_only_never_counted(cubes: dict[str, xr.Dataset]) -> None:
    cube = cubes["exact"]
    tail, logs, method, label = (row(cube, f"tail_{name}", "low", "ever") for name in ("p", "log10_p", "method", "label"))
    codes = cube["tail_method"].attrs["flag_meanings"].split()
    assert row(cube, "p_value", "low", "ever")["below-zero"] == 0
    assert (tail["below-zero"], codes[int(method["below-zero"])]) == (0.0, "exact")
    assert math.isnan(logs["below-zero"])
    assert row(cube, "tail_p_error", "low", "ever")["below-zero"] == 0
    # Drawing none of 30 units: (90/120)^120, and as far above.
    assert tail["at-or-below-zero"] == pytest.approx(0.75**120, rel=1e-9)
    labels = cube["tail_label"].attrs["flag_meanings"].split()
    assert labels[int(label["at-or-below-zero"])] == "model-tail"


def test_a_smaller_size_has_no_tails_as_nothing_shows_them(cubes: dict[str, xr.Dataset]) -> None:
    words = cubes["exact"]["tail_reason"].attrs["flag_meanings"].split()
    at = {"metric": "mean", "procedure": "paired-bootstrap"}
    smaller = cubes["exact"].isel(test_size=0)
    assert np.isnan(smaller["tail_p"].values).all()
    found = {words[code] for code in smaller["tail_reason"].sel(**at).values.tolist()}
    assert found == {"by-definition", "beyond-the-budget", "enough-replicates"}


def test_tails_change_nothing_that_is_counted(cubes: dict[str, xr.Dataset]) -> None:
    for name in cubes["none"].data_vars:
        if not str(name).startswith("tail_"):
            np.testing.assert_array_equal(cubes["exact"][name].values, cubes["none"][name].values)
    assert np.isnan(cubes["none"]["tail_p"].values).all()


def reasons(cube: xr.Dataset) -> dict[tuple[str, str], str]:
    words = cube["tail_reason"].attrs["flag_meanings"].split()
    values = cube["tail_reason"].sel(metric="mean", test_size="full", procedure="paired-bootstrap").values.tolist()
    names = zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)
    return {pair: words[code] for pair, code in zip(names, values, strict=True)}


def test_every_pair_without_a_tail_says_why(cubes: dict[str, xr.Dataset]) -> None:
    exact, none = (reasons(cubes[how]) for how in ("exact", "none"))
    assert (exact["low", "high"], none["low", "high"]) == ("none", "not-asked")
    assert {exact["low", "near"], none["low", "near"]} == {"enough-replicates"}
    assert exact["low", "copy"] == "by-definition"


def test_tails_beyond_the_budget_are_left_out_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.tasks.collect.tail_tables.tails_budget", lambda **sizes: 2 * 1000)  # one pair, or not even one
    cube = cube_of(tmp_path, tails="exact")
    found = reasons(cube)
    assert set(found.values()) >= {"none", "beyond-the-budget"}
    for pair, why in found.items():
        assert np.isfinite(list(row(cube, "tail_p", *pair).values())).any() == (why == "none")
