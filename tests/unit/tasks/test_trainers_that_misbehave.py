"""Trainers that do what they must not: their own training fails or is told, and no other one is touched."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

import pytest
from support import taggers
from support.studies import ledger, write_study

from pipeline.api import run
from pipeline.errors import TaskError
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Failure, Receipt, Task
from pipeline.store.addresses import canonical_json
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study
from pipeline.tasks.run import run_task

TRAINER = """
import os
from types import SimpleNamespace

import numpy as np


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


class Trainer:
    takes, gives, same_bits = ("word", "tag"), ("tag",), True

    def __init__(self, *, does=""):
        self.does = does

    def fit(self, items, sample, *, seed, workdir):
        if self.does == "spoils the training data":
            items.columns["tag"] = tuple(("SPOILT",) * len(tags) for tags in items.columns["tag"])
        if self.does == "raises what cannot be sent":
            raise ValueError("loss \\ud800 \\x1b[31m")
        if self.does == "raises what cannot be printed":
            raise Mute
        if self.does == "raises a book":
            raise ValueError("word " * 100_000)
        if self.does == "moves away":
            os.chdir(workdir)
        if self.does == "notes oddly":
            return SimpleNamespace(notes="one \\udfff", log="log \\ud800", seconds=float("nan"), memory_bytes=float("inf"))
        return self.does

    def predict(self, model, items):
        tags = [tuple("NOUN" for _ in words) for words in items.columns["word"]]
        if self.does == "spoils the test set":
            items.columns["word"] = tuple(("spoilt",) * len(words) for words in items.columns["word"])
        given = {
            "a generator": iter(tags),
            "nothing": None,
            "a mapping": dict(enumerate(tags)),
            "texts": ["".join(one) for one in tags],
            "generators": [iter(one) for one in tags],
            "arrays": [np.array(one) for one in tags],
        }
        return {"tag": given.get(self.does, tags)}
