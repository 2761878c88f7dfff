"""Tests the training task by itself: what it draws from, what it stores, and what becomes of a trainer that fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import taggers
from support.studies import write_study

from pipeline.errors import PipelineError, StudyError, TaskError
from pipeline.interfaces import Trainer
from pipeline.items.training import load_training_items
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Task, TrainSpec
from pipeline.store.bundle import read_bundle
from pipeline.store.runs import STORE_NAME, Store
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study
from pipeline.tasks import train as module
from pipeline.tasks.predicted import read_member
from pipeline.tasks.train import draw_rule, train, training_set
from pipeline.trainers.registry import make_trainer


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.syspath_prepend(str(taggers.install(tmp_path / "site")))
    taggers.write_tagged(tmp_path / "train.txt", sentences=20, seed=1)
    taggers.write_tagged(tmp_path / "test.txt", sentences=12, seed=2)
    training = {
        "data": {"path": "train.txt", "format": "tagged"},
        "resamples": [{"method": "bootstrap", "replicas": 1}],
        "models": {"m": {"trainer": "most-frequent"}},
    }
    test_sets = {"test": {"format": "tagged", "gold": "test.txt"}}
    path = write_study(
        tmp_path / "study.yaml", test_sets=test_sets, training=training, metrics=["tag-accuracy"], analyses=["thresholds"]
    )
    loaded = load_study(path, [])
    found = survey_study(loaded.study, loaded.base)
    plan = plan_study(found.study, found.inputs, Inventory(), run="r")
    return next(task for task in plan.tasks if task.kind == "train")


class Stub(Trainer):
    name, takes, gives, same_bits, signature = "most-frequent", ("word", "tag"), ("tag",), True, "stub"  # type: ignore[assignment]

    def __init__(self, predict: Callable[[Any], Mapping[str, Sequence[Any]]]) -> None:
        self._predict = predict

    def fit(self, items: Any, sample: Any, *, seed: int, workdir: Path) -> Any:
        return None

    def predict(self, model: Any, items: Any) -> Mapping[str, Sequence[Any]]:
        return self._predict(items)


def put(monkeypatch: pytest.MonkeyPatch, task: Task, predict: Callable[[Any], Mapping[str, Sequence[Any]]]) -> Task:
    monkeypatch.setattr(module, "make_trainer", lambda name, options, base: Stub(predict))
    assert isinstance(task.spec, TrainSpec)
    return replace(task, spec=replace(task.spec, signature="stub"))


def test_outputs_are_stored_by_the_gold_they_are_of_and_read_back(task: Task, tmp_path: Path) -> None:
    receipt = train(task, tmp_path / "runs")
    assert isinstance(task.spec, TrainSpec)
    (gold,) = task.spec.test_sets
    store = Store(tmp_path / "runs" / STORE_NAME)
    member = read_bundle(store.path("outputs", task.key, ".zip"), gold)
    assert member is not None
    assert len(read_member("tagged", member)) == 12
    assert read_bundle(store.path("outputs", task.key, ".zip"), "another gold") is None
    covers = receipt.covers
    assert (receipt.kind, receipt.key, covers["model"], covers["items"], covers["unit"]) == ("train", task.key, "m", 20, "item")
    again = train(task, tmp_path / "other")
    assert again.checksum == receipt.checksum


def test_a_worker_with_another_version_trains_nothing(task: Task, tmp_path: Path) -> None:
    assert isinstance(task.spec, TrainSpec)
    with pytest.raises(TaskError, match="P404: this worker trains with"):
        train(replace(task, spec=replace(task.spec, signature="another")), tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_whatever_a_trainer_raises_is_the_failure_of_this_system(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(items: Any) -> Any:
        raise SystemExit(3)

    with pytest.raises(TaskError, match="P410: the training failed: SystemExit: 3") as raised:
        train(put(monkeypatch, task, leave), tmp_path / "runs")
    assert raised.value.facts["exit_status"] == 3
    log = tmp_path / "runs" / STORE_NAME / raised.value.facts["log"]
    assert "SystemExit" in log.read_text()


@pytest.mark.parametrize(
    ("predict", "code"),
    [
        (lambda items: {"tag": [("N",)] * 3}, "P420"),
        (lambda items: {"chunk": []}, "P421"),
        (lambda items: {"tag": "NN"}, "P421"),
        (lambda items: {"tag": [("N",)] * len(items)}, "P422"),
        (lambda items: {"tag": [("",) * len(words) for words in items.columns["word"]]}, "P425"),
    ],
)
def test_outputs_that_are_none_are_refused_with_their_code(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, predict: Callable[[Any], Any], code: str
) -> None:
    with pytest.raises(PipelineError) as raised:
        train(put(monkeypatch, task, predict), tmp_path / "runs")
    assert [(problem.code, problem.where) for problem in raised.value.problems] == [(code, task.label)]
    assert not list((tmp_path / "runs").rglob("*.zip"))


def test_only_a_bootstrap_is_drawn_by_its_fraction(task: Task) -> None:
    spec = task.spec
    assert isinstance(spec, TrainSpec)
    assert draw_rule(replace(spec, method="bootstrap", fraction=0.5)).fraction == 0.5
    assert draw_rule(replace(spec, method="seed", fraction=0.5)).fraction == 1.0


def test_items_are_counted_once_for_all_samples_of_them(task: Task) -> None:
    spec = task.spec
    assert isinstance(spec, TrainSpec)
    items = load_training_items(spec.data, spec.base, spec.data_digest)
    first = training_set(spec.data, items, spec.data_digest, draw_rule(spec))
    assert training_set(spec.data, items, spec.data_digest, draw_rule(spec)) is first
    assert training_set({"dataset": "digits"}, items, spec.data_digest, draw_rule(spec)).data == "digits"
    assert first.data == spec.data_digest


def test_the_folder_of_a_trainer_is_that_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "of_a_study.py").write_text("class T:\n    fit = predict = print\n")
    made = make_trainer("python", {"object": "of_a_study:T", "path": "code"}, tmp_path)
    assert made.signature.startswith("python|of_a_study:T|")
    with pytest.raises(StudyError, match="P150"):
        make_trainer("python", {"object": "of_a_study:T", "pat": "code"}, tmp_path)
