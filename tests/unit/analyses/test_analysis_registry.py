"""Analyses are found by name, and what one finds or is asked is refused where it cannot be shown or used."""

from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest

from pipeline import plugins
from pipeline.analyses import load_analysis, registry
from pipeline.analyses.registry import accept_finding
from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import Analysis, Finding, Table
from pipeline.plugins import list_plugins


@pytest.mark.parametrize("name", sorted(list_plugins("analyses")))
def test_every_declared_analysis_loads_under_its_own_name(name):
    assert load_analysis(name).name == name


class Other(Analysis):
    name = "other"

    def find(self, cubes, options):
        return Finding(self.name, ())


def test_an_analysis_called_otherwise_than_its_entry_point_is_refused_before_anything_is_computed(monkeypatch):
    points = EntryPoints([EntryPoint("this", f"{__name__}:Other", "pipeline.analyses")])
    monkeypatch.setattr(plugins, "entry_points", lambda: points)
    with pytest.raises(PluginError, match="P302: the analysis 'this' names itself 'other'"):
        load_analysis("this")


@pytest.mark.parametrize(("found", "told"), [(Finding("other", ()), "a finding of 'other'"), ({"rows": []}, "a dict")])
def test_a_finding_of_another_name_is_refused(found, told):
    with pytest.raises(PluginError, match=f"P314: the analysis 'this' returned {told}"):
        accept_finding("this", found)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), np.float64("nan"), np.array([1.0, -np.inf]), {"lo": 0.0, "hi": float("nan")}, (0.5, float("nan"))],
)
def test_a_number_that_is_not_finite_has_a_reason_wherever_it_is_shown(value):
    """It became null without a word."""
    row = {"pair": "a b", "gap": value, "other": 1.0}
    table = Table("Gaps", {}, (), rows=(row,))
    found = accept_finding("gaps", Finding("gaps", (row,), details=row, tables=(table,), csv={"gaps": [row]}))
    for shown in (*found.rows, found.details, *found.tables[0].rows, *found.csv["gaps"]):
        assert shown["reason"] == "no finite number was found for gap"
        assert shown["gap"] is value


def test_a_reason_of_the_analysis_itself_stays_and_whole_rows_get_none():
    rows = ({"gap": float("nan"), "reason": "one system only"}, {"gap": 0.0, "low": None, "name": "a", "place": np.array([1, 2])})
    assert accept_finding("gaps", Finding("gaps", rows)).rows == rows


def test_whether_a_plain_value_is_finite_is_told_by_its_type_alone(monkeypatch):
    class Asked(type):
        def __instancecheck__(cls, value):
            raise AssertionError("asked whether it is a mapping")

    monkeypatch.setattr(registry, "Mapping", Asked("Mapping", (), {}))
    told = (0.5, float("nan"), float("inf"), 3, "nan", None)
    assert [registry._is_finite(value) for value in told] == [True, False, False, True, True, True]


def test_a_misspelt_analysis_is_answered_with_the_nearest_name():
    with pytest.raises(PluginError) as caught:
        load_analysis("treshold")
    (problem,) = caught.value.problems
    assert problem.code == "P301"
    assert "did you mean 'thresholds'?" in problem.help


def test_all_unknown_options_are_named_at_once():
    with pytest.raises(StudyError) as caught:
        load_analysis("thresholds", {"windw": [0.04, 0.06], "percentil": 90})
    assert [p.where for p in caught.value.problems] == ["analyses.thresholds.windw", "analyses.thresholds.percentil"]
    assert caught.value.problems[0].help == "did you mean 'window'?"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("thresholds", {"window": [0.06, 0.04]}),
        ("thresholds", {"window": "wide"}),
        ("thresholds", {"percentile": "high"}),
        ("size-curve", {"gains": [0.0]}),
        ("calibration-transfer", {"bins": [0.02, 0.01]}),
        ("calibration-transfer", {"bins": []}),
        ("calibration-transfer", {"window": [0.04]}),
        ("type-one", {"pairs": 4}),
        ("type-one", {"nulls": 10}),
    ],
)
def test_a_value_of_no_use_is_a_study_error(name, options):
    with pytest.raises(StudyError):
        load_analysis(name, options)
