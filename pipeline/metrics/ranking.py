"""Rankings of documents against judgements: average precision, nDCG, reciprocal rank and precision at a depth."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from math import lcm
from typing import Any, Literal

import numpy as np

from pipeline.errors import DataError
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import gold_columns, output_column
from pipeline.metrics.kernels import log, score_ratio
from pipeline.options import check_choice, check_count

__all__ = ["AveragePrecision", "Ndcg", "PrecisionAt", "ReciprocalRank"]

_MOST = 10**6
_DECIMALS = 9
_EXACT = 2**53
"""Sums stay below this, where they are exact."""
_DIVIDING = 23
"""All ranks to this one, and 24, divide 5,354,228,880: a lattice that is finer than nine decimals for all others."""
_LARGEST_GAIN = 50
"""Exponential gains are 2 to this power at most: a double holds them, and their sums, without rounding."""

Judged = Mapping[str, int]
"""Relevance of the documents of a topic that were judged."""


class _Ranking(Metric):
    """What the scores share: the value of a topic is a number from 0 to 1, and the score is the mean over topics."""

    name: str
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("ranking",)
    needs_of_gold: tuple[str, ...] = ("relevance",)
    denominators: Literal["unknown", "own", "shared", "items"] = "shared"
    higher_is_better = True
    statistics: tuple[str, ...] = ("sum", "topics")
    options: tuple[str, ...] = ()

    def __init__(self, *, cutoff: int | None = None) -> None:
        self.cutoff = None if cutoff is None else check_count("cutoff", cutoff, least=1, most=_MOST)

    @property
    def signature(self) -> str:
        """Name, cutoff, and whatever else changes a value."""
        depth = "none" if self.cutoff is None else str(self.cutoff)
        return "|".join([self.name, f"cutoff:{depth}", *self.options, "rules:trec_eval"])

    def prepare(self, gold: Items | None) -> list[Judged]:
        """Return the judgements of each topic."""
        judgements: Sequence[Any] = gold_columns(self.name, gold, "relevance")[0]
        return [dict(judged) for judged in judgements]

    @abstractmethod
    def extract(self, prepared: list[Judged], output: Items) -> Statistics:
        """Count what each topic has; a topic that the output lacks has 0."""

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the mean over topics; nan without a topic."""
        return partial(score_ratio, decimals=decimals, factor=1.0)


class _Valued(_Ranking):
    """A mean of values that have no few decimals."""

    def extract(self, prepared: list[Judged], output: Items) -> Statistics:
        """Return the value of each topic in units of a thousand-millionth, and 1; a topic that the output lacks has 0."""
        rankings: Sequence[Sequence[str]] = output_column(self.name, output, "ranking")
        decimals = next(places for places in range(_DECIMALS, -1, -1) if max(len(rankings), 1) * 10**places < _EXACT)
        exact = np.array([self.value(ranking, judged) for ranking, judged in zip(rankings, prepared, strict=True)])
        scaled = exact * 10.0**decimals
        rounded = np.rint(scaled)
        error = float(np.abs(scaled - rounded).max(initial=0.0)) / 10.0**decimals
        values = np.column_stack([rounded, np.ones(len(rankings))]).astype(np.int64)
        return Statistics(values, (decimals, 0), error)

    @abstractmethod
    def value(self, ranking: Sequence[str], judged: Judged) -> float:
        """Return the value of one topic."""


class _Binary(_Ranking):
    """A score for which documents are relevant or not."""

    def __init__(self, *, cutoff: int | None = None, relevance: int = 1) -> None:
        super().__init__(cutoff=cutoff)
        self.relevance = check_count("relevance", relevance, least=1, most=_MOST)
        self.options = (f"relevance:{self.relevance}",)

    def hits(self, ranking: Sequence[str], judged: Judged) -> Iterator[int]:
        """Yield the ranks of the relevant documents, from 1."""
        for rank, name in enumerate(ranking[: self.cutoff], start=1):
            if judged.get(name, 0) >= self.relevance:
                yield rank


class AveragePrecision(_Binary, _Valued):
    """Mean average precision: for each topic, the precisions at the ranks of relevant documents, divided by all relevant ones.

    Parameters
    ----------
    cutoff : int, optional
        Use only this many documents of each topic; all by default. The divisor is still the number of all relevant documents, as in
        trec_eval's ``map_cut``.
    relevance : int
        Documents of at least this relevance are relevant.
    """

    name = "average-precision"

    def value(self, ranking: Sequence[str], judged: Judged) -> float:
        """Return the average precision of a topic; 0 if nothing is relevant."""
        relevant = sum(level >= self.relevance for level in judged.values())
        total = 0.0
        for found, rank in enumerate(self.hits(ranking, judged), start=1):
            total += found / rank
        return total / relevant if relevant else 0.0


