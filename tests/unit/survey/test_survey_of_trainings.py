"""What cannot be learnt, predicted or scored is refused before anything is trained, with all problems at once and a way out."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from support import taggers
from support.studies import write_study

from pipeline.errors import PipelineError, Problem
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Failure, Task, TrainSpec
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study
from pipeline.tasks.run import run_task

TAGGED = {"path": "train.txt", "format": "tagged"}
MODELS = {"m": {"trainer": "most-frequent"}, "n": {"trainer": "most-frequent", "depth": 2}}
SEEDS = [{"method": "seed", "replicas": 1}]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(taggers.install(tmp_path / "site")))
    taggers.write_tagged(tmp_path / "train.txt", sentences=20, seed=1, documents=4)
    taggers.write_tagged(tmp_path / "more.txt", sentences=10, seed=4, documents=2)
    taggers.write_tagged(tmp_path / "test.txt", sentences=12, seed=2)
    (tmp_path / "labels.csv").write_text("id,label,size\n" + "".join(f"i{k},{'ab'[k % 2]},{k}\n" for k in range(12)))


def study_of(folder: Path, *, test: dict[str, Any] | None = None, metric: str = "tag-accuracy", **training: Any) -> Path:
    value = {"data": TAGGED, "resamples": SEEDS, "models": MODELS, **training}
    test_sets = {"test": {"format": "tagged", "gold": "test.txt"} if test is None else test}
    return write_study(folder / "study.yaml", test_sets=test_sets, training=value, metrics=[metric], analyses=["thresholds"])


def survey(study: Path) -> Any:
    loaded = load_study(study, [])
    return loaded, survey_study(loaded.study, loaded.base).inputs


def problems(study: Path) -> list[Problem]:
    with pytest.raises(PipelineError) as caught:
        survey(study)
    return list(caught.value.problems)


DIGITS = {"dataset": "digits", "part": "train"}

LABELS = {"path": "labels.csv", "format": "labels"}
TEST = {"format": "tagged", "gold": "test.txt"}


def one(**sample: Any) -> dict[str, Any]:
    """Return a study's resamples of one entry."""
    return {"resamples": [{"replicas": 1, **sample}]}


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"data": LABELS}, "P118", "most-frequent fits to 'word', 'tag', which the training data do not have"),
    ({"test": {"format": "labels", "gold": "labels.csv"}, "metric": "accuracy"}, "P119", "predicts 'tag', and not the 'label'"),
    ({"test": {"format": "tagged"}}, "P120", "'test' is to be predicted, and has no gold"),
    (
        {"resamples": [{"method": "cross-validation", "folds": 21}]},
        "P121",
        "21 folds need as many units: the training data",
    ),
    ({"resamples": [{"method": "cross-validation", "folds": 5}], "unit": "document"}, "P121", "data have 4 (document)"),
    (one(method="quota", instances="chunks:NP"), "P122", "no 'chunks:NP'"),
    (one(method="quota", instances="word"), "P122", "other values than whole numbers"),
    ({"unit": "genre"}, "P123", "no column 'genre'"),
    ({"data": {**TAGGED, "items": "5-21"}}, "P124", "no range 5-21 of 20 items"),
    ({"data": {**TAGGED, "items": "5-8,8-9"}}, "P124", "name an item twice"),
    ({"test": {**TEST, "items": "13"}}, "P124", "no range 13 of 12 items"),
    ({"data": {**TAGGED, "items": "1-" + "9" * 5000}}, "P124", "of 20 items"),  # more digits than Python reads
    ({"data": {**TAGGED, "path": "x" * 5000}}, "P202", "cannot be read: File name too long"),
    ({"data": {**TAGGED, "path": "train.txt\0"}}, "P202", "cannot be read: its name holds the character NUL"),
    ({"data": {**TAGGED, "format": "nobody"}}, "P301", "no format 'nobody'"),
    ({"models": {"a": {"trainer": "nobody"}}}, "P301", "no trainer 'nobody'"),
    ({"models": {"a": {"trainer": "most-frequent", "dept": 1}}}, "P150", "no option 'dept'"),
    ({"test": {**TEST, "outputs": "{system}.out"}}, "P127", "no test set is to be predicted"),
    (
        {"test": {"format": "tagged", "outputs": "{system}.out", "predicted": True}},
        "P120",
        "'test' is to be predicted, and has no gold",
    ),
    ({"test": {**TEST, "predicted": False}}, "P110", "there are no outputs, and it is not to be predicted"),
    ({"data": {**TAGGED, "path": "nothing*.txt"}}, "P271", "no file matches"),
    ({"data": {**TAGGED, "path": "nothing.txt"}}, "P201", "there is no file nothing.txt"),
    ({"data": {**LABELS, "format": "scores"}}, "P274", "has no gold, so nothing can be learnt from it"),
    ({"data": {**LABELS, "format": "tagged"}}, "P244", ""),
]


@pytest.mark.parametrize(("change", "code", "words"), WRONG, ids=[f"{code}-{k}" for k, (_, code, _) in enumerate(WRONG)])
def test_what_cannot_be_trained_is_refused_with_a_way_out(tmp_path: Path, change: dict[str, Any], code: str, words: str) -> None:
    found = problems(study_of(tmp_path, **change))
    assert {problem.code for problem in found} == {code}
    assert words in found[0].message
    assert found[0].where
    assert found[0].help


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\u202eb"])
def test_a_model_has_a_name_that_can_be_read(tmp_path: Path, name: str) -> None:
    (problem,) = problems(study_of(tmp_path, models={name: {"trainer": "most-frequent"}}))
    assert (problem.code, "model name" in problem.message) == ("P110", True)


