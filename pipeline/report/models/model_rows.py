"""The rows of a report that are about models, whose systems are runs; frozen values as in `pipeline.report.rows`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pipeline.dataclass import dataclass

__all__ = ["GainInterval", "ModelDetectableEffect", "ModelPairRow", "ModelRow", "ModelVerdict"]

ModelVerdict: TypeAlias = Literal[
    "better", "not separated", "not decided", "equivalent", "inconclusive", "identical", "not measured"
]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model on a test set by a metric: mean and spread over its runs, and the ranks that separated pairs of models leave open.

    ``sd`` is the standard deviation of the scores of runs, ``lowest`` and ``highest`` are the ends of these scores. A model with
    one run, or a system that is no run of a model, has no rank.
    """

    test_set: str
    metric: str
    rank: int | None
    model: str
    runs: int
    score: float | None
    sd: float | None
    lowest: float | None
    highest: float | None
    rank_low: int | None
    rank_high: int | None
    beats: int
    beaten_by: int


@dataclass(frozen=True, slots=True)
class GainInterval:
    """The interval of a gain, at 1 − α for all pairs of its family together, held to the verdict: an end may be 0 for that.

    A pair that is not decided has none.
    """

    lo: float
    hi: float


@dataclass(frozen=True, slots=True)
class ModelDetectableEffect:
    """The smallest true gain of one model over another that is found with some power, with as many runs and units as there are.

    ``critical`` is how many standard errors a gain must exceed, at the two-sided ``level`` of the pair in its family.
    ``more_runs_needed`` of each model find the observed gain with this power, if it is the true one, and so do
    ``more_units_needed``; None where no number does. ``reason`` says why no gain could have been shown.
    """

    gain: float | None
    power: float
    level: float
    critical: float
    more_runs_needed: int | None
    more_units_needed: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ModelPairRow:
    """Two models, the better one first.

    ``claim`` says what the p is about, *methods* (new runs and new units) or *systems* (these runs, new units), ``repeated`` what
    a run is called; ``p_adjusted`` is by Holm over the pairs of models, and decides. ``p_floor`` is what p is at least where few
    units differ. ``run_share`` is the share of the variance of the gain that comes of runs. ``se_more_runs`` and
    ``se_more_units`` are what the standard error would be with so many more of either. ``p_equivalence`` is of two one-sided tests
    against the ``margin``, with the standard error and degrees of freedom of the interval; ``p_ahead`` and ``p_behind`` are of one
    each, and ``p_equivalence_holm`` decides. ``undecided`` says why neither a difference nor equivalence is claimed, however small
    p is.
    """

    test_set: str
    metric: str
    claim: Literal["methods", "systems"]
    null: str
    repeated: str
    model_a: str
    model_b: str
    runs_a: int
    runs_b: int
    score_a: float | None
    score_b: float | None
    delta: float | None
    se: float | None
    df: float | None
    interval: GainInterval | None
    p: float | None
    p_floor: float | None
    p_adjusted: float | None
    family_size: int
    discordant: int
    units: int
    run_share: float | None
    variance_unit: float | None
    variance_system_unit: float | None
    variance_run: float | None
    variance_residual: float | None
    more_runs: int
    se_more_runs: float | None
    more_units: int
    se_more_units: float | None
    identical: bool
    margin: float | None
    p_equivalence: float | None
    p_equivalence_holm: float | None
    p_ahead: float | None
    p_behind: float | None
    differs_within_margin: bool | None
    undecided: str | None
    verdict: ModelVerdict
    reason: str | None
    minimum_detectable_effect: ModelDetectableEffect | None
