"""A metric of one's own: found by module:name, held to the protocol, pinned by its code, and named where it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline import own_code
from pipeline.errors import DataError, PluginError, StudyError, TaskError
from pipeline.interfaces import Items, Metric
from pipeline.metrics import load_metric
from pipeline.metrics.registry import PLACES, pin_options
from pipeline.plan.inputs import Inputs, MetricInputs
from pipeline.record.manifest import Manifest
from pipeline.study.load import load_study, study_from_value
from pipeline.testing import MetricContract, MetricExample

SOURCE = '''
import numpy as np
from pipeline.interfaces import Statistics


class Same:
    """Items whose label is the gold's, times a weight."""

    statistics = ("same", "items")
    form = "ratio"
    higher_is_better = True

    def __init__(self, *, weight=1):
        if weight < 1:
            raise ValueError("weight is at least 1")
        self.weight = weight

    def prepare(self, gold):
        return gold.columns["label"]

    def extract(self, prepared, output):
        return [(self.weight * (a == b), 1) for a, b in zip(prepared, output.columns["label"], strict=True)]

    def scorer(self, decimals):
        return lambda sums: 100 * sums[0] / sums[1]


def make_same():
    return Same(weight=3)


class Signed(Same):
    signature = "same\\n v2"
    follows = {"same": "items"}

    def extract(self, prepared, output):
        return Statistics(np.ones((len(output), 2), np.int64), (2, 0), 0.25)


class Bare:
    form = "mean"


class Third(Same):
    statistics = ("a", "b", "c")


class Stray(Same):
    follows = {"same": "nothing"}


class Breaks(Same):
    def extract(self, prepared, output):
        return output.columns["labl"]


class Refuses(Same):
    def prepare(self, gold):
        from pipeline.errors import DataError
        raise DataError.of("P225", "no gold of mine")


class Short(Same):
    def extract(self, prepared, output):
        return [(1, 1)]


class Half(Same):
    def extract(self, prepared, output):
        return [(0.5, 1) for _ in output.ids]


class Fine(Same):
    def extract(self, prepared, output):
        return Statistics(np.ones((len(output), 2), np.int64), (12, 0))


class Flat(Same):
    def scorer(self, decimals):
        return lambda sums: 7.0


class Smoothed(Same):
    def scorer(self, decimals):
        return lambda sums: 100 * (sums[0] + 1) / (sums[1] + 2)


class Errors(Same):
    def scorer(self, decimals):
        return lambda sums: 100 - 100 * sums[0] / sums[1]


class Negative(Same):
    def scorer(self, decimals):
        return lambda sums: -sums[0] / sums[1]


class Smooth(Smoothed):
    form = "general"


class Unmade(Same):
    def __init__(self):
        raise RuntimeError("no device")
