"""Error rates are those of jiwer and of sclite, and go by the nearest of what the gold allows."""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import jiwer
import numpy as np
import pytest
from support.text_items import items

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.metrics.wer import LEVENSHTEIN, count_edits, walk_slots
from pipeline.testing import MetricContract, MetricExample

GOLD = ("the cat sat on the mat", "nobody came", "it rained all night", "so we left")
BETTER = ("the cat sat on mat", "nobody came", "it rains all night", "so we left")
WORSE = ("a cat on a mat", "", "night all it", "and so we went")

MIXED_CASE = {"lowercase": True, "punctuation": False}


def extract(name, gold, text, **options):
    metric = load_metric(name, options)
    return metric, metric.extract(metric.prepare(gold), items(text=text))


def rows(name, reference, text, **options):
    return extract(name, items(reference_0=reference), text, **options)[1].values.tolist()


def with_slots(*slots) -> Items:
    return items(**{"reference_0": ("",) * len(slots), "reference_alternatives": slots})


class _Rates(MetricContract):
    spec: tuple[str, dict[str, object]]
    gold = items(reference_0=GOLD)

    def example(self) -> MetricExample:
        name, options = self.spec
        return MetricExample(load_metric(name, options), self.gold, items(text=BETTER), items(text=WORSE))


class TestWer(_Rates):
    spec = ("wer", {})


class TestWerOfSclite(_Rates):
    spec = ("wer", {"alignment": "sclite", **MIXED_CASE})


class TestWerTwoReferences(_Rates):
    spec = ("wer", {})
    gold = items(reference_0=GOLD, reference_1=("the cat sat on mat", "no one came", "it rains all night long", "we left"))


class TestWerOfAlternatives(_Rates):
    spec = ("wer", {})
    gold = with_slots(
        ((("the",), ("",)), (("cat",),), (("sat",), ("was", "sitting"))),
        (),
        ((("it",),), (("rained",), ("rains",)), (("all", "night"), ())),
        ((("so",), ("",)), (("we",),), (("left",), ("went",))),
    )


class TestCer(_Rates):
    spec = ("cer", {})


class TestCerWithoutSpaces(_Rates):
    spec = ("cer", {"spaces": False, **MIXED_CASE})


def test_edits_and_words_of_each_item_are_counted_and_divided_as_sums():
    metric, found = extract("wer", items(reference_0=GOLD), WORSE)
    assert found.values.tolist() == [[3, 6], [2, 2], [3, 4], [2, 3]]
    assert found.decimals == (0, 0)
    assert metric.scorer(found.decimals)(found.values.sum(axis=0)) == 100.0 * (10 / 15)
    assert (metric.form, metric.higher_is_better, metric.statistics) == ("ratio", False, ("edits", "reference_length"))


def test_an_output_may_have_more_edits_than_the_reference_words():
    metric, found = extract("wer", items(reference_0=("yes",)), ("oh no it is not",))
    assert found.values.tolist() == [[5, 1]]
    assert metric.scorer(found.decimals)(found.values[0]) == 500.0


def test_characters_are_counted_with_the_spaces_between_words_or_without():
    assert rows("cer", ("ab  cd ", "äb"), ("ab d", "ab")) == [[1, 5], [1, 2]]
    assert rows("cer", ("ab  cd ", "äb"), ("ab d", "ab"), spaces=False) == [[1, 4], [1, 2]]


def test_white_space_of_any_kind_parts_words_and_a_line_separator_is_no_word():
    assert rows("wer", ("a\u2028b c",), ("a b\tc",)) == [[0, 3]]
    assert rows("cer", ("a\u2028b",), ("a b",)) == [[0, 3]]


def test_case_and_punctuation_count_unless_they_are_taken_out():
    assert rows("wer", ("Don't - stop.",), ("don't stop",)) == [[3, 3]]
    assert rows("wer", ("Don't - stop.",), ("dont stop",), **MIXED_CASE) == [[0, 2]]
    assert rows("cer", ("A, b.",), ("a b",), lowercase=True) == [[2, 5]]


def test_empty_outputs_are_deletions_and_empty_references_are_insertions():
    assert rows("wer", ("a b", "", ""), ("", "c", "")) == [[2, 2], [1, 0], [0, 0]]
    metric, found = extract("wer", items(reference_0=("", "")), ("c", ""))
    assert np.isnan(metric.scorer(found.decimals)(found.values.sum(axis=0)))


