import pytest

from pipeline.analyses import load_analysis
from pipeline.errors import PluginError, StudyError
from pipeline.plugins import list_plugins


@pytest.mark.parametrize(
    "name", ["thresholds", "size-curve", "calibration-transfer", "replicas", "suite", "type-one", "sequential"]
)
def test_every_declared_analysis_loads_under_its_own_name(name):
    assert load_analysis(name).name == name
    assert name in list_plugins("analyses")


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
