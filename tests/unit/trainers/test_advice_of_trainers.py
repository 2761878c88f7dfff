"""What trainers and their trainings advise is followed to the letter, and then they work."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.following_advice import help_of
from support.studies import write_study

import pipeline
from pipeline.errors import DataError
from pipeline.interfaces import Items, TrainingItems
from pipeline.items.gold import gold_digest_of, read_gold, surveyed_gold
from pipeline.items.readers.labels import LabelReader
from pipeline.study.sets import TestSet
from pipeline.tasks.predicted import Predicted, pack_member
from pipeline.trainers.registry import load_trainer

LEARN = "cut -f2 {train} | sort | uniq -c | sort -rn | awk 'NR==1 {{print $2}}' > {model}"
PREDICT = "awk -v FS='\\t' -v OFS='\\t' 'NR==FNR {{m=$1; next}} {{print $1, m}}' {model} {input} > {output}"
OWN = """
class Best:
    takes, gives = ("text",), ("label",)
    def fit(self, items, sample, *, seed, workdir):
        return "q"
    def predict(self, model, items):
        return {"label": [model] * len(items)}
class Bare(Best):
    def predict(self, model, items):
        return [model] * len(items)
class Short(Best):
    def predict(self, model, items):
        return {"label": [model]}
"""


def write_table(path: Path, columns: Mapping[str, Any], ids: Any) -> None:
    labels = columns.get("label", [""] * len(ids))
    path.write_text("".join(f"{text}\t{label}\n" for text, label in zip(columns["text"], labels, strict=True)))


def read_table(path: Path) -> dict[str, list[str]]:
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    if any(len(row) != 2 for row in rows):
        raise DataError.of("P212", "a row has not two fields", where=f"{path}:1")
    return {"text": [row[0] for row in rows], "label": [row[1] for row in rows]}


def table(**columns: tuple[str, ...]) -> TrainingItems:
    count = len(next(iter(columns.values())))
    return TrainingItems(tuple(map(str, range(count))), columns, writer=write_table, reads=read_table)


def learn(trainer: str, options: dict[str, Any], folder: Path) -> Mapping[str, Any]:
    """Learn and predict two items; each is the label that most have."""
    loaded = load_trainer(trainer, options)
    folder = Path(os.path.join(folder, os.urandom(4).hex()))
    folder.mkdir()
    items = table(text=("a", "b", "c", "d"), label=("p", "q", "q", "q"))
    return loaded.predict(loaded.fit(items, np.arange(4), seed=7, workdir=folder), table(text=("x", "y")))


@pytest.mark.parametrize(
    ("limit", "fit", "low", "high", "says"),
    [
        ("minutes", f"sleep 0.4 && {LEARN}", 0.003, 1, "raise `limits: {minutes: …}` of the model if it is slow, and not stuck"),
        (
            "memory",
            f"x=$(head -c 70000000 /dev/zero | tr '\\0' a); sleep 0.2; {LEARN}",
            "64 MB",
            "1 GB",
            "raise `limits: {memory: …}` of the model, or give the command less to do",
        ),
        (
            "disk",
            f"head -c 8000000 /dev/zero > large && {LEARN}",
            "1 MB",
            "100 MB",
            "raise `limits: {disk: …}` of the model, or set TMPDIR to a larger disk",
        ),
    ],
)
def test_a_limit_that_is_raised_is_enough(tmp_path: Path, limit: str, fit: str, low: Any, high: Any, says: str) -> None:
    options = {"fit": fit, "predict": PREDICT}
    said = help_of(lambda: learn("command", {**options, "limits": {limit: low}}, tmp_path), says)
    (named,) = re.findall(r"`limits: \{(\w+): …\}`", said)
    assert learn("command", {**options, "limits": {named: high}}, tmp_path) == {"label": ["q", "q"]}


def test_a_program_is_found_in_each_of_the_ways_that_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "my programs"
    folder.mkdir()
    (folder / "learn.sh").write_text(
        f"#!/bin/sh\n{LEARN.replace('{train}', '$1').replace('{model}', '$2').replace('{{', '{').replace('}}', '}')}\n"
    )
    (folder / "learn.sh").chmod(0o755)
    options = {"predict": PREDICT, "path": str(folder)}
    says = "write `{path}/` before programs of the folder `path:`, name others in full, or set PATH under `environment:`"
    said = help_of(lambda: learn("command", {**options, "fit": "learn.sh {train} {model}"}, tmp_path), says)
    ways: list[dict[str, Any]] = [
        {"fit": f"{said.split('`')[1]}learn.sh {{train}} {{model}}"},
        {"fit": f"'{folder}/learn.sh' {{train}} {{model}}"},
        {"fit": "learn.sh {train} {model}", "environment": {"PATH": f"{folder}:{os.environ['PATH']}"}},
    ]
    for way in ways:
        assert learn("command", options | way, tmp_path) == {"label": ["q", "q"]}
    says = (
        "a training runs in an empty folder of its own: name the folder of your programs, `path: .` for that of the study, and "
        "write `{path}/` before their names"
    )
    asked = {"fit": "sh learn.sh {train} {model}", "predict": PREDICT}
    said = help_of(lambda: learn("command", asked, tmp_path), says)
    before = said.split("`")[3]
    fixed = {**asked, "fit": f"sh {before}learn.sh {{train}} {{model}}", "path": str(folder)}
    assert learn("command", fixed, tmp_path) == {"label": ["q", "q"]}


def test_a_command_for_the_version_is_corrected(tmp_path: Path) -> None:
    options = {"fit": LEARN, "predict": PREDICT}
    says = "correct the option 'version_command'"
    said = help_of(lambda: load_trainer("command", {**options, "version_command": "false"}).signature, says)
    assert load_trainer("command", {**options, said.split("'")[1]: "echo 1"}).signature


@pytest.mark.parametrize(("name", "says"), [("Bare", "a mapping of column names to values"), ("Short", "one an item")])
def test_an_object_predicts_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str) -> None:
    (tmp_path / f"own_{name}.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    help_of(lambda: learn("python", {"object": f"own_{name}:{name}"}, tmp_path), says)
    assert learn("python", {"object": f"own_{name}:Best"}, tmp_path) == {"label": ["q", "q"]}


def test_texts_are_named_for_sklearn(tmp_path: Path) -> None:
    rows = "".join(f"i{k},{'ab'[k % 2]},{'xy'[k % 2]} w{k % 3}\n" for k in range(12))
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text(f"id,label,sentence\n{rows}")

    def asked(own: dict[str, Any]) -> Path:
        steps = [
            {"estimator": "sklearn.feature_extraction.text.CountVectorizer"},
            {"estimator": "sklearn.naive_bayes.MultinomialNB"},
        ]
        training = {
            "data": {"path": "train.csv", "format": "labels", **own},
            "resamples": [{"method": "seed", "replicas": 2}],
            "models": {"m": {"trainer": "sklearn", "steps": steps}},
        }
        test_sets = {"set": {"format": "labels", "gold": "test.csv", **own}}
        few = {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]}
        return write_study(
            tmp_path / "study.yaml",
            test_sets=test_sets,
            training=training,
            metrics=["accuracy"],
            analyses=["thresholds"],
            resampling=few,
        )

    def run(study: Path) -> None:
        pipeline.run(study, runs=tmp_path / "runs", serial=True)

    says = "name the column: `columns: {text: …}` of the training data and of the test set"
    said = help_of(lambda: run(asked({})), says)
    (named,) = re.findall(r"`columns: \{(\w+): …\}`", said)
    run(asked({"columns": {named: "sentence"}}))
    shutil.rmtree(tmp_path / "runs")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"label": ["p"]},
            "a trainer returns a list or tuple with a value for each item, or entries for each token: see docs/trainers.md",
        ),
        ({"label": ["p\nq", "q"]}, "see what the trainer predicts"),
        (
            {"label": [float("nan"), "q"]},
            "the training diverged, or learnt nothing: look at its log; `retries:` of the model tries again",
        ),
    ],
)
def test_outputs_are_given_as_is_said(given: dict[str, Any], says: str) -> None:
    gold = Items(("1", "2"), {"label": ("p", "q")}, "gold.txt", (1, 2))
    predicted = Predicted(TestSet(format="labels", gold="gold.txt"), gold)

    def pack(columns: dict[str, Any]) -> bytes:
        return pack_member(predicted, columns, name="set", where="train m")

    help_of(lambda: pack(given), says)
    assert pack({"label": ["q", "q"]})


class Plain(LabelReader):
    """Writes a label a line, whatever is in it."""

    def write(self, path: Path, columns: Mapping[str, Any], ids: Any) -> None:
        path.write_text("".join(f"{label}\n" for label in columns["label"]), encoding="utf-8")


def test_an_output_that_would_be_read_as_two_has_no_line_feed() -> None:
    gold = Items(("1", "2"), {"label": ("p", "q")}, "gold.txt", (1, 2))
    predicted = Predicted(TestSet(format="labels", gold="gold.txt"), gold)
    predicted.reader = Plain()
    given = ["p\nq", "q"]

    def pack() -> bytes:
        return pack_member(predicted, {"label": given}, name="set", where="train m")

    help_of(pack, "an output must not contain a line feed: it would be read as two")
    given[0] = given[0].replace("\n", " ")
    assert pack() == b"p q\nq\n"


def test_lines_that_are_no_items_are_passed_over(tmp_path: Path) -> None:
    """A command learns from a table whose first line is none of its rows."""

    def write(path: Path, columns: Mapping[str, Any], ids: Any) -> None:
        write_table(path, columns, ids)
        path.write_text("# text label\n" + path.read_text())

    items = TrainingItems(("1", "2"), {"text": ("a", "b"), "label": ("p", "p")}, writer=write, reads=read_table)

    def fit(reads: str) -> Any:
        trainer = load_trainer("command", {"fit": f"{reads} | grep -q '#' && exit 3 || echo p > {{model}}", "predict": PREDICT})
        folder = Path(tmp_path, os.urandom(4).hex())
        folder.mkdir()
        return trainer.fit(items, np.arange(2), seed=7, workdir=folder)

    said = help_of(lambda: fit("cat {train}"), "{} of {{}} {} with `# ` and {}: does the program skip {}?")
    begin, (file,) = said.split("`")[1], re.findall(r"of (\{\w+\})", said)
    assert fit(f"grep -v '^{begin}' {file}")


def test_an_estimator_is_derived_as_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "class Best{}:\n    def fit(self, x, y):\n        return self\n    def predict(self, x):\n        return ['q'] * len(x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def make(name: str, base: str) -> Any:
        before = f"import {base.rpartition('.')[0]}\n" if base else ""
        (tmp_path / f"{name}.py").write_text(before + source.format(f"({base})"))
        return load_trainer("sklearn", {"estimator": f"{name}.Best"})

    said = help_of(lambda: make("own_underived", ""), "derive it from sklearn.base.BaseEstimator")
    assert make("own_derived", said.rpartition(" ")[2]).signature


def test_a_data_set_of_another_version_is_surveyed_again() -> None:
    spec = TestSet(format="labels", gold={"dataset": "digits", "part": "test"})
    says = "use the same versions on every worker, or start the study again"
    help_of(lambda: surveyed_gold(spec, Path(), "0" * 64, where="set"), says)
    gold = read_gold(spec, Path())
    assert gold is not None
    assert surveyed_gold(spec, Path(), gold_digest_of(spec, gold), where="set") == gold
