"""UAS and LAS: by hand, word by word, with and without punctuation and subtypes, for the words of the gold and for other ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.testing import MetricContract, MetricExample

WORDS = (("Fog", "lifts", "."), ("Boats", ",", "too"), ("«", "»"), ("Go",))
HEADS = ((2, 0, 2), (3, 1, 0), (2, 0), (0,))
RELATIONS = (("nsubj:late", "root", "punct"), ("nsubj", "punct", "root"), ("punct", "root"), ("root",))


def items(**columns: Any) -> Items:
    count = len(columns["word"])
    return Items(tuple(f"s{k + 1}" for k in range(count)), columns, "north.conllu", tuple(10 * k + 1 for k in range(count)))


RELATIONS_WITHOUT_SUBTYPES = (("nsubj", "root", "punct"), *RELATIONS[1:])


GOLD = items(word=WORDS, head=HEADS, relation=RELATIONS)
BETTER = items(
    word=WORDS,
    head=((2, 0, 1), (3, 1, 0), (2, 0), (0,)),
    relation=(("nsubj", "root", "punct"), ("obj", "punct", "root"), ("punct", "root"), ("root",)),
)
WORSE = items(
    word=WORDS, head=((0, 0, 0), (0, 0, 0), (0, 0), (0,)), relation=(("root",) * 3, ("root",) * 3, ("root",) * 2, ("root",))
)


def count(name: str, output: Items = BETTER, **options: Any) -> list[list[int]]:
    metric = load_metric(name, options)
    values: list[list[int]] = metric.extract(metric.prepare(GOLD), output).values.tolist()
    return values


class TestUas(MetricContract):
    def example(self) -> MetricExample:
        return MetricExample(load_metric("uas"), GOLD, BETTER, WORSE)


class TestUasWithoutPunctuation(MetricContract):
    def example(self) -> MetricExample:
        return MetricExample(load_metric("uas", {"punctuation": False}), GOLD, BETTER, WORSE)


class TestLas(MetricContract):
    def example(self) -> MetricExample:
        return MetricExample(load_metric("las"), GOLD, BETTER, WORSE)


class TestLasWithSubtypes(MetricContract):
    def example(self) -> MetricExample:
        return MetricExample(load_metric("las", {"subtypes": True}), GOLD, BETTER, WORSE)


# Words of its own: `Fo` and `g`; `lifts.`; all of the third sentence in the second; heads are numbers of gold words.
OTHER = items(
    word=(("Fo", "g", "lifts", "."), ("Boats", ",too"), ("«»",), ("Go",)),
    head=((2, 2, 0, 2), (3, -1), (0,), (0,)),
    relation=(("nsubj:late", "nsubj:late", "root", "nsubj"), ("nsubj:x", "root"), ("root",), ("root",)),
    aligned=((0, 0, 2, 3), (1, 0), (0,), (1,)),
)


class TestUasOfOtherWords(MetricContract):
    def example(self) -> MetricExample:
        worse = {**OTHER.columns, "head": ((-1,) * 4, (-1,) * 2, (-1,), (-1,))}
        return MetricExample(load_metric("uas"), GOLD, OTHER, items(**worse))


class TestLasOfOtherWordsWithoutPunctuation(MetricContract):
    def example(self) -> MetricExample:
        worse = {**OTHER.columns, "relation": (("x",) * 4, ("x",) * 2, ("root",), ("root",))}
        return MetricExample(load_metric("las", {"punctuation": False}), GOLD, OTHER, items(**worse))


def test_words_with_the_right_head_are_counted() -> None:
    assert count("uas") == [[2, 6], [3, 6], [2, 4], [1, 2]]


def test_words_of_punctuation_alone_are_left_out_when_asked() -> None:
    assert count("uas", punctuation=False) == [[2, 4], [2, 4], [0, 0], [1, 2]]


def test_a_symbol_is_no_punctuation() -> None:
    # As in CoNLL-X: $ and + are of the Unicode categories S, and a word with one letter is a word.
    gold = items(word=(("$", "+", "a.", "…"),), head=((0, 1, 1, 1),))
    metric = load_metric("uas", {"punctuation": False})
    assert metric.extract(metric.prepare(gold), gold).values.tolist() == [[3, 6]]


def test_the_relation_must_be_right_too() -> None:
    assert count("las") == [[2, 6], [2, 6], [2, 4], [1, 2]]
    assert count("las", punctuation=False) == [[2, 4], [1, 4], [0, 0], [1, 2]]


def test_subtypes_of_relations_count_only_where_they_are_asked_for() -> None:
    assert count("las", subtypes=True) == [[1, 6], [2, 6], [2, 4], [1, 2]]


def test_a_parser_without_subtypes_is_not_behind_a_worse_one_with_them() -> None:
    # As on outputs of CoNLL 2018: `plain` has every head and relation right, and writes what stands before the colon.
    gold = items(
        word=WORDS, head=HEADS, relation=(("nsubj:pass", "root", "punct"), ("nsubj:pass", "punct", "root"), *RELATIONS[2:])
    )
    plain = items(word=WORDS, head=HEADS, relation=RELATIONS_WITHOUT_SUBTYPES)
    worse = items(**{**gold.columns, "head": ((2, 0, 1), *HEADS[1:])})

    def score(output: Items, **options: Any) -> float:
        metric = load_metric("las", options)
        return float(metric.scorer((0, 0))(metric.extract(metric.prepare(gold), output).values.sum(axis=0)))

    assert (score(plain), score(worse)) == (100.0, 100 * 8 / 9)
    assert score(plain, subtypes=True) < score(worse, subtypes=True)


def test_words_that_are_aligned_are_right_or_wrong_and_all_words_of_both_are_counted() -> None:
    assert count("uas", OTHER) == [[2, 7], [1, 5], [0, 3], [1, 2]]
    assert count("las", OTHER) == [[1, 7], [1, 5], [0, 3], [1, 2]]
    assert count("las", OTHER, subtypes=True) == [[1, 7], [0, 5], [0, 3], [1, 2]]
    assert count("uas", OTHER, punctuation=False) == [[1, 5], [1, 4], [0, 0], [1, 2]]


def test_a_word_that_is_not_aligned_is_wrong_whatever_its_head() -> None:
    none = {**OTHER.columns, "aligned": ((0,) * 4, (0,) * 2, (0,), (0,))}
    assert count("uas", items(**none)) == [[0, 7], [0, 5], [0, 3], [0, 2]]


def test_a_sentence_in_which_no_word_begins_has_the_words_of_the_gold() -> None:
    columns = {name: (*values[:2], (), *values[3:]) for name, values in OTHER.columns.items()}
    assert count("uas", items(**columns))[2] == [0, 2]


def test_words_of_its_own_need_heads() -> None:
    with pytest.raises(DataError, match="P226"):
        count("uas", items(word=OTHER.columns["word"], aligned=OTHER.columns["aligned"]))
    with pytest.raises(DataError, match="P226"):
        count("las", items(**{name: values for name, values in OTHER.columns.items() if name != "relation"}))


def test_a_relation_that_the_gold_never_has_is_wrong() -> None:
    output = items(word=WORDS, head=HEADS, relation=(*RELATIONS[:3], ("made-up",)))
    assert count("las", output)[3] == [0, 2]


def test_scores_are_percentages_of_sums() -> None:
    metric = load_metric("uas")
    assert float(metric.scorer((0, 0))(np.array([8, 18]))) == 100 * 8 / 9


def test_a_sentence_that_lacks_has_no_word_right() -> None:
    filled = Items(
        GOLD.ids,
        {name: (*values[:1], "", *values[2:]) for name, values in GOLD.columns.items()},
        "x",
        GOLD.lines,
    )
    assert count("las", filled) == [[3, 6], [0, 6], [2, 4], [1, 2]]


@pytest.mark.parametrize(
    ("words", "says"),
    [(("Boat", ",", "too"), "'Boat', and 'Boats' in the gold"), (("Boats", ",too"), "2 tokens, and 3 in the gold")],
)
def test_an_output_of_other_words_is_refused_with_its_line(words: tuple[str, ...], says: str) -> None:
    output = items(word=(WORDS[0], words, *WORDS[2:]), head=(HEADS[0], (0,) * len(words), *HEADS[2:]), relation=RELATIONS)
    with pytest.raises(DataError) as caught:
        count("uas", output)
    (problem,) = caught.value.problems
    assert problem.code == "P245"
    assert says in problem.message
    assert problem.where == "north.conllu:11"


def test_an_output_without_heads_and_a_gold_without_them_are_refused() -> None:
    with pytest.raises(DataError, match="P226"):
        count("uas", items(word=WORDS))
    with pytest.raises(DataError, match="P225"):
        load_metric("uas").prepare(items(word=WORDS))


@pytest.mark.parametrize("options", [{"punctuation": "no"}, {"subtypes": 1}])
def test_options_are_true_or_false(options: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="P151"):
        load_metric("las", options)


def test_signatures_name_the_options() -> None:
    assert load_metric("uas", {"punctuation": False}).signature == "uas|punctuation:no|aligned:conll18|unit:percent"
    assert load_metric("las").signature == "las|punctuation:yes|subtypes:no|aligned:conll18|unit:percent"


words = st.lists(st.sampled_from(["a", "bc", ".", "--", "?!", "$", "a.b", "。"]), min_size=1, max_size=6)


@st.composite
def two_trees(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, str]], list[tuple[int, str]]]:
    sentence = draw(words)
    rows = st.tuples(st.integers(0, len(sentence)), st.sampled_from(["root", "nmod", "nmod:a", "nmod:b"]))
    same = st.lists(rows, min_size=len(sentence), max_size=len(sentence))
    return sentence, draw(same), draw(same)


@settings(deadline=None, max_examples=60)
@given(made=st.lists(two_trees(), min_size=1, max_size=5), punctuation=st.booleans(), subtypes=st.booleans())
def test_counts_are_those_of_a_loop_over_words(
    made: list[tuple[list[str], list[tuple[int, str]], list[tuple[int, str]]]], punctuation: bool, subtypes: bool
) -> None:
    wanted = []
    for sentence, gold, output in made:
        right = attached = total = 0
        for word, (head, relation), (other_head, other_relation) in zip(sentence, gold, output, strict=True):
            if not punctuation and word in {".", "--", "?!", "。"}:
                continue
            total += 1
            if head == other_head:
                attached += 1
                cut = (lambda name: name) if subtypes else (lambda name: name.partition(":")[0])
                right += cut(relation) == cut(other_relation)
        wanted.append(([attached, 2 * total], [right, 2 * total]))
    gold_items, output_items = (
        items(
            word=tuple(tuple(one[0]) for one in made),
            head=tuple(tuple(head for head, _ in one[side]) for one in made),
            relation=tuple(tuple(relation for _, relation in one[side]) for one in made),
        )
        for side in (1, 2)
    )
    uas, las = (
        load_metric("uas", {"punctuation": punctuation}),
        load_metric("las", {"punctuation": punctuation, "subtypes": subtypes}),
    )
    assert uas.extract(uas.prepare(gold_items), output_items).values.tolist() == [one for one, _ in wanted]
    assert las.extract(las.prepare(gold_items), output_items).values.tolist() == [other for _, other in wanted]
