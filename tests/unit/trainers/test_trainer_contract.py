"""The contract of trainers: those that bring in anything from outside keep it, and broken ones are found."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from pipeline.interfaces import TrainingItems
from pipeline.testing import TrainerContract, TrainerExample
from pipeline.trainers.command import CommandTrainer
from pipeline.trainers.python import PythonTrainer
from pipeline.trainers.sklearn import SklearnTrainer

TEXTS = ("red green", "green green", "blue", "red red", "blue green", "red", "blue blue", "green red")
LABELS = ("p", "q", "r", "p", "r", "p", "r", "q")


def write_table(path, columns, ids):
    labels = columns.get("label", [""] * len(ids))
    path.write_text("".join(f"{text}\t{label}\n" for text, label in zip(columns["text"], labels, strict=True)))


def read_table(path):
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {"text": [row[0] for row in rows], "label": [row[1] for row in rows]}


def table(texts, labels):
    ids = tuple(f"item {k}" for k in range(len(texts)))
    return TrainingItems(ids, {"text": texts, "label": labels}, writer=write_table, reads=read_table)


def example(trainer):
    return TrainerExample(trainer, table(TEXTS, LABELS), table(("red", "green blue", "nothing"), ("p", "q", "r")))


class Votes:
    """The label that was drawn most often with a word; among equals, one that the seed chooses."""

    takes = ("text", "label")
    gives = ("label",)
    same_bits = True
    signature = "votes"

    def fit(self, items, sample, *, seed, workdir):
        (workdir / "here").touch()
        counts = {}
        for k in sample:
            for word in items.columns["text"][k].split():
                counts.setdefault(word, []).append(items.columns["label"][k])
        return counts, seed

    def predict(self, model, items):
        counts, seed = model
        chooser = random.Random(seed)
        order = {label: chooser.random() for label in "pqr?"}
        votes = [sum((counts.get(word, []) for word in text.split()), ["?"]) for text in items.columns["text"]]
        return {"label": [max((vote.count(label), order[label], label) for label in set(vote))[2] for vote in votes]}


class TestPython(TrainerContract):
    def example(self):
        return example(PythonTrainer(object=f"{__name__}:Votes"))


class TestSklearn(TrainerContract):
    def example(self):
        words = {"estimator": "sklearn.feature_extraction.text.CountVectorizer"}
        forest = {"estimator": "sklearn.ensemble.RandomForestClassifier", "options": {"n_estimators": 3}}
        return example(SklearnTrainer(steps=[words, forest]))


class TestCommand(TrainerContract):
    def example(self):
        fit = "cut -f2 {train} | sort | uniq -c | sort -k1,1rn -k2,2 | awk 'NR == 1 {{print $2}}' > {model}"
        predict = "awk -v FS='\\t' -v OFS='\\t' 'NR == FNR {{m = $1; next}} {{print $1, m}}' {model} {input} > {output}"
        return example(CommandTrainer(fit=fit, predict=predict, gives=["label"]))


class Unseeded(Votes):
    def fit(self, items, sample, *, seed, workdir):
        return super().fit(items, sample, seed=random.randrange(10**9), workdir=workdir)

    def predict(self, model, items):
        return {"label": [str(model[1])] * len(items)}


class Distinct(Votes):
    def fit(self, items, sample, *, seed, workdir):
        return super().fit(items, np.unique(sample), seed=seed, workdir=workdir)

    def predict(self, model, items):
        return {"label": [str(sorted((word, len(votes)) for word, votes in model[0].items()))] * len(items)}


class Everything(Votes):
    def fit(self, items, sample, *, seed, workdir):
        return len(items), seed

    def predict(self, model, items):
        return {"label": [str(model[0])] * len(items)}


class Remembering(Votes):
    seen = 0

    def fit(self, items, sample, *, seed, workdir):
        self.seen += len(set(sample.tolist()))
        return self.seen, seed

    predict = Everything.predict


class Sorting(Votes):
    def fit(self, items, sample, *, seed, workdir):
        sample[::-1].sort()
        return super().fit(items, sample, seed=seed, workdir=workdir)


class Peeping(Votes):
    def predict(self, model, items):
        return {"label": list(items.columns.get("label", ["?"] * len(items)))}


class Closing(Votes):
    def fit(self, items, sample, *, seed, workdir):
        return lambda: super().fit(items, sample, seed=seed, workdir=workdir)

    def predict(self, model, items):
        return super().predict(model(), items)


class Littering(Votes):
    def fit(self, items, sample, *, seed, workdir):
        Path("model.bin").touch()
        return super().fit(items, sample, seed=seed, workdir=workdir)


class Short(Votes):
    def predict(self, model, items):
        return {"label": super().predict(model, items)["label"][1:]}


class Unsigned(Votes):
    signature = "two\nlines"


@pytest.mark.parametrize(
    ("broken", "claim"),
    [
        (Unseeded, "the_same_seed_gives_the_same_outputs"),
        (Distinct, "an_item_drawn_twice_counts_as_two"),
        (Everything, "the_sample_decides_and_not_where_its_items_stand"),
        (Remembering, "a_second_fit_learns_nothing_from_the_first"),
        (Sorting, "its_inputs_are_left_as_they_were"),
        (Peeping, "what_it_predicts_is_not_shown_to_it"),
        (Closing, "a_model_that_travelled_predicts_the_same"),
        (Littering, "files_are_written_in_the_work_directory_only"),
        (Short, "it_predicts_the_columns_it_gives_one_value_an_item"),
        (Unsigned, "it_says_what_it_takes_and_gives"),
    ],
)
def test_a_broken_trainer_fails_its_claim(broken, claim, tmp_path, monkeypatch):
    class Tried(TrainerContract):
        made = broken()

        def example(self):
            return example(self.made)

    given = {"tmp_path": tmp_path, "monkeypatch": monkeypatch}
    method = getattr(Tried(), f"test_{claim}")
    wanted = method.__code__.co_varnames[1 : method.__code__.co_argcount]
    with pytest.raises((AssertionError, AttributeError, TypeError)):
        method(**{name: given[name] for name in wanted})
