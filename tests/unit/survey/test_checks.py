"""Tests what a study may not ask of its files, and what a survey warns about: each check by itself."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.errors import PipelineError, Problem
from pipeline.items.frame import Frame, Output
from pipeline.plan.inputs import MetricInputs, OutputInputs, TestSetInputs
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.study.schema import Study
from pipeline.survey.checks import (
    check_gold,
    refuse_baseline,
    refuse_doubles,
    refuse_product,
    refuse_systems_as_groups,
    refuse_unclear_sizes,
    refuse_zeros,
    warn_of_groups,
)
from pipeline.survey.survey import survey_study
from pipeline.survey.warnings import warn_of_directions, warn_of_sizes, warn_of_strata

MEAN = MetricInputs("mean", {}, "mean", True)
COST = MetricInputs("cost", {"metric": "mean", "column": "cost"}, "mean", False)


def study(**changes: Any) -> Study:
    resampling = {"replicates": 1000, **changes.pop("resampling", {})}
    test_set = {"format": "scores", "outputs": "scores.csv", **changes.pop("test_set", {})}
    value = {"schema": 1, "study": "s", "seed": 1, "test_sets": {"t": test_set}, "metrics": ["mean"], "resampling": resampling}
    return Study.model_validate({**value, **changes})


def only(function: Any, *arguments: Any) -> Problem:
    with pytest.raises(PipelineError) as raised:
        function(*arguments)
    (problem,) = raised.value.problems
    return problem


def data_of(*systems: str) -> TestSetInputs:
    return TestSetInputs("t", "frame", "", 3, 3, tuple(OutputInputs(name, name) for name in systems))


def test_a_zero_is_refused_where_it_is_the_best_score_and_taken_where_it_is_the_worst() -> None:
    asked = study(test_set={"missing": "zero"})
    refuse_zeros(asked, (MEAN,))
    assert only(refuse_zeros, asked, (MEAN, COST)).code == "P114"
    assert "0 of 0" in only(refuse_zeros, asked, (MetricInputs("ratio", {}, "ratio", True),)).message
    refuse_zeros(study(), (COST,))


def test_a_baseline_is_a_system_of_every_test_set() -> None:
    refuse_baseline(None, [data_of("a")])
    refuse_baseline("a", [data_of("a", "b")])
    problem = only(refuse_baseline, "bas", [data_of("base", "other")])
    assert (problem.code, problem.help) == ("P115", "did you mean 'base'?")


def test_one_name_is_one_system() -> None:
    here, there = (OutputInputs("a", digit, output={"path": f"{digit}.txt"}) for digit in "12")
    made = OutputInputs("a", "3", training="key")
    refuse_doubles("t", (here, OutputInputs("b", "4")))
    problem = only(refuse_doubles, "t", (here, there))
    assert (problem.code, problem.where) == ("P208", "1.txt and 2.txt")
    assert only(refuse_doubles, "t", (here, made)).code == "P231"


def test_a_size_in_numbers_says_what_it_counts_where_documents_are_known() -> None:
    frame = Frame("t", tuple("abcdef"), (0, 0, 1, 1, 2, 2), ("x", "y", "z"))
    surveys: Any = {"t": SimpleNamespace(unit="document", frame=frame)}
    sizes = {"test_sizes": {"values": [2, "full"]}}
    assert only(refuse_unclear_sizes, study(resampling=sizes), surveys).code == "P291"
    refuse_unclear_sizes(study(resampling={**sizes, "unit": "item"}), surveys)
    refuse_unclear_sizes(study(resampling={"test_sizes": {"values": [7, "full"]}}), surveys)  # no test set has as many
    refuse_unclear_sizes(study(resampling=sizes), {"t": SimpleNamespace(unit="item", frame=frame)})  # type: ignore[dict-item]


def test_a_column_that_groups_items_here_and_is_a_system_there_is_refused_unless_the_study_says_so() -> None:
    asked = study(resampling={"unit": "bart"})
    assert warn_of_groups(asked, "t", ("bart",))[0].startswith(
        "the column 'bart' is not a system, because resampling.unit names it"
    )
    assert only(refuse_systems_as_groups, asked, {"t": ("bart",)}, ["bart", "gpt"]).code == "P238"
    refuse_systems_as_groups(asked, {"t": ("bart",)}, ["gpt"])
    said = study(resampling={"unit": "bart"}, test_set={"columns": {"bart": "bart"}})
    assert warn_of_groups(said, "t", ("bart",)) == ()
    refuse_systems_as_groups(said, {"t": ("bart",)}, ["bart"])


def test_a_gold_is_checked_by_the_metrics_that_can_do_so_cheaply() -> None:
    check_gold([MEAN], None)
    assert only(check_gold, [MetricInputs("f1", {}, "f1", True)], None).code == "P225"


def test_a_direction_that_files_contradict_is_told() -> None:
    def output(system: str, better: bool) -> Output:
        return Output(system, "x", system, 3, directions={"score": better}, columns=("score",))

    assert warn_of_directions([MEAN], [output("a", True)]) == ()
    (told,) = warn_of_directions([MEAN], [output("a", False), output("b", False)])
    assert told.startswith("the files of 'a' and 1 more say that less of 'score' is better, and mean takes more")
    (told,) = warn_of_directions([MetricInputs("mean", {}, "mean", False)], [output("a", True)])
    assert told.startswith("the file of 'a' says that more of 'score' is better, and mean takes less: set `higher_is_better: true`")


def test_sizes_that_there_are_not_are_left_out_in_words() -> None:
    asked = study(resampling={"test_sizes": {"values": [2, 5, 9, "full"]}})
    assert warn_of_sizes(asked, 5, "document") == ("test sizes 5, 9 are left out: there are 5 documents",)
    assert warn_of_sizes(asked, 10, "item") == ()
    assert warn_of_sizes(asked, 9, "speaker")[0].endswith("there are 9 units (speaker)")


def test_units_alone_in_their_stratum_are_counted_at_each_size() -> None:
    asked = study(resampling={"strata": "genre", "test_sizes": {"values": [2, "full"]}})
    plain = Frame("t", tuple("abcd"), (0, 1, 2, 3), tuple("abcd"))
    assert warn_of_strata(asked, plain) == ()
    told = warn_of_strata(asked, plain.with_strata((0, 0, 0, 1), ("x", "y")))
    assert told == ("1 of 4 units are alone in their stratum of genre: they never vary",)
    assert only(warn_of_strata, asked, plain.with_strata((0, 1, 1, 0), ("x", "y"))).code == "P229"


@pytest.mark.parametrize("form", ["abacus", "FLOAT"])
def test_a_product_that_is_not_here_is_refused_before_anything_is_read(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORM_VARIABLE, raising=False)
    refuse_product()
    monkeypatch.setenv(FORM_VARIABLE, "float")
    refuse_product()
    monkeypatch.setenv(FORM_VARIABLE, form)
    problem = only(refuse_product)
    assert (problem.code, problem.where) == ("P134", FORM_VARIABLE)
    assert f"is {form!r}; here it may be" in problem.message
    assert "unset" in (problem.help or "")
    with pytest.raises(PipelineError, match="P134"):
        survey_study(study(), Path("nowhere"))