'''

GOLD = Items(tuple("1234"), {"label": ("a", "b", "c", "d")}, "gold.txt", (1, 2, 3, 4))
BETTER = Items(tuple("1234"), {"label": ("a", "b", "c", "x")}, "north.txt", (1, 2, 3, 4))
WORSE = Items(tuple("1234"), {"label": ("a", "x", "x", "x")}, "south.txt", (1, 2, 3, 4))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module; whatever is imported from it is forgotten after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(own_code, "_IMPORTED", {})
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    (tmp_path / "own_metrics.py").write_text(SOURCE)
    yield tmp_path
    forget(before)


def forget(before):
    for name in set(sys.modules) - before:
        if name.startswith("own_metrics"):
            del sys.modules[name]


def load(folder: Path, name: str = "Same", **options: object) -> Metric:
    return load_metric(f"own_metrics:{name}", {"path": str(folder), **options})


def score(metric: Metric, output: Items = BETTER) -> float:
    counted = metric.extract(metric.prepare(GOLD), output)
    return float(metric.scorer(counted.decimals)(counted.values.sum(axis=0)))


def test_a_class_and_a_function_that_makes_the_object_score_with_their_options(folder):
    assert score(load(folder)) == 75.0
    assert score(load(folder, weight=2)) == 150.0
    assert score(load(folder, "make_same")) == 225.0


def test_it_has_the_name_of_the_study_and_a_signature_with_its_code(folder):
    metric = load(folder, "Signed")
    assert metric.name == "own_metrics:Signed"
    assert metric.signature.startswith("own_metrics:Signed|code:")
    assert metric.signature.endswith("|same v2")
    assert metric.signature.isprintable()
    assert metric.follows == {"same": "items"}
    counted = metric.extract(metric.prepare(GOLD), BETTER)
    assert (counted.decimals, counted.rounding_error) == ((2, 0), 0.25)


def test_everything_that_an_object_lacks_is_told_at_once(folder):
    with pytest.raises(PluginError) as caught:
        load(folder, "Bare")
    problems = caught.value.problems
    assert {problem.code for problem in problems} == {"P308"}
    assert [problem.message.removeprefix("'own_metrics:Bare' is not a metric: it has no ") for problem in problems] == [
        "`statistics`, a tuple of names",
        "`higher_is_better` that is true or false",
        "`form`, which is 'ratio' or 'general'",
        "method `prepare`",
        "method `extract`",
        "method `scorer`",
    ]
    with pytest.raises(PluginError, match="has 3 statistics in place of two"):
        load(folder, "Third")
    with pytest.raises(PluginError, match="`follows` is not a mapping of statistic to statistic"):
        load(folder, "Stray")


@pytest.mark.parametrize(
    ("options", "error", "code"),
    [({"wieght": 2}, StudyError, "P150"), ({"weight": 0}, StudyError, "P151"), ({"path": 3}, StudyError, "P151")],
    ids=str,
)
def test_options_it_does_not_take_are_errors_of_the_study(folder, options, error, code):
    with pytest.raises(error) as caught:
        load(folder, **options)
    assert caught.value.problems[0].code == code


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("Unmade", "P302", "RuntimeError: no device"),
        ("Smae", "P309", "no attribute 'Smae'"),
        ("GOLD-", "P309", "not the path of an object"),
    ],
)
def test_an_object_that_cannot_be_had_is_told(folder, name, code, says):
    with pytest.raises(PluginError, match=says) as caught:
        load(folder, name)
    assert caught.value.problems[0].code == code


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Breaks", "failed in extract: KeyError: 'labl'"),
        ("Short", r"statistics of shape \(1, 2\) for 4 items"),
        ("Half", "float64, which are not whole numbers"),
        ("Fine", r"decimals \(12, 0\)"),
        ("Flat", r"scores of shape \(\) for sums of shape \(2, 5\)"),
    ],
)
def test_what_it_raises_or_counts_wrongly_is_the_failure_of_a_task_that_names_it(folder, name, says):
    metric = load(folder, name)
    with pytest.raises(TaskError, match=says) as caught:
        score_three(metric)
    (problem,) = caught.value.problems
    assert problem.code == "P406"
    assert f"'own_metrics:{name}'" in problem.message
    if name == "Breaks":
        assert problem.where == "north.txt"
        assert problem.note == "it was given the columns 'label'"


def score_three(metric: Metric) -> None:
    counted = metric.extract(metric.prepare(GOLD), BETTER)
    metric.scorer(counted.decimals)(np.ones((2, 3)))


@pytest.mark.parametrize("name", ["Smoothed", "Errors", "Negative"])
def test_a_ratio_that_is_none_is_the_failure_of_a_task_that_names_it(folder, name):
    """Tests of ratios compare the sums and never ask the score function: a score of another form must not get there."""
    with pytest.raises(TaskError, match="not a positive constant times the sum of 'same' over that of 'items'") as caught:
        load(folder, name).scorer((0, 0))
    (problem,) = caught.value.problems
    assert problem.code == "P406"
    assert f"'own_metrics:{name}'" in problem.message
    if name == "Errors":
        assert problem.note == "it is 50 of 4 and 8, 0 of 8 and 8, 50 of 12 and 24, 100 of 0 and 8"
    assert score(load(folder, "Smooth")) == 100 * 4 / 6
    assert load(folder).scorer((2, 0))(np.array([50.0, 1.0])) == 5000.0


def test_an_error_that_it_words_itself_is_left_as_it_is(folder):
    with pytest.raises(DataError, match="no gold of mine"):
        load(folder, "Refuses").prepare(GOLD)


def test_sums_in_single_precision_score_as_those_in_double_do(folder):
    sums = np.array([[16777213.0, 1.0], [16777215.0, 3.0]])
    scorer = load(folder).scorer((0, 0))
    assert scorer(sums.astype(np.float32)).tolist() == scorer(sums).tolist() == [100 * 16777213 / 16777215, 100 / 3]


def test_its_place_is_no_part_of_what_it_is_and_its_code_is(folder, monkeypatch):
    before = set(sys.modules)
    first = pinned(folder, weight=2)
    assert set(first.options) == {"weight", *PLACES}
    other = folder / "moved" / "far"
    other.mkdir(parents=True)
    (folder / "own_metrics.py").rename(other / "own_metrics.py")
    as_new(folder, monkeypatch, before)
    second = pinned(other, weight=2)
    assert second.options["path"] != first.options["path"]
    assert second.identity == first.identity
    assert str(folder) not in str(first.identity)
    assert pinned(other, weight=3).identity != first.identity
    (other / "own_metrics.py").write_text(SOURCE + "\n")
    as_new(other, monkeypatch, before)
    changed = pinned(other, weight=2)
    assert changed.identity != first.identity
    # A worker that has other code than the plan refuses, whichever task asks.
    with pytest.raises(PluginError, match="has changed since the study was planned") as caught:
        load_metric("own_metrics:Same", {**first.options, "path": str(other)})
    assert caught.value.problems[0].code == "P309"


def pinned(folder: Path, **options: object) -> MetricInputs:
    given = pin_options("own_metrics:Same", {"path": folder.name, **options}, folder.parent)
    metric = load_metric("own_metrics:Same", given)
    return MetricInputs("own_metrics:Same", given, metric.signature, metric.higher_is_better, PLACES)


def as_new(folder: Path, monkeypatch: pytest.MonkeyPatch, before: set[str]) -> None:
    """Forget what was imported, as a new process would not know it."""
    forget(before)
    monkeypatch.setattr(own_code, "_IMPORTED", {})
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not path.startswith(str(folder))])


def test_a_process_goes_on_with_the_code_it_imported_and_says_so(folder):
    before = load(folder).signature
    assert load(folder).signature == before
    (folder / "own_metrics.py").write_text(SOURCE + "\n")
    with pytest.raises(PluginError, match="changed since this process imported it"):
        load(folder)


def test_the_code_is_that_of_the_folder_and_its_packages_and_of_no_other_folder(folder, monkeypatch):
    before = set(sys.modules)
    first = load(folder).signature
    for place, same in (("venv/lib/x.py", True), ("notes.txt", True), ("helpers/__init__.py", False), ("other.py", False)):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
        as_new(folder, monkeypatch, before)
        now = load(folder).signature
        assert (now == first) is same, place
        first = now


def test_installed_metrics_have_no_places():
    assert pin_options("mean", {"column": "f1"}, Path("/far")) == {"column": "f1"}
    assert MetricInputs("mean", {"path": "x"}, "s", True).identity == ["mean", {"path": "x"}, "s"]


def test_places_survive_the_plan_file():
    metric = MetricInputs("own:M", {"path": "/a", "k": 1}, "s", True, PLACES)
    inputs = Inputs("/base", (), (metric,), {})
    assert Inputs.from_json({**inputs.to_json(), "metrics": [{**inputs.to_json()["metrics"][0], "places": list(PLACES)}]}) == inputs
    assert metric.identity == ["own:M", {"k": 1}, "s"]


def test_the_name_of_its_folder_is_no_part_of_what_a_run_is_called_by(folder):
    inputs = Inputs("/base", (), (MetricInputs("own:M", {"path": "/a", "k": 1}, "s", True, PLACES),), {})
    asked = {"schema": 1, "study": "s", "test_sets": {"t": {"outputs": "{system}"}}}
    identities = []
    for path, k in (("a", 1), ("b/c", 1), ("a", 2)):
        loaded = study_from_value({**asked, "metrics": [{"name": "own:M", "path": path, "k": k}]}, base=folder)
        identities.append(Manifest(loaded.study, inputs, ()).identity())
    assert identities[0] == identities[1]
    assert identities[0] != identities[2]
    installed = study_from_value({**asked, "metrics": [{"name": "mean", "path": "a"}]}, base=folder)
    assert "path" in Manifest(installed.study, inputs, ()).identity()["study"]["metrics"][0]


def test_its_folder_may_be_named_by_an_environment_variable(folder, monkeypatch):
    monkeypatch.setenv("OWN_METRICS", str(folder))
    study = folder / "study.yaml"
    study.write_text(
        'schema: 1\nstudy: s\ntest_sets: {t: {outputs: "{system}"}}\n'
        'metrics: [{name: "own_metrics:Same", path: "${OWN_METRICS}"}]\n'
    )
    (metric,) = load_study(study).study.metrics
    assert metric.options == {"path": str(folder)}


class TestOwnMetric(MetricContract):
    @pytest.fixture(autouse=True)
    def _folder(self, folder):
        self.metric = load(folder)

    def example(self) -> MetricExample:
        return MetricExample(self.metric, GOLD, BETTER, WORSE)