"""


@pytest.fixture(autouse=True)
def _trainers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(taggers.install(tmp_path / "site")))
    (tmp_path / "own").mkdir()
    # Each test has a module of its own name: a process imports a name once.
    (tmp_path / "own" / f"spoilers_{tmp_path.name}.py").write_text(textwrap.dedent(TRAINER).replace("\\\\", "\\"))


def odd_study(folder: Path, *does: str) -> Path:
    """Make a study with a model for each oddity, between two that are well."""
    for name, sentences, seed in (("train", 20, 1), ("test", 12, 2)):
        taggers.write_tagged(folder / f"{name}.txt", sentences=sentences, seed=seed)
    made = {"trainer": "python", "object": f"spoilers_{folder.name}:Trainer", "path": "own"}
    models: dict[str, Any] = {"first": {"trainer": "most-frequent", "depth": 9}}
    models |= {what: {**made, "options": {"does": what}} for what in does} | {"last": {"trainer": "most-frequent", "depth": 9}}
    return write_study(
        folder / "study.yaml",
        test_sets={"test": {"format": "tagged", "gold": "test.txt"}},
        training={
            "data": {"path": "train.txt", "format": "tagged"},
            "resamples": [{"method": "seed", "replicas": 1}],
            "models": models,
        },
        metrics=["tag-accuracy"],
        resampling={"replicates": 50, "keep_replicates": 0, "test_sizes": ["full"]},
        analyses=["thresholds"],
        report={"formats": ["json", "markdown"], "null_laboratory": False},
    )


def trainings(study: Path) -> dict[str, Task]:
    loaded = load_study(study, [])
    inputs = survey_study(loaded.study, loaded.base).inputs
    tasks = plan_study(loaded.study, inputs, Inventory(), run="r").tasks
    return {task.label.removeprefix("train ").removesuffix("/seed/0"): task for task in tasks if task.kind == "train"}


@pytest.mark.parametrize("does", ["spoils the training data", "spoils the test set"])
def test_what_a_trainer_does_to_its_items_no_other_one_sees(tmp_path: Path, does: str) -> None:
    results = [run_task(task, str(tmp_path / "runs")) for task in trainings(odd_study(tmp_path, does)).values()]
    assert all(isinstance(one, Receipt) for one in results)
    assert results[0].checksum == results[-1].checksum  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("raises what cannot be sent", r"ValueError: loss \ud800 \x1b[31m"),
        ("raises what cannot be printed", "Mute (which cannot be printed)"),
        ("raises a book", "ValueError: word word"),
    ],
)
def test_an_error_that_says_anything_at_all_is_one_training_that_failed(tmp_path: Path, does: str, says: str) -> None:
    failed = run_task(trainings(odd_study(tmp_path, does))[does], str(tmp_path / "runs"))
    assert isinstance(failed, Failure)
    assert (failed.exit_code, failed.problems[0].code) == (4, "P410")
    assert says in failed.problems[0].message
    assert len(failed.problems[0].message) < 3000
    failed.problems[0].message.encode()


def test_a_run_ends_with_its_report_whatever_trainers_say(tmp_path: Path) -> None:
    from pipeline.errors import TaskError

    with pytest.raises(TaskError):
        run(odd_study(tmp_path, "raises what cannot be sent", "notes oddly"), runs=tmp_path / "runs", serial=True)
    (made,) = [path for path in (tmp_path / "runs").iterdir() if not path.name.startswith(".")]
    assert (made / "report" / "report.json").is_file()
    done = {
        e["receipt"]["label"]: e["receipt"]["covers"]
        for e in ledger(made)
        if e["event"] == "done" and e["receipt"]["kind"] == "train"
    }
    covers = done["train notes oddly/seed/0"]
    assert covers["notes"] == [r"one \udfff"]
    assert "fit_seconds" not in covers
    assert canonical_json(covers)


@pytest.mark.parametrize(
    ("does", "code"),
    [("a generator", "P421"), ("nothing", "P421"), ("a mapping", "P421"), ("texts", "P422"), ("generators", "P422")],
)
def test_outputs_of_another_kind_are_named(tmp_path: Path, does: str, code: str) -> None:
    failed = run_task(trainings(odd_study(tmp_path, does))[does], str(tmp_path / "runs"))
    assert isinstance(failed, Failure)
    assert [(p.code, p.where, bool(p.help)) for p in failed.problems] == [(code, f"train {does}/seed/0", True)]


def test_arrays_are_as_good_as_tuples(tmp_path: Path) -> None:
    tasks = trainings(odd_study(tmp_path, "arrays", "plain"))
    results = [run_task(tasks[name], str(tmp_path / "runs")) for name in ("arrays", "plain")]
    assert results[0].checksum == results[1].checksum  # type: ignore[union-attr]


def test_a_trainer_that_changes_the_current_folder_does_so_for_itself(tmp_path: Path) -> None:
    before = os.getcwd()
    assert isinstance(run_task(trainings(odd_study(tmp_path, "moves away"))["moves away"], str(tmp_path / "runs")), Receipt)
    assert os.getcwd() == before


@pytest.mark.parametrize(("printed", "recorded"), [("fairseq: no such file: dict.de.txt\n", True), ("", False), (None, False)])
def test_the_record_of_a_failure_has_what_a_command_printed_and_none_of_our_own_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str | None, recorded: bool
) -> None:
    def fail(task: Task, runs: Path) -> Receipt:
        error = TaskError.of("P410", "the command failed")
        if printed is not None:
            error.log = printed  # type: ignore[attr-defined]
        raise error

    monkeypatch.setattr("pipeline.tasks.run._function", lambda kind: fail)
    (task, *_) = trainings(odd_study(tmp_path, "nothing")).values()
    failure = run_task(task, str(tmp_path / "runs"))
    assert isinstance(failure, Failure)
    assert failure.traceback == ("It printed:\nfairseq: no such file: dict.de.txt" if recorded else "")
