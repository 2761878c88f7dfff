"""Read every file a study names, once, before anything is computed: return the inputs of its plan, or all problems together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pipeline.analyses.registry import load_analysis
from pipeline.errors import DataError, NothingToCompare, PipelineError, Problem, StoreError
from pipeline.interfaces import Items
from pipeline.interfaces.wording import call_metrics, name_metric
from pipeline.items.align import alignment_table, survey_test_set
from pipeline.items.frame import Survey
from pipeline.items.gold import gold_digest_of, read_gold
from pipeline.items.readers import load_reader
from pipeline.items.recognise import AUTO, recognise_formats
from pipeline.items.stored import frame_key, grouping_key, read_frame, read_grouping, store_frame, store_grouping
from pipeline.metrics.registry import PLACES, is_own, load_metric, pin_options, title_of
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.procedures.registry import check_procedure
from pipeline.store.runs import Store
from pipeline.study.load import LoadedStudy
from pipeline.study.locate import locating, placed
from pipeline.study.marks import dotted
from pipeline.study.schema import MetricSpec, Study
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import DatasetSpec
from pipeline.survey.checks import (
    check_gold,
    refuse_baseline,
    refuse_bootstrap_t,
    refuse_doubles,
    refuse_look_alikes,
    refuse_product,
    refuse_systems_as_groups,
    refuse_unclear_sizes,
    refuse_without_law,
    refuse_zeros,
    warn_of_groups,
)
from pipeline.survey.coordinates import read_coordinates
from pipeline.survey.fetching import bring_objects
from pipeline.survey.needs import refuse_lacking_columns, refuse_numbers
from pipeline.survey.training import load_trainers, refuse_without_gold, signatures, survey_training
from pipeline.survey.warnings import warn_of_directions, warn_of_kinds, warn_of_max_t, warn_of_runs, warn_of_sizes, warn_of_strata

__all__ = ["StudySurvey", "frames_are_sound", "survey_loaded", "survey_study", "title_apart"]


class StudySurvey:
    """The inputs of a study, and the frames that go into the store once the study is run.

    ``study`` is the study with what looking at its files told: the formats it left open.
    """

    def __init__(self, study: Study, inputs: Inputs, surveys: Sequence[Survey]) -> None:
        self.study = study
        self.inputs = inputs
        self._surveys = surveys

    def store_frames(self, store: Store) -> None:
        """Write what tasks need to align outputs."""
        for survey in self._surveys:
            store_frame(survey.frame, store)
            store_grouping(survey.frame.stratum_of_unit, store)
            store_grouping(survey.frame.document_of_item, store)


def frames_are_sound(inputs: Inputs, store: Store) -> bool:
    """Say whether the store has all that tasks need to align outputs; reads it."""
    try:
        for test_set in inputs.test_sets:
            read_frame(store, test_set.frame)
            for _, key in test_set.groupings:
                read_grouping(store, key)
    except StoreError:
        return False
    return True


_ABSENT = ("P201", "P207", "P233", "P271")
"""Error codes of files that are missing, or cannot be read or used."""


def survey_loaded(loaded: LoadedStudy, study: Study | None = None) -> StudySurvey:
    """Read all files of a study as `survey_study` does; problems of the study itself are reported with their lines.

    Parameters
    ----------
    loaded : LoadedStudy
        The study with the file it comes from.
    study : Study, optional
        In place of the one that was loaded: without what is not to be looked at.
    """
    with locating(loaded):
        return survey_study(study or loaded.study, loaded.base, variables=loaded.variables)


def survey_study(study: Study, base: Path, *, variables: Sequence[str] = ()) -> StudySurvey:
    """Read all files that a study names, and report all problems at once.

    Parameters
    ----------
    study : Study
    base : Path
        The folder that relative paths start from.
    variables : sequence of str
        Environment variables that its paths name: told where files are not there.

    Raises
    ------
    DataError
        Everything that is wrong with the files, over all test sets.
    NothingToCompare
        If all that is wrong is that there are fewer than two systems.
    """
    try:
        return _survey_study(study, base)
    except DataError as error:
        if study.fetch is None:
            raise
        raise _tell_where_data_are(error, study.fetch, variables) from error


def _tell_where_data_are(error: DataError, command: str, variables: Sequence[str]) -> DataError:
    """Return the error with the command that brings the study's data behind the help, where files are not there."""
    elsewhere = f"; if you have them elsewhere, set {' or '.join(variables)} to that folder" if variables else ""

    def tell(problem: Problem) -> Problem:
        if problem.code not in _ABSENT or problem.where is None or os.path.exists(problem.where):
            return problem
        own = f"{problem.help}; " if problem.help else ""
        return replace(problem, help=f"{own}bring the data: `{command}`{elsewhere}")

    return type(error)(*map(tell, error.problems))


