"""The reference chunkers: exact on cases that can be done by trying everything, and as good on real text as their papers say."""

from __future__ import annotations

import importlib
import itertools
import pickle
import random
from collections import Counter

import numpy as np
import pytest

from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import Items, TrainingItems
from pipeline.items.readers.columns import ColumnsReader
from pipeline.metrics.chunks import ChunkRecall
from reference_systems._chunks import chunk_spans, chunk_tags, count_sentences
from reference_systems._covers import choose_candidates, score_candidates
from reference_systems._sequences import lay_out, number_sequences
from reference_systems._tiles import learn_tiles
from reference_systems._winnow import WinnowRule, close_brackets, train_winnow
from reference_systems.crf import CrfTrainer
from reference_systems.mbsl import MbslTrainer
from reference_systems.snow import SnowTrainer

TRAINERS = {
    "mbsl": MbslTrainer,
    "mbsl, context 3": lambda **options: MbslTrainer(context=3, **options),
    "snow": SnowTrainer,
    "crf": CrfTrainer,
}
WORDS = {
    "DT": "the a",
    "JJ": "old red slow",
    "NN": "dog boat hill",
    "NNS": "dogs boats",
    "PRP": "she they",
    "VB": "sees has",
    "IN": "by on",
}


def make_items(tags, chunks=None):
    words = tuple(tuple(WORDS.get(tag, "what which").split()[k % 2] for k, tag in enumerate(sentence)) for sentence in tags)
    columns = {"word": words, "tag": tuple(tags)}
    if chunks is not None:
        columns["chunk"] = tuple(chunks)
    return TrainingItems(tuple(str(k) for k in range(1, len(words) + 1)), columns)


def make_corpus(sentences, seed):
    """Sentences of a little grammar: NP VB NP (IN NP)*; tags say where noun phrases are, nearly."""
    rng = random.Random(seed)
    tags, chunks = [], []
    for _ in range(sentences):
        parts = [noun_phrase(rng), ["VB"], noun_phrase(rng)]
        for _ in range(rng.randrange(3)):
            parts += [["IN"], noun_phrase(rng)]
        tags.append(tuple(tag for part in parts for tag in part))
        named = [("B-NP", "I-NP") if part[0] not in ("VB", "IN") else ("B-VP" if part[0] == "VB" else "B-PP",) for part in parts]
        chunks.append(tuple(name[min(k, 1)] for part, name in zip(parts, named, strict=True) for k in range(len(part))))
    return make_items(tags, chunks)


def noun_phrase(rng):
    if rng.random() < 0.2:
        return ["PRP"]
    return ["DT"] * (rng.random() < 0.6) + ["JJ"] * rng.randrange(3) + [rng.choice(["NN", "NNS"])]


def blind(items):
    return make_items(items.columns["tag"])


def chunked(trainer, training, sample, test, workdir, seed=1):
    model = trainer.fit(training, np.asarray(sample, dtype=np.int64), seed=seed, workdir=workdir)
    return trainer.predict(pickle.loads(pickle.dumps(model)), test)["chunk"]


def recall(gold, predicted):
    wanted = [set(chunk_spans(tags, "NP")) for tags in gold]
    found = [set(chunk_spans(tags, "NP")) for tags in predicted]
    return sum(len(w & f) for w, f in zip(wanted, found, strict=True)) / sum(map(len, wanted))


# ---- all of them


@pytest.mark.parametrize("name", TRAINERS)
def test_a_grammar_is_learnt_from_eighty_sentences(name, tmp_path):
    training, test = make_corpus(80, seed=1), make_corpus(60, seed=2)
    predicted = chunked(TRAINERS[name](), training, np.arange(80), blind(test), tmp_path)
    assert recall(test.columns["chunk"], predicted) > 0.97
    assert [len(tags) for tags in predicted] == [len(tags) for tags in test.columns["tag"]]
    assert {tag for tags in predicted for tag in tags} == {"B-NP", "I-NP", "O"}


@pytest.mark.parametrize("name", TRAINERS)
def test_the_same_sample_gives_the_same_model_whatever_the_seed(name, tmp_path):
    training, sample = make_corpus(40, seed=3), np.random.default_rng(1).integers(0, 40, 40)
    trainer = TRAINERS[name]()
    first, second = (pickle.dumps(trainer.fit(training, sample, seed=seed, workdir=tmp_path)) for seed in (1, 2))
    assert first == second


