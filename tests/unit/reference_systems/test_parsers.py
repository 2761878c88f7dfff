"""Dependency parsers: decoders and oracle against enumeration, averages against naive ones, treebanks made by a grammar."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.errors import StudyError
from pipeline.interfaces import Items, TrainingItems
from pipeline.items.readers.conllu import ConlluReader
from pipeline.metrics.attachment import Uas
from pipeline.testing import TrainerContract, TrainerExample, take_training_items
from reference_systems._dependencies import UNKNOWN, learn_vocabulary
from reference_systems._hashed_weights import average, change, shuffle, start_random
from reference_systems._spanning_trees import best_projective_tree, best_tree, is_projective
from reference_systems._transitions import LEFT, RIGHT, SHIFT, step_costs
from reference_systems._votes import reparse, vote_relations
from reference_systems.ensemble_parser import EnsembleParserTrainer
from reference_systems.graph_parser import GraphParserTrainer
from reference_systems.transition_parser import TransitionParserTrainer

SMALL = {"epochs": 6, "bits": 14}
TRAINERS = [GraphParserTrainer, TransitionParserTrainer, EnsembleParserTrainer]


@cache
def trees(n: int, *, projective: bool) -> tuple[tuple[int, ...], ...]:
    """All trees of n words with one root: the heads of words 1 … n."""
    found = []
    for heads in itertools.product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and all(_reaches_root(heads, word) for word in range(1, n + 1)):
            crossing = any(
                a < c < b < d for (a, b), (c, d) in itertools.permutations([sorted(arc) for arc in enumerate(heads, 1)], 2)
            )
            if not (projective and crossing):
                found.append(heads)
    return tuple(found)


def _reaches_root(heads: tuple[int, ...], word: int) -> bool:
    for _ in heads:
        word = heads[word - 1]
        if word == 0:
            return True
    return False


def weigh(scores: np.ndarray[Any, Any], heads: Any) -> int:
    return int(sum(scores[head, word] for word, head in enumerate(heads, 1)))


@pytest.mark.parametrize(("projective", "decode"), [(True, best_projective_tree), (False, best_tree)], ids=["eisner", "edmonds"])
def test_a_decoder_finds_the_best_of_all_trees(projective: bool, decode: Any) -> None:
    generator = np.random.default_rng(1)
    for n, spread in itertools.product((1, 2, 3, 4, 5), (2, 10, 10**9)):
        for _ in range(20):
            scores = generator.integers(-spread, spread, (n + 1, n + 1))
            heads = tuple(decode(scores)[1:].tolist())
            assert heads in trees(n, projective=projective)
            assert weigh(scores, heads) == max(weigh(scores, tree) for tree in trees(n, projective=projective))


def test_trees_are_counted_as_theory_says() -> None:
    """Rooted labelled trees by Cayley's formula, n ** (n − 1); those without crossing arcs are 1, 2, 7, 30, 143."""
    assert [len(trees(n, projective=False)) for n in (1, 2, 3, 4, 5)] == [1, 2, 9, 64, 625]
    assert [len(trees(n, projective=True)) for n in (1, 2, 3, 4, 5)] == [1, 2, 7, 30, 143]


def test_crossing_arcs_are_recognised() -> None:
    for tree in trees(5, projective=False):
        assert is_projective(np.array([-1, *tree])) == (tree in trees(5, projective=True))


def test_a_long_sentence_is_one_tree_without_projectivity() -> None:
    scores = np.random.default_rng(2).integers(-100, 100, (121, 121))
    heads = tuple(best_tree(scores)[1:].tolist())
    assert heads.count(0) == 1
    assert all(_reaches_root(heads, word) for word in range(1, 121))
    assert weigh(scores, heads) >= weigh(scores, best_projective_tree(scores)[1:])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_dynamic_oracle_costs_what_an_exhaustive_search_finds(n: int) -> None:
    for tree in trees(n, projective=True):
        gold = np.array([0, *(n + 1 if head == 0 else head for head in tree), 0])
        for stack, front in _configurations(n):
            fewest = _fewest_errors(stack, front, tuple(gold.tolist()))
            costs = np.zeros(3, np.int64)
            step_costs(np.array([*stack, 0]), len(stack), front, gold, costs)
            for step, error, after in _steps(stack, front, tuple(gold.tolist())):
                assert costs[step] == error + _fewest_errors(*after, tuple(gold.tolist())) - fewest, (tree, stack, front, step)


