"""A suite from the command line: three small test sets, a metric where lower is better, every procedure, the report asked anew."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binomtest, norm, skew, ttest_1samp, wilcoxon
from scipy.stats import t as student
from support.studies import PAGES, run_cli, write_study

import pipeline
from pipeline.analyses.suite.data import join_cubes
from pipeline.cli import cli
from pipeline.report.document import read_leads, read_verdicts
from pipeline.report.layout.summary import conclude

SYSTEMS = {"old": 0.0, "<new>": -0.5, "odd|one": 0.02}
"""Errors beyond those of `old`: a new system that makes fewer."""
B = 20_000
LITTLE = {"type-one": {"nulls": 100, "pairs": 1, "replicates": 99}}
PROCEDURES = ["paired-bootstrap", "approximate-randomization", "exact-bootstrap", "exact-sign-flip", "sign", "paired-t", "wilcoxon"]


def write_errors(path: Path, systems: dict[str, float], *, items: int, seed: int) -> None:
    """Write a table of whole numbers of errors: their laws have ties."""
    rng = np.random.default_rng(seed)
    hard = rng.poisson(3, items)
    columns = [hard + rng.binomial(2, 0.5 + shift / 2, items) for shift in systems.values()]
    rows = [
        ",".join(["item", *systems]),
        *(",".join(map(str, [f"i{k}", *row])) for k, row in enumerate(zip(*columns, strict=True))),
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    write_errors(folder / "dev.csv", SYSTEMS, items=150, seed=1)
    write_errors(folder / "web.csv", SYSTEMS, items=90, seed=2)
    write_errors(folder / "talks.csv", {name: SYSTEMS[name] for name in ("old", "<new>")}, items=120, seed=3)
    write_study(
        folder / "study.yaml",
        metrics=[{"name": "mean", "higher_is_better": False}],
        test_sets={name: {"format": "scores", "outputs": f"{name}.csv"} for name in ("dev", "web", "talks")},
        resampling={"replicates": B, "keep_replicates": 0, "procedures": ["paired-bootstrap", "exact-sign-flip"]},
        analyses=["suite", LITTLE],
        report=PAGES,
    )
    done = run_cli("run", "study.yaml", "--serial", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One test set, every procedure."""
    folder = tmp_path_factory.mktemp("procedures")
    write_errors(folder / "dev.csv", SYSTEMS, items=150, seed=5)  # enough for SciPy's own law of signed ranks
    study = write_study(
        folder / "study.yaml",
        metrics=[{"name": "mean", "higher_is_better": False}],
        test_sets={"dev": {"format": "scores", "outputs": "dev.csv"}},
        resampling={"replicates": B, "keep_replicates": 0, "procedures": PROCEDURES},
        analyses=[LITTLE],
    )
    return pipeline.run(study, runs=folder / "runs", serial=True).root


def suite_of(report: Path) -> dict[str, Any]:
    found = json.loads((report / "report.json").read_text(encoding="utf-8"))["findings"]
    (suite,) = [finding for finding in found if finding["analysis"] == "suite"]
    return suite


