"""Studentised intervals from the study file to the report: of the kept replicates, of ratios only, of a size that can be done."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from support.studies import PAGES, run_cli, text_study, write_study

from pipeline.api import open_run, run
from pipeline.cli import main
from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.pairs.pair_fields import read_columns
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.standard_errors import studentise_budget
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights, stratified_key
from pipeline.study.load import load_study
from pipeline.survey import checks as limits

UNITS, REPLICATES, ALPHA = 60, 600, 0.1
SYSTEMS = ("one", "two", "three", "four")
METRICS: list[Any] = [
    {"name": "mean", "column": "score"},
    {"name": "ratio", "numerator": "errors", "denominator": "words", "factor": 100, "higher_is_better": False},
]
WHERE = {"test_size": "full", "procedure": "paired-bootstrap"}


def write_data(folder: Path) -> None:
    """Write scores with two decimals, errors over lengths of each system's own, and two domains."""
    rng = np.random.default_rng(21)
    hard, length = rng.gamma(2.0, 1.0, UNITS), rng.integers(4, 30, UNITS)
    folder.mkdir(parents=True, exist_ok=True)
    for number, system in enumerate(SYSTEMS):
        score = np.round(hard + rng.gamma(0.4 + 0.2 * number, 1.0, UNITS), 2)
        words = length + rng.integers(-2, 3, UNITS)
        errors = rng.binomial(words, 0.35 - 0.04 * number)
        rows = [f"i{i},{score[i]:.2f},{errors[i]},{words[i]},{'news' if i % 3 else 'speech'}" for i in range(UNITS)]
        (folder / f"{system}.csv").write_text("\n".join(["item,score,errors,words,domain", *rows]) + "\n", encoding="utf-8")


def study_of(folder: Path, systems: tuple[str, ...] = SYSTEMS, **resampling: Any) -> Path:
    write_data(folder / "data")
    asked = {"replicates": 2000, "keep_replicates": REPLICATES, "alpha": ALPHA, "intervals": [*BOOTSTRAP_T, "percentile"]}
    outputs = {system: f"data/{system}.csv" for system in systems}
    test_sets = {"bench": {"format": "scores", "outputs": outputs}}
    changes = {"test_sets": test_sets, "metrics": METRICS, "analyses": [], "resampling": asked | resampling, "report": PAGES}
    return write_study(folder / "study.yaml", **changes)


def finished(folder: Path, **changes: Any) -> tuple[xr.Dataset, dict[str, Any], Path]:
    root = run(study_of(folder, **changes), runs=folder / "runs", serial=True).root
    (cube,) = open_run(root).values()
    return cube, json.loads((root / "report" / "report.json").read_text(encoding="utf-8")), root


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, dict[str, Any], Path]:
    return finished(tmp_path_factory.mktemp("studentised"))


@pytest.fixture(scope="module")
def stratified(tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, dict[str, Any], Path]:
    return finished(tmp_path_factory.mktemp("strata"), strata="domain")


