"""Outputs that part the text themselves: which words are aligned, to which sentence they count, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.align import survey_test_set
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet
from pipeline.testing import take_items

GOLD = ("1 Fog 2 nsubj|2 lifts 0 root|3 . 2 punct", "1 Boats 2 nsubj|2 wait 0 root", "1 Gulls 2 nsubj|2 cry 0 root|3 ! 2 punct")


def conllu(*sentences: str, names: Sequence[str] = ()) -> str:
    """Write sentences of rows between bars: number, form, head and relation, or number and form of a range."""
    lines: list[str] = []
    for k, sentence in enumerate(sentences):
        lines += [f"# sent_id = {names[k]}"] if names else []
        for row in sentence.split("|"):
            number, form, head, relation = [*row.split(" "), "_", "_"][:4]
            lines.append("\t".join((number, form, "_", "X", "_", "_", head, relation, "_", "_")))
        lines.append("")
    return "\n".join(lines) + "\n"


def gold_of(folder: Path, text: str) -> Items:
    (folder / "gold").write_bytes(text.encode())
    gold = load_reader("conllu").read_gold([folder / "gold"], {})
    assert gold is not None
    return gold


def output_of(folder: Path, text: str | bytes) -> Items:
    (folder / "north").write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_reader("conllu").read_outputs(folder / "north", system="north", options={})["north"]


def fit(gold: Items, output: Items) -> Items:
    fitted: Items = load_reader("conllu").fit(gold, output)  # type: ignore[attr-defined]
    return fitted


def refit(folder: Path, gold: Sequence[str], output: Sequence[str]) -> Items:
    return fit(gold_of(folder, conllu(*gold)), output_of(folder, conllu(*output)))


def refused(folder: Path, gold: str, output: str) -> Problem:
    with pytest.raises(DataError) as caught:
        fit(gold_of(folder, gold), output_of(folder, output))
    (problem,) = caught.value.problems
    assert problem.code == "P263"
    return problem


def count(gold: Items, output: Items, name: str = "uas", **options: Any) -> list[list[int]]:
    metric = load_metric(name, options)
    values: list[list[int]] = metric.extract(metric.prepare(gold), output).values.tolist()
    return values


# Outputs that keep the words.


def test_an_output_with_the_words_of_the_gold_stays_as_it_is(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, conllu(*GOLD, names="abc"))
    same = output_of(tmp_path, conllu(*GOLD, names="abc"))
    assert fit(gold, same) is same
    other_order = output_of(tmp_path, conllu(*GOLD[::-1], names="cba"))
    assert fit(gold, other_order) is other_order


@pytest.mark.parametrize("names", ["", "xyz", "123"])
def test_an_output_with_the_words_of_the_gold_takes_its_names(tmp_path: Path, names: str) -> None:
    gold = gold_of(tmp_path, conllu(*GOLD, names="abc"))
    output = output_of(tmp_path, conllu(*GOLD, names=names))
    fitted = fit(gold, output)
    assert (fitted.ids, fitted.numbered) == (("a", "b", "c"), False)
    assert fitted.columns is output.columns
    assert fitted.lines == output.lines


def test_sentences_that_names_tell_to_lack_or_to_be_too_many_are_left_to_the_study(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, conllu(*GOLD, names="abc"))
    lacks = output_of(tmp_path, conllu(*GOLD[1:], names="bc"))
    assert fit(gold, lacks) is lacks
    more = output_of(tmp_path, conllu(*GOLD, "1 Rain 0 root", names="abcd"))
    assert fit(gold, more) is more


def test_a_sentence_of_one_name_and_other_words_is_aligned_by_characters(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, conllu(*GOLD, names="abc"))
    joined = output_of(tmp_path, conllu("1 Fog 2 nsubj|2 lifts. 0 root", *GOLD[1:], names="abc"))
    assert fit(gold, joined).columns["aligned"] == ((1, 0), (1, 2), (1, 2, 3))


# Outputs with words or sentences of their own.


def test_joined_sentences_are_parted_as_in_the_gold(tmp_path: Path) -> None:
    joined = "1 Fog 2 nsubj|2 lifts 0 root|3 . 2 punct|4 Boats 5 nsubj|5 wait 0 root"
    fitted = refit(tmp_path, GOLD, (joined, GOLD[2]))
    assert fitted.ids == ("1", "2", "3")
    assert fitted.columns == {
        "word": (("Fog", "lifts", "."), ("Boats", "wait"), ("Gulls", "cry", "!")),
        "upos": (("X",) * 3, ("X",) * 2, ("X",) * 3),
        "tag": (("_",) * 3, ("_",) * 2, ("_",) * 3),
        "relation": (("nsubj", "root", "punct"), ("nsubj", "root"), ("nsubj", "root", "punct")),
        "aligned": ((1, 2, 3), (1, 2), (1, 2, 3)),
        "head": ((2, 0, 2), (2, 0), (2, 0, 2)),
    }
    assert fitted.lines == (1, 1, 7)


def test_heads_are_followed_to_the_gold_words_they_are_aligned_with(tmp_path: Path) -> None:
    # The head of `Fog` is `lifts.`, which is no gold word; that of `Boats` is in another gold sentence; that of `wait` is a root.
    fitted = refit(tmp_path, GOLD, ("1 Fog 2 nsubj|2 lifts. 0 root|3 Boats 1 nsubj|4 wait 0 root", GOLD[2]))
    assert fitted.columns["word"][0] == ("Fog", "lifts.")
    assert fitted.columns["aligned"] == ((1, 0), (1, 2), (1, 2, 3))
    assert fitted.columns["head"] == ((-1, 0), (-1, 0), (2, 0, 2))
    gold = gold_of(tmp_path, conllu(*GOLD))
    assert count(gold, fitted) == [[0, 5], [1, 4], [3, 6]]
    assert count(gold, fitted, "las") == [[0, 5], [1, 4], [3, 6]]


def test_a_word_counts_to_the_sentence_in_which_it_begins(tmp_path: Path) -> None:
    # The first sentence ends, and the second is covered whole, within the word `.Boatswait`.
    fitted = refit(tmp_path, GOLD, ("1 Fog 2 nsubj|2 lifts 0 root|3 .Boatswait 2 punct|4 Gulls 2 nsubj|5 cry 0 root|6 ! 5 punct",))
    assert fitted.columns["word"] == (("Fog", "lifts", ".Boatswait"), (), ("Gulls", "cry", "!"))
    gold = gold_of(tmp_path, conllu(*GOLD))
    assert count(gold, fitted) == [[2, 6], [0, 2], [2, 6]]
    assert fitted.lines == (1, 1, 1)


def test_relations_are_those_of_aligned_words(tmp_path: Path) -> None:
    output = ("1 Fo 2 nsubj|2 g 3 nsubj|3 lifts 0 parataxis|4 . 3 punct|5 Boats 6 nsubj:x|6 wait 0 root", GOLD[2])
    fitted = refit(tmp_path, GOLD, output)
    gold = gold_of(tmp_path, conllu(*GOLD))
    assert fitted.columns["aligned"][0] == (0, 0, 2, 3)
    assert count(gold, fitted, "uas") == [[2, 7], [2, 4], [3, 6]]
    assert count(gold, fitted, "las") == [[1, 7], [2, 4], [3, 6]]
    assert count(gold, fitted, "las", subtypes=True) == [[1, 7], [1, 4], [3, 6]]


def test_punctuation_goes_by_gold_words_and_by_own_forms_where_there_is_none(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, conllu("1 so 0 root|2 ... 1 punct", "1 ?! 2 punct|2 ( 0 root"))
    fitted = fit(gold, output_of(tmp_path, conllu("1 so. 0 root|2 .. 1 punct|3 ?! 1 punct|4 ( 0 root")))
    assert fitted.columns["word"] == (("so.", ".."), ("?!", "("))
    assert count(gold, fitted) == [[0, 4], [1, 4]]
    assert count(gold, fitted, punctuation=False) == [[0, 2], [0, 0]]  # `so` and `so.` count, `..` does not


def test_what_is_counted_of_a_sentence_does_not_know_the_others(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, conllu(*GOLD))
    fitted = fit(gold, output_of(tmp_path, conllu("1 Fog 2 nsubj|2 lifts 0 root|3 .Boats 2 punct|4 wait 0 root", GOLD[2])))
    whole = count(gold, fitted)
    assert whole == [[2, 6], [1, 3], [3, 6]]
    assert count(take_items(gold, [2, 0]), take_items(fitted, [2, 0])) == [whole[2], whole[0]]


def test_spaces_within_forms_are_no_characters(tmp_path: Path) -> None:
    fitted = refit(tmp_path, ("1 10\u00a0000 2 a|2 boats 0 b",), ("1 10000 2 a|2 boa\u3000ts 0 b",))
    assert fitted.columns["aligned"] == ((1, 2),)
    assert fitted.columns["head"] == ((2, 0),)


def test_an_output_without_trees_is_aligned_and_refused_by_what_needs_them(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, conllu(*GOLD))
    fitted = fit(gold, output_of(tmp_path, conllu("1 Fog|2 lifts|3 .|4 Boats|5 wait|6 Gulls|7 cry|8 !")))
    assert "head" not in fitted.columns
    with pytest.raises(DataError, match="P226"):
        count(gold, fitted)


def test_other_metrics_of_tokens_refuse_words_that_are_not_the_golds(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, conllu(*GOLD))
    fitted = fit(gold, output_of(tmp_path, conllu(GOLD[0], "1 Boatswait 0 root", GOLD[2])))
    metric = load_metric("tag-accuracy")
    with pytest.raises(DataError, match="P245"):
        metric.extract(metric.prepare(gold), fitted)


# Tokens of several words.

AU_PORT = "1-2 Au|1 A 3 case|2 le 3 det|3 port 0 root"


@pytest.mark.parametrize(
    ("gold", "output", "aligned"),
    [
        (AU_PORT, "1 Au 2 case|2 port 0 root", (0, 3)),  # no form of the token is `au`
        ("1 Au 2 case|2 port 0 root", AU_PORT, (0, 0, 2)),
        (AU_PORT, "1-2 Au|1 a 3 case|2 LE 3 det|3 port 0 root", (1, 2, 3)),  # upper and lower case are alike
        (AU_PORT, "1-3 Au|1 le 4 det|2 la 4 det|3 a 4 case|4 port 0 root", (2, 0, 0, 3)),  # of `a` and `le` the gold's later one
        (AU_PORT, "1 A 0 a|2 u 1 b|3 port 1 c", (1, 0, 3)),  # `A` is a form of the token, wherever it stands
        (AU_PORT, "1-3 Auport|1 port 0 a|2 a 1 b|3 le 1 c", (0, 1, 2)),  # the longest, though `port` comes first
        ("1-2 ab|1 x 0 r|2 y 1 s|3 c 1 t|4 d 1 u", "1 a 0 r|2-3 bc|2 y 1 s|3 z 1 t|4 d 1 u", (0, 2, 0, 4)),  # tokens that overlap
        (
            "1 abc 2 r|2-3 de|2 b 0 s|3 e 2 t",
            "1 a 0 r|2 b 1 s|3 c 1 t|4 de 1 u",
            (0, 2, 0, 0),
        ),  # it reaches back to a `b` before it
        ("1 abc 2 r|2-3 de|2 a 0 s|3 e 2 t", "1 a 0 r|2 b 1 s|3 c 1 t|4 de 1 u", (0, 0, 0, 0)),  # and to no word before that
        ("1 a 0 r|2 b 1 s|3 c 1 t|4 de 1 u", "1 abc 2 r|2-3 de|2 b 0 s|3 e 2 t", (0, 0, 0)),  # from either side
        (
            "1-2 ab|1 x 0 r|2 y 1 s|3 c 1 t|4 d 1 u",
            "1 a 0 r|2-3 bc|2 y 1 s|3 c 1 t|4 d 1 u",
            (0, 2, 3, 4),
        ),  # to the last token's end
        ("1 a 0 r|2-3 bc|2 y 1 s|3 c 1 t|4 d 1 u", "1-2 ab|1 x 0 r|2 y 1 s|3 c 1 t|4 d 1 u", (0, 2, 3, 4)),
        ("1-2 ab|1 abc 0 r|2 y 1 s|3 c 1 t", "1 abc 0 r", (0,)),  # a word that ends behind the token is none of its words
        ("1-1 a|1 x 0 r|2 b 1 s", "1-1 a|1 X 0 r|2 b 1 s", (1, 2)),  # a range of one word
        ("1-2 au|1 a 0 r|2 le 1 s", "1-2 \u00a0|1 a 0 r|2 le 1 s|3 au 1 t", (1, 2, 0)),  # a token of no characters is passed
        ("1 a 0 r|2 b 1 s", "1-2 \u00a0|1 x 0 r|2 y 1 s|3 a 1 t|4 b 1 u", (0, 0, 1, 2)),
    ],
)
def test_words_of_shared_tokens_are_aligned_by_the_longest_common_subsequence(
    tmp_path: Path, gold: str, output: str, aligned: tuple[int, ...]
) -> None:
    assert refit(tmp_path, (gold,), (output,)).columns["aligned"] == (aligned,)


def test_the_same_words_need_no_range(tmp_path: Path) -> None:
    # Parsers that are given words write no ranges: what the words are made of is not asked where they are the gold's.
    gold = gold_of(tmp_path, conllu(AU_PORT, GOLD[0]))
    output = output_of(tmp_path, conllu("1 A 3 case|2 le 3 det|3 port 0 root", GOLD[0]))
    assert count(gold, fit(gold, output)) == [[3, 6], [3, 6]]
    assert "range" not in output.columns


def test_a_token_across_two_gold_sentences_leaves_its_words_where_their_gold_words_are(tmp_path: Path) -> None:
    fitted = refit(tmp_path, ("1 a 0 r", "1 b 0 r|2 c 1 s"), ("1-3 ab|1 a 0 r|2 x 1 s|3 b 0 r|4 c 3 s",))
    assert fitted.columns["word"] == (("a", "x"), ("b", "c"))
    assert fitted.columns["aligned"] == ((1, 0), (1, 2))


# Text that is not the gold's.


def test_a_changed_character_is_refused_with_its_line_and_both_texts(tmp_path: Path) -> None:
    text = conllu(*GOLD, names="abc")
    problem = refused(tmp_path, text, text.replace("wait", "wail"))
    assert problem.where == f"{tmp_path / 'north'}:8"
    assert problem.message == (
        "the text is not the gold's: after 'fts.Boatswai' it has 'lGullscry!', the gold 'tGullscry!', in sentence 'b'"
    )
    assert (problem.note or "").startswith("17 characters agree, and the gold has 27")


def test_lines_of_changed_words_are_counted_over_ranges_and_empty_nodes(tmp_path: Path) -> None:
    output = AU_PORT.replace("|3", "|2.1 x|3")
    assert refused(tmp_path, conllu(AU_PORT), conllu(output.replace("port", "fort"))).where == f"{tmp_path / 'north'}:5"
    assert (
        refused(tmp_path, conllu(AU_PORT), conllu(output.replace("Au", "Du").replace("A 3", "D 3"))).where
        == f"{tmp_path / 'north'}:1"
    )


def test_a_truncated_output_is_refused_where_it_ends(tmp_path: Path) -> None:
    problem = refused(tmp_path, conllu(*GOLD), conllu(*GOLD[:2]))
    assert problem.where == f"{tmp_path / 'north'}:6"
    assert problem.message == "the text ends after 'ts.Boatswait', and the gold goes on with 'Gullscry!', in sentence '3'"
    in_a_sentence = conllu(*GOLD).removesuffix("3\t!\t_\tX\t_\t_\t2\tpunct\t_\t_\n\n")
    assert refused(tmp_path, conllu(*GOLD), in_a_sentence).where == f"{tmp_path / 'north'}:9"


def test_a_sentence_too_many_is_refused_unless_the_characters_agree(tmp_path: Path) -> None:
    problem = refused(tmp_path, conllu(*GOLD), conllu(*GOLD, "1 Rain 0 root"))
    assert problem.where == f"{tmp_path / 'north'}:12"
    assert problem.message == "the text goes on with 'Rain' where the gold ends, after 'aitGullscry!'"
    fitted = refit(tmp_path, GOLD, (*GOLD[:2], "1 Gulls 2 nsubj|2 cry 0 root", "1 ! 0 root"))
    assert fitted.columns["head"] == ((2, 0, 2), (2, 0), (2, 0, 0))


@pytest.mark.parametrize(
    ("heads", "says"), [((2, 1, 2), "circle"), ((2, 0, 7), "head 7 is not in the sentence, which has 3 words")]
)
def test_trees_are_checked_before_words_are_aligned(tmp_path: Path, heads: tuple[int, ...], says: str) -> None:
    words = "|".join(
        f"{k + 1} {word} {head} x" for k, (word, head) in enumerate(zip(("Fog", "lifts.", "Boats"), heads, strict=True))
    )
    with pytest.raises(DataError, match=says) as caught:
        output_of(tmp_path, conllu(words))
    assert caught.value.problems[0].code == "P251"


@pytest.mark.parametrize(
    "change",
    [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n"), lambda text: text.replace("Fog", "F\u2028g")],
)
def test_marks_and_line_ends_of_files_are_no_text(tmp_path: Path, change: Any) -> None:
    text = conllu(*GOLD)
    joined = conllu("1 Fog 2 nsubj|2 lifts 0 root|3 . 2 punct|4 Boats 5 nsubj|5 wait 0 root", GOLD[2])
    gold = gold_of(tmp_path, text.replace("Fog", "F\u2028g") if "\u2028" in change(text) else text)
    assert count(gold, fit(gold, output_of(tmp_path, change(joined)))) == [[3, 6], [2, 4], [3, 6]]


# Studies.


def study(folder: Path, **given: Any) -> tuple[TestSet, Any]:
    (folder / "gold").write_text(conllu(*GOLD))
    (folder / "south").write_text(conllu(*GOLD))
    (folder / "north").write_text(conllu("1 Fog 2 nsubj|2 lifts 0 root|3 .Boats 2 punct|4 wait 0 root", GOLD[2]))
    spec = TestSet(**{"format": "conllu", "gold": "gold", "outputs": {"north": "north", "south": "south"}, **given})
    return spec, survey_test_set("t", spec, base=folder, systems=Systems(), unit="item")


def test_a_study_counts_by_sentences_of_the_gold_whatever_those_of_systems(tmp_path: Path) -> None:
    spec, found = study(tmp_path)
    assert [output.missing + output.extra for output in found.outputs] == [0, 0]
    gold = gold_of(tmp_path, conllu(*GOLD))
    north = load_output(spec, found.outputs[0], frame=found.frame, base=tmp_path)
    assert count(gold, north) == [[2, 6], [1, 3], [3, 6]]
    assert count(gold, load_output(spec, found.outputs[1], frame=found.frame, base=tmp_path)) == [[3, 6], [2, 4], [3, 6]]


def test_a_study_of_some_sentences_counts_those(tmp_path: Path) -> None:
    spec, found = study(tmp_path, items="2-3")
    north = load_output(spec, found.outputs[0], frame=found.frame, base=tmp_path)
    assert north.columns["word"] == (("wait",), ("Gulls", "cry", "!"))
    assert north.ids == ("2", "3")


def test_a_study_tells_of_every_system_whose_text_is_another(tmp_path: Path) -> None:
    study(tmp_path)
    for name in ("north", "south"):
        (tmp_path / name).write_text(conllu(GOLD[0], "1 Boats 0 root", GOLD[2]))
    spec = TestSet.model_validate({"format": "conllu", "gold": "gold", "outputs": "{system}th"})
    with pytest.raises(DataError) as caught:
        survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [
        ("P263", f"{tmp_path / name}:7") for name in ("north", "south")
    ]


# Whatever the text.


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, int, str]]:
    forms = draw(st.lists(st.sampled_from(["a", "bc", "d", "..", "É", "f\u2028"]), min_size=1, max_size=6))
    order = draw(st.permutations(range(1, len(forms) + 1)))
    heads = {word: draw(st.sampled_from(order[:k])) if k else 0 for k, word in enumerate(order)}
    return [(form, heads[k + 1], draw(st.sampled_from(["x", "y", "x:z"]))) for k, form in enumerate(forms)]


def write_trees(sentences: Sequence[Sequence[tuple[str, int, str]]]) -> str:
    rows = ("|".join(f"{k + 1} {form} {head} {name}" for k, (form, head, name) in enumerate(words)) for words in sentences)
    return conllu(*rows)


def part_again(sentences: Sequence[Sequence[tuple[str, int, str]]], bounds: set[int]) -> tuple[str, int]:
    """Part words into other sentences; a head that is left outside becomes a root. Give the file, and how many heads are right."""
    firsts = [0, *accumulate(map(len, sentences))]
    words = [
        (form, head and first + head, name)
        for first, sentence in zip(firsts, sentences, strict=False)
        for form, head, name in sentence
    ]
    parts = []
    kept = 0
    for start, end in pairwise(sorted({0, len(words), *(bound for bound in bounds if bound < len(words))})):
        part = [(form, head - start if start < head <= end else 0, name) for form, head, name in words[start:end]]
        kept += sum(bool(new) == bool(head) for (_, new, _), (_, head, _) in zip(part, words[start:end], strict=True))
        parts.append(part)
    return write_trees(parts), kept


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(sentences=st.lists(trees(), min_size=1, max_size=6), bounds=st.sets(st.integers(1, 30), max_size=6), joins=st.booleans())
def test_other_sentences_of_the_same_words_lose_the_heads_that_are_cut_and_no_others(
    tmp_path: Path, sentences: list[list[tuple[str, int, str]]], bounds: set[int], joins: bool
) -> None:
    ends = set(accumulate(map(len, sentences)))
    text, kept = part_again(sentences, bounds & ends if joins else bounds)
    gold = gold_of(tmp_path, write_trees(sentences))
    fitted = fit(gold, output_of(tmp_path, text))
    n_words = sum(map(len, sentences))
    assert kept == n_words or not joins
    for name in ("uas", "las"):
        values = count(gold, fitted, name)
        assert [row[1] for row in values] == [2 * len(sentence) for sentence in sentences]
        assert sum(row[0] for row in values) == kept
        if joins:
            metric = load_metric(name)
            assert float(metric.scorer((0, 0))(metric.extract(metric.prepare(gold), fitted).values.sum(axis=0))) == 100.0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=120)
@given(
    changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), st.sampled_from(b"\n\t 0123-.#_ab\xff\xe2")), max_size=4),
    ranged=st.booleans(),
)
def test_mutated_bytes_are_read_or_refused(tmp_path: Path, changes: list[tuple[int, int, int]], ranged: bool) -> None:
    sentences = (AU_PORT, *GOLD)
    data = bytearray(conllu(*(sentences if ranged else sentences[1:]), names="mabc"[not ranged :]).encode())
    gold = gold_of(tmp_path, bytes(data).decode())
    for place, cut, byte in changes:
        data[place : place + cut] = bytes([byte])
    problems: tuple[Problem, ...] = ()
    try:
        fitted = fit(gold, output_of(tmp_path, bytes(data)))
        known = [fitted.ids.index(name) if name in fitted.ids else None for name in gold.ids]
        if fitted.ids == gold.ids:
            assert all(0 <= correct <= words for correct, words in count(gold, fitted))
        else:
            assert None in known or len(fitted) > len(gold)
    except DataError as exc:
        problems = exc.problems
    assert all(problem.where for problem in problems)
