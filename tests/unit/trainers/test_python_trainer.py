"""Trainers in Python that are named by module and object: what they must have, and that changed code trains again."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import numpy as np
import pytest

from pipeline import own_code, plugins
from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import TrainingItems
from pipeline.trainers.registry import load_trainer

ITEMS = TrainingItems(("1", "2"), {"label": ("a", "b")})
SOURCE = """
class Constant:
    gives = ("label",)

    def __init__(self, *, answer="a", times=1):
        if times < 0:
            raise ValueError(f"option 'times' is not negative, not {times}")
        self.answer = answer * times

    def fit(self, items, sample, *, seed, workdir):
        return self.answer

    def predict(self, model, items):
        return {"label": [model] * len(items)}


def make_constant(answer):
    return Constant(answer=answer)


class Deaf:
    pass


class Short(Constant):
    def predict(self, model, items):
        return {"label": [model]}


class Bare(Constant):
    def predict(self, model, items):
        return [model] * len(items)


class Other(Constant):
    def predict(self, model, items):
        return {"tag": [model] * len(items)}


number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, request):
    """A folder with a module; whatever is imported from it is forgotten after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(own_code, "_IMPORTED", {})
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    (tmp_path / "own_models.py").write_text(SOURCE)
    yield tmp_path
    for name in set(sys.modules) - before:
        if "own_models" in name:
            del sys.modules[name]


def load(folder, name="Constant", **options):
    return load_trainer("python", {"object": f"own_models:{name}", "path": str(folder), **options})


def outputs(trainer):
    return trainer.predict(trainer.fit(ITEMS, np.array([0]), seed=0, workdir=Path()), ITEMS)


def test_a_class_is_made_with_its_options_and_trains(folder):
    assert outputs(load(folder, options={"answer": "b", "times": 2})) == {"label": ["bb", "bb"]}


def test_a_function_that_makes_the_object_is_as_good(folder):
    assert outputs(load(folder, "make_constant", options={"answer": "x"})) == {"label": ["x", "x"]}


def test_what_it_does_not_say_is_taken_as_not_known(folder):
    trainer = load(folder)
    assert (trainer.takes, trainer.gives, trainer.same_bits) == ((), ("label",), False)


def test_an_installed_trainer_may_be_named_instead():
    options = {"estimator": "sklearn.dummy.DummyClassifier"}
    assert load_trainer("python", {"object": "sklearn", "options": options}).takes == ("label",)


@pytest.mark.parametrize(
    ("name", "error", "code", "says"),
    [
        ("Deaf", PluginError, "P308", "has no fit and no predict"),
        ("Constnt", PluginError, "P309", "no attribute 'Constnt'"),
        ("number", PluginError, "P309", "is a int"),
        ("a-b", PluginError, "P309", "not the path of an object"),
    ],
)
def test_an_object_that_is_no_trainer_is_refused(folder, name, error, code, says):
    with pytest.raises(error, match=says) as caught:
        load(folder, name)
    assert caught.value.problems[0].code == code


@pytest.mark.parametrize(
    ("options", "code", "says"), [({"anwser": "b"}, "P150", "'anwser'"), ({"times": -1}, "P151", "not negative")]
)
def test_options_it_does_not_take_are_errors_of_the_study(folder, options, code, says):
    with pytest.raises(StudyError, match=says) as caught:
        load(folder, options=options)
    assert caught.value.problems[0].code == code


@pytest.mark.parametrize(
    ("name", "says"), [("Short", "1 of 'label' for 2 items"), ("Bare", "predicts a list"), ("Other", "says that it returns label")]
)
def test_predictions_of_no_use_are_told(folder, name, says):
    with pytest.raises(PluginError, match=says) as caught:
        outputs(load(folder, name))
    assert caught.value.problems[0].code == "P310"


def test_a_module_that_is_not_there_or_breaks_is_a_plugin_error(folder):
    (folder / "own_models_broken.py").write_text("1 / 0\n")
    for module, says in (("own_models_broken", "division by zero"), ("own_models_nowhere", "No module named")):
        with pytest.raises(PluginError, match=says) as caught:
            load_trainer("python", {"object": f"{module}:Constant", "path": str(folder)})
        assert caught.value.problems[0].code == "P309"


def test_a_folder_that_is_not_there_is_told(folder):
    with pytest.raises(PluginError, match="no folder"):
        load(folder / "nowhere")


def test_a_module_of_the_same_name_from_another_folder_is_not_taken_for_it(folder):
    load(folder)
    other = folder / "other"
    other.mkdir()
    (other / "own_models.py").write_text(SOURCE)
    with pytest.raises(PluginError, match="and not from"):
        load(other)


@pytest.mark.parametrize("changed", [{"own_models.py": SOURCE + "\n"}, {"helper.py": "x = 1\n"}])
def test_changed_code_is_another_signature(folder, monkeypatch, changed):
    before = load(folder).signature
    assert load(folder).signature == before
    for name, source in changed.items():
        (folder / name).write_text(source)
    with pytest.raises(PluginError, match="changed since this process imported it"):
        load(folder)
    monkeypatch.setattr(own_code, "_IMPORTED", {})  # as in a new process
    assert load(folder).signature != before


def test_the_place_of_the_folder_is_no_part_of_the_signature(folder, monkeypatch):
    before = load(folder).signature
    moved = folder / "moved"
    moved.mkdir()
    (folder / "own_models.py").rename(moved / "own_models.py")
    del sys.modules["own_models"]
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(folder)])
    assert load(moved).signature == before


@pytest.mark.parametrize("options", [{"object": 3}, {"object": ""}, {"object": "a:b", "options": [1]}])
def test_options_of_the_wrong_kind_are_refused(options):
    with pytest.raises(StudyError) as caught:
        load_trainer("python", options)
    assert caught.value.problems[0].code == "P151"


class Incomplete:
    """A trainer that somebody installed, without half of what a trainer has."""

    takes = ("label",)

    def fit(self, items, sample, *, seed, workdir):
        return None


def test_an_installed_trainer_that_lacks_something_is_refused_with_what_it_lacks(monkeypatch):
    point = EntryPoint("incomplete", f"{__name__}:Incomplete", "pipeline.trainers")
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints([point]))
    with pytest.raises(PluginError, match="has no name, signature, predict") as caught:
        load_trainer("incomplete", {})
    assert caught.value.problems[0].code == "P308"
