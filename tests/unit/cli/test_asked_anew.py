"""`pipeline report --set` changes what a report says, never what its numbers are said to be; and smaller manners of commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.studies import write_scores, write_study, write_text_outputs
from support.synthetic_reports import build_document

from pipeline.api import run
from pipeline.cli.main import main  # noqa: F401 - registers the commands
from pipeline.cli.options import cli
from pipeline.errors import PipelineError
from pipeline.record.manifest import iterate_receipts, read_manifest
from pipeline.store.runs import RunDirectory
from pipeline.study.load import override_study
from pipeline.tasks.report import gather


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    folder = tmp_path_factory.mktemp("anew")
    write_scores(folder / "scores.csv", ["north", "south", "west"], items=30)
    rows = (folder / "scores.csv").read_text().splitlines()
    table = [f"{row},{'domain' if k == 0 else 'xy'[k % 2]}" for k, row in enumerate(rows)]
    (folder / "scores.csv").write_text("\n".join(table) + "\n")
    study = write_study(
        folder / "study.yaml",
        seed=17,
        test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        analyses=["thresholds"],
        report={"null_laboratory": False, "formats": ["json"]},
        resampling={"replicates": 500, "keep_replicates": 300, "strata": "domain", "intervals": ["symmetric", "percentile"]},
    )
    return run(study, runs=folder / "runs", serial=True)


def ask(done: RunDirectory, folder: Path, *settings: str) -> Result:
    arguments = [part for setting in settings for part in ("--set", setting)]
    return CliRunner().invoke(cli, ["report", str(done.root), *arguments, "-o", str(folder)])


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("seed=5", "seed"),
        ("study=other", "study"),
        ("resampling.unit=speaker", "resampling.unit"),
        ("resampling.strata=null", "resampling.strata"),
        ("resampling.procedures=[approximate-randomization]", "resampling.procedures"),
        ("resampling.replicates=1e6", "resampling.replicates"),
        ("resampling.test_sizes=[10,full]", "resampling.test_sizes.values"),
        ("resampling={alpha: 0.01}", "resampling.replicates"),
        ("resampling.margin.mean=1", "resampling.margin.mean"),
        ("metrics=[{name: mean, higher_is_better: false}]", "metrics"),
        ("test_sets.bench.missing=drop", "test_sets.bench.missing"),
        ("systems.exclude=[north]", "systems.exclude"),
        ("resampling.intervals=[bca]", "resampling.intervals"),
    ],
)
def test_what_numbers_are_made_of_cannot_be_asked_anew(done: RunDirectory, tmp_path: Path, setting: str, path: str) -> None:
    before = (done.report / "report.json").read_bytes()
    refused = ask(done, tmp_path / "report", setting)
    assert isinstance(refused.exception, PipelineError)
    assert {problem.code for problem in refused.exception.problems} == {"P111"}
    assert path in {problem.where for problem in refused.exception.problems}
    assert all("needs `pipeline run STUDY`" in problem.message for problem in refused.exception.problems)
    assert (done.report / "report.json").read_bytes() == before
    assert not (tmp_path / "report").exists()


def test_what_a_report_decides_can_be_asked_anew(done: RunDirectory, tmp_path: Path) -> None:
    settings = (
        "resampling.alpha=0.2",
        "resampling.family=against-baseline",
        "resampling.baseline=north",
        "resampling.intervals=[percentile]",
        "analyses=[size-curve]",
        "report.formats=[markdown]",
        "seed=17",  # as it was
    )
    assert ask(done, tmp_path, *settings).exit_code == 0
    other, own = (json.loads((folder / "report.json").read_text()) for folder in (tmp_path, done.report))
    assert (other["alpha"], other["family"]["baseline"]) == (0.2, "north")
    assert {row["interval"]["level"] for row in other["pairs"] if row["in_family"]} == {0.8}
    assert {tuple(row["intervals"] or ()) for row in other["pairs"]} == {()}  # those of the run are at another level
    assert {tuple(row["intervals"]) for row in own["pairs"]} == {("symmetric", "percentile")}
    assert (tmp_path / "report.md").is_file()


def test_a_report_can_ask_for_some_of_the_intervals(done: RunDirectory, tmp_path: Path) -> None:
    assert ask(done, tmp_path, "resampling.intervals=[percentile]", "report.formats=[json]").exit_code == 0
    rows = json.loads((tmp_path / "report.json").read_text())["pairs"]
    assert {tuple(row["intervals"]) for row in rows} == {("percentile",)}


def test_seed_unit_and_strata_are_those_of_the_cube(done: RunDirectory) -> None:
    own = read_manifest(done).study
    changed = own.model_copy(
        update={"seed": 5, "resampling": own.resampling.model_copy(update={"unit": "speaker", "strata": "language"})}
    )
    document = build_document(gather(done, study=changed))
    assert (document["seed"], document["unit"], document["test_sets"][0]["unit"]) == (17, "item", "item")
    (row,) = document["signature"]
    assert "|seed:17|unit:item|strata:domain|" in row["line"]
    assert override_study(own, []) == own


@pytest.fixture
def outputs(tmp_path: Path) -> list[str]:
    paths = write_text_outputs(tmp_path / "data", ["a", "b"], items=12)
    return [*paths.values(), "-r", str(tmp_path / "data" / "ref.txt")]


def test_a_folder_of_runs_that_cannot_be_made_is_said_to_be_so(outputs: list[str]) -> None:
    refused = CliRunner().invoke(cli, ["compare", *outputs, "-b", "10", "--runs", "/proc/nope"])
    assert isinstance(refused.exception, PipelineError)
    (problem,) = refused.exception.problems
    assert problem.code == "P702"
    assert "cannot make the folder" in problem.message
    assert "--runs" in str(problem.help)


def replicates_of(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the number that a command would start with, and start nothing."""
    seen: list[Any] = []
    monkeypatch.setattr("pipeline.api.compare", lambda *_, replicates, **__: seen.append(replicates) or {})
    monkeypatch.setattr("pipeline.report.layout.summary.summarise", lambda document, **_: "")
    monkeypatch.setattr("pipeline.cli.studies._execute", lambda loaded, *_: seen.append(loaded.study.resampling.replicates))
    ended = CliRunner().invoke(cli, arguments)
    return seen[0] if seen else ended


