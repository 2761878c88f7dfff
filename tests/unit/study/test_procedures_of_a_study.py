"""Several procedures in one study: what each says of itself, what is asked, and what is planned for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import StudyError, TaskError
from pipeline.inference.p_values import CONVENTIONS
from pipeline.plan.comparisons import list_comparisons, list_sizes
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import ResampleSpec, Task
from pipeline.plugins import import_function
from pipeline.procedures.registry import PROCEDURES, default_procedure
from pipeline.study.load import study_from_value
from pipeline.study.schema import Study
from pipeline.tasks.resample import resample_block

OUTPUTS = tuple(OutputInputs(name, f"content-{name}") for name in "abc")
METRICS = (MetricInputs("bleu", {}, "BLEU", True), MetricInputs("chrf", {}, "chrF", True))
TEST_SET = TestSetInputs("news", "frame", "gold", 60, 60, OUTPUTS)
INPUTS = Inputs("/base", (TEST_SET,), METRICS, {}, None, {})
BOOTSTRAP, RANDOMIZATION = "paired-bootstrap", "approximate-randomization"


def study(*procedures: str, **resampling: Any) -> Study:
    value = {
        "schema": 1,
        "study": "small",
        "seed": 7,
        "test_sets": {"news": {"references": ["ref.txt"], "outputs": "{system}.txt"}},
        "metrics": ["bleu", "chrf"],
        "resampling": {"replicates": 40_000, "keep_replicates": 20_000, "test_sizes": [20, "full"], **resampling},
    }
    if procedures:
        value["resampling"]["procedures"] = list(procedures)  # type: ignore[index]  # a mapping of mappings
    return study_from_value(value, base=Path("/base")).study


def resamples(asked: Study, **options: Any) -> list[Task]:
    return [task for task in plan_study(asked, INPUTS, Inventory(), run="run", **options).tasks if task.kind == "resample"]


def spec_of(task: Task) -> ResampleSpec:
    assert isinstance(task.spec, ResampleSpec)
    return task.spec


@pytest.mark.parametrize("name", list(PROCEDURES))
def test_a_procedure_says_what_it_has_and_why_it_lacks_the_rest(name: str) -> None:
    procedure = PROCEDURES[name]
    assert procedure.name == name
    assert set(procedure.conventions) <= set(CONVENTIONS)
    assert ("interval" in procedure.missing) == (not procedure.gives_interval)
    assert ("bias" in procedure.missing) == (not procedure.centred_at_gain)
    assert procedure.methods
    assert callable(import_function(procedure.compute or procedure.counter))


def test_one_procedure_is_the_default_and_one_backs_those_that_need_many_units() -> None:
    assert [name for name, known in PROCEDURES.items() if known.default] == [default_procedure().name] == [BOOTSTRAP]
    assert [name for name, known in PROCEDURES.items() if known.backs_others] == ["exact-sign-flip"]
    assert study().resampling.procedures == (BOOTSTRAP,)


def test_a_procedure_that_draws_nothing_has_no_tasks_but_a_cube() -> None:
    asked = study("mcnemar", "exact-bootstrap")
    assert resamples(asked) == []
    kinds = [task.kind for task in plan_study(asked, INPUTS, Inventory(), run="run").tasks]
    assert sorted(set(kinds)) == ["collect", "extract", "report"]
    assert asked.resampling.scores_kept == 0
    both = study(BOOTSTRAP, "mcnemar")
    assert [task.key for task in resamples(both)] == [task.key for task in resamples(study(BOOTSTRAP))]


def test_procedures_keep_the_order_of_the_study() -> None:
    assert study(RANDOMIZATION, BOOTSTRAP).resampling.procedures == (RANDOMIZATION, BOOTSTRAP)
    columns = list_comparisons(study(RANDOMIZATION, BOOTSTRAP), INPUTS, TEST_SET, list_sizes(study(), TEST_SET)[-1], OUTPUTS)
    order = [(RANDOMIZATION, "bleu"), (RANDOMIZATION, "chrf"), (BOOTSTRAP, "bleu"), (BOOTSTRAP, "chrf")]
    assert [(column.procedure, column.metric.name) for column in columns] == order


@pytest.mark.parametrize(
    ("procedures", "code", "words"),
    [
        ([RANDOMIZATION, RANDOMIZATION], "P110", "a procedure is given twice"),
        (["approximate-randomisation"], "P103", "did you mean 'approximate-randomization'?"),
        (["paired bootstrap"], "P103", "did you mean 'paired-bootstrap'?"),
        (["permutation"], "P103", "did you mean 'approximate-randomization'?"),
        (["Student's t"], "P103", "did you mean 'paired-t'?"),
        ([], "P104", "needs at least 1"),
    ],
)
def test_procedures_that_are_not_there_or_come_twice_are_refused(procedures: list[str], code: str, words: str) -> None:
    with pytest.raises(StudyError) as raised:
        study(procedures=procedures)
    (problem,) = raised.value.problems
    assert problem.code == code
    assert words in f"{problem.message} {problem.help}"


def test_a_margin_needs_a_procedure_that_can_test_one() -> None:
    with pytest.raises(StudyError, match="can test a margin; add paired-bootstrap"):
        study(RANDOMIZATION, margin={"bleu": 0.3})
    asked = study(RANDOMIZATION, BOOTSTRAP, margin={"bleu": 0.3})
    columns = list_comparisons(asked, INPUTS, TEST_SET, list_sizes(asked, TEST_SET)[-1], OUTPUTS)
    margins = {(column.procedure, column.metric.name): column.margin for column in columns}
    assert {place for place, margin in margins.items() if margin is not None} == {(BOOTSTRAP, "bleu")}


def test_a_margin_moves_no_address_of_a_procedure_that_cannot_test_it() -> None:
    size = list_sizes(study(), TEST_SET)[-1]
    addresses = [
        {c.address for c in list_comparisons(study(BOOTSTRAP, RANDOMIZATION, **more), INPUTS, TEST_SET, size, OUTPUTS)}
        for more in ({}, {"margin": {"bleu": 0.3, "chrf": 0.3}})
    ]
    assert len(addresses[0]) == len(addresses[1]) == 4
    assert len(addresses[0] & addresses[1]) == 2


def test_another_procedure_moves_no_address_of_the_first() -> None:
    alone, both = (
        list_comparisons(study(*names), INPUTS, TEST_SET, list_sizes(study(), TEST_SET)[0], OUTPUTS)
        for names in ((), (BOOTSTRAP, RANDOMIZATION))
    )
    assert [column.address for column in alone] == [column.address for column in both if column.procedure == BOOTSTRAP]
    assert len({column.address for column in both}) == 4
    keys = [{task.key for task in resamples(study(*names), block_cells=1)} for names in ((), (BOOTSTRAP, RANDOMIZATION))]
    assert keys[0] < keys[1]


def test_each_procedure_has_tasks_of_its_own_for_all_cells_and_metrics() -> None:
    tasks = resamples(study(BOOTSTRAP, RANDOMIZATION), block_cells=2)
    assert len({task.label for task in tasks}) == len({task.key for task in tasks}) == len(tasks)
    cells = {}
    for task in tasks:
        spec = spec_of(task)
        assert [column.metric for column in spec.columns] == ["bleu", "chrf"]
        cells.setdefault((spec.size, spec.procedure), []).append((spec.first_cell, spec.stop_cell))
    assert set(cells) == {(size, name) for size in ("20", "full") for name in (BOOTSTRAP, RANDOMIZATION)}
    assert {tuple(found) for found in cells.values()} == {((0, 2), (2, 3))}


def test_scores_are_kept_by_the_bootstrap_alone() -> None:
    for task in resamples(study(BOOTSTRAP, RANDOMIZATION), block_cells=1):
        spec = spec_of(task)
        kept = spec.procedure == BOOTSTRAP and spec.first_cell < 2
        assert all(column.kept_mask().tolist() == [kept] * 3 for column in spec.columns)
    assert study(BOOTSTRAP, RANDOMIZATION).resampling.scores_kept == 20_000
    assert study(RANDOMIZATION).resampling.scores_kept == 0


def test_statistics_are_extracted_once_for_all_procedures() -> None:
    one, both = (
        plan_study(study(*names), INPUTS, Inventory(), run="run").tasks for names in ((BOOTSTRAP,), (BOOTSTRAP, RANDOMIZATION))
    )
    extractions = [[task.key for task in tasks if task.kind == "extract"] for tasks in (one, both)]
    assert extractions[0] == extractions[1]
    assert len(extractions[0]) == 6


def test_a_worker_that_cannot_count_a_procedure_says_so(tmp_path: Path) -> None:
    task = resamples(study())[0]
    with pytest.raises(TaskError, match="P405: this version cannot count the procedure 'mcnemar'") as raised:
        resample_block(replace(task, spec=replace(spec_of(task), procedure="mcnemar")), tmp_path)
    assert "approximate-randomization" in str(raised.value.problems[0].help)
