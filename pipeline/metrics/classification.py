"""Precision, recall and F1 of labels in percent: of one class, of several together (micro), or class by class (macro)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import gold_columns, output_column
from pipeline.metrics.kernels import apply_kernel, score_ratio
from pipeline.options import check_choice, check_words

__all__ = ["F1", "Precision", "Recall"]

_AVERAGES = ("binary", "micro", "macro")
_POSITIVE = "1"
"""The positive label of two, where none is named: as in scikit-learn."""
_MOST_SHOWN = 20


@dataclass(frozen=True)
class Gold:
    """The gold labels."""

    labels: Sequence[str]
    source: str


class _Classification(Metric):
    """What the three scores share: they differ in what the right ones are divided by."""

    name: str
    form: Literal["ratio", "general"]
    needs_of_outputs: tuple[str, ...] = ("label",)
    needs_of_gold: tuple[str, ...] = ("label",)
    denominators: Literal["unknown", "own", "shared", "items"] = "own"
    higher_is_better = True
    checks_gold = True
    """Whether a gold is prepared, and refused, when a study is checked; it is cheap here."""
    factor: float
    micro: tuple[str, str]
    """The two sums that micro divides."""
    below: tuple[int, int]
    """How often what was found, and what the gold has, counts below the line."""

    def __init__(self, *, average: str | None = None, labels: Sequence[str] | None = None, positive: str | None = None) -> None:
        asked = None if average is None else check_choice("average", average, _AVERAGES)
        if positive is not None:
            if not isinstance(positive, str) or not positive:
                raise ValueError(f"option 'positive' is a label, not {positive!r}: write a number in quotes")
            if labels is not None or asked not in {None, "binary"}:
                raise ValueError("option 'positive' is for one label: leave out 'labels' and 'average'")
        if asked == "binary" and labels is not None:
            raise ValueError("average 'binary' is of one label: name it as 'positive', and leave out 'labels'")
        if asked == "macro" and labels is None:
            raise ValueError("average 'macro' needs the option 'labels': which classes are averaged, whatever a sample holds")
        self.average = asked or ("binary" if labels is None else "micro")
        self.is_assumed = self.average == "binary" and positive is None
        self.positive = (positive or _POSITIVE) if self.average == "binary" else None
        self.labels = (self.positive,) if self.positive else None if labels is None else check_words("labels", labels)
        self.form = "general" if self.average == "macro" else "ratio"
        self.statistics: tuple[str, ...] = self.micro
        if self.average == "macro":
            self.denominators = "own"  # a mean of ratios has no denominator to share
            self.statistics = tuple(f"{kind}.{label}" for kind in ("tp", "found", "gold") for label in self.labels or ())

    @property
    def signature(self) -> str:
        """Name, average, labels, and what becomes of labels that a score is undefined for."""
        counted = "all" if self.labels is None else ",".join(map(_quote, self.labels))
        which = f"positive:{counted}" if self.positive is not None else f"average:{self.average}|labels:{counted}"
        undefined = ("|undefined:0" if self.below[0] else "") + "|absent:left-out" if self.average == "macro" else ""
        return f"{self.name}|{which}{undefined}|unit:percent"

    def prepare(self, gold: Items | None) -> Gold:
        """Return the gold labels.

        Raises
        ------
        DataError
            P246, where the gold has no item with one of the labels that count; P280, where no option says which count, and the
            gold does not have two labels of which one is 1.
        """
        labels = gold_columns(self.name, gold, "label")[0]
        assert gold is not None
        there = Counter(label for label in labels if label)
        unknown = [label for label in self.labels or () if label not in there]
        shown = ", ".join(f"{label!r} ({count})" for label, count in there.most_common(_MOST_SHOWN))
        more = f" and {len(there) - _MOST_SHOWN} more" if len(there) > _MOST_SHOWN else ""
        if self.is_assumed and (unknown or len(there) > 2):
            raise DataError.of(
                "P280",
                f"{self.name} is of one label of two, {_POSITIVE!r} where none is named; the gold has {shown or 'none'}{more}",
                where=gold.source,
                help=f"say what is counted: `{{name: {self.name}, positive: LABEL}}` for one label, `average: micro` or `macro` "
                "with `labels: [...]` for several",
            )
        if unknown:
            raise DataError.of(
                "P246",
                f"{self.name}: the gold has no item with the label{'s' * (len(unknown) > 1)} {', '.join(map(repr, unknown))}; "
                f"it has {shown or 'none'}{more}",
                where=gold.source,
                help=f"correct `{'labels' if self.positive is None else 'positive'}:` of the metric",
            )
        return Gold(labels, gold.source)

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count for each item whether its label is right, and what that is divided by; without a label it has found nothing."""
        found = output_column(self.name, output, "label")
        if len(found) != len(prepared.labels):
            raise ValueError(f"{len(found)} labels of the output, {len(prepared.labels)} of the gold")
        if self.average == "macro":
            return self._extract_each(prepared.labels, found)
        counts = self.labels.__contains__ if self.labels is not None else bool
        of_found, of_gold = self.below
        rows = [
            (int(given == wanted and counts(given)), of_found * counts(given) + of_gold * counts(wanted))
            for given, wanted in zip(found, prepared.labels, strict=True)
        ]
        return Statistics(np.array(rows, dtype=np.int64).reshape(-1, 2), (0, 0))

    def _extract_each(self, gold: Sequence[str], found: Sequence[str]) -> Statistics:
        assert self.labels is not None
        number = {label: k for k, label in enumerate(self.labels)}
        given, wanted = (np.array([number.get(label, -1) for label in labels], dtype=np.int64) for labels in (found, gold))
        values = np.zeros((3, len(gold), len(self.labels)), dtype=np.int64)
        items = np.arange(len(gold))
        for layer, labels in ((0, np.where(given == wanted, given, -1)), (1, given), (2, wanted)):
            counted = labels >= 0
            values[layer, items[counted], labels[counted]] = 1
        return Statistics(np.concatenate(list(values), axis=1), (0,) * len(self.statistics))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the score in percent of summed counts; nan where nothing is left to divide by."""
        if self.average != "macro":
            return partial(score_ratio, decimals=decimals, factor=self.factor)
        if any(decimals):
            raise ValueError(f"{self.name} has counts, not numbers with {max(decimals)} decimals")
        return partial(_score_each, factor=self.factor, of_found=self.below[0], of_gold=self.below[1], count=len(self.statistics))


class F1(_Classification):
    """F1 of labels in percent: 200 · right / (found + gold), of one label, over several together, or their mean.

    Parameters
    ----------
    average : {"binary", "micro", "macro"}, optional
        Of one label; of sums over labels; or the mean of what each label has. By default ``micro`` where labels are named, else
        ``binary``, as in scikit-learn.
    labels : list of str, optional
        The labels that count. Needed for macro; without them ``micro`` counts all, which makes it the accuracy.
    positive : str, optional
        The one label that counts. By default ``1``, where it is one of two in the gold.
    """

    name = "f1"
    factor = 200.0
    micro = ("correct", "found_and_gold")
    below = (1, 1)


class Precision(_Classification):
    """Share of found labels that are right, in percent, of one label, over several together, or their mean.

    Parameters
    ----------
    average : {"binary", "micro", "macro"}, optional
        Of one label; of sums over labels; or the mean of what each label has. By default ``micro`` where labels are named, else
        ``binary``, as in scikit-learn.
    labels : list of str, optional
        The labels that count. Needed for macro; without them ``micro`` counts all, which makes it the accuracy.
    positive : str, optional
        The one label that counts. By default ``1``, where it is one of two in the gold.
    """

    name = "precision"
    factor = 100.0
    micro = ("correct", "found")
    below = (1, 0)


class Recall(_Classification):
    """Share of gold labels that are found, in percent, of one label, over several together, or their mean.

    Parameters
    ----------
    average : {"binary", "micro", "macro"}, optional
        Of one label; of sums over labels; or the mean of what each label has. By default ``micro`` where labels are named, else
        ``binary``, as in scikit-learn.
    labels : list of str, optional
        The labels that count. Needed for macro; without them ``micro`` counts all, which makes it the accuracy.
    positive : str, optional
        The one label that counts. By default ``1``, where it is one of two in the gold.
    """

    name = "recall"
    factor = 100.0
    denominators = "shared"
    micro = ("correct", "gold")
    below = (0, 1)


def _quote(label: str) -> str:
    """Return a label as it can stand in a signature: on one line, without the signs that part it."""
    return "".join(sign if sign.isprintable() and sign not in ",|" else f"\\u{ord(sign):04x}" for sign in label)


def _score_each(statistics: NDArray[Any], *, factor: float, of_found: int, of_gold: int, count: int) -> NDArray[np.float64]:
    return apply_kernel(_macro_kernel, statistics, count, factor, float(of_found), float(of_gold))


@bare_kernel(error_model="numpy")
def _macro_kernel(statistics: NDArray[Any], out: NDArray[np.float64], factor: float, of_found: float, of_gold: float) -> None:
    labels = statistics.shape[0] // 3
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total, present = 0.0, 0
            for k in range(labels):
                found = np.float64(statistics[labels + k, i, j])
                gold = np.float64(statistics[2 * labels + k, i, j])
                # A label that neither the gold nor the system has is no class of this sample; one that either has counts, with
                # 0 where there is nothing to divide by. Recall goes by the gold alone: a label that a sample's gold lacks has
                # none, and would else count 0 for the one system of a pair that finds it, whatever either recalls.
                if gold > 0.0 or of_found * found > 0.0:
                    present += 1
                    below = of_found * found + of_gold * gold
                    if below > 0.0:
                        total += np.float64(statistics[k, i, j]) / below
            out[i, j] = np.nan if present == 0 else factor * (total / present)
