"""Check what a study asks of its files, once it is known what they hold and before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pipeline.errors import DataError, Problem, StudyError, look_alike
from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T
from pipeline.interfaces import Items
from pipeline.items.frame import Survey
from pipeline.items.readers import load_reader
from pipeline.metrics.registry import load_metric, pin_options
from pipeline.options import suggest
from pipeline.plan.inputs import MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.methods import why_no_law
from pipeline.procedures.registry import PROCEDURES, usable_procedures
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.resampling.standard_errors import studentise_budget
from pipeline.resampling.standard_errors.studentise_budget import products, replicates_within
from pipeline.study.grouping import DOCUMENT, choosing_columns
from pipeline.study.schema import Study

__all__ = [
    "check_gold",
    "refuse_baseline",
    "refuse_bootstrap_t",
    "refuse_doubles",
    "refuse_look_alikes",
    "refuse_product",
    "refuse_systems_as_groups",
    "refuse_unclear_sizes",
    "refuse_untestable",
    "refuse_without_law",
    "refuse_zeros",
    "warn_of_groups",
]


def refuse_bootstrap_t(study: Study, test_sets: Sequence[TestSetInputs], base: Path = Path()) -> None:
    """Refuse bootstrap-t intervals of more pairs, units and replicates than can be gone through."""
    resampling = study.resampling
    asked = [name for name in BOOTSTRAP_T if name in resampling.intervals]
    if not asked or "ratio" not in _forms(study, base).values():
        return
    problems = []
    for test_set in test_sets:
        systems = len(test_set.outputs)
        sizes = {"systems": systems, "units": test_set.n_units, "kept": resampling.scores_kept}
        fitting = replicates_within(**sizes)
        if fitting is not None:
            pairs = systems * (systems - 1) // 2
            fewer = f"set `keep_replicates: {fitting}`, " if fitting else ""
            problems.append(
                Problem(
                    "P116",
                    f"{' and '.join(asked)} intervals of {pairs:,} pair{'s' * (pairs != 1)} on {test_set.n_units:,} units of "
                    f"{test_set.name!r} take {products(**sizes):.1e} products, more than {studentise_budget.MOST_PRODUCTS:.1e}",
                    where="resampling.intervals",
                    help=f"{fewer}compare fewer systems in this study, or ask for `bca`, which is read off the kept scores",
                )
            )
    if problems:
        raise StudyError(*problems)


def refuse_product() -> None:
    """Refuse a form of products that is asked for and that this processor has not: every task that draws would end in it."""
    if not os.environ.get(FORM_VARIABLE):
        return
    from pipeline.resampling.products.byte_product import choose_form  # kernels, which nothing else here needs

    try:
        choose_form(0)
    except ValueError as error:
        help_ = f"unset {FORM_VARIABLE}: the best available form is then used, and results do not depend on it"
        raise StudyError.of("P134", str(error), where=FORM_VARIABLE, help=help_) from None


def refuse_without_law(study: Study, metrics: Sequence[MetricInputs]) -> None:
    """Refuse ``method: exact`` where p-values of a metric and procedure have no exact law, as far as that is known by now."""
    if study.resampling.method != "exact":
        return
    problems = [
        Problem(
            "P133",
            f"p-values of {metric.name} by {procedure} have no exact law: {why}",
            where="resampling.method",
            help="write `method: auto`, which counts replicates where there is no exact law",
        )
        for procedure in study.resampling.drawn
        for metric in metrics
        if (why := why_no_law(study, metric, procedure)) is not None
    ]
    if problems:
        raise StudyError(*problems)


def refuse_untestable(study: Study, base: Path = Path()) -> None:
    """Refuse procedures that can test no metric of the study, and a first one, whose verdicts count, that cannot test them all."""
    general = [name for name, form in _forms(study, base).items() if form == "general"]
    able = [known.name for known in usable_procedures() if not known.needs_ratio]
    problems = [
        Problem(
            "P117",
            f"{name} cannot test {' and '.join(general)}: the score is not a ratio of sums over units",
            where="resampling.procedures",
            help=f"there are {', '.join(able)}",
        )
        for position, name in enumerate(study.resampling.procedures)
        if PROCEDURES[name].needs_ratio and general and (position == 0 or len(general) == len(study.metrics))
    ]
    if problems:
        raise StudyError(*problems)


def _forms(study: Study, base: Path) -> dict[str, str]:
    """Return the form of the score of each metric; ``base`` is the folder of the study file."""
    return {spec.name: load_metric(spec.name, pin_options(spec.name, spec.options, base)).form for spec in study.metrics}


def warn_of_groups(study: Study, test_set: str, taken: Collection[str]) -> tuple[str, ...]:
    """Say which columns of a table of systems are none because units or strata are made of them, or items chosen by them.

    Nothing is said of those that ``columns:`` names: it is said there.

    Parameters
    ----------
    study : Study
    test_set : str
        Its name.
    taken : collection of str
        Groups of its items that hold what an output would hold.
    """
    asked: dict[str | None, str] = {
        **dict.fromkeys(choosing_columns(study.test_sets[test_set]), "items"),
        study.resampling.unit: "resampling.unit",
        study.resampling.strata: "resampling.strata",
    }
    return tuple(
        f"the column '{name}' is not a system, because {asked.get(name, 'columns')} names it; if that is meant, "
        f"say so: `columns: {{{name}: {name}}}`"
        for name in _unsaid(study, test_set, taken)
    )


def refuse_systems_as_groups(study: Study, taken: Mapping[str, Collection[str]], systems: Collection[str]) -> None:
    """Refuse a group of one test set that is a system of another: it would be left out of the first without a word.

    Parameters
    ----------
    study : Study
    taken : mapping of str to collection of str
        Groups that hold what an output would hold, by test set.
    systems : collection of str
        All systems of all test sets.
    """
    problems = [
        Problem(
            "P238",
            f"'{name}' is a system, and in test set '{test_set}' a column that groups the items",
            str(study.test_sets[test_set].outputs),
            f"rename the column, or say that it is not a system there: `columns: {{{name}: {name}}}`",
        )
        for test_set, names in taken.items()
        for name in _unsaid(study, test_set, names)
        if name in systems
    ]
    if problems:
        raise DataError(*problems)


def _unsaid(study: Study, test_set: str, taken: Collection[str]) -> list[str]:
    return [name for name in taken if name not in study.test_sets[test_set].columns]


def check_gold(metrics: Sequence[MetricInputs], gold: Items | None) -> None:
    """Refuse a gold that a metric cannot count in, before anything is computed, where looking is cheap."""
    for metric in metrics:
        loaded = load_metric(metric.name, metric.options)
        if loaded.checks_gold:
            loaded.prepare(gold)


def refuse_zeros(study: Study, metrics: tuple[MetricInputs, ...]) -> None:
    """Refuse ``missing: zero`` where a zero is no bad score: it would reward a system for what it lacks."""
    problems = [
        Problem(
            "P114",
            f"missing: zero would reward missing items: with {metric.name} a score of 0 is {why}",
            where=f"test_sets.{name}.missing",
            help="use `missing: drop`, or give the missing items the worst score in the file",
        )
        for name, spec in study.test_sets.items()
        if spec.missing == "zero" and load_reader(spec.format).compares_with == "nothing"
        for metric in metrics
        for why in (["the best one"] if not metric.higher_is_better else ["0 of 0, left out"] if metric.name == "ratio" else [])
    ]
    if problems:
        raise StudyError(*problems)


def refuse_baseline(
    baseline: str | None, test_sets: Sequence[TestSetInputs], coordinates: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> None:
    """Refuse a baseline that some test set has no output of: all its pairs would be outside the family.

    One that is a model of several runs is told to be none: a family against a baseline is of single outputs.
    """
    problems = []
    for test_set in test_sets:
        systems = [output.system for output in test_set.outputs]
        if baseline is None or baseline in systems:
            continue
        help_: str | None
        runs = sum(coordinates.get(system, {}).get("model") == baseline for system in systems)
        if runs > 1:
            message = f"the baseline {baseline!r} is a model with {runs} runs, and only a single output can be a baseline"
            help_ = (
                "write `family: all-pairs` and no `baseline:`, or give `gate` the option `--all-pairs`: every model is then "
                f"compared with every other, {baseline!r} among them"
            )
        else:
            message = f"the baseline {baseline!r} is not a system of the test set {test_set.name!r}"
            help_ = suggest(baseline, systems)
        problems.append(Problem("P115", message, "resampling.baseline", help_))
    if problems:
        raise StudyError(*problems)


def refuse_unclear_sizes(study: Study, surveys: Mapping[str, Survey]) -> None:
    """Refuse test sizes in numbers where a study leaves open what is drawn, and some test set has documents to draw."""
    known = {name: survey for name, survey in surveys.items() if survey.unit == DOCUMENT}
    most = max((len(survey.frame.ids) for survey in known.values()), default=0)
    # One that no test set has in items is left out, whatever it counts.
    numbers = [str(size) for size in study.resampling.test_sizes.values if isinstance(size, int) and size < most]
    if study.resampling.unit is not None or not numbers or not known:
        return
    counts = "; ".join(f"{name} has {len(s.frame.ids):,} items in {len(s.frame.units):,} documents" for name, s in known.items())
    raise StudyError.of(
        "P291",
        f"are the test sizes {', '.join(numbers)} items or documents? {counts}, and `resampling.unit` does not say what is drawn",
        where="resampling.test_sizes",
        help="write `unit: document`, with sizes in documents, or `unit: item`",
    )


def refuse_look_alikes(systems: Iterable[str]) -> None:
    """Refuse systems whose names nobody can tell apart."""
    problems = [
        Problem(
            "P221",
            f"the system names {' and '.join(map(ascii, alike))} differ only in characters that do not print",
            help="rename all of them but one",
        )
        for alike in look_alike(systems)
    ]
    if problems:
        raise DataError(*problems)


def refuse_doubles(test_set: str, outputs: tuple[OutputInputs, ...]) -> None:
    """Refuse a system that two files of a test set hold, or a file and a training."""
    names = [output.system for output in outputs]
    doubled = sorted({name for name in names if names.count(name) > 1})
    problems = []
    for name in doubled:
        files = [str(output.output["path"]) for output in outputs if output.system == name and output.output is not None]
        if len(files) > 1:  # one of them holds several runs
            message = f"two files hold a system '{name}'"
            problems.append(Problem("P208", message, " and ".join(files), "give one of them another name in `outputs:`"))
        else:
            message = f"the system {name!r} is both a file and a training"
            problems.append(Problem("P231", message, where=f"test set {test_set!r}", help="rename one"))
    if problems:
        raise DataError(*problems)
