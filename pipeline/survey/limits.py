"""What a study may not ask. This module refuses, before anything runs, what would take too long or cannot be answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import Problem, StudyError
from pipeline.inference.bootstrap_t import BOOTSTRAP_T
from pipeline.metrics.registry import load_metric, pin_options
from pipeline.plan.inputs import TestSetInputs
from pipeline.resampling.studentised_work import MOST_PRODUCTS, products
from pipeline.study.procedures import PROCEDURES
from pipeline.study.schema import Study

__all__ = ["refuse_bootstrap_t", "refuse_untestable"]

_FEWEST = 399
"""Kept replicates below which a bootstrap-t interval is not worth having: they are not proposed."""


def refuse_bootstrap_t(study: Study, test_sets: Sequence[TestSetInputs], base: Path = Path()) -> None:
    """Refuse bootstrap-t intervals of more pairs, units and replicates than can be gone through."""
    resampling = study.resampling
    asked = [name for name in BOOTSTRAP_T if name in resampling.intervals]
    if not asked or "ratio" not in _forms(study, base).values():
        return
    problems = []
    for test_set in test_sets:
        systems = len(test_set.outputs)
        takes = products(systems=systems, units=test_set.n_units, kept=resampling.scores_kept)
        if takes > MOST_PRODUCTS:
            fitting = MOST_PRODUCTS * 2 // (systems * (systems - 1) * test_set.n_units)
            fewer = f"set `keep_replicates: {fitting}`, " if fitting >= _FEWEST else ""
            problems.append(
                Problem(
                    "P116",
                    f"{' and '.join(asked)} intervals of {systems * (systems - 1) // 2:,} pairs on {test_set.n_units:,} units of "
                    f"{test_set.name!r} take {takes:.1e} products, more than {MOST_PRODUCTS:.1e}",
                    where="resampling.intervals",
                    help=f"{fewer}compare fewer systems in this study, or ask for `bca`, which is read off the kept scores",
                )
            )
    if problems:
        raise StudyError(*problems)


def refuse_untestable(study: Study, base: Path = Path()) -> None:
    """Refuse procedures that can test no metric of the study, and a first one, whose verdicts count, that cannot test them all."""
    general = [name for name, form in _forms(study, base).items() if form == "general"]
    able = [name for name, procedure in PROCEDURES.items() if not procedure.needs_ratio]
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
    """Give the form of the score of each metric; ``base`` is the folder of the study file."""
    return {spec.name: load_metric(spec.name, pin_options(spec.name, spec.options, base)).form for spec in study.metrics}