def _configurations(n: int) -> list[tuple[tuple[int, ...], int]]:
    """All that can be met: any of the tokens before the front may have left the stack, but not all still wait for heads."""
    found, waiting = set(), [((), 1)]
    while waiting:
        stack, front = waiting.pop()
        if (stack, front) not in found:
            found.add((stack, front))
            waiting += [after for _, _, after in _steps(stack, front, (0,) * (n + 2))]
    return sorted(found)


def _steps(stack: tuple[int, ...], front: int, gold: tuple[int, ...]) -> list[Any]:
    """What may be done where the root takes any number of dependents: step, wrong arcs it makes, what it leads to."""
    steps: list[Any] = []
    if front <= len(gold) - 2:
        steps.append((SHIFT, 0, ((*stack, front), front + 1)))
    if stack:
        steps.append((LEFT, int(gold[stack[-1]] != front), (stack[:-1], front)))
    if len(stack) > 1:
        steps.append((RIGHT, int(gold[stack[-1]] != stack[-2]), (stack[:-1], front)))
    return steps


@cache
def _fewest_errors(stack: tuple[int, ...], front: int, gold: tuple[int, ...]) -> int:
    return min((error + _fewest_errors(*after, gold) for _, error, after in _steps(stack, front, gold)), default=0)


def test_the_average_is_that_of_the_weights_after_every_step() -> None:
    generator = np.random.default_rng(3)
    weights, totals, naive = np.zeros(8, np.int32), np.zeros(8, np.int64), np.zeros(8, np.int64)
    for step in range(1, 51):
        for _ in range(generator.integers(0, 4)):
            change(weights, totals, int(generator.integers(8)), int(generator.integers(-2, 3)), step)
        naive += weights
    assert naive.any()
    assert (average(weights, totals, 50) == naive).all()


def test_shuffling_gives_all_orders_alike() -> None:
    """24 orders, 24 000 shuffles with a fixed seed; a false alarm of the chi-squared bound of 75 has a chance below 1e-6."""
    random, counts = start_random(4, 1), dict.fromkeys(itertools.permutations(range(4)), 0)
    for _ in range(24_000):
        order = np.arange(4)
        shuffle(order, random)
        counts[tuple(order.tolist())] += 1
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 75


@pytest.mark.parametrize("projective", [True, False])
def test_reparsed_votes_are_a_tree_with_at_least_the_votes_of_any_member(projective: bool) -> None:
    generator = np.random.default_rng(5)
    n, starts = 5, np.array([0, 8])
    for _ in range(100):
        members = [trees(n, projective=True)[k] for k in generator.integers(0, 143, 3)]
        proposed = np.full((3, 8), -1, np.int32)
        proposed[:, 2:7] = members
        votes = np.zeros((n + 1, n + 1), np.int64)
        for member in members:
            for word, head in enumerate(member, 1):
                votes[head, word] += 1
        found = tuple(reparse(starts, proposed, projective)[2:7].tolist())
        assert found in trees(n, projective=projective)
        assert weigh(votes, found) == max(weigh(votes, tree) for tree in trees(n, projective=projective))
        assert weigh(votes, found) >= max(weigh(votes, member) for member in members)


def test_relations_are_voted_by_members_with_the_same_arc() -> None:
    heads, fallback = np.array([2, 2, 2, 2]), np.array([9, 9, 9, 9])
    proposed = [
        (np.array([2, 2, 1, 1]), np.array([5, 6, 7, 8])),
        (np.array([2, 2, 2, 1]), np.array([4, 5, 3, 8])),
        (np.array([2, 2, 1, 1]), np.array([4, 4, 7, 8])),
    ]
    assert vote_relations(heads, proposed, fallback).tolist() == [4, 6, 3, 9]