@pytest.mark.parametrize("name", TRAINERS)
def test_a_sentence_drawn_twice_is_two_sentences(name, tmp_path):
    # The same tags bracketed in two ways: what was drawn more often is learnt.
    tags, one, two = ("DT", "NN", "NN"), ("B-NP", "I-NP", "I-NP"), ("B-NP", "I-NP", "B-NP")
    training, test = make_items([tags, tags], [one, two]), make_items([tags])
    trainer = TRAINERS[name]()
    assert chunked(trainer, training, [0, 1, 0, 0], test, tmp_path) == (one,)
    assert chunked(trainer, training, [1, 0, 1, 1], test, tmp_path) == (two,)


@pytest.mark.parametrize("name", TRAINERS)
def test_chunks_of_other_types_count_as_outside(name, tmp_path):
    training, test = make_corpus(40, seed=4), make_corpus(20, seed=5)
    blank = [tuple(tag if tag.endswith("NP") else "O" for tag in tags) for tags in training.columns["chunk"]]
    sample, trainer = np.arange(40), TRAINERS[name]()
    plain = make_items(training.columns["tag"], blank)
    assert chunked(trainer, training, sample, blind(test), tmp_path) == chunked(trainer, plain, sample, blind(test), tmp_path)


@pytest.mark.parametrize("name", TRAINERS)
def test_another_type_of_chunk_can_be_learnt(name, tmp_path):
    training = make_corpus(40, seed=4)
    predicted = chunked(TRAINERS[name](type="VP"), training, np.arange(40), make_items([("PRP", "VB", "NN")]), tmp_path)
    assert predicted == (("O", "B-VP", "O"),)


@pytest.mark.parametrize("name", TRAINERS)
def test_a_sample_without_chunks_finds_none_and_says_so(name, tmp_path):
    training, test = make_items([("VB", "RB"), ()], [("B-VP", "O"), ()]), make_items([("VB", "NN"), (), ("RB",)])
    for sample in ([0], [0, 1], [1], [1, 1, 0]):
        trainer = TRAINERS[name]()
        model = trainer.fit(training, np.array(sample), seed=1, workdir=tmp_path)
        assert trainer.predict(model, test)["chunk"] == (("O", "O"), (), ("O",))
        assert model.notes == ("the sample has no chunk of type NP: none is found",)


@pytest.mark.parametrize("name", TRAINERS)
def test_one_sentence_is_enough_and_unknown_tags_do_no_harm(name, tmp_path):
    training = make_items([("DT", "NN", "VB")], [("B-NP", "I-NP", "O")])
    test = make_items([("DT", "NN", "VB"), ("XX",), (), ("XX", "YY", "ZZ"), ("VB", "XX", "DT", "NN", "VB")])
    predicted = chunked(TRAINERS[name](), training, [0], test, tmp_path)
    assert [len(tags) for tags in predicted] == [3, 1, 0, 3, 5]
    assert predicted[0] == ("B-NP", "I-NP", "O")


@pytest.mark.parametrize("name", TRAINERS)
def test_a_test_set_without_sentences_is_predicted(name, tmp_path):
    assert chunked(TRAINERS[name](), make_corpus(3, seed=1), [0, 1], make_items([]), tmp_path) == ()


@pytest.mark.parametrize(
    ("trainer", "options"),
    [
        (MbslTrainer, {"context": -1}),
        (MbslTrainer, {"context": 7}),
        (MbslTrainer, {"context": True}),
        (MbslTrainer, {"threshold": 1.0}),
        (MbslTrainer, {"type": "B NP"}),
        (SnowTrainer, {"cycles": 0}),
        (SnowTrainer, {"promotion": 0.9}),
        (SnowTrainer, {"demotion": 1.5}),
        (SnowTrainer, {"initial": 0.0}),
        (SnowTrainer, {"type": ""}),
        (CrfTrainer, {"penalty": -1.0}),
        (CrfTrainer, {"iterations": 0}),
        (CrfTrainer, {"type": 3}),
    ],
)
def test_a_value_of_no_use_is_refused(trainer, options):
    with pytest.raises(StudyError) as caught:
        trainer(**options)
    assert [problem.code for problem in caught.value.problems] == ["P151"]
    assert next(iter(options)) in str(caught.value)


# ---- spans


def test_spans_and_tags_are_each_other():
    for length in range(6):
        for tags in itertools.product(("O", "B-NP", "I-NP"), repeat=length):
            spans = chunk_spans(tags, "NP")
            assert chunk_spans(chunk_tags(length, spans, "NP"), "NP") == spans
            assert sum(end - start for start, end in spans) == sum(tag != "O" for tag in tags)


