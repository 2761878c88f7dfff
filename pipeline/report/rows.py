"""The rows of a report: frozen values that hold plain numbers and words, each in the order in which ``report.json`` writes it.

Missing numbers are None, with a ``reason`` or ``note`` beside them; nothing is NaN. A field that has a default is left out of the
document where nothing is known.

Of one family are the pairs of a test set and metric by one procedure (`FamilyKey`); the rows that belong to one are `InFamily`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from pipeline.dataclass import dataclass
from pipeline.report.facts import AcrossFamilies
from pipeline.report.pairs.pair_parts import Interval, Leverage, MethodInterval, MethodIntervalWithP, MinimumDetectableEffect

__all__ = [
    "Adjustment",
    "BoardRow",
    "ClusterRow",
    "ErrorRow",
    "FamilyKey",
    "InFamily",
    "Label",
    "OtherAdjustments",
    "PairRow",
    "PairTails",
    "PairVerdict",
    "RawP",
    "ScoreInterval",
    "SharedReplicates",
    "SignatureRow",
    "SystemRow",
    "Tail",
    "Verdict",
    "family_of",
    "group_by_family",
]

Label: TypeAlias = str | int | float | None
PairVerdict: TypeAlias = Literal[
    "better", "not separated", "not decided", "equivalent", "inconclusive", "identical", "not measured", "not testable"
]


class FamilyKey(NamedTuple):
    """What the pairs of one family have in common."""

    test_set: str
    metric: str
    procedure: str


class InFamily(Protocol):
    """A row that belongs to a family."""

    @property
    def test_set(self) -> str:
        """Name of the test set."""

    @property
    def metric(self) -> str:
        """Name of the metric."""

    @property
    def procedure(self) -> str:
        """Name of the procedure."""


Row = TypeVar("Row", bound=InFamily)


def family_of(row: InFamily) -> FamilyKey:
    """Return the family of a row."""
    return FamilyKey(row.test_set, row.metric, row.procedure)


def group_by_family(rows: Iterable[Row]) -> defaultdict[FamilyKey, list[Row]]:
    """Return the rows of each family, all in one pass: a study may have many families of many pairs."""
    families: defaultdict[FamilyKey, list[Row]] = defaultdict(list)  # a family without pairs has no rows
    for row in rows:
        families[family_of(row)].append(row)
    return families


@dataclass(frozen=True, slots=True)
class RawP:
    """The p-values of a pair by every convention of `pipeline.inference.p_values`; None where one means nothing."""

    one_sided: float | None
    two_sided: float | None
    below_zero: float | None
    at_or_below_zero: float | None
    one_sided_plus_one: float | None
    two_sided_plus_one: float | None


@dataclass(frozen=True, slots=True)
class Tail:
    """A computed tail: p, its logarithm and error, how it was computed, and what it is called."""

    p: float | None
    log10_p: float | None
    error: float | None
    method: str | None
    label: str | None


@dataclass(frozen=True, slots=True)
class PairTails:
    """The tails of a pair by convention."""

    one_sided: Tail | None
    two_sided: Tail | None


@dataclass(frozen=True, slots=True)
class OtherAdjustments:
    """What every adjustment makes of a pair's p."""

    max_t: float | None
    holm: float | None
    benjamini_hochberg: float | None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Whose adjusted p decides, over how many pairs, what others give, and why one of them is missing."""

    by: Literal["max_t", "holm"]
    family_size: int
    others: OtherAdjustments
    reason: str | None
    across: AcrossFamilies | None = None


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two systems, the better one first, on one test set by one metric and procedure at the full size.

    ``delta`` is the gain of ``system_a``, ``p`` its two-sided p by itself, of the test that decides, and ``p_adjusted`` that of its
    family; None outside it, as is ``verdict``; ``undecided`` says why neither a difference nor equivalence is claimed, however
    small p is. ``items`` are those that the units are made of. ``tool_p`` has the number of the study's preset under its name, and
    the reason why it is missing.
    """

    test_set: str
    metric: str
    test_size: str
    procedure: str
    convention: str
    null: str
    system_a: str
    system_b: str
    score_a: float | None
    score_b: float | None
    delta: float | None
    se: float | None
    bias: float | None
    ties: int | None
    discordant: int | None
    helped: int | None
    hurt: int | None
    units: int
    effective_units: float | None
    intra_cluster_correlation: float | None
    design_effect: float | None
    count: int | None
    replicates: int | None
    empty_replicates: int | None
    p: float | None
    log10_p: float | None
    p_adjusted: float | None
    p_raw: RawP
    p_few_units: float | None
    p_exact: float | None
    log10_p_exact: float | None
    p_floor: float | None
    tail: PairTails | None
    tail_reason: str | None
    in_family: bool
    adjustment: Adjustment
    interval: Interval | None
    intervals: Mapping[str, MethodIntervalWithP | MethodInterval] | None
    monte_carlo_error: float | None
    monte_carlo_error_one_sided: float | None
    stable: bool | None
    method: str | None
    p_label: str | None
    p_reason: str | None
    identical: bool
    margin: float | None
    p_equivalence: float | None
    p_equivalence_holm: float | None
    p_ahead: float | None
    p_behind: float | None
    differs_within_margin: bool | None
    separated: bool
    undecided: str | None
    few_discordant: bool
    verdict: PairVerdict | None
    note: str | None
    items: int | None
    acceleration: float | None
    leverage: Leverage | None
    minimum_detectable_effect: MinimumDetectableEffect | None
    tool_p: Mapping[str, float | str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """What is known of a system on a test set, and its scores by metric."""

    test_set: str
    name: str
    model: Label
    group: Label
    origin: Label = None
    sample: Label = None
    fraction: Label = None
    replica: Label = None
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """The interval of a system's own score, in points of the metric.

    ``wilson`` where units score 0 or one other value, elsewhere ``jackknife-t``: by the jackknife's standard error and Student's t,
    or ``replicates-t``: by the standard deviation of the bootstrap's replicates, where the jackknife's is not near it.
    """

    method: Literal["wilson", "jackknife-t", "replicates-t"]
    level: float
    lo: float
    hi: float


@dataclass(frozen=True, slots=True)
class BoardRow:
    """Where a system stands in a family: its rank with those that are not excluded, or its verdict against the baseline.

    ``interval`` is that of its score; None where the score has no standard error.
    """

    test_set: str
    metric: str
    procedure: str
    rank: int | None
    name: str
    score: float | None
    interval: ScoreInterval | None
    rank_low: int | None
    rank_high: int | None
    beats: int
    beaten_by: int
    letters: str | None
    against_baseline: PairVerdict | Literal["worse"] | None


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """The groups of systems by one definition, the best first, or the reason why there are none."""

    test_set: str
    metric: str
    procedure: str
    definition: str
    groups: Sequence[Sequence[str]] | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class SharedReplicates:
    """A share of replicates with its 95 % interval."""

    share: float
    lo: float
    hi: float
    replicates: int


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """How likely any false separation in a family is if nobody adjusts, by three ways to ask."""

    test_set: str
    metric: str
    procedure: str
    tests: int
    systems: int
    independent: float
    exchangeable: float | None
    shared: SharedReplicates | None


@dataclass(frozen=True, slots=True)
class SignatureRow:
    """What must be said of a family's numbers for others to get them again, in one line."""

    test_set: str
    metric: str
    procedure: str
    line: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a family's numbers say, in sentences."""

    test_set: str
    metric: str
    procedure: str
    sentences: Sequence[str]