def make_treebank(n: int, seed: int) -> TrainingItems:
    """Sentences of a small grammar of ours: somebody sees something, here or there."""
    generator = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {name: [] for name in ("word", "upos", "tag", "head", "relation")}
    for _ in range(n):
        rows: list[tuple[str, str, str, int, str]] = []
        subject = _add_phrase(rows, generator)
        verb = len(rows) + 1
        rows.append((str(generator.choice(["sees", "finds", "likes"])), "VERB", "VBZ", 0, "root"))
        found = _add_phrase(rows, generator)
        ends = {subject: (verb, "nsubj"), found: (verb, "obj")}
        if generator.random() < 0.5:
            rows.append((str(generator.choice(["in", "near"])), "ADP", "IN", 0, "case"))
            case = len(rows)
            place = _add_phrase(rows, generator)
            ends |= {case: (place, "case"), place: (verb, "obl")}
        rows.append((".", "PUNCT", ".", verb, "punct"))
        for word, (head, relation) in ends.items():
            rows[word - 1] = (*rows[word - 1][:3], head, relation)
        for name, values in zip(columns, zip(*rows, strict=True), strict=True):
            columns[name].append(values)
    return TrainingItems(tuple(str(k + 1) for k in range(n)), {name: tuple(values) for name, values in columns.items()})


def _add_phrase(rows: list[tuple[str, str, str, int, str]], generator: np.random.Generator) -> int:
    adjectives = int(generator.integers(0, 3))
    noun = len(rows) + adjectives + 2
    rows.append((str(generator.choice(["the", "a"])), "DET", "DT", noun, "det"))
    rows.extend((str(generator.choice(["old", "red"])), "ADJ", "JJ", noun, "amod") for _ in range(adjectives))
    rows.append((str(generator.choice(["cat", "house", "tree"])), "NOUN", "NN", 0, ""))
    return noun


def fit_predict(trainer: Any, items: TrainingItems, test: TrainingItems, *, seed: int = 1) -> dict[str, Any]:
    model = trainer.fit(items, np.arange(len(items)), seed=seed, workdir=Path())
    shown = {name: values for name, values in test.columns.items() if name not in trainer.gives}
    return dict(trainer.predict(model, TrainingItems(test.ids, shown)))


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_grammar_is_learnt_without_an_error(trainer: Any) -> None:
    predicted = fit_predict(trainer(**SMALL), make_treebank(150, seed=1), test := make_treebank(60, seed=2))
    assert predicted["head"] == test.columns["head"]
    assert predicted["relation"] == test.columns["relation"]


def test_crossing_arcs_are_found_where_they_may_be() -> None:
    """Word 2 hangs on word 4 and word 3 on word 1: every sentence has crossing arcs."""
    one = (("a", "b", "c", "d"), ("A", "B", "C", "D"), (0, 4, 1, 1), ("root", "x", "y", "z"))
    items = TrainingItems(("1", "2"), dict(zip(("word", "tag", "head", "relation"), ((v, v) for v in one), strict=True)))
    free, bound = (GraphParserTrainer(trees=kind, tags="tag", **SMALL) for kind in ("any", "projective"))
    assert fit_predict(free, items, items)["head"][0] == (0, 4, 1, 1)
    assert fit_predict(bound, items, items)["head"][0] in trees(4, projective=True)
    assert bound.fit(items, np.array([0]), seed=1, workdir=Path()).notes == ("1 of 1 sentences (100.0 %) have crossing arcs",)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_sample_of_one_word_parses_what_it_never_saw(trainer: Any) -> None:
    one = TrainingItems(
        ("1",), {"word": (("go",),), "tag": (("VB",),), "upos": (("VERB",),), "head": ((0,),), "relation": (("root",),)}
    )
    test = make_treebank(5, seed=3)
    predicted = fit_predict(trainer(**SMALL), one, test)
    for words, heads, relations in zip(test.columns["word"], predicted["head"], predicted["relation"], strict=True):
        assert len(heads) == len(relations) == len(words)
        assert heads.count(0) == 1
        assert all(_reaches_root(heads, word) for word in range(1, len(words) + 1))
        assert set(relations) == {"root"}


