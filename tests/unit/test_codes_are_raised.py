"""Every error code is raised by a test somewhere; here are those of rare causes, and the list that must be empty."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.studies import run_cli, write_scores, write_study

from pipeline.engine.launch import raise_unless_done
from pipeline.engine.restore import restore_plan
from pipeline.engine.watching.ending import Ending
from pipeline.error_codes import CODES
from pipeline.errors import PipelineError
from pipeline.interfaces import Items
from pipeline.items.training import read_training_items
from pipeline.plan.task import ExtractSpec, Task
from pipeline.record.manifest import read_manifest
from pipeline.store.archive import pack_run, unpack_run
from pipeline.store.bundle import write_bundle
from pipeline.store.runs import STORE_NAME, RunDirectory, Store
from pipeline.study.load import load_study
from pipeline.study.training_schema import DataFiles
from pipeline.survey.compare_arguments import parse_named
from pipeline.survey.survey import survey_study
from pipeline.tasks.extract import extract
from pipeline.tasks.predicted import load_predicted

TESTS = Path(__file__).resolve().parents[1]
CODE = re.compile(r"P\d{3}")


def named_codes() -> set[str]:
    """Return the codes in the strings of tests, without their docstrings: what they compare errors with."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if not CODE.search(text):
            continue
        tree = ast.parse(text)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
        found |= {code for node in strings if id(node) not in docs for code in CODE.findall(node.value)}
    return found


def test_no_code_is_without_a_test() -> None:
    named = named_codes()
    assert [code for code in CODES if code not in named] == []


def code_of(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(PipelineError) as caught:
        call(*arguments, **options)
    return caught.value.problems[0].code


def test_a_metric_in_place_of_a_file(tmp_path: Path) -> None:
    assert code_of(parse_named, ["a.txt", "chrf"], base=tmp_path) == "P019"


def test_a_path_with_a_variable_that_is_not_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATA_OF_THIS_TEST", raising=False)
    outputs = {"news": {"format": "scores", "outputs": "${DATA_OF_THIS_TEST}/scores.csv"}}
    study = write_study(tmp_path / "study.yaml", test_sets=outputs)
    assert code_of(load_study, study) == "P113"
    monkeypatch.setenv("DATA_OF_THIS_TEST", str(tmp_path))
    load_study(study)


def test_a_test_set_without_gold_has_nothing_to_predict(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"], items=5)
    spec = {"format": "scores", "outputs": "scores.csv"}
    assert code_of(load_predicted, {"spec": spec, "name": "news"}, str(tmp_path), "") == "P230"


@pytest.mark.parametrize(
    ("table", "code"), [(b"system,group\n\xff\xfe,a\n", "P234"), (b"system,group\na,x\nb,y\na,z\n", "P236")], ids=["bytes", "twice"]
)
def test_a_table_of_systems_that_cannot_be_believed(table: bytes, code: str, tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"], items=5)
    (tmp_path / "systems.csv").write_bytes(table)
    outputs = {"news": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(tmp_path / "study.yaml", test_sets=outputs, systems={"table": "systems.csv"}, metrics=["mean"])
    assert code_of(survey_study, load_study(study).study, tmp_path) == code


def test_scores_that_cannot_be_added_exactly_together(tmp_path: Path) -> None:
    rows = [("1000000000000", "0.000001"), ("2000000000000", "0.000002"), ("1000000000000", "0.000003")]
    for place, name in enumerate(("large.csv", "fine.csv")):
        (tmp_path / name).write_text("item,score\n" + "".join(f"q{k},{row[place]}\n" for k, row in enumerate(rows)))
    ended = run_cli("compare", "large.csv", "fine.csv", "-b", "100", "-q", cwd=tmp_path)
    assert "error[P237]: scores of two systems cannot be added exactly" in ended.stderr


@pytest.mark.parametrize(
    ("gold", "code"), [(None, "P274"), (Items(source="x", ids=(), lines=(), columns={}), "P273")], ids=["gold", "items"]
)
def test_training_data_of_a_reader_that_finds_none(
    gold: Items | None, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = SimpleNamespace(read_gold=lambda paths, options: gold)
    monkeypatch.setattr("pipeline.items.training.load_reader", lambda name: reader)
    assert code_of(read_training_items, DataFiles(path="x", format="another"), tmp_path) == code


def test_a_run_from_python_that_fails_for_no_reason_of_a_task(tmp_path: Path) -> None:
    ending = Ending("FAILED", 69, "no worker came")
    with pytest.raises(PipelineError, match="P409: the run ended failed: no worker came") as caught:
        raise_unless_done(ending, RunDirectory(tmp_path))
    assert caught.value.exit_code == 69
    with pytest.raises(KeyboardInterrupt):
        raise_unless_done(ending._replace(exit_code=130), RunDirectory(tmp_path))
    raise_unless_done(ending._replace(exit_code=0), RunDirectory(tmp_path))


def test_a_run_that_cannot_be_packed_or_unpacked(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "runs" / "first-0123456789ab")
    run.root.mkdir(parents=True)
    assert code_of(pack_run, run, tmp_path / "run.zip") == "P503"
    run.report.mkdir()
    run.plan.write_text("{}")
    (run.report / "report.json").write_text("{}")
    pack_run(run, tmp_path / "run.zip")
    assert code_of(unpack_run, tmp_path / "run.zip", tmp_path / "runs") == "P733"
    unpack_run(tmp_path / "run.zip", tmp_path / "others")


def test_a_plan_of_another_version_that_cannot_be_made_again(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "first-0123456789ab")
    run.root.mkdir()
    run.plan.write_text('{"schema_version": 0}')
    assert code_of(read_manifest, run) == "P709"
    assert code_of(restore_plan, run) == "P714"


def test_a_training_without_the_outputs_of_a_test_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, training = Store(tmp_path / STORE_NAME), "5" * 32
    write_bundle(store.path("outputs", training, ".zip"), {"another": b"x\n"})
    monkeypatch.setattr("pipeline.tasks.extract.load_frame", lambda *known: None)
    monkeypatch.setattr("pipeline.tasks.extract._prepared", lambda *known: (SimpleNamespace(signature="s"), None))
    spec = ExtractSpec("news", "0" * 32, "this", {}, str(tmp_path), "mean", {}, "s", None, training)
    assert code_of(extract, Task("extract", "1" * 32, "news", spec), tmp_path) == "P710"
