"""The conclusions of a suite in words, from its rows: a few sentences for each pair, and for all pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.analyses.suite.data import Question, SuiteData
from pipeline.errors import name_some
from pipeline.interfaces.wording import format_p, name_metric

__all__ = ["MOST_NAMED", "Summary", "describe_family", "describe_pair", "sum_up"]

MOST_CLAIMS = 3
"""Pairs that the sentence before the verdicts names."""

MOST_NAMED = 6
"""Test sets that a sentence names; it counts the others."""


def describe_pair(row: Mapping[str, Any]) -> str:
    """Conclude over the suite for one pair."""
    # The first begins with a name, which stays as it is.
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." if at else f"{sentence}." for at, sentence in enumerate(_say(row)))


def _say(row: Mapping[str, Any]) -> Iterator[str]:
    a, b, total = row["system_a"], row["system_b"], row["test_sets"]
    if len(row["identical_on"]) == total:
        yield f"{a} and {b} are identical on all {total} test sets"
        yield from _absences(row)
        return
    held = [word for word in ("better", "worse") if row[f"{word}_at_least"]]
    claims = [f"{word}{f' than {b}' if not at else ''} {_where(row, word)}" for at, word in enumerate(held)]
    if claims:
        yield f"{a} is {' and '.join(claims)}" + (": no one order holds for the suite" if len(claims) == 2 else "")
        yield f"with all pairs together: {' and '.join(_together(row, word) for word in held)}"
    else:
        asked = [word for word in ("better", "worse") if row[f"{word}_at_least"] is not None]
        apart = f"{a} and {b} are separated on none of {total} test sets"
        yield apart if len(asked) == 2 else f"{a} is not shown to be {asked[0]} than {b} on any of {total} test sets"
    if row["undecided_on"]:
        yield _no_evidence(row)
    yield from _agreement(row)
    yield from _absences(row)
    if not row["stable"]:
        ends = [f"{row[f'{w}_bounds']['lo']} to {row[f'{w}_bounds']['hi']} {w}" for w in ("better", "worse") if row[f"{w}_bounds"]]
        yield f"more replicates may change these numbers ({', '.join(ends)})"


def _no_evidence(row: Mapping[str, Any]) -> str:
    undecided = row["undecided_on"]
    every = len(undecided) == row["test_sets"]
    there = "any of them" if every else name_some(undecided, MOST_NAMED)
    return f"not decided on {there}, which counts for no direction: {row['undecided_because']}"


def _where(row: Mapping[str, Any], word: str) -> str:
    count, total = row[f"{word}_at_least"], row["test_sets"]
    if count == total:
        return f"on all {total} test sets"
    return f"on at least {count} of {total} test sets ({name_some(row[f'{word}_on'], MOST_NAMED)})"


def _together(row: Mapping[str, Any], word: str) -> str:
    count = row[f"{word}_together"]
    if count:
        return f"{word} on " + (f"all {count}" if count == row["test_sets"] else f"at least {count}")
    if row[f"p_{word}_over_pairs"] <= row["alpha"]:
        return f"{word} on at least 1, which is not named"
    return f"not shown to be {word} on any"


def _agreement(row: Mapping[str, Any]) -> Iterator[str]:
    p, share = row["p_equal_gains"], row["i_squared"]
    if p is None or share is None:
        return
    how = f"(p = {format_p(p)}, I² = {100 * share:.0f} %)"
    if p <= row["alpha"]:
        yield f"the gains differ between test sets {how}: no one number stands for all"
    else:
        yield f"the gains do not differ by more than chance {how}; their mean is {row['mean_gain']:.3g}"


def _absences(row: Mapping[str, Any]) -> Iterator[str]:
    some = row["identical_on"]
    if some and len(some) < row["test_sets"]:
        yield f"identical on {name_some(some, MOST_NAMED)}"
    if row["missing_on"]:
        yield f"not compared on {name_some(row['missing_on'], MOST_NAMED)}, where a system is missing"
    if row["undefined_on"]:
        yield f"without a score on {name_some(row['undefined_on'], MOST_NAMED)}"


class Summary(NamedTuple):
    """What holds of all pairs of a suite: what was found, and at which level."""

    found: str
    level: str


def describe_family(rows: Sequence[Mapping[str, Any]], question: Question, data: SuiteData) -> Summary:
    """Say how many pairs are decided over the suite, whether the replicates allow it, and at which level."""
    sides, alpha = len(question.sides), question.alpha
    side = f"both directions, each at {alpha / 2:g}" if sides == 2 else f"one direction, fixed before looking, at {alpha:g}"
    against = f", each system against {question.baseline}" if question.baseline is not None else ""
    level = f"{question.procedure}{against}; {side}. Better is better by the metric, whichever way it points."
    return Summary(" ".join(f"{sentence}." for sentence in _of_all(rows, question, data)), level)


def sum_up(rows: Sequence[Mapping[str, Any]], question: Question, data: SuiteData) -> str | None:
    """Say in a sentence which systems are better on how many test sets, by what holds of all pairs together; None of no pairs.

    A second one says where the replicates are too few for that.
    """
    pairs = [row for row in rows if row["kind"] == "pair"]
    if not pairs:
        return None
    total = len(data.test_sets)
    most = [max(row["better_together"] or 0, row["worse_together"] or 0) for row in pairs]
    held = [pairs[at] for at in sorted(range(len(pairs)), key=lambda at: -most[at]) if most[at]]
    differing = sum(sure > 0 or _differs_over_pairs(row, question.alpha) for row, sure in zip(pairs, most, strict=True))
    together = "" if len(pairs) == 1 else ", with all pairs together"
    one = question.direction if len(question.sides) == 1 else None
    side = f", asked only who is {one} than {question.baseline} (one-sided, α = {question.alpha:g})" if one else ""
    by = f"By {name_metric(question.metric)} over {total} test sets{together}{side}, "
    few = "".join(f" {sentence}." for sentence in _too_few(pairs, question, data))
    if not differing:
        other = "another" if question.baseline is None else question.baseline
        words = one or ("better" if question.baseline is None else "better or worse")
        return f"{by}no system is shown to be {words} than {other} on any.{few}"
    named = held if len(held) <= MOST_CLAIMS + 1 else held[:MOST_CLAIMS]
    parts = [_claim(row, total) for row in named]
    if (more := differing - len(named)) > 0:
        also = f"{more:,}{' more' if named else ''}"
        pairs_of = f"in {also} pair{'s' * (more > 1)} one system is better on some test set"
        of_one = f"{also} system{'s are' if more > 1 else ' is'} {one} than {question.baseline} on some test set"
        parts.append(of_one if one else pairs_of)
    if (rest := len(pairs) - differing) > 0:
        lacks = f"that is not shown for {rest:,} of the {len(pairs):,} systems"
        parts.append(lacks if one else f"in {rest:,} of the {len(pairs):,} pairs neither system is shown to be better")
    return f"{by}{'; '.join([*parts[:-1], f'and {parts[-1]}']) if len(parts) > 1 else parts[0]}.{few}"


def _too_few(pairs: Sequence[Mapping[str, Any]], question: Question, data: SuiteData) -> Iterator[str]:
    """Say where there are too few replicates for the smallest p that a claim needs."""
    sides, least = len(question.sides), min((row["test_sets"] for row in pairs), default=0)
    if data.replicates is None:
        return
    for tests, what in ((least, "any pair on any test set"), (least * len(pairs), "anything with all pairs together")):
        if sides * tests / (data.replicates + 1) > question.alpha:
            needed = math.ceil(sides * tests / question.alpha)
            yield f"{data.replicates:,} replicates are too few to separate {what}: take {needed:,} or more"
            return


def _claim(row: Mapping[str, Any], total: int) -> str:
    names, better, worse = [row["system_a"], row["system_b"]], row["better_together"] or 0, row["worse_together"] or 0
    word = "worse" if row["better_together"] is None else "better"
    if word == "worse":  # nothing else was asked
        better, worse = worse, 0
    elif worse > better:
        names, better, worse = names[::-1], worse, better
    every = "" if row["test_sets"] == total else " that have both"
    on, against = (f"on all {n}{every}" if n == row["test_sets"] else f"on at least {n}" for n in (better, worse))
    return f"{f' is {word} than '.join(names)} {on}" + (f" and worse {against}" if worse else "")


def _differs_over_pairs(row: Mapping[str, Any], alpha: float) -> bool:
    """Tell whether a pair differs on some test set, corrected for all pairs."""
    return any((row[f"p_{word}_over_pairs"] or 0.0) <= alpha for word in ("better", "worse") if _asked(row, word))


def _of_all(rows: Sequence[Mapping[str, Any]], question: Question, data: SuiteData) -> Iterator[str]:
    pairs = [row for row in rows if row["kind"] == "pair"]
    alpha = question.alpha
    words = ("better", "worse")
    separated = [row for row in pairs if any(row[f"{word}_at_least"] for word in words)]
    both = [row for row in pairs if all(row[f"{word}_at_least"] for word in words)]
    together = [row for row in pairs if _differs_over_pairs(row, alpha)]
    most = max((row["test_sets"] for row in pairs), default=0)
    least = min((row["test_sets"] for row in pairs), default=0)
    of = f"{most}" if most == least else f"{least} to {most}"
    count = "1 pair" if len(pairs) == 1 else f"{len(pairs):,} pairs"
    yield (
        f"Of {count} on {of} test sets {len(separated):,} "
        f"{'is' if len(separated) == 1 else 'are'} separated on at least one, {len(together):,} with all pairs together"
        + (f"; {len(both):,} of them better on some test sets and worse on others" if both else "")
    )
    yield from _too_few(pairs, question, data)
    open_pairs = sum(bool(row["undecided_on"]) for row in pairs)
    if open_pairs:
        some = "1 pair is" if open_pairs == 1 else f"{open_pairs:,} pairs are"
        yield f"{some} not decided on some test sets, which then count as no evidence (p = 1) and among the T"
    alone = sum(row["kind"] == "unmeasured" for row in rows)
    if alone:
        yield f"{alone:,} more {'pair is' if alone == 1 else 'pairs are'} on fewer than two test sets, and in no correction"
    absent = int((~data.present).any(axis=0).sum())
    if absent:
        yield f"{absent:,} {'pair is' if absent == 1 else 'pairs are'} missing on some test sets: T is what there is of each"


def _asked(row: Mapping[str, Any], word: str) -> bool:
    return row[f"p_{word}_over_pairs"] is not None