def errors_of(run: Path, name: str) -> dict[str, np.ndarray]:
    with open(run.parent.parent / f"{name}.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {system: np.array([int(row[system]) for row in rows]) for system in rows[0] if system != "item"}


def test_the_answer_of_the_suite_stands_before_the_verdicts(run: Path) -> None:
    document = json.loads((run / "report" / "report.json").read_bytes())
    (lead,) = read_leads(document)
    assert re.match(r"By mean over 3 test sets, with all pairs together, .* is better than .* on (all|at least) \d", lead)
    assert conclude(read_verdicts(document), titles={}, leads=[lead])[0] == lead
    assert run_cli("report", run.name, cwd=run.parents[1]).stderr.splitlines()[0] == lead
    for name, first in (("index.html", '<article class="card'), ("report.md", "**dev · ")):
        text = (run / "report" / name).read_text(encoding="utf-8").replace("\xa0", " ")
        assert 0 < text.find("By mean over 3 test sets, with all") < text.find(first)


def test_fewer_errors_are_better_on_all_three_test_sets(run: Path) -> None:
    rows = [row for row in suite_of(run / "report")["rows"] if row["kind"] == "pair"]
    first = rows[0]
    assert (first["system_a"], first["system_b"]) == ("<new>", "old")
    assert (first["test_sets"], first["better_at_least"], first["worse_at_least"]) == (3, 3, 0)
    assert first["words"].startswith("<new> is better than old on all 3 test sets.")
    assert first["gain_lowest"] > 0
    (odd,) = [row for row in rows if {row["system_a"], row["system_b"]} == {"<new>", "odd|one"}]
    assert (odd["test_sets"], odd["missing_on"], odd["better_at_least"]) == (2, ["talks"], 2)
    (tied,) = [row for row in rows if {row["system_a"], row["system_b"]} == {"old", "odd|one"}]
    assert (tied["better_at_least"], tied["worse_at_least"]) == (0, 0)


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_every_procedure_has_the_p_of_a_fixed_direction(tested: Path, procedure: str) -> None:
    """Against SciPy where it has the test; counted ones against the exact law they draw from, within 6 standard errors (1e-8)."""
    cubes = pipeline.open_run(tested)
    data = join_cubes(cubes, metric="mean", procedure=procedure, baseline="old")
    exact = {"paired-bootstrap": "exact-bootstrap", "approximate-randomization": "exact-sign-flip"}.get(procedure)
    known = join_cubes(cubes, metric="mean", procedure=exact, baseline="old") if exact else None
    compared = 0
    for t, name in enumerate(data.test_sets):
        errors = errors_of(tested, name)
        for k, (system, _) in enumerate(data.pairs):
            d = (errors["old"] - errors[system]).astype(float)  # lower is better: the gain of the other over `old`
            assert data.delta[t, k] == pytest.approx(d.mean())
            side = 0 if d.mean() > 0 else 1
            ahead, behind = data.p[side, t, k], data.p[1 - side, t, k]
            if known is not None:
                p = known.p[side, t, k]
                assert abs(ahead - p) <= 6 * np.sqrt(p * (1 - p) / B) + 2 / B
                assert behind >= 1 - p - 6 * np.sqrt(p * (1 - p) / B)
            else:
                d = d if side == 0 else -d
                assert behind == 1.0
                theirs = {
                    "sign": lambda d: binomtest(int((d > 0).sum()), int((d != 0).sum()), alternative="greater").pvalue,
                    "paired-t": lambda d: ttest_1samp(d, 0, alternative="greater").pvalue,
                    "wilcoxon": lambda d: wilcoxon(d, alternative="greater", method="asymptotic", correction=False).pvalue,
                }.get(procedure)
                if theirs is not None:
                    assert ahead == pytest.approx(theirs(d), rel=0.05)
                draws = np.random.default_rng(t).choice([-1, 1], (20_000, len(d))) @ d if procedure == "exact-sign-flip" else None
                if draws is not None:
                    assert abs((draws >= d.sum()).mean() - ahead) <= 6 * np.sqrt(ahead / 20_000) + 1e-9
            compared += 1
    assert compared == 2


def test_tables_figure_page_and_markdown_are_there(run: Path) -> None:
    report = run / "report"
    with open(report / "tables" / "suite_pairs.csv", encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file))
    assert [pairs[0][key] for key in ("system_a", "better_at_least", "better_on")] == ["<new>", "3", "dev; web; talks"]
    with open(report / "tables" / "suite_test_sets.csv", encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 9  # three pairs on three test sets, measured or not
    markdown = (report / "report.md").read_text(encoding="utf-8")
    assert "### suite · mean · paired-bootstrap\n" in markdown
    assert markdown.index("## All test sets together") < markdown.index("## Pairs")  # what a suite is asked for stands on top
    row = next(line for line in markdown.splitlines() if line.startswith(r"| \<new\> | old | 3 | 3 | all |"))
    assert row
    assert "![" in markdown
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "&lt;new&gt; is better than old on all 3 test sets." in page
    assert '<p class="caption">Of 3\u00a0pairs on 2 to 3 test sets' in page  # not behind "How to read this"
    assert "<new>" not in page
    svg = (report / "figures" / "suite-01.svg").read_text(encoding="utf-8")
    assert "<title>Gains on every test set, mean, paired-bootstrap</title>" in svg
    shown = set(re.findall(r">(?:against )?([^<>]+)</text>", svg))
    assert {"&lt;new&gt;", "old", "odd|one", "dev", "talks", "web", "mean", "not compared"} <= shown


def test_a_report_asks_against_another_baseline_and_of_one_side(run: Path, tmp_path: Path) -> None:
    changes = ["resampling.family=against-baseline", "resampling.baseline=old", "resampling.alpha=0.01"]
    suite = "suite: {direction: worse, procedure: exact-sign-flip, test_sets: [dev, web]}"
    changes.append(f"analyses=[{{{suite}}}, {{type-one: {{nulls: 100, pairs: 1, replicates: 99}}}}]")
    asked = [word for change in changes for word in ("--set", change)]
    done = CliRunner().invoke(cli, ["report", str(run), *asked, "-o", str(tmp_path / "out")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    finding = suite_of(tmp_path / "out")
    rows = [row for row in finding["rows"] if row["kind"] == "pair"]
    assert {(row["system_b"], row["procedure"], row["alpha"], row["test_sets"]) for row in rows} == {
        ("old", "exact-sign-flip", 0.01, 2)
    }
    assert len(rows) == 2
    assert all(row["better_at_least"] is None and row["worse_at_least"] == 0 for row in rows)
    assert "one direction, fixed before looking, at 0.01" in finding["tables"][1]["caption"]


def test_skewed_errors_are_corrected_for_in_the_direction_of_their_gains(tested: Path) -> None:
    """Lower is better: the acceleration is that of `gain = errors of the other − own`, by SciPy, and so is Hall's p."""
    (cube,) = pipeline.open_run(tested).values()
    data = join_cubes({"dev": cube}, metric="mean", procedure="paired-bootstrap", baseline="old")
    errors = errors_of(tested, "dev")
    for k, (system, _) in enumerate(data.pairs):
        gain = (errors["old"] - errors[system]).astype(float)
        a, t = skew(gain) / 6 / len(gain) ** 0.5, gain.mean() / (gain.std(ddof=1) / len(gain) ** 0.5)
        pair = cube.isel(
            pair=[{"old", system} == {str(x), str(y)} for x, y in zip(cube.system_a.values, cube.system_b.values, strict=True)]
        )
        turned = -1 if str(pair["system_a"].values[0]) == "old" else 1
        assert turned * float(pair["acceleration"].sel(metric="mean", test_size="full").item()) == pytest.approx(a, abs=1e-9)
        side, sign = (0, 1) if t > 0 else (1, -1)
        hall = sign * (t + a + 2 * a * t**2 + 4 / 3 * a**2 * t**3)
        assert data.p[side, 0, k] >= student.sf(hall, len(gain) - 1) * (1 - 1e-6)


def suite_of_gains(folder: Path, gains: dict[str, np.ndarray]) -> tuple[dict[str, Any], Any]:
    """Run a suite of the systems old and new on test sets whose units gain so much; give its one pair."""
    for name, gain in gains.items():
        rows = ["item,old,new", *(f"i{k},0,{round(value)}" for k, value in enumerate(gain))]
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = write_study(
        folder / "study.yaml",
        metrics=["mean"],
        test_sets={name: {"format": "scores", "outputs": f"{name}.csv"} for name in gains},
        resampling={"replicates": B, "keep_replicates": 0},
        analyses=["suite"],
    )
    run = pipeline.run(study, runs=folder / "runs", serial=True)
    (row,) = [row for row in suite_of(run.report)["rows"] if row["kind"] == "pair"]
    return row, run


def test_four_test_sets_on_which_twelve_units_differ_show_nothing_that_student_s_t_does_not(tmp_path: Path) -> None:
    """On one of them counted p-values say better, with Holm's p below .05, and Student's t does not."""
    rng, names = np.random.default_rng(10), [f"t{k}" for k in range(1, 5)]
    noise = norm.ppf((np.arange(12) + 0.5) / 12)  # of no skewness
    gains = {}
    for name in names:
        gain = (noise / noise.std(ddof=1) + (3.2 if name == "t3" else 0.3) / 12**0.5) * 100
        gains[name] = np.concatenate([rng.permutation(gain), np.zeros(12)])
    row, run = suite_of_gains(tmp_path, gains)
    assert (row["better_at_least"], row["worse_at_least"], row["stable"], row["undecided_on"]) == (0, 0, True, [])
    whole = np.rint(gains["t3"])
    by_t = ttest_1samp(whole, 0, alternative="greater").pvalue
    assert row["p_better_on_any"] == pytest.approx(8 * by_t)
    assert 8 * by_t > 0.05
    cube = pipeline.open_run(run.root)["t3"].sel(metric="mean", test_size="full", procedure="paired-bootstrap")
    against = sum(int(cube[f"count_{side}_twice_delta"].sum()) for side in ("above", "at"))
    assert 8 * (against + 1) / (B + 1) < 0.05


def test_four_test_sets_of_fourteen_graded_units_are_not_decided_and_a_suite_of_them_shows_nothing(tmp_path: Path) -> None:
    """Each gain is 6 standard errors, and every test set says better if it is asked for no more than its p."""
    noise = norm.ppf((np.arange(14) + 0.5) / 14)
    gain = (noise / noise.std(ddof=1) + 6 / 14**0.5) * 100
    row, run = suite_of_gains(tmp_path, dict.fromkeys(["legal", "news", "talks", "web"], gain))
    assert (row["better_at_least"], row["better_together"], row["p_better_on_any"]) == (0, 0, 1.0)
    assert row["undecided_on"] == ["legal", "news", "talks", "web"]
    assert "Not decided on any of them, which counts for no direction: graded scores of n = 14 units" in row["words"]
    (document,) = [of for of in json.loads((run.report / "report.json").read_text())["findings"] if of["analysis"] == "suite"]
    assert "1 pair is not decided on some test sets" in document["tables"][0]["caption"]


def test_of_twelve_test_sets_of_twelve_units_none_is_claimed_by_a_p_that_knows_nothing_of_few_units(tmp_path: Path) -> None:
    """Of twelve units each. On one, counted p is .008 by Holm over both directions of all, and that of Student's t .1."""
    rng, noise = np.random.default_rng(12), norm.ppf((np.arange(12) + 0.5) / 12)
    gains = {
        f"t{k}": rng.permutation((noise / noise.std(ddof=1) + (3.2 if k == 10 else 0.1 * (-1) ** k) / 12**0.5) * 100)
        for k in range(1, 13)
    }
    row, run = suite_of_gains(tmp_path, gains)
    cube = pipeline.open_run(run.root)["t10"].sel(metric="mean", test_size="full", procedure="paired-bootstrap")
    against = sum(int(cube[f"count_{side}_twice_delta"].sum()) for side in ("above", "at"))
    assert 24 * (against + 1) / (B + 1) < 0.05
    assert 24 * ttest_1samp(np.rint(gains["t10"]), 0, alternative="greater").pvalue > 0.05
    assert (row["better_at_least"], row["worse_at_least"], row["stable"]) == (0, 0, True)
    assert sorted(row["undecided_on"]) == sorted(gains)
    assert row["p_better_on_any"] == 1.0
    (verdict,) = [of for of in json.loads((run.report / "report.json").read_text())["pairs"] if of["test_set"] == "t10"]
    assert (verdict["verdict"], verdict["undecided"]) == ("not decided", "few units")
