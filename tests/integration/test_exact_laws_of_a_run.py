"""`resampling.method`: exact laws in place of counted p-values, what is drawn beside them, and what reports say of both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from support.enumeration import Law, bootstrap_law, observed_gain
from support.studies import run_cli, write_scores, write_study

from pipeline import api
from pipeline.errors import StudyError
from pipeline.inference.p_values import clopper_pearson
from pipeline.store.ledger import read_ledger

CONVENTIONS = ("one-sided", "two-sided", "below-zero", "at-or-below-zero", "one-sided-plus-one", "two-sided-plus-one")
BY_MAX_T = "(s + 1)/10,000 over 9,999 of the replicates, each with its own standard error (Phipson and Smyth, 2010)"
SYSTEMS = {"north": 0.9, "south": 0.8, "east": 0.75, "west": 0.7}


def write_labels(folder: Path, right: Mapping[str, Sequence[bool]], below: str = "") -> dict[str, Any]:
    """Write a gold of labels and outputs that are right where it is said; give the test set of a study in the folder."""
    (folder / below).mkdir(parents=True, exist_ok=True)
    items = len(next(iter(right.values())))
    (folder / below / "gold.txt").write_text("x\n" * items, encoding="utf-8")
    for name, answers in right.items():
        lines = "".join("x\n" if is_right else "y\n" for is_right in answers)
        (folder / below / f"{name}.txt").write_text(lines, encoding="utf-8")
    return {"format": "labels", "gold": f"{below}gold.txt", "outputs": {name: f"{below}{name}.txt" for name in right}}


def answers(names: Sequence[str] = tuple(SYSTEMS), items: int = 120) -> dict[str, Any]:
    """Return who is right where: an item is hard for all, and the answers of a system are always the same."""
    hard = np.random.default_rng(4).random(items)
    return {name: hard * np.random.default_rng([4, *name.encode()]).random(items) ** 0.3 < SYSTEMS[name] - 0.2 for name in names}


def run_study(folder: Path, right: Mapping[str, Any], *, runs: str = "runs", **resampling: Any) -> Any:
    metrics = resampling.pop("metrics", ["accuracy"])
    report = {"formats": resampling.pop("formats", ["json"]), "null_laboratory": False}
    asked = {"replicates": 200_000, "keep_replicates": 10_000, "method": "exact", **resampling}
    test_sets = {"bench": write_labels(folder, right)}
    changes: dict[str, Any] = {"test_sets": test_sets, "metrics": metrics, "resampling": asked, "report": report}
    study = write_study(folder / "study.yaml", **changes, analyses=["thresholds"])
    return api.run(study, runs=folder / runs, serial=True)


def cube_of(run: Any) -> xr.Dataset:
    return api.open_run(run.root)["bench"].load()


def report_of(run: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((run.root / "report" / "report.json").read_text(encoding="utf-8"))
    return document


def tasks_of(run: Any, kind: str) -> int:
    receipts = [entry["receipt"] for entry in read_ledger(run.ledger)[0] if entry["event"] == "done"]
    return sum(receipt["kind"] == kind for receipt in receipts)


def p_of(
    cube: xr.Dataset, convention: str, *, size: str = "full", procedure: str = "paired-bootstrap", metric: str = "accuracy"
) -> Any:
    return cube["p_value"].sel(procedure=procedure, convention=convention, test_size=size, metric=metric).values


def share(law: Law, hit: Any) -> float:
    return float(Fraction(sum(ways for gain, ways in law.ways.items() if gain is not None and hit(gain)), law.defined))


def drawn_answers(items: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([items, seed])
    return {name: rng.random(items) < 0.6 for name in ("a", "b", "c")}


SMALL = {f"{items}-{seed}": drawn_answers(items, seed) for items in (3, 5, 6) for seed in range(2)}


@pytest.fixture(scope="module")
def small_cubes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The cubes of a few items each: test sets of one study."""
    folder = tmp_path_factory.mktemp("small")
    test_sets = {name: write_labels(folder, right, below=f"{name}/") for name, right in SMALL.items()}
    asked = {"replicates": 200_000, "keep_replicates": 10_000, "method": "exact"}
    study = write_study(folder / "study.yaml", test_sets=test_sets, metrics=["accuracy"], resampling=asked)
    return api.open_run(api.run(study, runs=folder / "runs", serial=True).root)


