"""Which significance tests there are and what each can be asked for. This module knows what a plan must know of them.

How one counts is in `pipeline.tasks.resample`, how one that draws nothing computes in `pipeline.inference.direct`, what can be
read off either in `pipeline.inference.readings`, and how it is told in `pipeline.report.procedures`; a test holds that all of
them know the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["PROCEDURES", "Procedure", "ProcedureName"]

ProcedureName = Literal[
    "paired-bootstrap",
    "approximate-randomization",
    "exact-bootstrap",
    "exact-sign-flip",
    "mcnemar",
    "mcnemar-mid-p",
    "sign",
    "paired-t",
    "wilcoxon",
]


@dataclass(frozen=True)
class Procedure:
    """One significance test.

    Parameters
    ----------
    draws : bool
        It counts replicates, in tasks of their own; otherwise its p-values are computed when a cube is collected.
    keeps_scores : bool
        Its replicates are scores of single systems, which `keep_replicates` can keep; otherwise each pair has its own.
    tests_margin : bool
        It can test whether a difference is within a margin; otherwise it knows no null but "no difference".
    strata : {"drawn", "apart", "refused"}
        What `resampling.strata` means to it: its units are drawn within them; it draws no units, and they change nothing; it
        would have another law within strata, which is not built.
    needs_ratio : bool
        It is about differences of units, which only a score that is a ratio of sums over units has.
    """

    draws: bool = False
    keeps_scores: bool = False
    tests_margin: bool = False
    strata: Literal["drawn", "apart", "refused"] = "refused"
    needs_ratio: bool = False


_APART = Procedure(strata="apart", needs_ratio=True)

PROCEDURES: Mapping[str, Procedure] = {
    "paired-bootstrap": Procedure(draws=True, keeps_scores=True, tests_margin=True, strata="drawn"),
    "approximate-randomization": Procedure(draws=True, strata="apart"),
    "exact-bootstrap": Procedure(needs_ratio=True),
    "exact-sign-flip": _APART,
    "mcnemar": _APART,
    "mcnemar-mid-p": _APART,
    "sign": _APART,
    "paired-t": Procedure(),
    "wilcoxon": _APART,
}
