"""The scikit-learn trainer: seeded, quiet, and clear about what it does not take."""

from __future__ import annotations

import warnings
from importlib.metadata import EntryPoint, EntryPoints, PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier

from pipeline import plugins
from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import TrainingItems
from pipeline.trainers.registry import load_trainer
from pipeline.trainers.sklearn import SklearnTrainer

TREE = {"estimator": "sklearn.tree.DecisionTreeClassifier", "options": {"splitter": "random", "max_features": 1}}
LOGISTIC = "sklearn.linear_model.LogisticRegression"


@pytest.fixture(scope="module")
def items() -> TrainingItems:
    """Three classes that overlap, in four features."""
    rows = np.random.default_rng(5).normal(size=(150, 2, 2)) + np.repeat(np.arange(3), 50)[:, None, None]
    labels = tuple(label for label in "abc" for _ in range(50))
    return TrainingItems(ids=tuple(map(str, range(150))), columns={"label": labels}, features=rows)


class Constant(BaseEstimator):
    """An estimator as users write them: without the constraints that scikit-learn's own classes declare."""

    def __init__(self, answer="a"):
        if answer is None:
            raise KeyError("answer")
        self.answer = answer

    def fit(self, X, y):
        return self

    def predict(self, X):
        return [self.answer] * len(X)


class Shallow(DecisionTreeClassifier):
    """One that inherits constraints and adds a parameter that they do not know."""

    def __init__(self, max_depth=1, colour="red"):
        super().__init__(max_depth=max_depth)
        self.colour = colour


HERE = {"Constant": f"{__name__}.Constant", "Shallow": f"{__name__}.Shallow"}


def predictions(options, items, *, seed, sample=None):
    trainer = load_trainer("sklearn", options)
    model = trainer.fit(items, np.arange(150) if sample is None else sample, seed=seed, workdir=Path())
    return trainer.predict(model, items)["label"]


def test_the_same_seed_predicts_the_same_and_another_does_not(items):
    sample = np.arange(0, 150, 3)
    first = predictions(TREE, items, seed=7, sample=sample)
    assert predictions(TREE, items, seed=7, sample=sample) == first
    assert predictions(TREE, items, seed=8, sample=sample) != first


def test_only_the_sampled_items_are_learnt_from_and_as_often_as_drawn(items):
    knn = {"estimator": "sklearn.neighbors.KNeighborsClassifier", "options": {"n_neighbors": 3}}
    sample = np.array([0, 140, 140])  # 'a' once, 'c' twice
    assert set(predictions(knn, items, seed=0, sample=sample)) == {"c"}


def test_an_estimator_without_a_seed_is_fitted_without_one(items):
    naive_bayes = {"estimator": "sklearn.naive_bayes.GaussianNB"}
    assert predictions(naive_bayes, items, seed=1) == predictions(naive_bayes, items, seed=2)