@pytest.mark.parametrize("name", SMALL)
def test_exact_p_values_of_a_run_are_those_of_all_resamples(small_cubes: Any, name: str) -> None:
    right, cube = SMALL[name], small_cubes[name].load()
    for place, (first, second) in enumerate(zip(cube["system_a"].values, cube["system_b"].values, strict=True)):
        units = [((int(x), 1), (int(y), 1)) for x, y in zip(right[first], right[second], strict=True)]
        gain = observed_gain(units)
        assert gain is not None
        if gain < 0:
            units, gain = [unit[::-1] for unit in units], -gain
        found = {convention: p_of(cube, convention)[place] for convention in CONVENTIONS}
        if not gain:
            assert found["two-sided"] == found["two-sided-plus-one"] == 1.0
            continue
        law = bootstrap_law(units)
        expected = {
            "one-sided": share(law, lambda x: x > 2 * gain),  # noqa: B023
            "two-sided": share(law, lambda x: abs(x - gain) >= gain),  # noqa: B023
            "below-zero": share(law, lambda x: x < 0),
            "at-or-below-zero": share(law, lambda x: x <= 0),
        }
        expected |= {f"{convention}-plus-one": expected[convention] for convention in ("one-sided", "two-sided")}
        for convention in CONVENTIONS:
            assert found[convention] == pytest.approx(expected[convention], rel=1e-9, abs=1e-300), convention


def test_exact_p_values_are_what_drawn_ones_come_to_at_every_size(tmp_path: Path) -> None:
    """False alarms: 6 pairs, 3 sizes and 4 conventions at 1e-8 each, with correlated draws: below 1e-6."""
    asked = {"test_sizes": [20, 60, "full"], "replicates": 300_000}
    exact = cube_of(run_study(tmp_path, answers(), **asked))
    drawn = cube_of(run_study(tmp_path, answers(), **asked, method="monte-carlo"))
    for size in ("20", "60", "full"):
        for name in CONVENTIONS[:4]:
            there, counted = p_of(exact, name, size=size), p_of(drawn, name, size=size)
            np.testing.assert_array_equal(np.isnan(there), np.isnan(counted))
            known = np.isfinite(there) & (there < 1)
            hits = np.rint(counted[known] * 300_000).astype(np.int64)
            lo, hi = clopper_pearson(hits, np.full(len(hits), 300_000), 1 - 1e-8)
            assert ((lo <= there[known]) & (there[known] <= hi)).all(), (size, name)
    # What rests on single replicates is of the same ones.
    for name in ("p_adjusted", "p_studentised", "interval", "max_t_largest", "score"):
        # BCa also looks at the counts of all replicates.
        of_full = {"test_size": "full", "interval_method": ["symmetric", "percentile"]}
        of_full = {name_: label for name_, label in of_full.items() if name_ in exact[name].dims}
        np.testing.assert_array_equal(exact[name].sel(of_full), drawn[name].sel(of_full), err_msg=name)


def test_the_exact_procedure_beside_it_has_the_same_numbers(tmp_path: Path) -> None:
    cube = cube_of(run_study(tmp_path, answers(), procedures=["paired-bootstrap", "exact-bootstrap"], test_sizes=[20, "full"]))
    for size in ("20", "full"):
        for name in CONVENTIONS[:4]:
            np.testing.assert_array_equal(p_of(cube, name, size=size), p_of(cube, name, size=size, procedure="exact-bootstrap"))
    codes = dict(zip(cube["method"].attrs["flag_values"], cube["method"].attrs["flag_meanings"].split(), strict=True))
    of_full = cube["method"].sel(procedure="paired-bootstrap", convention="two-sided-plus-one", test_size="full", metric="accuracy")
    assert {codes[int(code)] for code in of_full.values} == {"exact"}
    error = cube["p_error"].sel(procedure="paired-bootstrap", convention="two-sided", metric="accuracy", test_size="full")
    assert (error.values == 0).all()


def test_beside_exact_p_values_only_what_is_kept_is_drawn(tmp_path: Path) -> None:
    run = run_study(tmp_path, answers(), replicates=1_000_000, keep_replicates=20_000, test_sizes=[20, "full"])
    cube = cube_of(run)
    assert cube.sizes["cell"] == 2
    assert cube.attrs["exact"] == {"paired-bootstrap": {"accuracy": 32_768}}
    below, at, above = (cube[f"count_{name}_delta"].sel(test_size="full").sum("cell") for name in ("below", "at", "above_twice"))
    assert (below + at <= 32_768).all()
    assert (above <= 32_768).all()
    assert (cube["histogram"].sum("bin") == 32_768).all()
    assert cube.sizes["replicate"] == 20_000