def test_no_sequence_reaches_into_the_next_sentence():
    text = lay_out([("NN",), ("NN", "VB")], {"NN": 1, "VB": 2})
    (_, ones), (_, twos), *_, (keys, fours) = number_sequences(text, 9)
    assert text.symbols.tolist() == [0, 1, 0, 0, 1, 2, 0]
    assert ones.tolist() == [0, 1, 0, 0, 1, 2, 0]
    assert [place for place, number in enumerate(twos.tolist()) if number < 0] == [2, 6]
    assert len(keys) == 1
    assert fours.tolist() == [-1, -1, -1, 0, -1, -1, -1]


# ---- MBSL


def all_tiles(tags, spans, context):
    """Every tile of a sentence's chunks: tags, place of the opening bracket, place of the closing one, None where it has none."""
    padded = ("#", *tags, "#")
    for first, after in spans:
        first, after = first + 1, after + 1
        for begin in range(max(0, first - context), after):
            for end in range(max(begin, first) + 1, min(len(padded), after + context) + 1):
                # At a chunk's own edge a part of the bracketed text may hold the bracket or stop short of it.
                for left in [first - begin] if begin < first else [0, None] if begin == first else [None]:
                    for right in [after - begin] if end > after else [after - begin, None] if end == after else [None]:
                        if left is not None or right is not None:
                            yield padded[begin:end], left, right


def stands(sentences, wanted):
    return sum(
        times * sum(("#", *tags, "#")[k : k + len(wanted)] == wanted for k in range(len(tags) + 3 - len(wanted)))
        for tags, _, times in sentences
    )


@pytest.mark.parametrize(("context", "threshold"), [(0, 0.5), (1, 0.5), (3, 0.5), (2, 0.0), (1, 0.8)])
def test_tiles_match_where_counting_by_hand_says_so(context, threshold):
    items = make_corpus(8, seed=6)
    sample = np.array([0, 1, 2, 3, 4, 5, 6, 7, 7, 3, 3])
    sentences = count_sentences(items, sample, "NP")
    plain = [(s.tags, s.spans, s.times) for s in sentences]
    positives = Counter()
    for tags, spans, times in plain:
        for tile in all_tiles(tags, spans, context):
            positives[tile] += times
    matching = {tile for tile, times in positives.items() if times > threshold * stands(plain, tile[0])}
    memory = learn_tiles(sentences, context=context, threshold=threshold)
    text = lay_out((tags for tags, _, _ in plain), memory.numbers)
    found = memory.look_up(text)
    names = {number: tag for tag, number in memory.numbers.items()} | {0: "#"}
    seen = set()
    for length, place in itertools.product(range(1, found.shape[1] + 1), range(len(text.symbols))):
        tags = tuple(names[number] for number in text.symbols[place : place + length].tolist())
        left, whole, right = (int(bits) for bits in found[:, length - 1, place])
        for before in range(context + 1):
            seen |= {(tags, before, None)} if left >> before & 1 else set()
            seen |= {(tags, None, length - before)} if right >> before & 1 else set()
            for after in range(context + 1):
                seen |= {(tags, before, length - after)} if whole >> (before * (context + 1) + after) & 1 else set()
    assert seen == matching
    assert len(matching) > 20


def covers_by_trying(tiles, m):
    """Every cover: rows of intervals that begin and end ever later, without gaps, from the opening bracket to the closing one."""

    def go_on(row):
        if row[-1][1] > m:
            yield row
        for tile in tiles:
            if row[-1][0] < tile[0] <= row[-1][1] + 1 and row[-1][1] < tile[1]:
                yield from go_on([*row, tile])

    for tile in tiles:
        if tile[0] <= 0:
            yield from go_on([tile])