def test_a_solver_that_does_not_converge_is_a_note_and_not_a_warning(items):
    trainer = SklearnTrainer(estimator=LOGISTIC, options={"max_iter": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = trainer.fit(items, np.arange(150), seed=0, workdir=Path())
    assert len(model.notes) == 1
    assert model.notes[0].startswith("ConvergenceWarning: lbfgs failed to converge")
    assert "\n" not in model.notes[0]


def test_a_fit_without_warnings_has_no_notes(items):
    model = SklearnTrainer(estimator=LOGISTIC).fit(items, np.arange(150), seed=0, workdir=Path())
    assert model.notes == ()


def test_a_fit_that_fails_raises_what_the_estimator_raised(items):
    with pytest.raises(ValueError, match="class"):  # one class only
        predictions({"estimator": LOGISTIC}, items, seed=0, sample=np.arange(10))


def test_an_unknown_trainer_is_refused_with_the_name_that_was_meant():
    with pytest.raises(PluginError) as caught:
        load_trainer("skleanr", {})
    (problem,) = caught.value.problems
    assert problem.code == "P301"
    assert "did you mean 'sklearn'?" in problem.help
    assert problem.note is None  # the reference systems are installed


def test_a_trainer_that_is_missing_without_the_reference_systems_is_told_with_their_distribution(monkeypatch):
    own = EntryPoint("sklearn", "pipeline.trainers.sklearn:SklearnTrainer", "pipeline.trainers")

    def version(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints([own]))
    monkeypatch.setattr(plugins, "version", version)
    with pytest.raises(PluginError, match="P301") as caught:
        load_trainer("pcfg", {})
    assert "pip install ./workflows/reference_systems" in caught.value.problems[0].note


def test_the_distribution_that_is_named_is_that_of_the_reference_systems():
    assert distribution("pipeline-reference-systems").entry_points.select(group="pipeline.trainers", name="pcfg")
    assert plugins._where_else("trainer", "pcfg") is None


def test_an_entry_point_that_cannot_be_imported_is_a_plugin_error(monkeypatch):
    broken = EntryPoint("broken", "pipeline.no_such_module:Trainer", "pipeline.trainers")
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints([broken]))
    with pytest.raises(PluginError, match=r"pipeline\.no_such_module"):
        load_trainer("broken", {})


def test_every_wrong_option_of_a_trainer_is_named_at_once():
    with pytest.raises(StudyError) as caught:
        load_trainer("sklearn", {"estimater": LOGISTIC, "epochs": 5})
    messages = [problem.message for problem in caught.value.problems]
    assert [name for name in ("'estimater'", "'epochs'") if any(name in m for m in messages)] == ["'estimater'", "'epochs'"]
    assert caught.value.problems[0].help == "did you mean 'estimator'? (there are: estimator, options, steps)"


def test_every_wrong_parameter_of_an_estimator_is_named_with_what_was_meant():
    with pytest.raises(StudyError) as caught:
        SklearnTrainer(estimator=LOGISTIC, options={"max_itr": 5, "penalti": "l2"})
    assert [problem.help for problem in caught.value.problems] == ["did you mean 'max_iter'?", "did you mean 'penalty'?"]


@pytest.mark.parametrize("options", [{"max_iter": -1}, {"max_iter": "many"}])
def test_a_parameter_with_a_value_of_no_use_is_refused_before_any_training(options):
    with pytest.raises(StudyError, match="max_iter"):
        SklearnTrainer(estimator=LOGISTIC, options=options)


def test_a_random_state_of_the_users_own_is_refused():
    with pytest.raises(StudyError, match="random_state"):
        SklearnTrainer(estimator=LOGISTIC, options={"random_state": 1})


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("LogisticRegression", "not an import path"),
        ("sklearn.linear_model.LogisticRegresion", "has no 'LogisticRegresion'"),
        ("sklearn.nowhere.LogisticRegression", "cannot be imported"),
        ("sklearn.preprocessing.StandardScaler", "no predict"),
        ("sklearn.metrics.accuracy_score", "not an estimator"),
        ("os; import sys.path", "not an import path"),
    ],
)
def test_an_estimator_that_is_not_one_is_a_plugin_error_that_says_why(path, says):
    with pytest.raises(PluginError, match=says) as caught:
        SklearnTrainer(estimator=path)
    assert caught.value.problems[0].code == "P306"


def test_a_misspelt_estimator_is_refused_with_the_name_that_was_meant():
    with pytest.raises(PluginError) as caught:
        SklearnTrainer(estimator="sklearn.linear_model.LogisticRegresion")
    assert caught.value.problems[0].help == "did you mean 'LogisticRegression'?"


def test_an_estimator_of_the_users_own_needs_no_more_than_fit_and_predict(items):
    assert set(predictions({"estimator": HERE["Constant"], "options": {"answer": "b"}}, items, seed=0)) == {"b"}


def test_an_estimator_that_inherits_constraints_is_held_to_them_and_may_add_parameters(items):
    assert len(predictions({"estimator": HERE["Shallow"], "options": {"colour": "blue"}}, items, seed=0)) == 150
    with pytest.raises(StudyError, match="max_depth"):
        SklearnTrainer(estimator=HERE["Shallow"], options={"max_depth": "deep"})


def test_whatever_an_estimator_raises_on_its_options_is_an_error_of_the_study():
    with pytest.raises(StudyError, match="KeyError: 'answer'") as caught:
        SklearnTrainer(estimator=HERE["Constant"], options={"answer": None})
    assert caught.value.problems[0].code == "P132"