def test_with_nothing_kept_nothing_is_drawn(tmp_path: Path) -> None:
    run = run_study(tmp_path, answers(), keep_replicates=0)
    assert tasks_of(run, "resample") == 0
    document = report_of(run)
    assert all(row["replicates"] is None and row["adjustment"]["by"] == "holm" for row in document["pairs"])
    (check,) = [check for check in document["trust"] if check["check"] == "Monte-Carlo error"]
    assert check["status"] == "ok"
    assert check["detail"] == "None: the p-values are exact laws of resampling, for which nothing was counted."


def test_cells_that_were_counted_are_not_drawn_again(tmp_path: Path) -> None:
    counted = run_study(tmp_path, answers(), method="monte-carlo", keep_replicates=16_384)
    exact = run_study(tmp_path, answers(), keep_replicates=16_384)
    assert counted.root != exact.root
    assert (tasks_of(counted, "resample") > 0, tasks_of(exact, "resample")) == (True, 0)
    again = run_study(tmp_path, answers(), runs="others", keep_replicates=16_384)
    np.testing.assert_array_equal(cube_of(exact)["count_at_zero"], cube_of(again)["count_at_zero"])


def test_beside_a_metric_without_a_law_each_has_its_own_method(tmp_path: Path) -> None:
    right = answers()
    metrics = ["accuracy", {"name": "f1", "positive": "x"}]
    asked = {"metrics": metrics, "replicates": 60_000, "keep_replicates": 16_384, "test_sizes": [50, "full"]}
    run = run_study(tmp_path, right, **asked, method="auto", formats=["json", "markdown"])
    cube, drawn = cube_of(run), cube_of(run_study(tmp_path, right, **asked, method="monte-carlo", runs="others"))
    assert cube.attrs["exact"] == {"paired-bootstrap": {"accuracy": 16_384}}
    assert cube.sizes["cell"] == 4
    for name in ("p_value", "count_above_twice_delta", "sum_shift", "histogram", "p_adjusted", "bias"):
        np.testing.assert_array_equal(cube[name].sel(metric="f1"), drawn[name].sel(metric="f1"), err_msg=name)
    accuracy = cube["count_above_twice_delta"].sel(metric="accuracy")
    np.testing.assert_array_equal(accuracy.isel(cell=0), drawn["count_above_twice_delta"].sel(metric="accuracy").isel(cell=0))
    assert (accuracy.isel(cell=slice(1, None)) == 0).all()
    rows = report_of(run)["pairs"]
    assert {row["metric"]: row["replicates"] for row in rows} == {"accuracy": None, "f1": 60_000}
    assert {row["metric"] for row in rows if row["count"] is None} == {"accuracy"}
    lines = {row["metric"]: row["line"] for row in report_of(run)["signature"]}
    assert "|b:exact|" in lines["accuracy"]
    page = (run.root / "report" / "report.md").read_text(encoding="utf-8")
    assert "with b = 60,000 replicates shared by all systems" in page
    # The p that decides is of max-T's replicates, and where none are kept of the procedure itself.
    assert f"P-values are two-sided, {BY_MAX_T}, and corrected by" in page
    assert "|b:60000|" in lines["f1"]
    unkept = run_study(
        tmp_path, right, **asked | {"keep_replicates": 0}, method="auto", formats=["json", "markdown"], runs="unkept"
    )
    exactly = "P(\\|δ\\* − δ\\| ≥ δ), computed exactly"
    told = f"P-values are two-sided, (s + 1)/(b + 1) (Phipson and Smyth, 2010), of accuracy {exactly}, and corrected by"
    assert told in (unkept.root / "report" / "report.md").read_text(encoding="utf-8")


def test_a_further_system_changes_no_exact_p(tmp_path: Path) -> None:
    names = list(SYSTEMS)
    few = cube_of(run_study(tmp_path, answers(names[:3]), method="auto", keep_replicates=16_384))
    more = cube_of(run_study(tmp_path, answers(names), method="auto", keep_replicates=16_384))
    assert few.attrs["exact"] == more.attrs["exact"]
    ours = {frozenset((a, b)): k for k, (a, b) in enumerate(zip(more["system_a"].values, more["system_b"].values, strict=True))}
    places = [ours[frozenset((a, b))] for a, b in zip(few["system_a"].values, few["system_b"].values, strict=True)]
    for name in CONVENTIONS:
        np.testing.assert_array_equal(p_of(few, name), p_of(more, name)[places])