def test_candidates_have_the_numbers_that_trying_all_covers_gives():
    rng = np.random.default_rng(7)
    context, longest, tokens = 1, 4, 5
    kept = rng.random((3, longest + 2 * context, tokens + 2)) < 0.6
    found = np.where(kept, rng.integers(0, 16, kept.shape), 0)
    found[0] &= 3
    found[2] &= 3
    spans, numbers = score_candidates(found, 0, tokens + 2, context, longest)
    by_span = {(first, last): tuple(row) for (first, last), row in zip(spans.tolist(), numbers.tolist(), strict=True)}
    expected = {}
    for first, last in itertools.combinations(range(1, tokens + 2), 2):
        m = last - first
        if m > longest:
            continue
        tiles = []
        for outside, part in itertools.product((0, 1), range(1, m + 1)):
            if found[0, outside + part - 1, first - outside] >> outside & 1:
                tiles.append((-outside, part))
            if last + outside <= tokens + 2 and found[2, outside + part - 1, last - part] >> outside & 1:
                tiles.append((m + 1 - part, m + 1 + outside))
        for before, after in itertools.product((0, 1), (0, 1)):
            if found[1, before + m + after - 1, first - before] >> (before * 2 + after) & 1:
                tiles.append((-before, m + 1 + after))
        covers = list(covers_by_trying(tiles, m))
        if covers:
            expected[first, last] = (
                min(map(len, covers)),
                max(cover[-1][1] - m - 1 - cover[0][0] for cover in covers),
                max(max((a[1] - b[0] + 1 for a, b in itertools.pairwise(cover)), default=0) for cover in covers),
                len(covers),
            )
    assert by_span == expected
    assert len({row[3] for row in expected.values()}) > 3


def test_candidates_are_taken_in_order_unless_they_overlap():
    spans = np.array([[0, 2], [1, 3], [2, 4], [4, 5]])
    assert choose_candidates(spans, np.array([1, 0, 2, 3])).tolist() == [False, True, False, True]
    assert choose_candidates(spans, np.array([3, 2, 1, 0])).tolist() == [True, False, True, True]


def test_the_order_of_a_sample_is_nothing_to_mbsl(tmp_path):
    items, sample = make_corpus(30, seed=8), np.random.default_rng(2).integers(0, 30, 30)
    trainer = MbslTrainer(context=2)
    memories = [trainer.fit(items, s, seed=1, workdir=tmp_path).memory for s in (sample, np.sort(sample)[::-1])]
    assert pickle.dumps(memories[0]) == pickle.dumps(memories[1])


def test_more_context_tells_apart_what_less_cannot(tmp_path):
    # JJ NN is a chunk after VB; after VB and RB it is two words outside.
    tags = [("VB", "CC", "JJ", "NN"), ("RB", "CC", "JJ", "NN")]
    training = make_items(tags, [("O", "O", "B-NP", "I-NP"), ("O",) * 4])
    found = {c: chunked(MbslTrainer(context=c), training, [0, 1], make_items(tags), tmp_path) for c in (1, 3)}
    assert found[1] == (("O",) * 4, ("O",) * 4)
    assert found[3] == (("O", "O", "B-NP", "I-NP"), ("O",) * 4)


def test_predictions_do_not_depend_on_the_sentences_beside_them(tmp_path, monkeypatch):
    training, test = make_corpus(30, seed=9), blind(make_corpus(23, seed=10))
    for module, trainer in (("mbsl", MbslTrainer()), ("snow", SnowTrainer())):
        whole = chunked(trainer, training, np.arange(30), test, tmp_path)
        monkeypatch.setattr(importlib.import_module(f"reference_systems.{module}"), "_BATCH", 4)
        assert chunked(trainer, training, np.arange(30), test, tmp_path) == whole


# ---- SNoW


def winnow_by_hand(features, targets, order, rule):
    weights = [{} for _ in targets]
    for _ in range(rule.cycles):
        for example in order:
            for linked, wanted in zip(weights, (target[example] for target in targets), strict=True):
                active = features[example]
                if wanted:
                    for feature in active:
                        linked.setdefault(feature, rule.initial)
                fired = sum(linked.get(feature, 0.0) for feature in active) >= 1.0
                if fired != wanted:
                    for feature in active:
                        if feature in linked:
                            linked[feature] *= rule.promotion if wanted else rule.demotion
    return weights


def test_winnow_learns_what_its_definition_says():
    rng = np.random.default_rng(3)
    features = np.stack([rng.permutation(9)[:4] for _ in range(40)]).astype(np.int32)
    targets = rng.random((2, 40)) < 0.4
    starts, ends = np.array([0, 10, 25]), np.array([10, 25, 40])
    rule = WinnowRule(3, 1.5, 0.75, 0.25)  # sums of few bits: no rounding
    weights = train_winnow(features, targets, starts, ends, np.array([2, 0, 2, 1]), 10, rule)
    order = [k for s in (2, 0, 2, 1) for k in range(starts[s], ends[s])]
    by_hand = winnow_by_hand(features.tolist(), targets.tolist(), order, rule)
    expected = [[linked.get(feature, 0.0) for feature in range(10)] for linked in by_hand]
    np.testing.assert_allclose(weights, expected, rtol=1e-12)
    assert len(np.unique(weights)) > 8


