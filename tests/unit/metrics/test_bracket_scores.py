"""Bracket scores: evalb's rules one by one, and a count over nested trees that shares no line with the package."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.testing import MetricContract, MetricExample

GOLD = (
    "(S (NP (DT the) (NN boat)) (VP (VBZ waits) (PP (IN in) (NP (NN fog)))) (. .))",
    "(S (NP (NP (NN rain))) (PRT (RP out)))",
    "(UH Yes)",
    "(S (NP (NN fog)) (`` ``) (VP (VBZ lifts) (ADVP (RB now))) (X ('' '')))",
)
BETTER = (
    "(S (NP (DT the) (NN boat)) (VP (VBZ waits) (IN in) (NP (NN fog)) (. .)))",
    "(S (NP (NP (NP (NN rain)))) (ADVP (RP out)))",
    "(UH Yes)",
    "(S (NP (NN fog)) (VP (`` ``) (VBZ lifts) (NP (RB now)) ('' '')))",
)
WORSE = (
    "(TOP (X the) (X boat) (X waits) (X in) (X fog) (X .))",
    "",
    "(INTJ (UH Yes))",
    "(TOP (NP (NN fog) (`` ``) (VBZ lifts) (RB now)) ('' ''))",
)


def items(trees: tuple[str, ...]) -> Items:
    leaves = [[piece.split() for piece in tree.replace(")", "").split("(") if len(piece.split()) == 2] for tree in trees]
    columns = {
        "tree": trees,
        **{name: tuple(tuple(leaf[k] for leaf in row) for row in leaves) for k, name in enumerate(("tag", "word"))},
    }
    return Items(tuple(str(k + 1) for k in range(len(trees))), columns, "north.mrg", tuple(range(1, len(trees) + 1)))


def count(name: str, gold: str, output: str, **options: Any) -> list[int]:
    metric = load_metric(name, options)
    values: list[int] = metric.extract(metric.prepare(items((gold,))), items((output,))).values[0].tolist()
    return values


def counts(gold: str, output: str, **options: Any) -> tuple[int, int, int]:
    """Matched, gold, found."""
    recall, precision, f1 = (count(f"bracket-{name}", gold, output, **options) for name in ("recall", "precision", "f1"))
    assert recall[0] == precision[0] == f1[0]
    assert f1[1] == recall[1] + precision[1]
    return recall[0], recall[1], precision[1]


class _Contract(MetricContract):
    name: str
    labelled = True

    def example(self) -> MetricExample:
        return MetricExample(load_metric(self.name, {"labelled": self.labelled}), items(GOLD), items(BETTER), items(WORSE))


class TestF1(_Contract):
    name = "bracket-f1"


class TestUnlabelledF1(_Contract):
    name = "bracket-f1"
    labelled = False


class TestRecall(_Contract):
    name = "bracket-recall"


class TestPrecision(_Contract):
    name = "bracket-precision"


def test_phrases_match_by_label_and_words() -> None:
    assert counts(GOLD[0], BETTER[0]) == (4, 5, 4)


def test_labels_may_be_left_out_of_it() -> None:
    assert counts(GOLD[3], BETTER[3]) == (3, 4, 4)
    assert counts(GOLD[3], BETTER[3], labelled=False) == (4, 4, 4)


def test_a_phrase_that_stands_twice_is_matched_twice_at_most() -> None:
    assert counts(GOLD[1], BETTER[1]) == (4, 4, 5)
    assert counts(BETTER[1], GOLD[1]) == (4, 5, 4)


def test_particles_are_adverbs() -> None:
    assert counts("(S (PRT (RP up)))", "(S (ADVP (RP up)))") == (2, 2, 2)


def test_words_that_the_gold_tags_as_punctuation_do_not_count() -> None:
    gold = "(S (NP (NN fog)) (, ,) (: --) (VP (VBZ lifts)) (. .))"
    assert counts(gold, "(S (NP (NN fog) (, ,)) (VP (NN --) (VBZ lifts) (. .)))") == (3, 3, 3)
    assert counts("(S (X (. .)) (NP (NN fog)))", "(S (. .) (NP (NN fog)))") == (2, 2, 2)


def test_the_root_that_says_nothing_does_not_count_and_a_word_has_no_bracket() -> None:
    assert counts("(S (NN fog) (. .))", "(TOP (NN fog) (. .))") == (0, 1, 0)
    assert counts("(UH Yes)", "(UH Yes)") == (0, 0, 0)


def test_a_sentence_that_a_parser_gave_up_has_found_nothing() -> None:
    assert counts(GOLD[1], "") == (0, 4, 0)


def test_scores_are_percentages_of_sums() -> None:
    scores = {
        name: float(load_metric(f"bracket-{name}").scorer((0, 0))(np.array([3, 8]))) for name in ("f1", "recall", "precision")
    }
    assert scores == {"f1": 75.0, "recall": 37.5, "precision": 37.5}


def test_an_output_of_other_words_is_refused_with_its_line() -> None:
    with pytest.raises(DataError) as caught:
        count("bracket-f1", "(S (NN fog) (VB go))", "(S (NN fog) (VB went))")
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P245", "north.mrg:1")


def test_the_option_is_true_or_false() -> None:
    with pytest.raises(StudyError, match="P151"):
        load_metric("bracket-f1", {"labelled": "yes"})
    assert load_metric("bracket-f1", {"labelled": False}).signature == "bracket-f1|labelled:no|rules:evalb-collins|unit:percent"


Node = tuple[str, Any]


def nodes(sentence: list[str]) -> st.SearchStrategy[Node]:
    leaf = st.sampled_from(["NN", "VB", ",", ".", ":"]).map(lambda tag: (tag, "w"))
    label = st.sampled_from(["S", "NP", "PRT", "ADVP", "TOP"])
    return st.recursive(leaf, lambda inner: st.tuples(label, st.lists(inner, min_size=1, max_size=3)), max_leaves=len(sentence))


def leaves_of(node: Node) -> list[str]:
    return [node[0]] if isinstance(node[1], str) else [tag for part in node[1] for tag in leaves_of(part)]


def write(node: Node, tags: list[str]) -> str:
    """Write a tree over given tags, taken from the front."""
    if isinstance(node[1], str):
        return f"({tags.pop(0)} w)"
    return f"({node[0]} {' '.join(write(part, tags) for part in node[1])})"


def brackets_of(node: Node, kept: list[bool], start: int = 0) -> tuple[list[tuple[str, frozenset[int]]], int]:
    """Return label and the set of places of words, rather than two ends, of each phrase; and where it ends."""
    if isinstance(node[1], str):
        return [], start + 1
    found, end = [], start
    for part in node[1]:
        inner, end = brackets_of(part, kept, end)
        found += inner
    words = frozenset(k for k in range(start, end) if kept[k])
    return [*found, ("ADVP" if node[0] == "PRT" else node[0], words)], end


@settings(deadline=None, max_examples=150)
@given(pair=st.tuples(nodes(["w"] * 6), nodes(["w"] * 6)), labelled=st.booleans())
def test_counts_are_those_of_sets_of_words_over_nested_trees(pair: tuple[Node, Node], labelled: bool) -> None:
    gold, output = pair
    tags = leaves_of(gold)
    size = min(len(tags), len(leaves_of(output)))
    gold, output = cut(gold, size), cut(output, size)
    tags = leaves_of(gold)
    kept = [tag not in {",", ".", ":"} for tag in tags]
    bags = [
        Counter((label if labelled else "", words) for label, words in brackets_of(node, kept)[0] if words and label != "TOP")
        for node in (gold, output)
    ]
    matched = sum(min(times, bags[1][bracket]) for bracket, times in bags[0].items())
    texts = [write(node, list(tags)) for node in (gold, output)]
    assert counts(texts[0], texts[1], labelled=labelled) == (matched, sum(bags[0].values()), sum(bags[1].values()))


def cut(node: Node, size: int) -> Node:
    """Return the tree over its first words; at least one is left."""
    if isinstance(node[1], str):
        return node
    parts, left = [], size
    for part in node[1]:
        if left > 0:
            parts.append(cut(part, left))
            left -= len(leaves_of(part))
    return node[0], parts