class ReciprocalRank(_Binary):
    """Mean reciprocal rank: for each topic 1 over the rank of the first relevant document, 0 if none is found.

    Parameters
    ----------
    cutoff : int, optional
        Use only this many documents of each topic; all by default. MS MARCO uses 10.
    relevance : int
        Documents of at least this relevance are relevant.
    """

    name = "reciprocal-rank"

    def extract(self, prepared: list[Judged], output: Items) -> Statistics:
        """Return the value of each topic times a number that its rank divides, and this number, which is the same for all topics.

        A third is not a decimal: rounded to nine digits, three thirds are not 1, and systems that tie would not. All ranks up to
        the cutoff divide the number, or up to 24 without a lower cutoff; the rounding error of later ranks is stored.
        """
        rankings: Sequence[Sequence[str]] = output_column(self.name, output, "ranking")
        ranks = [next(self.hits(ranking, judged), 0) for ranking, judged in zip(rankings, prepared, strict=True)]
        largest = min(self.cutoff or _DIVIDING, _DIVIDING)
        multiples = (lcm(*range(1, number + 1)) for number in range(largest, 0, -1))
        whole = next(number for number in multiples if number * max(len(ranks), 1) < _EXACT)
        shares = [(2 * whole + rank) // (2 * rank) if rank else 0 for rank in ranks]
        error = max(
            (abs(share * rank - whole) / (rank * whole) for share, rank in zip(shares, ranks, strict=True) if rank), default=0.0
        )
        return Statistics(np.array([(share, whole) for share in shares], dtype=np.int64).reshape(-1, 2), (0, 0), error)

    def value(self, ranking: Sequence[str], judged: Judged) -> float:
        """Return the reciprocal rank of a topic."""
        return 1.0 / next(self.hits(ranking, judged), float("inf"))


class PrecisionAt(_Binary):
    """Precision at a depth: the share of relevant documents among the first ``cutoff`` of each topic.

    Parameters
    ----------
    cutoff : int
        The depth, by which topics with fewer documents are divided too.
    relevance : int
        Documents of at least this relevance are relevant.
    """

    name = "precision-at"
    statistics = ("relevant", "depth")

    def __init__(self, *, cutoff: int = 10, relevance: int = 1) -> None:
        super().__init__(cutoff=cutoff, relevance=relevance)
        if self.cutoff is None:
            raise ValueError("option 'cutoff' is a whole number: the depth at which precision is taken")

    def extract(self, prepared: list[Judged], output: Items) -> Statistics:
        """Count the relevant documents of each topic down to the depth, and the depth."""
        rankings: Sequence[Sequence[str]] = output_column(self.name, output, "ranking")
        found = [sum(1 for _ in self.hits(ranking, judged)) for ranking, judged in zip(rankings, prepared, strict=True)]
        return Statistics(np.array([(hits, self.cutoff) for hits in found], dtype=np.int64).reshape(-1, 2), (0, 0))


class Ndcg(_Valued):
    """Mean nDCG: for each topic the gains of documents, discounted by log2(rank + 1), divided by those of the best ranking.

    Parameters
    ----------
    cutoff : int, optional
        Use only this many documents of each topic, in the best ranking too; all by default.
    gains : {"linear", "exponential"}
        The relevance, as in trec_eval, or 2 to its power minus 1, as in much of learning to rank.
    """

    name = "ndcg"

    def __init__(self, *, cutoff: int | None = None, gains: str = "linear") -> None:
        super().__init__(cutoff=cutoff)
        self.gains = check_choice("gains", gains, ("linear", "exponential"))
        self.options = (f"gains:{self.gains}",)

    def prepare(self, gold: Items | None) -> list[Judged]:
        """Return the judgements of each topic.

        Raises
        ------
        DataError
            P227, if an exponential gain is too large to be added exactly.
        """
        prepared = super().prepare(gold)
        assert gold is not None
        largest = [max(judged.values(), default=0) for judged in prepared]
        if self.gains == "exponential" and max(largest, default=0) > _LARGEST_GAIN:
            k = largest.index(max(largest))
            raise DataError.of(
                "P227",
                f"the relevance {largest[k]} in topic '{gold.ids[k]}' is too large for exponential gains: at most {_LARGEST_GAIN}",
                where=f"{gold.source}:{gold.lines[k]}",
                help="use `gains: linear`, or grades from 0 to 4 or so",
            )
        return prepared

    def value(self, ranking: Sequence[str], judged: Judged) -> float:
        """Return the nDCG of a topic; 0 if no document has a gain."""
        ideal = self._discount(sorted((level for level in judged.values() if level > 0), reverse=True))
        return self._discount([judged.get(name, 0) for name in ranking[: self.cutoff]]) / ideal if ideal else 0.0

    def _discount(self, levels: Sequence[int]) -> float:
        total = 0.0
        for rank, level in enumerate(levels[: self.cutoff], start=1):
            if level > 0:
                total += (float(level) if self.gains == "linear" else 2.0**level - 1.0) / _log2(rank + 1)
        return total


@cache
def _log2(number: int) -> float:
    """Return the logarithm to base 2 with the same bits on every machine."""
    return float(log(float(number)) / log(2.0))