def test_weights_stay_finite_and_linked_after_any_number_of_mistakes():
    features, targets = np.zeros((2, 1), np.int32), np.array([[True, False]])
    weights = train_winnow(
        features, targets, np.array([0]), np.array([2]), np.zeros(2000, np.int64), 1, WinnowRule(1, 1.0, 0.01, 1.0)
    )
    # One feature for both: demoted at every negative that fires and never promoted.
    assert 0.0 < weights[0, 0] < 1.0
    weights = train_winnow(
        features, targets[:, :1], np.array([0]), np.array([1]), np.zeros(2000, np.int64), 1000, WinnowRule(1000, 100.0, 0.5, 1e-6)
    )
    assert np.isfinite(weights).all()


def test_brackets_match_and_have_the_greatest_sum():
    rng = np.random.default_rng(4)
    for length in (0, 1, 2, 5, 6):
        for _ in range(30):
            opens, closes = rng.integers(-6, 5, (2, length)).astype(float) + rng.random((2, length)) / 100
            found = close_brackets(opens, closes).tolist()
            assert all(a < b for a, b in found)
            assert all(left[1] <= right[0] for left, right in itertools.pairwise(found))
            best = max(sum(opens[a] + closes[b - 1] for a, b in row) for row in rows_of_chunks(length))
            assert sum(opens[a] + closes[b - 1] for a, b in found) == pytest.approx(best, abs=1e-12)


def rows_of_chunks(length, start=0):
    yield []
    for first in range(start, length):
        for after in range(first + 1, length + 1):
            for rest in rows_of_chunks(length, after):
                yield [(first, after), *rest]


def test_the_order_of_a_sample_is_the_order_of_examples_for_snow(tmp_path):
    items, trainer = make_corpus(30, seed=11), SnowTrainer()
    forward, backward = (trainer.fit(items, sample, seed=1, workdir=tmp_path) for sample in (np.arange(30), np.arange(30)[::-1]))
    assert not np.array_equal(forward.weights, backward.weights)


# ---- CRF


def test_without_its_package_the_field_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pycrfsuite", None)
    with pytest.raises(PluginError) as caught:
        CrfTrainer()
    problem = caught.value.problems[0]
    assert problem.code == "P302"
    assert problem.help == "pip install python-crfsuite"


def test_the_field_learns_from_words_where_tags_are_the_same(tmp_path):
    tags = ("NN", "NN")
    training = TrainingItems(
        ("1", "2"),
        {"word": (("red", "dog"), ("Anna", "dog")), "tag": (tags, tags), "chunk": (("B-NP", "I-NP"), ("B-NP", "B-NP"))},
    )
    test = TrainingItems(("1", "2"), {"word": (("Anna", "boat"), ("red", "boat")), "tag": (tags, tags)})
    found = chunked(CrfTrainer(penalty=0.01), training, [0, 1, 0, 1], test, tmp_path)
    assert found == (("B-NP", "B-NP"), ("B-NP", "I-NP"))


# ---- real text


@pytest.fixture(scope="module")
def conll(data_dir):
    reader = ColumnsReader()
    return tuple(reader.read_gold([data_dir / "conll2000" / f"{part}.txt.gz"], {}) for part in ("train", "test"))


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("trainer", "published"),
    [(MbslTrainer(context=1), 89.74), (MbslTrainer(context=3), 91.58), (SnowTrainer(), 91.23)],
    ids=["mbsl, context 1", "mbsl, context 3", "snow"],
)
def test_recall_on_the_paper_s_sections_is_within_half_a_point_of_the_paper(conll, trainer, published, tmp_path):
    training, gold = conll
    items = TrainingItems(training.ids, training.columns)
    model = trainer.fit(items, np.arange(len(items)), seed=1, workdir=tmp_path)
    shown = TrainingItems(gold.ids, {name: gold.columns[name] for name in ("word", "tag")})
    metric = ChunkRecall(types=["NP"])
    output = Items(gold.ids, trainer.predict(model, shown), "predicted", gold.lines)
    found, wanted = metric.extract(metric.prepare(gold), output).values.sum(axis=0)
    assert 100 * found / wanted == pytest.approx(published, abs=0.5)
