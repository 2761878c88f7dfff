"""Which significance tests there are and what each can be asked for. This module knows what a plan must know of them.

How one counts is in `pipeline.tasks.resample`, what can be read off its counts in `pipeline.inference.readings`, and how it is
told in `pipeline.report.procedures`; a test holds that all of them know the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["PROCEDURES", "Procedure", "ProcedureName"]

ProcedureName = Literal["paired-bootstrap", "approximate-randomization"]


@dataclass(frozen=True)
class Procedure:
    """One significance test.

    Parameters
    ----------
    keeps_scores : bool
        Its replicates are scores of single systems, which `keep_replicates` can keep; otherwise each pair has its own.
    tests_margin : bool
        It can test whether a difference is within a margin; otherwise it knows no null but "no difference".
    """

    keeps_scores: bool
    tests_margin: bool


PROCEDURES: Mapping[str, Procedure] = {
    "paired-bootstrap": Procedure(keeps_scores=True, tests_margin=True),
    "approximate-randomization": Procedure(keeps_scores=False, tests_margin=False),
}
