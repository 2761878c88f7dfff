"""A calibration finds the rates that made the times, measures what a study asks, and never stands in its way."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.studies import text_study, write_scores, write_study

from pipeline.plan.costs import TaskCosts
from pipeline.plan.inputs import Inputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.rates import PassRates, Rates, fit_rates
from pipeline.plan.task import Task
from pipeline.store.runs import STORE_NAME, Store
from pipeline.study.load import LoadedStudy, load_study
from pipeline.survey.survey import survey_study
from pipeline.tasks.calibrate import FOR_BLOCKS, FOR_TIMES, Effort, calibrate
from pipeline.tasks.run import run_task
from pipeline.tasks.time_trainings import time_trainings

pytestmark = pytest.mark.alone  # holds what is done to the time it takes

SHAPES = [(2000, 2, 1), (2000, 24, 276), (128, 24, 276), (128, 24, 23)]
WHOLE = [*SHAPES, (2000, 150, 11_175), (500, 150, 11_175), (100, 31, 465)]


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


def prepared(study: Path, runs: Path) -> tuple[LoadedStudy, Inputs, Store]:
    loaded, store = load_study(study, []), Store(runs / STORE_NAME)
    survey = survey_study(loaded.study, loaded.base)
    survey.store_frames(store)
    return loaded, survey.inputs, store


def times_of(rates: PassRates) -> dict[tuple[int, int, int], tuple[float, float]]:
    return {shape: (rates.task(*shape), rates.draw * shape[0] + rates.replicate(*shape)) for shape in SHAPES}


def seconds_of(rates: PassRates, shape: tuple[int, int, int], replicates: int = 16_384) -> float:
    return rates.task(*shape) + replicates * (rates.draw * shape[0] + rates.replicate(*shape))


def test_rates_are_found_again_in_the_times_they_make() -> None:
    rates = PassRates(1.3e-9, 9e-11, 1e-8, 1.2e-9, 2e-3, 2e-7, 3e-6)
    found = fit_rates(times_of(rates))
    assert [seconds_of(found, shape) for shape in WHOLE] == pytest.approx([seconds_of(rates, s) for s in WHOLE], rel=0.05)


positive = st.floats(-1.0, 1.0).map(lambda power: 8.0**power)


@settings(max_examples=300)
@given(multiples=st.lists(positive, min_size=7, max_size=7), noise=st.lists(st.floats(0.95, 1.05), min_size=8, max_size=8))
def test_noise_makes_no_rate_negative_or_absurd_and_no_study_a_third_longer(multiples: list[float], noise: list[float]) -> None:
    slow = vars(PassRates()).values()
    rates = PassRates(*(rate * multiple for rate, multiple in zip(slow, multiples, strict=True)))
    times = {
        shape: (setup * noise[2 * place], each * noise[2 * place + 1])
        for place, (shape, (setup, each)) in enumerate(times_of(rates).items())
    }
    found = fit_rates(times)
    for rate, most in zip(vars(found).values(), slow, strict=True):
        assert most / 1000 < rate < most * 1000
    for shape in SHAPES:
        assert seconds_of(found, shape) == pytest.approx(seconds_of(rates, shape), rel=1 / 3)


@pytest.mark.parametrize("seconds", [0.0, 1e-12, 1e3])
def test_times_that_cannot_be_have_rates_all_the_same(seconds: float) -> None:
    found = fit_rates(dict.fromkeys(SHAPES, (seconds, seconds)))
    assert all(math.isfinite(rate) and rate > 0 for rate in vars(found).values())


def test_one_shape_alone_has_the_rates_of_a_slow_machine_sped_up_all_alike() -> None:
    slow, shape = PassRates(), (2, 2, 1)
    found = fit_rates({shape: (slow.task(*shape) / 5, (slow.draw * 2 + slow.replicate(*shape)) / 5)})
    assert [*vars(found).values()] == pytest.approx([rate / 5 for rate in vars(slow).values()])


def test_a_time_that_noise_has_made_zero_does_not_make_the_others_nothing() -> None:
    times = times_of(PassRates())
    times[SHAPES[0]] = (0.0, 0.0)
    found = fit_rates(times)
    whole = found.draw * 2000 + found.replicate(2000, 24, 276)
    assert whole == pytest.approx(times[SHAPES[1]][1], rel=0.3)
    assert min(vars(found).values()) >= 0


@pytest.mark.parametrize("effort", [FOR_BLOCKS, FOR_TIMES], ids=["for blocks", "for times"])
def test_every_metric_and_procedure_of_a_study_is_measured(tmp_path: Path, scratch: Path, effort: Effort) -> None:
    study = text_study(tmp_path, ["a", "b", "c"], metrics=["bleu", "chrf"])
    loaded, inputs, store = prepared(study, tmp_path / "runs")
    before = sorted(tmp_path.rglob("*"))
    rates = calibrate(loaded.study, inputs, store, scratch, effort=effort)
    assert not rates.unknown
    assert set(rates.passes) == set(loaded.study.resampling.procedures)
    for by_metric in rates.passes.values():
        assert set(by_metric) == {"bleu", "chrf"}
        for found in by_metric.values():
            assert all(math.isfinite(value) and value >= 0 for value in vars(found).values())
            assert found.draw * 60 + found.replicate(60, 3, 3) > 0
    if effort.everything:
        (by_metric,) = rates.outputs.values()
        assert all(found.extract > 0 and found.load > 0 for found in by_metric.values())
    else:
        assert rates.outputs == {}
    assert rates.machine > 0
    assert Rates.from_json(rates.to_json()) == Rates(passes=rates.passes)
    assert sorted(tmp_path.rglob("*")) == before  # it writes into its folder alone


def test_what_is_still_to_be_trained_is_measured_too(tmp_path: Path, scratch: Path) -> None:
    loaded, inputs, store = prepared(training_study(tmp_path), tmp_path / "runs")
    rates = calibrate(loaded.study, inputs, store, scratch)
    assert not rates.unknown
    assert rates.outputs["digits"]["accuracy"].extract > 0
    assert rates.passes["paired-bootstrap"]["accuracy"].draw >= 0


def test_files_that_have_gone_are_unknown_with_a_reason(tmp_path: Path, scratch: Path) -> None:
    write_scores(tmp_path / "s.csv", ["a", "b"])
    study = write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets={"t": {"format": "scores", "outputs": "s.csv"}})
    loaded, inputs, store = prepared(study, tmp_path / "runs")
    (tmp_path / "s.csv").unlink()
    rates = calibrate(loaded.study, inputs, store, scratch)
    assert rates.passes == {}
    assert "mean on t" in rates.unknown


def test_trainings_are_timed_by_model_and_fraction(tmp_path: Path) -> None:
    known, unknown = time_trainings(trainings(training_study(tmp_path)))
    assert unknown == {}
    assert set(known) == {"neighbours"}
    assert set(known["neighbours"]) == {"0.5", "1"}
    assert all(seconds > 0 for seconds in known["neighbours"].values())


def test_trainings_that_do_not_end_in_time_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.tasks.time_trainings.START_SECONDS", 0.01)
    known, unknown = time_trainings(trainings(training_study(tmp_path)), seconds=0.01)
    assert known == {}
    assert "did not end" in unknown["neighbours"]


def test_trainings_that_fail_are_unknown_with_their_reason(tmp_path: Path) -> None:
    # Fewer neighbours than asked: scikit-learn says so when it predicts.
    known, unknown = time_trainings(trainings(training_study(tmp_path, options={"n_neighbors": 5000})))
    assert known == {}
    assert "failed" in unknown["neighbours"]


@pytest.mark.slow
def test_predicted_and_real_seconds_of_blocks_agree_within_a_factor_of_three(tmp_path: Path, scratch: Path) -> None:
    # A ratio of processor times of one process, whatever the machine: seen between 0.8 and 1.1, with other work on all cores.
    study = text_study(tmp_path, ["a", "b", "c", "d", "e", "f"])
    loaded, inputs, store = prepared(study, tmp_path / "runs")
    rates = calibrate(loaded.study, inputs, store, scratch)
    costs = TaskCosts(loaded.study, inputs, rates)
    tasks = plan_study(loaded.study, inputs, Inventory(), run="r", block_cells=3).tasks
    for task in tasks:
        if task.kind == "extract":
            run_task(task, str(tmp_path / "runs"))
    blocks = [task for task in tasks if task.kind == "resample"]
    ratios = []
    for task in [blocks[0], *blocks]:
        start = time.process_time()
        run_task(task, str(tmp_path / "runs"))
        ratios.append((costs.seconds(task) or 0.0) / (time.process_time() - start))
    assert 1 / 3 < np.median(ratios[1:]) < 3


def trainings(study: Path) -> list[Task]:
    loaded = load_study(study, [])
    inputs = survey_study(loaded.study, loaded.base).inputs
    return [task for task in plan_study(loaded.study, inputs, Inventory(), run="r").tasks if task.kind == "train"]


def training_study(folder: Path, **more: object) -> Path:
    return write_study(
        folder / "training.yaml",
        metrics=["accuracy"],
        test_sets={"digits": {"format": "labels", "gold": {"dataset": "digits", "part": "test"}}},
        training={
            "data": {"dataset": "digits", "part": "train"},
            "resamples": [
                {"method": "bootstrap", "fraction": 1.0, "replicas": 1},
                {"method": "bootstrap", "fraction": 0.5, "replicas": 2},
            ],
            "models": {
                "neighbours": {"trainer": "sklearn", "estimator": "sklearn.neighbors.KNeighborsClassifier", **more},
            },
        },
    )