def test_all_that_is_wrong_with_a_training_is_said_at_once(tmp_path: Path) -> None:
    resamples = [{"method": "cross-validation", "folds": 99}, {"method": "quota", "instances": "x", "replicas": 1}]
    test = {"format": "labels", "gold": "labels.csv"}
    found = problems(study_of(tmp_path, resamples=resamples, test=test, metric="accuracy"))
    assert [problem.code for problem in found] == ["P121", "P122", "P119", "P119"]


def test_features_that_are_learnt_from_must_be_in_the_test_set(tmp_path: Path) -> None:
    sklearn = {"trainer": "sklearn", "estimator": "sklearn.naive_bayes.GaussianNB"}
    found = problems(
        study_of(tmp_path, data=DIGITS, test={"format": "labels", "gold": "labels.csv"}, models={"m": sklearn}, metric="accuracy")
    )
    assert [(problem.code, problem.message) for problem in found] == [
        ("P126", "the training data have features, and test set 'test' has none")
    ]


@pytest.mark.parametrize(
    ("data", "items"),
    [
        ({"path": "train.txt"}, 20),
        ({"path": ["train.txt", "more.txt"]}, 30),
        ({"path": "*[mr][oa]*.txt"}, None),
        ({"path": "?r*.txt"}, 20),
        ({"path": ["m*.txt", "t*n.txt"], "items": "9-12, 30"}, 5),
    ],
    ids=str,
)
def test_training_data_are_one_file_several_or_a_pattern(tmp_path: Path, data: dict[str, Any], items: int | None) -> None:
    study = study_of(tmp_path, data={**data, "format": "tagged"})
    if items is None:  # a bracket in a name is a bracket
        assert [problem.code for problem in problems(study)] == ["P271"]
        return
    loaded, inputs = survey(study)
    receipt = run_task(next(t for t in plan_study(loaded.study, inputs, Inventory(), run="r").tasks), str(tmp_path / "runs"))
    assert not isinstance(receipt, Failure), receipt
    assert receipt.covers["items"] == items


def test_moving_or_compressing_the_data_is_no_other_training_and_another_word_is(tmp_path: Path) -> None:
    def keys(**training: Any) -> list[str]:
        loaded, inputs = survey(study_of(tmp_path, **training))
        return [task.key for task in plan_study(loaded.study, inputs, Inventory(), run="r").tasks if task.kind == "train"]

    before = keys()
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "a.gz").write_bytes(gzip.compress((tmp_path / "train.txt").read_bytes()))
    assert keys(data={"path": "moved/a.gz", "format": "tagged"}) == before
    assert keys(data={"path": "train.txt", "format": "tagged", "items": "1-19"}) != before
    text = (tmp_path / "train.txt").read_text()
    (tmp_path / "train.txt").write_text(text.replace("/NOUN", "/NAME", 1))
    assert keys() != before


def test_data_that_change_after_the_survey_are_refused_by_the_task(tmp_path: Path) -> None:
    loaded, inputs = survey(study_of(tmp_path))
    task = next(iter(plan_study(loaded.study, inputs, Inventory(), run="r").tasks))
    for name, code in (("train.txt", "P270"), ("test.txt", "P220")):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace("/NOUN", "/NAME"))
        failure = run_task(task, str(tmp_path / "runs"))
        assert isinstance(failure, Failure)
        assert failure.problems[0].code == code
        (tmp_path / name).write_text(text)


def test_resources_and_retries_of_a_model_are_carried_to_its_tasks_and_are_no_part_of_the_model(tmp_path: Path) -> None:
    def tasks(**more: Any) -> list[Task]:
        loaded, inputs = survey(study_of(tmp_path, models={"m": {"trainer": "most-frequent", **more}, "n": MODELS["n"]}))
        return [task for task in plan_study(loaded.study, inputs, Inventory(), run="r").tasks if task.kind == "train"]

    plain, asked = tasks(), tasks(resources={"memory": "1.5 GiB", "cores": 2, "gpu": 1}, retries=3)
    assert [task.key for task in plain] == [task.key for task in asked]
    assert asked[0].resources == {"memory": 1.5 * 2**30, "cores": 2.0, "gpu": 1.0}
    assert (asked[0].retries, asked[1].resources) == (3, {})
    spec = asked[0].spec
    assert isinstance(spec, TrainSpec)
    assert spec.options == {}


def test_a_selection_of_a_test_set_is_predicted_and_scored_alone(tmp_path: Path) -> None:
    _, whole = survey(study_of(tmp_path))
    _, part = survey(study_of(tmp_path, test={"format": "tagged", "gold": "test.txt", "items": "3-5, 11"}))
    assert (whole.test_sets[0].n_items, part.test_sets[0].n_items) == (12, 4)
    assert whole.test_sets[0].gold_digest != part.test_sets[0].gold_digest


def test_aligners_need_a_bitext_where_finished_links_need_none(tmp_path: Path) -> None:
    (tmp_path / "bitext.txt").write_text("the boat ||| das Boot\nfog ||| Nebel\n")
    (tmp_path / "gold.txt").write_text("0-0 1-1\n0-0\n")
    data = {"path": "bitext.txt", "format": "bitext"}
    test = {"format": "links", "gold": "gold.txt"}
    models = {"m": {"trainer": "ibm1"}}
    (problem,) = problems(study_of(tmp_path, data=data, test=test, models=models, metric="aer"))
    assert (problem.code, problem.help) == ("P126", "give its bitext as `references:`")
    assert "predicts from 'source', 'target', which test set 'test' does not have" in problem.message
