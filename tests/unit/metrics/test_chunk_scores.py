"""Chunks and tags are counted as the shared task's scorer counts them, and outputs with other tokens are refused."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric
from pipeline.metrics.chunks import find_chunks

TAGS = ["O", "B-NP", "I-NP", "B-VP", "I-VP"]


def items(word: Sequence[tuple[str, ...]], **columns: Sequence[tuple[str, ...] | str]) -> Items:
    count = len(word)
    return Items(tuple(str(k + 1) for k in range(count)), {"word": word, **columns}, "f", tuple(range(1, 10 * count + 1, 10)))


def sentences(*tags: str) -> Items:
    """Return one sentence for each string of tags: `B-NP I-NP O`."""
    chunk = tuple(tuple(one.split()) for one in tags)
    return items(tuple(tuple(f"w{k}" for k in range(len(one))) for one in chunk), chunk=chunk)


def count(name: str, gold: Items, output: Items, **options: object) -> list[list[int]]:
    metric = load_metric(name, options)
    found: list[list[int]] = metric.extract(metric.prepare(gold), output).values.tolist()
    return found


def score(name: str, gold: Items, output: Items, **options: object) -> float:
    metric = load_metric(name, options)
    found = metric.extract(metric.prepare(gold), output)
    return float(metric.scorer(found.decimals)(found.values.sum(axis=0)))


def count_as_published(gold: Sequence[Sequence[str]], guessed: Sequence[Sequence[str]], kind: str | None) -> tuple[int, int, int]:
    """Count correct, guessed and gold chunks token by token, as the rules of the shared task say: an oracle of our own.

    A chunk ends before B, before O and before another type, and begins at B, at the first I behind O and at another type.
    One is correct if both begin together, have the same type, and end together.
    """
    totals = [0, 0, 0]
    for pair in zip(gold, guessed, strict=True):
        before = [("O", ""), ("O", "")]
        open_correct = False
        for tokens in [*zip(*pair, strict=True), ("O", "O")]:
            now = [(tag, "") if tag == "O" else tuple(tag.split("-", 1)) for tag in tokens]
            ends = [old[0] != "O" and (new[0] in "BO" or old[1] != new[1]) for old, new in zip(before, now, strict=True)]
            begins = [
                new[0] == "B" or (new[0] == "I" and (old[0] == "O" or old[1] != new[1]))
                for old, new in zip(before, now, strict=True)
            ]
            if open_correct and any(ends):
                totals[0] += all(ends) and kind in {None, before[0][1]}
                open_correct = False
            if all(begins) and now[0][1] == now[1][1]:
                open_correct = True
            for side, place in ((1, 1), (0, 2)):
                totals[place] += begins[side] and kind in {None, now[side][1]}
            before = now
    return totals[0], totals[1], totals[2]


def test_a_chunk_is_right_only_if_both_ends_and_the_type_are() -> None:
    gold = sentences("B-NP I-NP B-VP O B-NP", "B-NP I-NP I-NP")
    output = sentences("B-NP I-NP B-NP O B-NP", "B-NP I-NP O")
    assert count("chunk-recall", gold, output) == [[2, 3], [0, 1]]
    assert count("chunk-precision", gold, output) == [[2, 3], [0, 1]]
    assert count("chunk-f1", gold, output) == [[2, 6], [0, 2]]
    assert score("chunk-f1", gold, output) == 50.0


def test_types_choose_what_counts() -> None:
    gold, output = sentences("B-NP B-VP O B-PP"), sentences("B-NP B-VP B-NP O")
    assert count("chunk-recall", gold, output, types=["NP"]) == [[1, 1]]
    assert count("chunk-precision", gold, output, types=["NP"]) == [[1, 2]]
    assert count("chunk-f1", gold, output, types=["PP", "VP"]) == [[1, 3]]


def test_a_chunk_that_begins_with_i_is_a_chunk() -> None:
    assert list(find_chunks(["I-NP", "I-VP", "O", "I-VP", "I-VP", "B-VP"])) == [
        (0, 1, "NP"),
        (1, 2, "VP"),
        (3, 5, "VP"),
        (5, 6, "VP"),
    ]
    assert list(find_chunks(["B", "I", "O", "I"])) == [(0, 2, ""), (3, 4, "")]


@given(st.lists(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=1, max_size=6), min_size=1, max_size=3))
@settings(deadline=None)
def test_counts_are_those_of_the_published_rules(pairs: list[list[tuple[str, str]]]) -> None:
    gold, output = (sentences(*(" ".join(token[k] for token in one) for one in pairs)) for k in (0, 1))
    if not any(list(find_chunks(one)) for one in gold.columns["chunk"]):
        return
    for kind in (None, *sorted({chunk[2] for one in gold.columns["chunk"] for chunk in find_chunks(one)})):
        options = {} if kind is None else {"types": [kind]}
        correct, found, wanted = count_as_published(gold.columns["chunk"], output.columns["chunk"], kind)
        sums = {name: np.sum(count(name, gold, output, **options), axis=0).tolist() for name in ("chunk-recall", "chunk-f1")}
        assert sums == {"chunk-recall": [correct, wanted], "chunk-f1": [correct, found + wanted]}
        assert np.sum(count("chunk-precision", gold, output, **options), axis=0).tolist() == [correct, found]


def test_tags_count_by_token() -> None:
    gold = items((("a", "b"), ("c",)), tag=(("X", "Y"), ("Z",)))
    assert count("tag-accuracy", gold, items((("a", "b"), ("c",)), tag=(("X", "Z"), ("Z",)))) == [[1, 2], [1, 1]]


def test_an_item_that_an_output_lacks_has_found_nothing() -> None:
    gold, lacking = sentences("B-NP O", "B-VP"), items((("w0", "w1"), ""), chunk=(("B-NP", "O"), ""))
    assert count("chunk-f1", gold, lacking) == [[1, 2], [0, 1]]
    gold = items((("a", "b"), ("c",)), tag=(("X", "Y"), ("Z",)))
    assert count("tag-accuracy", gold, items((("a", "b"), ""), tag=(("X", "Y"), ""))) == [[2, 2], [0, 1]]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (("w0", "v1"), "chunk-f1: token 2 of item '2' is 'v1', and 'w1' in the gold"),
        (("w0",), "chunk-f1: item '2' has 1 tokens, and 2 in the gold"),
        (("w0", "w1", "w2"), "chunk-f1: item '2' has 3 tokens, and 2 in the gold"),
    ],
)
def test_an_output_with_other_tokens_is_refused_with_item_and_line(second: tuple[str, ...], message: str) -> None:
    output = items((("w0",), second), chunk=(("O",), ("O",) * len(second)))
    with pytest.raises(DataError) as caught:
        count("chunk-f1", sentences("B-NP", "O B-NP"), output)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message, problem.where) == ("P245", message, "f:11")


def test_ten_items_that_differ_are_told_and_no_more() -> None:
    with pytest.raises(DataError) as caught:
        count("chunk-f1", sentences(*["B-NP"] * 30), sentences(*["B-NP O"] * 30))
    assert len(caught.value.problems) == 10


def test_a_type_that_the_gold_does_not_have_is_refused() -> None:
    with pytest.raises(DataError, match="no chunk of the types NN; it has NP, VP"):
        count("chunk-f1", sentences("B-NP B-VP"), sentences("O O"), types=["NN"])


@pytest.mark.parametrize("types", ["NP", [], ["NP", "NP"], [1], [""], {"NP": 1}])
def test_types_are_a_list_of_words(types: object) -> None:
    with pytest.raises(StudyError, match="P151"):
        load_metric("chunk-f1", {"types": types})


def test_gold_without_chunks_or_tags_is_refused() -> None:
    gold = items((("a",),))
    for name in ("chunk-recall", "tag-accuracy"):
        for given_ in (gold, None):
            with pytest.raises(DataError, match="P225"):
                load_metric(name).prepare(given_)
    with pytest.raises(DataError, match="P226"):
        count("chunk-recall", sentences("B-NP"), items((("w0",),)))


def test_the_signature_pins_types_in_one_order() -> None:
    assert load_metric("chunk-f1").signature == "chunk-f1|types:all|rules:conlleval|unit:percent"
    one, other = (load_metric("chunk-recall", {"types": types}).signature for types in (["VP", "NP"], ["NP", "VP"]))
    assert one == other == "chunk-recall|types:NP,VP|rules:conlleval|unit:percent"


# --- real data


@pytest.mark.data
@pytest.mark.parametrize(("folder", "baseline"), [("conll2000", "baseline_most_frequent_np_tag_per_pos"), ("twitter-chunks", None)])
def test_a_most_frequent_tag_chunker_has_the_published_counts(folder: str, baseline: str | None, data_dir: Path) -> None:
    expected = json.loads((data_dir / folder / "expected.json").read_text())
    wanted = expected[baseline or "baseline_trained_on_conll2000_most_frequent_np_tag_per_pos"]
    train, gold = (
        load_reader("columns").read_gold([data_dir / path], {}) for path in ("conll2000/train.txt.gz", f"{folder}/test.txt.gz")
    )
    assert train is not None
    assert gold is not None
    seen: dict[str, dict[str, int]] = {}
    for tags, chunks in zip(train.columns["tag"], train.columns["chunk"], strict=True):
        for tag, chunk in zip(tags, chunks, strict=True):
            of_tag = seen.setdefault(tag, {})
            kept = chunk if chunk.endswith("-NP") else "O"
            of_tag[kept] = of_tag.get(kept, 0) + 1
    usual = {tag: max(of_tag, key=lambda chunk: of_tag[chunk]) for tag, of_tag in seen.items()}
    guessed = tuple(tuple(usual.get(tag, "O") for tag in tags) for tags in gold.columns["tag"])
    output = Items(gold.ids, {**gold.columns, "chunk": guessed}, "baseline", gold.lines)
    correct, found = np.sum(count("chunk-precision", gold, output, types=["NP"]), axis=0)
    assert {"correct": correct, "gold": np.sum(count("chunk-recall", gold, output, types=["NP"]), axis=0)[1], "guessed": found} == {
        key: wanted[key] for key in ("correct", "gold", "guessed")
    }
    for name in ("recall", "precision", "f1"):
        if name in wanted:
            assert score(f"chunk-{name}", gold, output, types=["NP"]) == pytest.approx(100 * wanted[name], abs=5e-5)


@pytest.mark.data
def test_made_up_errors_count_as_the_published_rules_count_them(data_dir: Path) -> None:
    gold = load_reader("columns").read_gold([data_dir / "twitter-chunks" / "test.txt.gz"], {})
    assert gold is not None
    draw = random.Random(7)
    wrong = tuple(tuple(draw.choice(TAGS) if draw.random() < 0.1 else tag for tag in tags) for tags in gold.columns["chunk"])
    output = Items(gold.ids, {**gold.columns, "chunk": wrong}, "made up", gold.lines)
    for kind in (None, "NP", "VP"):
        options = {} if kind is None else {"types": [kind]}
        correct, found, wanted = count_as_published(gold.columns["chunk"], wrong, kind)
        assert np.sum(count("chunk-f1", gold, output, **options), axis=0).tolist() == [correct, found + wanted]
        assert np.sum(count("chunk-recall", gold, output, **options), axis=0).tolist() == [correct, wanted]


@pytest.mark.data
def test_tag_accuracy_is_that_of_scikit_learn(data_dir: Path) -> None:
    from sklearn.metrics import accuracy_score

    gold = load_reader("tagged").read_gold([data_dir / "brown" / "humor.tagged.txt.gz"], {})
    assert gold is not None
    draw = random.Random(7)
    wrong = tuple(tuple("nn" if draw.random() < 0.2 else tag for tag in tags) for tags in gold.columns["tag"])
    output = Items(gold.ids, {"word": gold.columns["word"], "tag": wrong}, "made up", gold.lines)
    flat = [[tag for tags in column for tag in tags] for column in (gold.columns["tag"], wrong)]
    assert score("tag-accuracy", gold, output) == pytest.approx(100 * accuracy_score(*flat), rel=1e-15)