def read_statistics(folder: Path, metric: str) -> np.ndarray:
    """(unit, system, 2) numbers, read off the files without the package."""
    columns = []
    for system in SYSTEMS:
        with (folder / "data" / f"{system}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        columns.append([(float(r["score"]), 1.0) if metric == "mean" else (float(r["errors"]), float(r["words"])) for r in rows])
    return np.array(columns).transpose(1, 0, 2)


def influence_gap(statistics: np.ndarray, w: np.ndarray, a: int, b: int) -> np.ndarray:
    n, c = statistics[:, [a, b], 0], statistics[:, [a, b], 1]
    u = (n - (w @ n) / (w @ c) * c) / (w @ c)
    return np.asarray(u[:, 0] - u[:, 1])


def spread(gap: np.ndarray, w: np.ndarray, stratum: np.ndarray) -> float:
    total = 0.0
    for h in np.unique(stratum):
        own, drawn = gap[stratum == h], w[stratum == h]
        total += len(own) / (len(own) - 1) * float((drawn * (own - drawn @ own / len(own)) ** 2).sum())
    return total**0.5


def _hold_max_t(cube: xr.Dataset, at: dict[str, str], star: np.ndarray, t: np.ndarray) -> None:
    """Step-down max-T over these t*, whose pairs differ on twenty units or more, is what decides."""
    assert cube["discordant"].sel(metric=at["metric"], test_size="full").values.min() >= 20
    order = np.argsort(-t)
    hits = [(np.abs(star)[order[place:]].max(axis=0) >= t[pair] - 1e-9).sum() for place, pair in enumerate(order)]
    expected = np.maximum.accumulate((np.array(hits) + 1) / (REPLICATES + 1))
    np.testing.assert_allclose(cube["p_adjusted"].sel(at).values[order], expected, rtol=1e-12)


@pytest.mark.parametrize("strata", [False, True], ids=["plain", "strata"])
@pytest.mark.parametrize("metric", ["mean", "ratio"])
def test_intervals_and_p_are_those_of_the_kept_replicates(metric: str, strata: bool, request: pytest.FixtureRequest) -> None:
    cube, _, root = request.getfixturevalue("stratified" if strata else "ran")
    statistics = read_statistics(root.parent.parent, metric)
    address = {"seed": 7, "purpose": "paired-bootstrap", "test_set": "bench", "size": "full", "rule": "prefix"}
    stratum = np.where(np.arange(UNITS) % 3 > 0, 1, 0) if strata else np.zeros(UNITS, np.int64)
    if strata:
        weights = draw_stratified_weights(StratifiedDraws(stratified_key(**address, stratum=stratum), stratum), 0, REPLICATES)
    else:
        weights = draw_weights(Draws(draw_key(**address), UNITS, UNITS), 0, REPLICATES)
    weights, factor, sign = weights.astype(float), *((1.0, 1.0) if metric == "mean" else (100.0, -1.0))
    sums = np.einsum("ru,usk->krs", weights, statistics)
    scores = factor * sums[0] / sums[1]
    np.testing.assert_allclose(cube["score"].sel(metric=metric, test_size="full").values.T, scores, rtol=1e-12)
    a, b = cube["a"].values, cube["b"].values
    observed = factor * statistics[..., 0].sum(axis=0) / statistics[..., 1].sum(axis=0)
    delta, star = sign * (observed[a] - observed[b]), sign * (scores[:, a] - scores[:, b]).T
    one = np.ones(UNITS)
    se = factor * np.array([spread(influence_gap(statistics, one, *pair), one, stratum) for pair in zip(a, b, strict=True)])
    own = [[spread(influence_gap(statistics, w, *pair), w, stratum) for w in weights] for pair in zip(a, b, strict=True)]
    t = (star - delta[:, None]) / (factor * np.array(own))
    at = {"metric": metric, **WHERE}
    _hold_max_t(cube, at, t, np.abs(delta) / se)
    found, p = cube["interval"].sel(at), cube["interval_p"].sel(at)
    low, high = np.quantile(t, [ALPHA / 2, 1 - ALPHA / 2], axis=1)
    ends = found.sel(interval_method="studentised").values
    np.testing.assert_allclose(ends, np.stack([delta - high * se, delta - low * se], axis=1), rtol=1e-8, atol=1e-10)
    hits = np.minimum((t >= (delta / se)[:, None]).sum(axis=1), (t <= (delta / se)[:, None]).sum(axis=1))
    np.testing.assert_allclose(p.sel(interval_method="studentised"), np.minimum(1, 2 * (hits + 1) / (REPLICATES + 1)), rtol=1e-12)
    largest = np.abs(t).max(axis=0)
    c = np.quantile(largest, 1 - ALPHA)
    ends = found.sel(interval_method="simultaneous-studentised").values
    np.testing.assert_allclose(ends, np.stack([delta - c * se, delta + c * se], axis=1), rtol=1e-8, atol=1e-10)
    hits = (largest[:, None] >= np.abs(delta / se)).sum(axis=0)
    np.testing.assert_allclose(p.sel(interval_method="simultaneous-studentised"), (hits + 1) / (REPLICATES + 1), rtol=1e-12)
    assert np.isnan(p.sel(interval_method="percentile")).all()


def test_a_report_has_each_interval_with_its_p_among_the_others(ran: tuple[xr.Dataset, dict[str, Any], Path]) -> None:
    cube, report, root = ran
    decided = set()
    for row in report["pairs"]:
        names = (row["system_a"], row["system_b"])
        pair = next(k for k in range(6) if {cube["system_a"].values[k], cube["system_b"].values[k]} == set(names))
        at = {"metric": row["metric"], **WHERE, "interval_method": "studentised"}
        p = float(cube["interval_p"].sel(at).values[pair])
        own = row["intervals"]["studentised"]
        assert row["interval"]["method"] == "max-t"
        assert own["p"] == p
        assert row["intervals"]["simultaneous-studentised"]["p"] >= p / 2
        assert "p" not in row["intervals"]["percentile"]
        assert (own["lo"] > 0) == (p <= ALPHA)
        ends = sorted(np.abs(cube["interval"].sel(at).values[pair]).tolist())
        assert sorted([abs(own["lo"]), abs(own["hi"])]) == ends
        decided.add(own["lo"] > 0)
    assert decided == {False, True}
    page = (root / "report" / "report.md").read_text(encoding="utf-8")
    assert "The interval belongs to p adjusted, and is held to the verdict: gain ± c se, with the c of max-T" in page
    head = (root / "report" / "tables" / "pairs.csv").read_text(encoding="utf-8").split("\n")[0].split(",")
    assert {"intervals.studentised.p", "intervals.simultaneous-studentised.lo", "interval.open"} <= set(head)


def test_a_new_system_changes_no_bit_of_another_pair(ran: tuple[xr.Dataset, dict[str, Any], Path], tmp_path: Path) -> None:
    cube, _, _ = ran
    fewer, _, _ = finished(tmp_path, systems=("three", "one"))
    for metric in ("mean", "ratio"):
        at = {"metric": metric, **WHERE, "interval_method": "studentised"}
        pair = next(k for k in range(6) if {cube["system_a"].values[k], cube["system_b"].values[k]} == {"one", "three"})
        ends, other = cube["interval"].sel(at).values[pair], fewer["interval"].sel(at).values[0]
        np.testing.assert_array_equal(other, ends if cube["system_a"].values[pair] == "three" else -ends[::-1])
        assert cube["interval_p"].sel(at).values[pair] == fewer["interval_p"].sel(at).values[0]


def test_a_metric_without_them_has_the_other_intervals(tmp_path: Path) -> None:
    asked = {"replicates": 500, "keep_replicates": 500, "intervals": ["studentised", "simultaneous-studentised", "basic"]}
    study = text_study(tmp_path, ("a", "b", "c"), metrics=["bleu", "ter"], resampling=asked, analyses=[])
    done = run_cli("run", study, "--runs", tmp_path / "runs", "--serial")
    assert done.returncode == 0, done.stderr
    root = Path(done.stdout.strip())
    (cube,) = open_run(root).values()
    words = cube["interval_reason"].attrs["flag_meanings"].split()
    for method in BOOTSTRAP_T:
        codes = cube["interval_reason"].sel(metric="bleu", **WHERE, interval_method=method).values
        assert {words[code] for code in codes.tolist()} == {"not-a-ratio"}
    rows = json.loads((root / "report" / "report.json").read_text(encoding="utf-8"))["pairs"]
    there = {(row["metric"], name) for row in rows for name, ends in row["intervals"].items() if ends["lo"] is not None}
    assert there == {("bleu", "basic"), *(("ter", name) for name in (*BOOTSTRAP_T, "basic"))}
    assert {row["interval"]["method"] for row in rows if row["interval"]} == {"max-t"}


def test_a_study_without_them_holds_no_such_p(tmp_path: Path) -> None:
    cube, report, _ = finished(tmp_path, systems=("one", "two"), intervals=["symmetric"])
    assert "interval_p" not in cube
    assert {name for row in report["pairs"] for name in row["intervals"]} == {"symmetric"}


def test_more_than_can_be_gone_through_is_refused_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = load_study(study_of(tmp_path)).study
    inputs = [type("Inputs", (), {"name": "bench", "n_units": 50_000, "outputs": range(systems)})() for systems in (4, 1000)]
    with pytest.raises(limits.StudyError, match="499,500 pairs on 50,000 units") as told:
        limits.refuse_bootstrap_t(study, inputs)
    assert told.value.problems[0].code == "P116"
    assert "keep_replicates" not in told.value.problems[0].help  # 88 replicates would fit: too few
    monkeypatch.setattr(studentise_budget, "MOST_PRODUCTS", 6 * 50_000 * 450)
    with pytest.raises(limits.StudyError, match="6 pairs") as told:
        limits.refuse_bootstrap_t(study, inputs[:1])
    assert "`keep_replicates: 450`" in told.value.problems[0].help
    one = type("Inputs", (), {"name": "bench", "n_units": 3_000_000, "outputs": range(2)})()
    with pytest.raises(limits.StudyError, match="of 1 pair on 3,000,000 units"):
        limits.refuse_bootstrap_t(study, [one])
    limits.refuse_bootstrap_t(load_study(study_of(tmp_path / "other", intervals=["bca"])).study, inputs)


def test_a_user_is_told_of_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(studentise_budget, "MOST_PRODUCTS", 6 * UNITS * 450)
    monkeypatch.setattr(sys, "argv", ["pipeline", "plan", str(study_of(tmp_path)), "--runs", str(tmp_path / "runs")])
    with pytest.raises(SystemExit) as ended:
        main()
    told = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 2
    assert "P116" in told
    assert "set `keep_replicates: 450`" in told


def test_beyond_the_budget_holm_decides_and_plan_and_report_say_what_would_be_within(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"intervals": ["symmetric"], "test_sizes": [30]}
    within, _, _ = finished(tmp_path / "within", **asked)
    assert "max_t_within" not in within.attrs
    by_max_t = within["p_by_adjustment"].sel(procedure="paired-bootstrap", adjustment="max-t", convention="two-sided-plus-one")
    assert np.isfinite(by_max_t.sel(test_size="full").values).all()
    assert np.isnan(by_max_t.sel(test_size="30").values).all()
    assert np.isfinite(within["p_adjusted"].values).all()
    of = {"metric": "mean", "procedure": "paired-bootstrap", "alpha": ALPHA, "margin": None, "family": FamilyOf()}
    by = {size: read_columns(within, **of, test_size=size).adjusted_by for size in ("full", "30")}
    assert by == {"full": "max_t", "30": "holm"}

    monkeypatch.setattr(studentise_budget, "MOST_PRODUCTS", 6 * UNITS * 450)
    cube, report, _ = finished(tmp_path / "beyond", **asked)
    assert cube.attrs["max_t_within"] == 450
    for name in ("p_studentised", "max_t_se", "max_t_largest"):
        assert np.isnan(cube[name].values).all()
    adjustment = report["pairs"][0]["adjustment"]
    assert (adjustment["by"], "`keep_replicates: 450`" in adjustment["reason"]) == ("holm", True)
    np.testing.assert_array_equal(cube["p_adjusted"].sel(test_size="30"), within["p_adjusted"].sel(test_size="30"))
    monkeypatch.setattr(sys, "argv", ["pipeline", "plan", str(tmp_path / "beyond" / "study.yaml"), "--runs", str(tmp_path / "new")])
    with pytest.raises(SystemExit) as ended:
        main()
    told = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert "Holm decides; for max-T set `keep_replicates: 450`" in told
    assert studentise_budget.replicates_within(systems=4, units=UNITS, kept=450) is None
