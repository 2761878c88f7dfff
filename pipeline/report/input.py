"""The input of a report: the one value that `write_report` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pipeline.analyses.replicas.models import ModelGains
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Finding
from pipeline.report.facts import Cells, Failure, TrainingRow
from pipeline.report.item_scores import ItemScores
from pipeline.report.provenance import Provenance
from pipeline.study.schema import Study

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ReportInput"]


@dataclass(frozen=True)
class ReportInput:
    """A finished study, with everything that its report needs.

    Parameters
    ----------
    study : Study
        What was asked.
    cubes : mapping of str to Dataset
        The cubes by test set name.
    findings : sequence of Finding
        What the analyses found.
    models : sequence of ModelGains
        What the runs of models say of them, by test set and metric; none where verdicts are about systems.
    items : sequence of ItemScores
        What single items do for systems, by test set and metric; none where no page shows it.
    alignment : sequence of mapping
        One row a test set and system: ``test_set, system, items, missing, duplicates`` and what else is known.
    warnings : sequence of str
        What went wrong without stopping anything.
    failures : sequence of FailedTask or AbsentSystem
    trainings : sequence of TrainingRow
    versions : mapping of str to str
        Versions of this package and of what it stands on.
    run_id : str
        The run's id.
    recognised : mapping of str to str
        By test set, why its format is the one it is, where the study left that open.
    unit_reasons : mapping of str to str
        By test set, why its units are what they are, where the study left that open.
    titles : mapping of str to str
        By metric, what people call it with the options it has.
    provenance : Provenance
        When the run began, how to run it again, and the digests of its inputs.
    """

    study: Study
    cubes: Mapping[str, xr.Dataset]
    findings: Sequence[Finding]
    models: Sequence[ModelGains] = ()
    items: Sequence[ItemScores] = ()
    alignment: Sequence[Cells] = ()
    warnings: Sequence[str] = ()
    failures: Sequence[Failure] = ()
    trainings: Sequence[TrainingRow] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    run_id: str = ""
    recognised: Mapping[str, str] = field(default_factory=dict)
    unit_reasons: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)
