"""MultEval's example, read as a study of three systems with three runs each, gives MultEval's numbers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, t
from support.studies import write_study

from pipeline import api

pytestmark = pytest.mark.data

SYSTEMS = ("baseline", "sys1", "sys2")
RUNS = [(system, run) for system in SYSTEMS for run in range(3)]
NULLS = ("per-output", "segment-block", "whole-run", "multeval")
B = 10_000
FALSE_ALARM = 1e-6


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]


def run_study(folder: Path, test_set: dict, metric: dict, *nulls: str) -> tuple[dict, str, dict]:
    known = "".join(f"{system}.opt{run},{system},{run}\n" for system, run in RUNS)
    (folder / "systems.csv").write_text("system,model,replica\n" + known, encoding="utf-8")
    study = write_study(
        folder / "study.yaml",
        test_sets={"test2010": test_set},
        systems={"table": "systems.csv"},
        metrics=[metric],
        resampling={"replicates": 500, "keep_replicates": 500},
        analyses=[{"replicas": {"nulls": nulls, "replicates": B}}],
        report={"formats": ["json", "markdown"], "null_laboratory": False},
    )
    report = api.run(study, runs=folder / "runs", serial=True).root / "report"
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    (finding,) = (found for found in document["findings"] if found["analysis"] == "replicas")
    return finding, (report / "report.md").read_text(encoding="utf-8"), document


@pytest.fixture(scope="module")
def example(data_dir) -> Path:
    return data_dir / "multeval" / "example"


@pytest.fixture(scope="module")
def expected(data_dir) -> dict:
    return json.loads((data_dir / "multeval" / "expected.json").read_text())


@pytest.fixture(scope="module")
def bleu(example, tmp_path_factory):
    test_set = {
        "format": "text",
        "references": [str(example / "refs.test2010.lc.tok.en.0.gz")],
        "outputs": str(example / "hyps.lc.tok.en.{system}.gz"),
    }
    return run_study(tmp_path_factory.mktemp("bleu"), test_set, {"name": "bleu", "tokenize": "none", "smooth": "none"}, *NULLS)


@pytest.fixture(scope="module")
def length(example, tmp_path_factory):
    """Output words per hundred reference words: MultEval's metric Length."""
    folder = tmp_path_factory.mktemp("length")
    reference = [len(line.split()) for line in lines(example / "refs.test2010.lc.tok.en.0.gz")]
    rows = ["item,system,output,reference"]
    for system, run in RUNS:
        output = [len(line.split()) for line in lines(example / f"hyps.lc.tok.en.{system}.opt{run}.gz")]
        rows += [f"{i},{system}.opt{run},{a},{b}" for i, (a, b) in enumerate(zip(output, reference, strict=True))]
    (folder / "lengths.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    metric = {"name": "ratio", "numerator": "output", "denominator": "reference", "factor": 100}
    return run_study(folder, {"format": "scores", "outputs": "lengths.csv"}, metric, "per-output", "multeval")


def models(finding) -> dict[str, dict]:
    return {row["model"]: row for row in finding["rows"] if row["kind"] == "model"}


def row_of(finding, null: str, *pair: str) -> dict:
    (row,) = (r for r in finding["rows"] if r["kind"] == "test" and r["null"] == null and {r["model_a"], r["model_b"]} == set(pair))
    return row


def test_scores_and_spreads_are_those_that_multeval_prints(bleu, expected):
    rows = models(bleu[0])
    assert f"{rows['baseline']['scores']['0']:.2f}" == expected["reg_test"]["upstream_gold_files"]["hyps.baseline.opt0.bleu.gold"]
    for name, row in rows.items():
        assert row["score"] == pytest.approx(expected["replica_summary"][name]["mean"], abs=1e-6)
        assert row["s_test"] == pytest.approx(expected["replica_summary"][name]["sd_ddof1"], abs=1e-6)
    assert [round(rows[name]["s_test"], 3) for name in SYSTEMS] == [0.057, 0.294, 0.057]
    assert [round(rows[name]["s_sel"], 2) for name in SYSTEMS[:2]] == [0.26, 0.26]


def test_p_are_those_that_multeval_prints(bleu, length):
    # 0.00 and 0.09 in the tool's own table. Of the second, 4.9 standard errors of the difference of two runs of B shuffles.
    assert f"{row_of(bleu[0], 'multeval', 'baseline', 'sys1')['multeval']:.2f}" == "0.00"
    p = row_of(length[0], "multeval", "baseline", "sys1")["multeval"]
    assert p == pytest.approx(0.09, abs=0.005 + 4.9 * np.sqrt(2 * 0.09 * 0.91 / B))


@pytest.mark.parametrize("name", ["bleu", "length"])
def test_p_of_single_outputs_is_that_of_an_independent_program(name, request, expected):
    row = row_of(request.getfixturevalue(name)[0], "per-output", "baseline", "sys1")
    theirs = expected["independent_numpy"][f"AR_stratified.{'BLEU' if name == 'bleu' else 'Length'}"]
    assert row["delta"] == pytest.approx(theirs["observed_abs_difference_of_means"], abs=1e-6)
    # As many replicates on either side: given their sum, hits are binomial with ½.
    hits, total = row["hits"], row["hits"] + theirs["count_ge"]
    assert 2 * min(binom.cdf(hits, total, 0.5), binom.sf(hits - 1, total, 0.5)) > FALSE_ALARM


def test_the_copy_of_the_baseline_is_called_identical(bleu):
    finding, page, _ = bleu
    for null in NULLS:
        row = row_of(finding, null, "baseline", "sys2")
        assert row["p"] == 1.0
        assert row["note"] == "identical: run by run the two have the same statistics on every unit, so p = 1"
    assert row_of(finding, "multeval", "baseline", "sys2")["multeval"] == 1 / (B + 1)
    assert "identical: run by run" in page


def test_three_runs_cannot_reject_for_new_runs_and_that_is_said(bleu):
    row = row_of(bleu[0], "whole-run", "baseline", "sys1")
    assert (row["hits"], row["replicates"], row["exact"]) == (6, 20, True)
    assert row["warning"] == "p cannot be below 0.1 with these runs: nothing is rejected at 0.05"
    assert "run effects" in row_of(bleu[0], "segment-block", "baseline", "sys1")["warning"]


def test_the_verdict_is_about_three_systems_and_calls_none_of_them_better(bleu, expected):
    """MultEval's own p of sys1 is 0.00, of outputs of these runs; of new runs and new segments nothing is shown by three runs."""
    document = bleu[2]
    (verdict,) = document["verdict"]
    said = " ".join(verdict["sentences"])
    best = expected["replica_summary"]["sys1"]
    assert said.startswith(f"sys1 has the best mean score, {best['mean']:.2f}, sd {best['sd_ddof1']:.2f} over 3 runs, and is not ")
    assert "Holm over 3 pairs of models, two-sided quasi-F" in said
    assert "a claim about methods: new runs and new items" in said
    assert "1 is identical" in said
    assert "opt" not in said
    rows = {(row["model_a"], row["model_b"]): row for row in document["model_pairs"]}
    assert {names: row["verdict"] for names, row in rows.items()} == {
        ("sys1", "baseline"): "not separated",
        ("sys1", "sys2"): "not separated",
        ("baseline", "sys2"): "identical",
    }
    row = rows["sys1", "baseline"]
    assert row["p"] == pytest.approx(2 * t.sf(row["delta"] / row["se"], row["df"]), rel=1e-9)
    assert row["p_adjusted"] == pytest.approx(3 * row["p"])
    assert row["run_share"] > 0.5
    assert row["se"] ** 2 > (best["sd_ddof1"] ** 2 + expected["replica_summary"]["baseline"]["sd_ddof1"] ** 2) / 3