GOOD = [("1e4", 10_000), ("1.5e3", 1500), ("10_000", 10_000), ("7", 7)]
BAD = [(text, None) for text in ("0", "-3", "1.5", "1e-3", "many", "1__0", "", "nan")]


@pytest.mark.parametrize(("text", "number"), [*GOOD, *BAD])
def test_replicates_are_read_alike_by_compare_and_run(
    tmp_path: Path, outputs: list[str], monkeypatch: pytest.MonkeyPatch, text: str, number: int | None
) -> None:
    test_set = {"format": "text", "references": [outputs[-1]], "outputs": {"a": outputs[0], "b": outputs[1]}}
    study = write_study(tmp_path / "study.yaml", test_sets={"news": test_set})
    for command in (["compare", *outputs], ["run", str(study), "--runs", str(tmp_path / "runs")]):
        found = replicates_of([*command, "-b", text], monkeypatch)
        if number is not None:
            assert found == number
        else:
            assert found.exit_code == 2
            assert "is not a whole number of at least 1" in found.output


def test_documents_that_are_asked_and_not_given_come_with_help(tmp_path: Path, outputs: list[str]) -> None:
    test_set = {"format": "text", "references": [outputs[-1]], "outputs": {"a": outputs[0], "b": outputs[1]}}
    study = write_study(tmp_path / "study.yaml", test_sets={"news": test_set}, resampling={"unit": "document"})
    refused = CliRunner().invoke(cli, ["check", str(study)])
    assert isinstance(refused.exception, PipelineError)
    (problem,) = refused.exception.problems
    assert problem.code == "P110"
    assert "`documents: FILE`" in str(problem.help)


def test_the_receipt_of_a_report_tells_what_each_analysis_took(done: RunDirectory) -> None:
    (receipt,) = [receipt for receipt in iterate_receipts(done.ledger) if receipt.kind == "report"]
    told = receipt.covers["analyses_cpu_seconds"]
    assert [*told] == [spec.name for spec in read_manifest(done).study.asked_analyses]
    assert sum(told.values()) > 0
    assert sum(told.values()) < receipt.cpu_seconds
