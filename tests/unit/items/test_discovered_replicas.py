"""Paths name systems and their replicas, and replicas are known as such downstream."""

from __future__ import annotations

import pytest

from pipeline.items.align import survey_test_set
from pipeline.items.discover import find_outputs
from pipeline.study.load import study_from_value
from pipeline.study.schema import Systems, TestSet
from pipeline.tasks.survey import survey_study


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ref.txt").write_text("a\nb\n")
    for name in ("base.opt0", "base.opt2", "base.opt10", "new.v2.opt0"):
        (tmp_path / f"hyps.{name}").write_text(f"a {name}\nb\n")
    return tmp_path


def test_replicas_are_found_in_the_order_of_their_numbers(folder):
    found, problems = find_outputs("hyps.{system}.opt{replica}", base=folder)
    assert problems == []
    assert [one.system for one in found] == ["base/0", "base/2", "base/10", "new.v2/0"]
    assert found[2].path == folder / "hyps.base.opt10"
    assert found[2].coordinates == {"model": "base", "replica": "10"}


def test_a_path_without_replicas_has_no_coordinates(folder):
    found, _ = find_outputs("hyps.{system}", base=folder)
    assert [one.system for one in found] == ["base.opt0", "base.opt10", "base.opt2", "new.v2.opt0"]
    assert all(one.coordinates == {} for one in found)


@pytest.mark.parametrize(("outputs", "words"), [("x.{replica}", "of which system"), ("{system}.{run}", "{run}")])
def test_placeholders_that_cannot_be_followed_are_refused(folder, outputs, words):
    found, (problem,) = find_outputs(outputs, base=folder)
    assert (found, problem.code) == ([], "P219")
    assert words in problem.message


def test_the_survey_keeps_model_and_replica_of_each_output(folder):
    spec = TestSet(references=("ref.txt",), outputs="hyps.{system}.opt{replica}")
    found = survey_test_set("t", spec, base=folder, systems=Systems(exclude=("new*",)), unit="item")
    assert {output.system: dict(output.coordinates) for output in found.outputs} == {
        f"base/{replica}": {"model": "base", "replica": replica} for replica in ("0", "2", "10")
    }


def test_a_table_of_systems_overrules_what_the_path_says(folder):
    (folder / "systems.csv").write_text("system,model,group\nbase/0,first,x\n")
    value = {
        "schema": 1,
        "study": "s",
        "test_sets": {"t": {"references": ["ref.txt"], "outputs": "hyps.{system}.opt{replica}"}},
        "systems": {"table": "systems.csv", "exclude": ["new*"]},
        "metrics": ["bleu"],
    }
    inputs = survey_study(study_from_value(value, base=folder).study, folder).inputs
    assert inputs.coordinates["base/0"] == {"model": "first", "replica": "0", "group": "x"}
    assert inputs.coordinates["base/10"] == {"model": "base", "replica": "10"}


def test_the_layout_of_multeval_gives_three_systems_with_three_replicas(data_dir):
    pattern = "multeval/example/hyps.lc.tok.en.{system}.opt{replica}.gz"
    found, _ = find_outputs(pattern, base=data_dir)
    assert [one.system for one in found] == [f"{name}/{k}" for name in ("baseline", "sys1", "sys2") for k in range(3)]
