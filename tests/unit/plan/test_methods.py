"""Which p-values are counted and which are exact: by what they are asked for and what metrics declare, never by who takes part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.methods import LAW, LAW_UNIT, REPLICATE_PAIR, REPLICATE_UNIT, Method, choose_method, law_seconds, why_no_law
from pipeline.plan.open_tasks import plan_study
from pipeline.resampling.address import CELL
from pipeline.study.schema import Study

UNITS, BOOTSTRAP = 500, "paired-bootstrap"
TEST_SET = TestSetInputs("news", "frame", "gold", UNITS, UNITS, tuple(OutputInputs(name, name, output={}) for name in "ab"))


def study_of(**resampling: Any) -> Study:
    asked = {"replicates": 10_000_000, "keep_replicates": CELL, **resampling}
    test_sets = {"news": {"format": "scores", "outputs": "s.csv"}}
    return Study.model_validate({"schema": 1, "study": "small", "metrics": ["mean"], "test_sets": test_sets, "resampling": asked})


def metric_of(denominators: str = "items", **changes: Any) -> MetricInputs:
    return MetricInputs("mean", {}, "mean", True, denominators=denominators, **changes)


def choose(study: Study, metric: MetricInputs, test_set: TestSetInputs = TEST_SET, procedure: str = BOOTSTRAP) -> Method:
    return choose_method(study, test_set, metric, procedure)


def test_auto_takes_a_law_from_where_it_takes_less_than_the_replicates_that_it_spares() -> None:
    law, draw = LAW + LAW_UNIT * UNITS, REPLICATE_PAIR + REPLICATE_UNIT * UNITS
    border = int(law / draw)  # replicates spared
    more, fewer = (choose(study_of(replicates=CELL + spared), metric_of()) for spared in (border + 1, border))
    assert (more.exact, more.replicates) == (True, CELL)
    assert (fewer.exact, fewer.replicates) == (False, CELL + border)


def test_a_law_of_other_scores_takes_longer_than_any_usual_number_of_replicates() -> None:
    for spared, exact in ((10_000_000, False), (400_000_000, True)):
        assert choose(study_of(replicates=CELL + spared), metric_of("shared")).exact == exact


def test_units_that_are_documents_have_no_law_of_right_and_wrong_items() -> None:
    documents = replace(TEST_SET, n_items=5 * UNITS, unit="document")
    assert (
        law_seconds(metric_of(), documents)
        == law_seconds(metric_of("shared"), documents)
        > 100 * law_seconds(metric_of(), TEST_SET)
    )
    assert choose(study_of(), metric_of()).exact
    assert not choose(study_of(), metric_of(), documents).exact


@pytest.mark.parametrize("asked", [{"method": "monte-carlo"}, {"keep_replicates": 10_000_000}])
def test_replicates_that_are_asked_for_or_kept_anyway_are_counted(asked: dict[str, Any]) -> None:
    found = choose(study_of(**asked), metric_of())
    assert (found.exact, found.replicates) == (False, 10_000_000)


@pytest.mark.parametrize(
    ("kept", "replicates", "drawn"),
    [(0, 1000, 0), (1, 10**6, CELL), (CELL, 10**6, CELL), (CELL + 1, 10**6, 2 * CELL), (500, 1000, 1000), (5000, 1000, 1000)],
)
def test_beside_exact_p_values_whole_cells_are_drawn_and_no_more_than_asked_for(kept: int, replicates: int, drawn: int) -> None:
    study = study_of(method="exact", keep_replicates=kept, replicates=replicates)
    assert choose(study, metric_of()) == Method(True, drawn, "as the study asks")


def test_what_a_metric_does_not_say_is_believed_only_where_exact_laws_are_asked_for() -> None:
    assert [choose(study_of(method=method), metric_of("unknown")).exact for method in ("auto", "exact")] == [False, True]


@pytest.mark.parametrize(
    ("asked", "metric", "procedure", "why"),
    [
        ({}, metric_of(form="general"), BOOTSTRAP, "is not a ratio"),
        ({}, metric_of("own"), BOOTSTRAP, "its own denominator"),
        ({"margin": {"mean": 1.0}}, metric_of(), BOOTSTRAP, "against the margin"),
        ({"strata": "domain"}, metric_of(), BOOTSTRAP, "within strata"),
        ({}, metric_of(), "approximate-randomization", "nothing computes all p-values"),
    ],
)
@pytest.mark.parametrize("method", ["auto", "exact"])
def test_what_has_no_law_is_counted(asked: dict[str, Any], metric: MetricInputs, procedure: str, why: str, method: str) -> None:
    study = study_of(**asked, method=method)
    assert why in (why_no_law(study, metric, procedure) or "")
    found = choose(study, metric, procedure=procedure)
    assert (found.exact, found.replicates) == (False, 10_000_000)


def test_a_preset_has_numbers_of_replicates() -> None:
    study = study_of()
    assert why_no_law(study, metric_of(), BOOTSTRAP) is None
    assert "numbers of its own" in (why_no_law(study.model_copy(update={"preset": "multeval"}), metric_of(), BOOTSTRAP) or "")


def test_a_procedure_that_draws_nothing_has_no_replicates() -> None:
    assert choose(study_of(), metric_of(), procedure="mcnemar") == Method(False, 0, "mcnemar draws nothing")


def test_who_takes_part_changes_nothing() -> None:
    many = replace(TEST_SET, outputs=tuple(OutputInputs(f"s{k}", f"s{k}", output={}) for k in range(1000)))
    for replicates in (CELL + 27_000, CELL + 30_000, 10_000_000):
        study = study_of(replicates=replicates)
        assert choose(study, metric_of()) == choose(study, metric_of(), many)


def test_a_cube_of_exact_p_values_is_another_than_one_of_counted_ones() -> None:
    """Though they are of one run and the same columns: a later version may say of a metric what an earlier one did not."""
    keys = []
    for denominators in ("unknown", "items"):
        inputs = Inputs("/", (TEST_SET,), (metric_of(denominators),), {})
        keys.append({task.key for task in plan_study(study_of(), inputs, Inventory(), run="r").tasks if task.kind == "collect"})
    assert len(keys[0]) == len(keys[1]) == 1
    assert keys[0] != keys[1]