def test_of_several_references_the_nearest_counts_and_the_longest_of_those():
    gold = items(reference_0=("a b c", "x", ""), reference_1=("a b", "x y", "u v"))
    assert extract("wer", gold, ("a b d", "x z", "u"))[1].values.tolist() == [[1, 3], [1, 2], [1, 2]]


def test_alternatives_are_chosen_place_by_place():
    slots = ((("i",),), (("um",), ("uh", "huh"), ()), (("saw",),), (("it",), ("",)))
    assert walk_slots(slots, ("i", "saw", "it"), LEVENSHTEIN) == (0, 3)
    assert walk_slots(slots, ("i", "uh", "saw"), LEVENSHTEIN) == (1, 5)  # the two words of the longer alternative, and `it` free
    assert walk_slots(slots, ("i", "um", "saw", "that"), LEVENSHTEIN) == (1, 4)
    assert walk_slots(slots, (), LEVENSHTEIN) == (2, 3)


def test_a_walk_is_the_best_of_all_ways_written_out():
    draw = np.random.default_rng(3)
    words = ("a", "b", "c")
    for _ in range(300):
        slots = tuple(
            tuple(tuple(draw.choice(words, size=draw.integers(0, 3))) for _ in range(draw.integers(1, 4)))
            for _ in range(draw.integers(1, 4))
        )
        said = tuple(draw.choice(words, size=draw.integers(0, 5)))
        ways = [tuple(word for part in way for word in part) for way in product(*slots)]
        best = min((count_edits(way, said, LEVENSHTEIN).edits, -len(way)) for way in ways)
        assert walk_slots(slots, said, LEVENSHTEIN) == (best[0], -best[1])


@pytest.mark.parametrize("options", [{}, {"spaces": False}, MIXED_CASE], ids=str)
def test_characters_of_alternatives_are_those_of_all_ways_written_out(options):
    slots = ((("Ab",), ("c", "d"), ()), (("e.",), ()))
    texts = ("", "ab", "c d e.", "cd e", "Ab e", "x", "e")
    ways = [" ".join(word for part in way for word in part) for way in product(*slots)]
    gold = with_slots(*[slots] * len(texts))
    written = items(**{f"reference_{k}": (way,) * len(texts) for k, way in enumerate(ways) if way})
    found = extract("cer", gold, texts, **options)[1].values
    for k, (best, (edits, length)) in enumerate(
        zip(extract("cer", written, texts, **options)[1].values, found.tolist(), strict=True)
    ):
        silent = (len(load_metric("cer", options)._split(texts[k])), 0)  # the way on which nothing is said
        assert (edits, -length) == min((int(best[0]), -int(best[1])), silent), texts[k]


def test_a_word_that_is_left_out_has_its_characters():
    gold = with_slots(((("well",), ("",)), (("yes",),)))
    assert extract("cer", gold, ("yes",))[1].values.tolist() == [[0, 8]]
    assert extract("cer", gold, ("yes",), spaces=False)[1].values.tolist() == [[0, 7]]
    assert extract("cer", gold, ("",))[1].values.tolist() == [[3, 8]]


def test_several_references_are_alternatives_of_the_whole():
    texts = ("so we went", "", "a b")
    several = items(reference_0=("so we left",) * 3, reference_1=("we went away",) * 3)
    whole = with_slots(*[((("so", "we", "left"), ("we", "went", "away")),)] * 3)
    np.testing.assert_array_equal(extract("wer", several, texts)[1].values, extract("wer", whole, texts)[1].values)


def test_options_that_are_none_are_refused():
    for options in ({"lowercase": "yes"}, {"punctuation": 0}, {"alignment": "words"}):
        with pytest.raises(Exception, match="P151"):
            load_metric("wer", options)
    with pytest.raises(DataError) as caught:
        extract("wer", None, ("a",))
    assert [problem.code for problem in caught.value.problems] == ["P225"]


TEXTS = ("the cat sat on the mat .", "The cat sat on a mat !", "cat", "", "a a a b", "b a a a", "it's – a dog’s “life”")


@pytest.mark.parametrize("options", [{}, MIXED_CASE], ids=str)
def test_pairs_of_texts_have_the_edits_of_jiwer(options):
    pairs = [(reference, text) for reference, text in product(TEXTS, TEXTS) if reference]
    check_jiwer(*zip(*pairs, strict=True), options)


