"""Addresses are complete: whatever changes a number changes the address, and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.plan.comparisons import Size, list_comparisons, statistics_key
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.trainings import make_trainings
from pipeline.record.manifest import Manifest
from pipeline.study.load import study_from_value
from pipeline.study.schema import Study

METRIC = MetricInputs("bleu", {"smooth_value": 0.001}, "BLEU|smooth:0.00", True)
OUTPUTS = (OutputInputs("a", "content-a"), OutputInputs("b", "content-b"))
TEST_SET = TestSetInputs("news", "frame", "gold", 60, 60, OUTPUTS)
INPUTS = Inputs("/base", (TEST_SET,), (METRIC,), {}, "data", {"linear": "sklearn:1"})


def study(**changes: Any) -> Study:
    value: dict[str, Any] = {
        "schema": 1,
        "study": "small",
        "seed": 7,
        "test_sets": {"news": {"references": ["ref.txt"], "outputs": "{system}.txt"}},
        "metrics": [{"name": "bleu", "smooth_value": 0.001}],
        "resampling": {"replicates": 1000, "margin": {"bleu": 0.3}},
    }
    return study_from_value(value | changes, base=Path("/base")).study


def column_address(asked: Study, inputs: Inputs = INPUTS, size: Size = Size("full", 60)) -> str:  # noqa: B008 - a constant
    return list_comparisons(asked, inputs, inputs.test_sets[0], size, OUTPUTS)[0].address


def test_statistics_are_addressed_by_all_that_is_read_and_how() -> None:
    base = (TEST_SET, "error", METRIC, OUTPUTS[0])
    others = [
        (replace(TEST_SET, frame="other"), *base[1:]),
        (replace(TEST_SET, gold_digest="other"), *base[1:]),
        (TEST_SET, "drop", *base[2:]),
        (TEST_SET, "error", replace(METRIC, options={"smooth_value": 0.004}), OUTPUTS[0]),
        (TEST_SET, "error", replace(METRIC, signature="BLEU|other version"), OUTPUTS[0]),
        (TEST_SET, "error", METRIC, OUTPUTS[1]),
    ]
    keys = {statistics_key(*base), *(statistics_key(*other) for other in others)}
    assert len(keys) == 1 + len(others)


def test_statistics_do_not_know_the_names_of_systems_and_test_sets() -> None:
    key = statistics_key(TEST_SET, "error", METRIC, OUTPUTS[0])
    assert statistics_key(replace(TEST_SET, name="other"), "error", METRIC, OUTPUTS[0]) == key
    assert statistics_key(TEST_SET, "error", METRIC, replace(OUTPUTS[0], system="other")) == key


def test_cells_are_addressed_by_all_that_decides_draws_and_counts() -> None:
    base = column_address(study())
    others = [
        column_address(study(seed=8)),
        column_address(study(resampling={"replicates": 1000, "margin": {"bleu": 0.4}})),
        column_address(study(resampling={"replicates": 1000})),
        column_address(study(), size=Size("20", 20)),
        column_address(study(), size=Size("full", 59)),
        column_address(study(), replace(INPUTS, metrics=(replace(METRIC, options={"smooth_value": 0.004}),))),
    ]
    renamed = study(test_sets={"other": {"references": ["ref.txt"], "outputs": "{system}.txt"}})
    others.append(column_address(renamed, replace(INPUTS, test_sets=(replace(TEST_SET, name="other"),))))
    assert len({base, *others}) == 1 + len(others)


def test_cells_do_not_know_how_many_there_are_nor_what_is_asked_of_them() -> None:
    more = {"replicates": 10**6, "keep_replicates": 5, "alpha": 0.01, "margin": {"bleu": 0.3}, "test_sizes": [20, "full"]}
    assert column_address(study(resampling=more)) == column_address(study())
    assert column_address(study(analyses=["thresholds"], cluster="other")) == column_address(study())


TRAINING: dict[str, Any] = {
    "data": {"dataset": "digits", "part": "train"},
    "resamples": [{"method": "bootstrap", "fraction": 0.5, "replicas": 2}],
    "models": {"linear": {"trainer": "sklearn", "estimator": "a.B", "options": {"C": 1.0}}},
}


def identity(asked: Study, data: str = "data", trainers: dict[str, str] | None = None) -> tuple[str, str]:
    """The address of the first fitted model, and of the task that makes it for one test set."""
    task = next(iter(make_trainings(asked, data, trainers or dict(INPUTS.trainers), {"gold": {}}).values()))
    spec: Any = task.spec
    return spec.identity, task.key


def test_fitted_models_are_addressed_by_all_that_decides_them() -> None:
    changed = [
        {**TRAINING, "models": {"linear": {"trainer": "sklearn", "estimator": "a.C", "options": {"C": 1.0}}}},
        {**TRAINING, "models": {"linear": {"trainer": "sklearn", "estimator": "a.B", "options": {"C": 2.0}}}},
        {**TRAINING, "models": {"other": {"trainer": "sklearn", "estimator": "a.B", "options": {"C": 1.0}}}},
        {**TRAINING, "resamples": [{"method": "bootstrap", "fraction": 0.25, "replicas": 2}]},
    ]
    found = {identity(study(training=TRAINING)), identity(study(training=TRAINING, seed=8))}
    found |= {identity(study(training=training)) for training in changed}
    found.add(identity(study(training=TRAINING), data="other"))
    found.add(identity(study(training=TRAINING), trainers={"linear": "sklearn:2"}))
    assert len(found) == 2 + len(changed) + 2
    replicas = [task.key for task in make_trainings(study(training=TRAINING), "data", {}, {}).values()]
    assert len(set(replicas)) == len(replicas) == 2


def test_another_test_set_to_predict_is_another_task_but_the_same_model() -> None:
    one = next(iter(make_trainings(study(training=TRAINING), "data", {}, {"gold": {}}).values()))
    two = next(iter(make_trainings(study(training=TRAINING), "data", {}, {"gold": {}, "more": {}}).values()))
    assert one.key != two.key
    assert getattr(one.spec, "identity", 1) == getattr(two.spec, "identity", 2)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"cluster": "cluster/slurm.yaml"}, True),
        ({"test_sets": {"news": {"references": ["/else/where.txt"], "outputs": {"a": "x", "b": "y"}}}}, True),
        ({"resampling": {"replicates": 1000, "margin": {"bleu": 0.3}, "alpha": 0.01}}, False),
        ({"analyses": ["thresholds"]}, False),
        ({"report": {"formats": ["json"]}}, False),
        ({"systems": {"relation": "group"}}, False),
        ({"test_sets": {"news": {"references": ["ref.txt"], "outputs": "{system}.txt", "missing": "drop"}}}, False),
    ],
    ids=str,
)
def test_a_run_is_what_is_asked_of_which_content_wherever_it_lies(change: dict[str, Any], same: bool) -> None:
    base = Manifest(study(), INPUTS, ()).identity()
    assert (Manifest(study(**change), INPUTS, ()).identity() == base) is same


def test_other_content_is_another_run() -> None:
    base = Manifest(study(), INPUTS, ()).identity()
    other = replace(INPUTS, test_sets=(replace(TEST_SET, outputs=(OUTPUTS[0], replace(OUTPUTS[1], identity="new"))),))
    assert Manifest(study(), other, ()).identity() != base
    assert Manifest(study(), replace(INPUTS, base="/elsewhere"), ()).identity() == base


def test_wider_limits_train_nothing_again_that_ended_within_them() -> None:
    def keys(**options: Any) -> list[str]:
        models = {"m": {"trainer": "command", "predict": "p {input} {output}", **options}}
        return [task.key for task in make_trainings(study(training={**TRAINING, "models": models}), "data", {}, {}).values()]

    assert keys(limits={"minutes": 1}) == keys(limits={"minutes": 9, "memory": "4 GB"}) == keys()
    assert keys(environment={"A": 1}) != keys()