def _survey_study(study: Study, base: Path) -> StudySurvey:
    refuse_product()
    for name, spec in study.test_sets.items():
        if spec.format.name != AUTO:
            with placed(dotted(("test_sets", name, "format"))):
                load_reader(spec.format)
    study, recognised = recognise_formats(bring_objects(study, base), base)
    for place, analysis in enumerate(study.asked_analyses):
        with placed(f"analyses[{place}]"):
            load_analysis(analysis.name, analysis.options, test_sets=study.test_sets)
    for procedure in study.resampling.procedures:
        check_procedure(procedure)
    refuse_without_gold(study)
    trainers = load_trainers(study, base)
    metrics = title_apart([_metric_inputs(place, spec, base) for place, spec in enumerate(study.metrics)])
    refuse_zeros(study, metrics)
    refuse_without_law(study, metrics)
    surveys = _survey_all(study, base, metrics)
    refuse_unclear_sizes(study, surveys)
    golds = {name: (survey.gold, survey.gold_digest) for name, survey in surveys.items()}
    training = survey_training(study, base, trainers, golds)
    with call_metrics({metric.name: metric.title for metric in metrics}):  # for its warnings
        test_sets = [
            _test_set_inputs(study, base, survey, metrics, training.outputs(name, survey.gold_digest), recognised.get(name, ""))
            for name, survey in surveys.items()
        ]
    refuse_bootstrap_t(study, test_sets, base)
    coordinates, told = _coordinates(study, base, surveys, test_sets)
    refuse_look_alikes(coordinates)
    refuse_baseline(study.resampling.baseline, test_sets, coordinates)
    refuse_systems_as_groups(study, {name: survey.taken for name, survey in surveys.items()}, coordinates)
    # Said once, where people look: with the first test set.
    test_sets[:1] = [replace(first, warnings=(*first.warnings, *told)) for first in test_sets[:1]]
    pinned = signatures(study, trainers)
    inputs = Inputs(str(base), tuple(test_sets), metrics, coordinates, training.data_digest, pinned)
    return StudySurvey(study, inputs, list(surveys.values()))


def _survey_all(study: Study, base: Path, metrics: Sequence[MetricInputs]) -> dict[str, Survey]:
    """Read all files of all test sets, and raise all their problems together."""
    surveys: dict[str, Survey] = {}
    errors: list[PipelineError] = []
    for name, spec in study.test_sets.items():
        try:
            surveys[name] = _survey(name, spec, study, base)
            refuse_lacking_columns(metrics, surveys[name])
            refuse_numbers(metrics, surveys[name])
            check_gold(metrics, surveys[name].gold)
        except DataError as error:
            errors.append(error)
    if errors:
        problems = [problem for error in errors for problem in error.problems]
        kind = NothingToCompare if all(isinstance(error, NothingToCompare) for error in errors) else DataError
        raise kind(*problems)
    return surveys


def _test_set_inputs(
    study: Study, base: Path, survey: Survey, metrics: Sequence[MetricInputs], trained: Sequence[OutputInputs], recognised: str
) -> TestSetInputs:
    """Return the plan's inputs of a test set: its files and the outputs that trainings will make, with all warnings."""
    name = survey.frame.test_set
    files = tuple(OutputInputs(output.system, output.digest, output=asdict(output)) for output in survey.outputs)
    outputs = (*files, *trained)
    refuse_doubles(name, outputs)
    return TestSetInputs(
        name=name,
        frame=frame_key(survey.frame),
        gold_digest=survey.gold_digest,
        n_items=len(survey.frame.ids),
        n_units=len(survey.frame.units),
        outputs=outputs,
        alignment=tuple(row._asdict() for row in alignment_table(survey)),
        warnings=(
            *survey.warnings,
            *warn_of_groups(study, name, survey.taken),
            *warn_of_runs(study, survey.outputs, base),
            *warn_of_directions(metrics, survey.outputs),
            *warn_of_kinds(metrics, survey),
            *warn_of_sizes(study, len(survey.frame.units), survey.unit),
            *warn_of_strata(study, survey.frame),
            *warn_of_max_t(study, systems=len(outputs), units=len(survey.frame.units)),
        ),
        strata=grouping_key(survey.frame.stratum_of_unit),
        documents=grouping_key(survey.frame.document_of_item),
        recognised=recognised,
        unit=survey.unit,
        unit_reason=survey.unit_reason,
    )


def _coordinates(
    study: Study, base: Path, surveys: Mapping[str, Survey], test_sets: Sequence[TestSetInputs]
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return what is known of each system, from files, trainings and the table of systems, and what is odd about that table."""
    systems = list(dict.fromkeys(output.system for test_set in test_sets for output in test_set.outputs))
    in_files = {output.system for survey in surveys.values() for output in survey.outputs}
    said = {output.system: output.coordinates for survey in surveys.values() for output in survey.outputs if output.coordinates}
    left_out = {name for survey in surveys.values() for name in survey.left_out}
    return read_coordinates(study, base, systems, trained=set(systems) - in_files, said=said, left_out=left_out)


def _metric_inputs(place: int, spec: MetricSpec, base: Path) -> MetricInputs:
    name = spec.name
    with placed(f"metrics[{place}]"):
        options = pin_options(name, spec.options, base)
        metric = load_metric(name, options)
    places = PLACES if is_own(name) else ()
    return MetricInputs(
        name, options, metric.signature, metric.higher_is_better, places, metric.form, metric.denominators, title_of(name, metric)
    )


def title_apart(metrics: Sequence[MetricInputs]) -> tuple[MetricInputs, ...]:
    """Return the metrics, each called by its title, or as the study calls it where another would have the same one."""
    titles = [metric.title or name_metric(metric.name) for metric in metrics]
    return tuple(
        replace(metric, title=title if titles.count(title) == 1 else metric.name)
        for metric, title in zip(metrics, titles, strict=True)
    )


def _survey(name: str, spec: TestSet, study: Study, base: Path) -> Survey:
    gold: Items | None = read_gold(spec, base) if isinstance(spec.gold, DatasetSpec) else None
    survey = survey_test_set(
        name,
        study.as_read(name),
        base=base,
        systems=study.systems,
        unit=study.resampling.unit,
        strata=study.resampling.strata,
        gold=gold,
        min_systems=0 if study.training else 2,
    )
    if isinstance(spec.gold, DatasetSpec) and gold is not None:
        survey = replace(survey, gold_digest=gold_digest_of(spec, gold))
    return survey