def check_jiwer(references, texts, options) -> None:
    cleaning = [jiwer.ToLowerCase(), jiwer.RemovePunctuation()] if options else []
    spaces = [jiwer.SubstituteRegexes({r"\s+": " "}), jiwer.Strip()]
    words = jiwer.Compose([*cleaning, *spaces, jiwer.ReduceToListOfListOfWords()])
    signs = jiwer.Compose([*cleaning, *spaces, jiwer.ReduceToListOfListOfChars()])
    for name, process, how in (("wer", jiwer.process_words, words), ("cer", jiwer.process_characters, signs)):
        found = rows(name, references, texts, **options)
        for reference, text, (edits, length) in zip(references, texts, found, strict=True):
            told = process(reference, text, how, how)
            assert edits == told.substitutions + told.deletions + told.insertions, (name, reference, text)
            assert length == told.hits + told.substitutions + told.deletions


def read(path: Path) -> tuple[str, ...]:
    return tuple(gzip.decompress(path.read_bytes()).decode().split("\n")[:-1])


@pytest.mark.data
@pytest.mark.parametrize("options", [{}, MIXED_CASE], ids=str)
def test_translations_have_the_edits_of_jiwer(data_dir, options):
    folder = data_dir / "wmt21-de-en"
    for system in ("UF", "happypoet"):
        check_jiwer(read(folder / "ref.A.en.txt.gz")[:300], read(folder / "systems" / f"{system}.txt.gz")[:300], options)


# What sclite 2.4.10 counts with -s -D: words that are right, substituted, deleted, inserted.
SCLITE = (
    (
        "hazel elm fir birch larch birch larch oak ash oak larch hazel",
        "fir larch cedar elm hazel birch larch fir ash ash larch birch",
        (6, 3, 3, 3),
    ),
    ("elm ash hazel cedar hazel larch yew pine", "hazel yew larch oak fir larch elm", (2, 3, 3, 2)),
    ("birch pine birch yew birch fir ash", "hazel cedar birch larch pine yew", (3, 0, 4, 3)),
    ("elm birch birch pine oak cedar", "oak yew cedar hazel ash", (2, 0, 4, 3)),
    ("ash ash larch oak yew elm elm cedar", "larch yew birch oak elm fir hazel", (3, 2, 3, 2)),
    ("larch hazel pine hazel yew ash fir fir oak fir larch", "pine hazel hazel fir oak fir cedar birch pine larch", (6, 1, 4, 3)),
    (
        "hazel larch ash pine birch fir elm larch yew pine hazel",
        "hazel cedar ash fir ash ash hazel hazel oak oak pine",
        (4, 4, 3, 3),
    ),
    ("yew elm elm larch cedar birch hazel hazel cedar pine", "fir cedar cedar yew elm fir birch pine elm", (4, 1, 5, 4)),
    ("elm oak ash fir elm oak elm fir", "elm elm elm fir ash elm", (4, 0, 4, 2)),
    ("ash ash yew elm oak oak fir ash yew oak", "yew oak yew oak ash elm elm fir oak oak", (5, 1, 4, 4)),
)


def test_sclite_takes_alignments_of_more_edits_where_they_cost_less():
    """Ties of cost included, as in the last two: twelve is three substitutions, or four words too many and too few."""
    references, said, told = zip(*SCLITE, strict=True)
    wanted = [[sum(counts[1:]), sum(counts[:3])] for counts in told]
    assert rows("wer", references, said, alignment="sclite") == wanted
    fewest = rows("wer", references, said)
    assert [edits for edits, _ in fewest] == [8, 7, 6, 6, 6, 7, 9, 9, 5, 8]
    assert all(one[0] > other[0] and one[1] == other[1] for one, other in zip(wanted, fewest, strict=True))


def test_sclites_walk_without_alternatives_is_its_alignment():
    rule = load_metric("wer", {"alignment": "sclite"}).rule
    draw = np.random.default_rng(8)
    for _ in range(300):
        reference, said = (tuple(draw.choice(list("abcdef"), size=draw.integers(0, 9))) for _ in range(2))
        walked = walk_slots(tuple(((word,),) for word in reference), said, rule)
        assert walked == count_edits(reference, said, rule)
        assert walked.edits >= count_edits(reference, said, LEVENSHTEIN).edits
