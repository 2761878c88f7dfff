"""Systems trained on files: drawn, trained, predicted, stored and scored, through the serial engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import taggers
from support.studies import files_of, ledger, write_study

from pipeline.api import open_run, run
from pipeline.items.readers.registry import load_reader
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Failure, Receipt, Task
from pipeline.record.manifest import read_manifest
from pipeline.store.bundle import read_bundle
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study
from pipeline.tasks.run import run_task

RESAMPLES = [
    {"method": "bootstrap", "fraction": 0.5, "replicas": 2},
    {"method": "quota", "instances": "tokens", "replicas": 1},
    {"method": "cross-validation", "folds": 3, "repeats": 1},
    {"method": "seed", "replicas": 1},
]
MODELS: dict[str, dict[str, Any]] = {
    "whole": {"trainer": "most-frequent", "depth": 9},
    "letter": {"trainer": "most-frequent", "unknown": "DET"},
}
LABELS = ("bootstrap-0.5/0", "bootstrap-0.5/1", "quota/0", *(f"cross-validation-3/{k}" for k in range(3)), "seed/0")


@pytest.fixture(scope="module", autouse=True)
def _trainer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(taggers.install(tmp_path_factory.mktemp("site"))))
        yield


def tagging_study(folder: Path, *, models: dict[str, Any] = MODELS, changes: dict[str, Any] | None = None, **training: Any) -> Path:
    for name, sentences, seed in (("train", 60, 1), ("test", 40, 2), ("other", 30, 3)):
        taggers.write_tagged(folder / f"{name}.txt", sentences=sentences, seed=seed)
    study: dict[str, Any] = {
        "test_sets": {name: {"format": "tagged", "gold": f"{name}.txt"} for name in ("test", "other")},
        "training": {"data": {"path": "train.txt", "format": "tagged"}, "resamples": RESAMPLES, "models": models, **training},
        "metrics": ["tag-accuracy"],
        "resampling": {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]},
        "analyses": ["thresholds"],
        "report": {"formats": ["json"], "null_laboratory": False},
        "systems": {"relation": "model"},
    }
    return write_study(folder / "study.yaml", **study | (changes or {}))


def receipts(directory: Path, kind: str = "train") -> dict[str, dict[str, Any]]:
    """Return receipts of a run by the name of the system."""
    done = [e["receipt"] for e in ledger(directory) if e["event"] == "done"]
    return {r["label"].removeprefix("train "): r for r in done if r["kind"] == kind}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunDirectory]:
    """A study of two taggers by every method, and its run."""
    folder = tmp_path_factory.mktemp("tagging")
    return folder, run(tagging_study(folder), runs=folder / "runs", serial=True)


def test_systems_are_named_by_model_method_and_replica(done: tuple[Path, RunDirectory]) -> None:
    _, made = done
    assert sorted(receipts(made.root)) == sorted(f"{model}/{label}" for model in MODELS for label in LABELS)
    cube = open_run(made.root)["test"]
    known = {
        str(s): tuple(str(cube[c].sel(system=s).item()) for c in ("model", "sample", "fraction", "replica"))
        for s in cube.system.values
    }
    assert known["whole/bootstrap-0.5/1"] == ("whole", "bootstrap", "0.5", "1")
    assert known["letter/cross-validation-3/2"] == ("letter", "cross-validation", "0.666667", "2")
    assert known["letter/quota/0"] == ("letter", "quota", "1", "0")


def test_receipts_say_what_a_sample_holds_and_both_models_have_the_same(done: tuple[Path, RunDirectory]) -> None:
    covers = {name: receipt["covers"] for name, receipt in receipts(done[1].root).items()}
    told = ("items", "units", "instances", "distinct", "distinct_units")
    for label in LABELS:
        assert [covers[f"whole/{label}"][key] for key in told] == [covers[f"letter/{label}"][key] for key in told]
    assert covers["whole/bootstrap-0.5/0"]["items"] == 30
    assert covers["whole/cross-validation-3/0"]["distinct"] == pytest.approx(2 / 3)
    assert covers["whole/seed/0"]["distinct"] == 1.0
    words = (done[0] / "train.txt").read_text().count("/")
    assert words <= covers["whole/quota/0"]["instances"] < words + 9
    assert covers["whole/quota/0"]["counted"] == "tokens"


def test_outputs_are_kept_in_the_format_of_the_test_set(done: tuple[Path, RunDirectory], tmp_path: Path) -> None:
    folder, made = done
    plan = json.loads((made.root / "plan.json").read_text())
    gold = {t["name"]: t["gold_digest"] for t in plan["inputs"]["test_sets"]}
    bundle = folder / "runs" / ".store" / receipts(made.root)["whole/seed/0"]["file"]
    (tmp_path / "out").write_bytes(read_bundle(bundle, gold["other"]) or b"")
    reader = load_reader("tagged")
    output = reader.read_outputs(tmp_path / "out", system="x", options={})["x"]
    asked = reader.read_gold([folder / "other.txt"], {})
    assert asked is not None
    assert output.columns["word"] == asked.columns["word"]
    assert [len(tags) for tags in output.columns["tag"]] == [len(words) for words in asked.columns["word"]]


def test_scores_are_those_of_the_outputs(done: tuple[Path, RunDirectory]) -> None:
    cube = open_run(done[1].root)["test"]
    # Our most frequent tags: the whole set, and a first letter in place of the word.
    items = {name: load_reader("tagged").read_gold([done[0] / f"{name}.txt"], {}) for name in ("train", "test")}
    scores = {}
    for model, options in MODELS.items():
        tagger = taggers.MostFrequentTag(**{key: value for key, value in options.items() if key != "trainer"})

        train, test = items["train"], items["test"]
        fitted = tagger.fit(train, np.arange(len(train)), seed=0, workdir=None)
        predicted = [tuple(fitted.get(w[: tagger.depth], tagger.unknown) for w in words) for words in test.columns["word"]]
        right = sum(a == b for p, g in zip(predicted, test.columns["tag"], strict=True) for a, b in zip(p, g, strict=True))
        scores[model] = 100.0 * right / sum(map(len, predicted))
    found = cube["observed_score"].sel(metric="tag-accuracy", test_size="full")
    assert float(found.sel(system="whole/seed/0").item()) == pytest.approx(scores["whole"])
    assert float(found.sel(system="letter/seed/0").item()) == pytest.approx(scores["letter"])


def trainings(study: Path) -> dict[str, Task]:
    loaded = load_study(study, [])
    inputs = survey_study(loaded.study, loaded.base).inputs
    tasks = plan_study(loaded.study, inputs, Inventory(), run="r").tasks
    return {task.label.removeprefix("train "): task for task in tasks if task.kind == "train"}


def test_the_tasks_alone_elsewhere_and_turned_round_make_the_same_bytes(done: tuple[Path, RunDirectory], tmp_path: Path) -> None:
    for task in reversed(trainings(tagging_study(tmp_path)).values()):
        assert isinstance(run_task(task, str(tmp_path / "runs")), Receipt)
    outputs = [files_of(folder / "runs" / ".store" / "outputs") for folder in (done[0], tmp_path)]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) == len(MODELS) * len(LABELS)


def test_a_changed_option_of_one_model_trains_that_model_alone(done: tuple[Path, RunDirectory], tmp_path: Path) -> None:
    known = {receipt["key"] for receipt in receipts(done[1].root).values()}
    assert {task.key for task in trainings(tagging_study(tmp_path)).values()} == known
    changed = trainings(tagging_study(tmp_path, models={**MODELS, "letter": {**MODELS["letter"], "depth": 2}}))
    assert {name.split("/")[0] for name, task in changed.items() if task.key not in known} == {"letter"}
    assert len([task for task in changed.values() if task.key not in known]) == len(LABELS)


def test_one_more_method_trains_its_own_samples_alone(done: tuple[Path, RunDirectory], tmp_path: Path) -> None:
    known = {receipt["key"] for receipt in receipts(done[1].root).values()}
    more = trainings(tagging_study(tmp_path, resamples=[{"method": "cross-validation", "folds": 2}, *RESAMPLES]))
    assert {name.split("/")[1] for name, task in more.items() if task.key not in known} == {"cross-validation-2"}


@pytest.mark.parametrize(
    ("spoil", "code", "words"),
    [
        ("few", "P420", "the trainer gave 39 outputs for 40 items of test set 'test'"),
        ("short", "P422", "tokens of item '2' of test set 'test'"),
        ("name", "P421", "no column 'tag'"),
        ("blank", "P423", "cannot be written as word/TAG"),
        ("exit", "P410", "SystemExit: 3"),
    ],
)
def test_outputs_that_are_not_what_was_asked_fail_that_system(tmp_path: Path, spoil: str, code: str, words: str) -> None:
    models = {"odd": {"trainer": "most-frequent", "spoil": spoil}, "whole": MODELS["whole"]}
    made = trainings(tagging_study(tmp_path, models=models, resamples=[{"method": "seed", "replicas": 1}]))
    failure = run_task(made["odd/seed/0"], str(tmp_path / "runs"))
    assert isinstance(failure, Failure)
    assert failure.exit_code == 4
    (problem,) = failure.problems
    assert (problem.code, problem.where) == (code, "train odd/seed/0")
    assert words in problem.message
    assert isinstance(run_task(made["whole/seed/0"], str(tmp_path / "runs")), Receipt)
    assert len(files_of(tmp_path / "runs" / ".store" / "outputs")) == 1


def test_documents_are_resampled_whole_where_the_study_says_so(tmp_path: Path) -> None:
    resamples = [{"method": "bootstrap", "replicas": 2}, {"method": "cross-validation", "folds": 6}]
    study = tagging_study(tmp_path, models={"whole": MODELS["whole"]}, resamples=resamples, unit="document")
    done = {name: run_task(task, str(tmp_path / "runs")) for name, task in trainings(study).items()}
    covers = {name: receipt.covers for name, receipt in done.items() if isinstance(receipt, Receipt)}
    assert len(covers) == 8
    assert {c["unit"] for c in covers.values()} == {"document"}
    assert all(c["units"] == 6 and c["items"] == 60 for name, c in covers.items() if "bootstrap" in name)
    assert all(c["units"] == 5 and c["items"] == 50 for name, c in covers.items() if "cross" in name)


def mixed_study(folder: Path) -> Path:
    """Two systems that are given, one of them always right and one that knows one tag, beside trained ones."""
    test_sets = {name: {"format": "tagged", "gold": f"{name}.txt"} for name in ("test", "other")}
    test_sets["test"] |= {"outputs": {"right": "right.out", "their/nouns": "nouns.out"}, "predicted": True}
    classes = {"natural": ["given", "given"], "synthetic": ["trained", "trained"], "one of each": ["given", "trained"]}
    changes = {"test_sets": test_sets, "systems": {"relation": "origin"}, "analyses": [{"thresholds": {"classes": classes}}]}
    study = tagging_study(folder, changes=changes)
    lines = (folder / "test.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "right.out").write_text("".join(lines), encoding="utf-8")
    nouns = [
        line if line.startswith("#") else " ".join(token.split("/")[0] + "/NOUN" for token in line.split()) + "\n" for line in lines
    ]
    (folder / "nouns.out").write_text("".join(nouns), encoding="utf-8")
    return study


def test_systems_that_were_given_are_compared_with_trained_ones(done: tuple[Path, RunDirectory], tmp_path: Path) -> None:
    made = run(mixed_study(tmp_path), runs=tmp_path / "runs", serial=True)
    cube = open_run(made.root)["test"]
    origin = {str(s): str(cube["origin"].sel(system=s).item()) for s in cube.system.values}
    trained = {f"{model}/{label}" for model in MODELS for label in LABELS}
    assert origin == dict.fromkeys(trained, "trained") | {"right": "given", "their/nouns": "given"}
    assert cube.sizes["pair"] == 16 * 15 // 2
    scores = cube["observed_score"].sel(metric="tag-accuracy", test_size="full")
    assert float(scores.sel(system="right").item()) == 100.0
    # Trained systems have the scores that they have alone, and no other training is done for the files beside them.
    alone = open_run(done[1].root)["test"]["observed_score"].sel(metric="tag-accuracy", test_size="full")
    assert {name: float(scores.sel(system=name).item()) for name in trained} == {
        name: float(alone.sel(system=name).item()) for name in trained
    }
    assert set(receipts(made.root)) == trained
    # The other test set has no outputs: trained systems alone.
    other = open_run(made.root)["other"]
    assert set(map(str, other.system.values)) == trained
    assert set(map(str, other["origin"].values)) == {"trained"}
    document = json.loads((made.root / "report" / "report.json").read_bytes())
    told = {(row["test_set"], row["name"]): row["origin"] for row in document["systems"]}
    assert told["test", "right"] == "given"
    assert told["other", "letter/seed/0"] == "trained"
    (verdict,) = [one for one in document["verdict"] if one["test_set"] == "test"]
    said = "6 systems have one run each, and so no place among the models; the best of them, right, scores 100.00."
    assert said in verdict["sentences"]
    rows = [row for finding in document["findings"] for row in finding["rows"] if row.get("test_set") == "test"]
    assert {row["relation"] for row in rows} >= {"natural", "synthetic", "one of each"}
    (natural,) = [row for row in rows if row["relation"] == "natural" and row["test_size"] == "full"]
    assert natural["values"] == [["given", "given"]]
    assert natural["se_pairs"] == 1


def test_a_study_of_files_or_trainings_alone_has_no_origin_and_the_run_it_had(done: tuple[Path, RunDirectory]) -> None:
    assert "origin" not in open_run(done[1].root)["test"].coords
    plan = json.loads((done[1].root / "plan.json").read_text())
    assert {spec["predicted"] for spec in plan["study"]["test_sets"].values()} == {None}
    manifest = read_manifest(done[1])
    assert all("predicted" not in spec for spec in manifest.identity()["study"]["test_sets"].values())