def test_a_module_that_breaks_when_imported_is_a_plugin_error(tmp_path, monkeypatch):
    (tmp_path / "broken_models.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match="division by zero") as caught:
        SklearnTrainer(estimator="broken_models.Model")
    assert caught.value.problems[0].code == "P306"
    monkeypatch.setattr(
        plugins, "entry_points", lambda: EntryPoints([EntryPoint("broken", "broken_models:Trainer", "pipeline.trainers")])
    )
    with pytest.raises(PluginError, match="division by zero"):
        load_trainer("broken", {})


TEXT_STEPS = [
    {"estimator": "sklearn.feature_extraction.text.TfidfVectorizer", "options": {"ngram_range": [1, 2]}},
    {"estimator": LOGISTIC, "options": {"C": 10}},
]
TEXTS = TrainingItems(
    ids=("1", "2", "3", "4"),
    columns={
        "text": ("a warm dry day", "warm and sunny", "cold rain all day", "rain and a cold wind"),
        "label": ("good", "good", "bad", "bad"),
    },
)


def test_texts_are_learnt_from_by_steps_where_there_are_no_features():
    trainer = load_trainer("sklearn", {"steps": TEXT_STEPS})
    model = trainer.fit(TEXTS, np.arange(4), seed=0, workdir=Path())
    unseen = TrainingItems(ids=("5", "6"), columns={"text": ("a warm wind", "cold day with rain")})
    assert trainer.predict(model, unseen) == {"label": ("good", "bad")}


def test_only_the_sampled_texts_are_learnt_from():
    trainer = load_trainer("sklearn", {"steps": TEXT_STEPS})
    model = trainer.fit(TEXTS, np.array([0, 3, 3]), seed=0, workdir=Path())
    assert "sunny" not in model.estimator[0].vocabulary_
    assert "wind" in model.estimator[0].vocabulary_


def test_every_step_that_takes_a_seed_is_given_it():
    steps = [
        {"estimator": "sklearn.preprocessing.StandardScaler"},
        {"estimator": "sklearn.decomposition.PCA"},
        {"estimator": "sklearn.tree.DecisionTreeClassifier"},
    ]
    rows = np.random.default_rng(1).normal(size=(20, 4))
    items = TrainingItems(tuple(map(str, range(20))), {"label": tuple("ab" * 10)}, rows)
    model = SklearnTrainer(steps=steps).fit(items, np.arange(20), seed=11, workdir=Path())
    assert [getattr(step, "random_state", None) for _, step in model.estimator.steps] == [None, 11, 11]


def test_a_changed_version_of_any_step_is_another_signature(monkeypatch):
    before = SklearnTrainer(steps=TEXT_STEPS).signature
    monkeypatch.setattr("sklearn.__version__", "0.0")
    assert SklearnTrainer(steps=TEXT_STEPS).signature != before


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "not both"),
        ({"estimator": LOGISTIC, "steps": TEXT_STEPS}, "not both"),
        ({"steps": TEXT_STEPS, "options": {"C": 1}}, "belong to each"),
        ({"steps": "tfidf"}, "is a list"),
        ({"steps": []}, "is a list"),
        ({"steps": [{"options": {}}]}, "step 1"),
        ({"steps": [{"estimator": LOGISTIC, "option": {}}]}, "step 1"),
        ({"steps": [{"estimator": LOGISTIC, "options": [1]}]}, "step 1"),
    ],
)
def test_steps_that_are_none_are_refused(options, says):
    with pytest.raises(StudyError, match=says) as caught:
        SklearnTrainer(**options)
    assert caught.value.problems[0].code == "P151"


def test_a_step_before_the_last_transforms():
    with pytest.raises(PluginError, match="no transform"):
        SklearnTrainer(steps=[{"estimator": LOGISTIC}, {"estimator": LOGISTIC}])


def test_items_without_features_or_text_are_refused_with_what_there_is():
    words = TrainingItems(("1",), {"word": (("a",),), "label": ("x",)})
    with pytest.raises(StudyError, match="there are word, label") as caught:
        SklearnTrainer(estimator=LOGISTIC).fit(words, np.array([0]), seed=0, workdir=Path())
    assert caught.value.problems[0].code == "P307"