def test_a_report_of_exact_p_values_says_so_and_claims_no_replicates_for_them(tmp_path: Path) -> None:
    run = run_study(tmp_path, answers(), keep_replicates=10_000, formats=["json", "markdown"])
    document, page = report_of(run), (run.root / "report" / "report.md").read_text(encoding="utf-8")
    assert document["test_sets"][0]["replicates"] is None
    method = page[page.index("## Method") :]
    assert f"P-values are two-sided, {BY_MAX_T}, and corrected by" in method
    assert "b = " not in method
    assert "Exact bootstrap" in method
    assert "one-sided is the strict p of Berg-Kirkpatrick et al., exact: of infinitely many replicates" in page
    (check,) = [check for check in document["trust"] if check["check"] == "Monte-Carlo error"]
    assert check["status"] == "ok"
    assert check["detail"].startswith("p by the procedure's own convention is exact; every two-sided p is accurate to ± ")
    assert all(row["tail"] is None and row["bias"] is not None for row in document["pairs"])
    for row in document["pairs"]:
        assert row["p_raw"]["two_sided"] == row["p_raw"]["two_sided_plus_one"]
    assert all(row["stable"] is not None for row in document["pairs"])


def test_each_procedure_and_metric_is_asked_for_its_law_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        run_study(
            tmp_path, answers(), metrics=["accuracy", {"name": "f1", "positive": "x"}, {"name": "precision", "positive": "x"}]
        )
    assert [problem.code for problem in caught.value.problems] == ["P133", "P133"]
    told = str(caught.value)
    assert "p-values of f1 by paired-bootstrap have no exact law: each system has its own denominator of f1" in told
    line = next(k for k, row in enumerate((tmp_path / "study.yaml").read_text().splitlines(), 1) if "method:" in row)
    assert {(problem.where.rpartition(":")[0], problem.help) for problem in caught.value.problems} == {
        (f"{tmp_path / 'study.yaml'}:{line}", "write `method: auto`, which counts replicates where there is no exact law")
    }


@pytest.mark.parametrize(
    ("resampling", "why"),
    [
        ({"margin": {"accuracy": 1.0}}, "replicates are counted against the margin"),
        ({"procedures": ["approximate-randomization"]}, "nothing computes all p-values of approximate-randomization"),
    ],
)
def test_what_needs_replicates_refuses_exact_laws(tmp_path: Path, resampling: dict[str, Any], why: str) -> None:
    with pytest.raises(StudyError, match="P133") as caught:
        run_study(tmp_path, answers(), **resampling)
    assert why in str(caught.value)


def test_denominators_that_turn_out_to_differ_are_refused_when_they_are_met(tmp_path: Path) -> None:
    rows = [
        "item,system,hits,tries",
        *(f"i{i},{s},{(i * k) % 3},{3 + (i * k) % 2}" for i in range(30) for k, s in ((1, "a"), (2, "b"))),
    ]
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = write_study(
        tmp_path / "study.yaml",
        test_sets={"bench": {"format": "scores", "outputs": "long.csv"}},
        metrics=[{"name": "ratio", "numerator": "hits", "denominator": "tries"}],
        resampling={"replicates": 20_000, "keep_replicates": 0, "method": "exact"},
        analyses=[],
    )
    done = run_cli("run", study, "--runs", tmp_path / "runs", "--serial")
    assert done.returncode != 0
    assert "P239" in done.stderr
    assert "the denominators of the two systems differ" in done.stderr
    (advised,) = re.findall(r"`method: (monte-carlo)`", done.stderr)
    study.write_text(study.read_text().replace("method: exact", f"method: {advised}"))
    assert run_cli("run", study, "--runs", tmp_path / "runs", "--serial").returncode == 0


def test_a_plan_says_which_it_took_and_why(tmp_path: Path) -> None:
    write_labels(tmp_path, answers())
    write_scores(tmp_path / "scores.csv", ["a", "b", "c"])
    test_sets = {"bench": write_labels(tmp_path, answers())}
    asked = {"replicates": 1_000_000, "keep_replicates": 16_384, "method": "auto"}
    study = write_study(
        tmp_path / "study.yaml", test_sets=test_sets, metrics=["accuracy", {"name": "f1", "positive": "x"}], resampling=asked
    )
    told = run_cli("plan", study, "--runs", tmp_path / "runs").stdout
    assert (
        "p-values of accuracy by paired-bootstrap: exact, beside 16,384 replicates "
        "(exact laws take 25.3 µs a pair, 983,616 more replicates 956 µs)" in told
    )
    assert "p-values of f1 by paired-bootstrap: counted on 1,000,000 replicates (each system has its own denominator of f1)" in told