def test_a_tag_never_seen_stands_for_the_likeliest_that_shares_a_part() -> None:
    items = TrainingItems(
        ("1",),
        {"word": ("abc",), "tag": (("X", "X", "Y"),), "upos": (("A", "B", "B"),), "head": ((0, 1, 1),), "relation": ("rss",)},
    )
    vocabulary = learn_vocabulary(items, np.array([0]), ("tag", "upos"))
    seen = vocabulary.tags
    assert vocabulary.number_tag(("Y", "B")) == seen["Y", "B"]
    assert vocabulary.number_tag(("_", "B")) == seen["X", "B"]
    assert vocabulary.number_tag(("Y", "C")) == seen["Y", "B"]
    assert vocabulary.number_tag(("_", "C")) == UNKNOWN


@pytest.mark.parametrize("trainer", TRAINERS)
def test_the_seed_orders_the_sentences(trainer: Any) -> None:
    """Little is learnt in one pass over few sentences, and what that is depends on their order."""
    items, test = make_treebank(12, seed=4), make_treebank(200, seed=5)
    hurried = trainer(**{**SMALL, "epochs": 1}, **({"step_epochs": 1} if trainer is EnsembleParserTrainer else {}))
    models = [hurried.fit(items, np.arange(12), seed=seed, workdir=Path()) for seed in (1, 2)]
    parsers = [model.members[0] if trainer is EnsembleParserTrainer else model.parser for model in models]
    assert (parsers[0].weights != parsers[1].weights).any()
    assert fit_predict(hurried, items, test, seed=1) == fit_predict(hurried, items, test, seed=1)


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("option", [{"epochs": 0}, {"bits": 40}, {"tags": "lemma"}, {"bits": True}])
def test_an_option_out_of_bounds_is_refused(trainer: Any, option: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="P151"):
        trainer(**option)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("trainer", "least"), [(GraphParserTrainer, 83.0), (TransitionParserTrainer, 83.4), (EnsembleParserTrainer, 84.8)]
)
def test_a_quarter_of_the_web_treebank_gives_the_figures_of_the_page(trainer: Any, least: float, data_dir: Path) -> None:
    """Each fourth sentence, gold tags; docs/reference_systems.md has the figures, here is a point less."""
    gold = [ConlluReader().read_gold([data_dir / "ud-english-ewt" / f"{part}.conllu.gz"], {}) for part in ("train", "test")]
    assert gold[0] is not None
    assert gold[1] is not None
    quarter = take_training_items(TrainingItems(gold[0].ids, gold[0].columns), range(0, len(gold[0]), 4))
    predicted = fit_predict(trainer(), quarter, TrainingItems(gold[1].ids, gold[1].columns))
    output = Items(gold[1].ids, predicted | {"word": gold[1].columns["word"]}, "parses", gold[1].lines, gold[1].numbered)
    metric = Uas()
    correct, words = metric.extract(metric.prepare(gold[1]), output).values.sum(axis=0)
    assert 100 * correct / words >= least


class _ParserContract(TrainerContract):
    trainer: Any

    def example(self) -> TrainerExample:
        return TrainerExample(self.trainer(epochs=2, bits=12), make_treebank(12, seed=6), make_treebank(6, seed=7))


class TestGraphParser(_ParserContract):
    trainer = GraphParserTrainer


class TestTransitionParser(_ParserContract):
    trainer = TransitionParserTrainer


class TestEnsembleParser(_ParserContract):
    trainer = EnsembleParserTrainer


del _ParserContract  # it is abstract: not to be collected
