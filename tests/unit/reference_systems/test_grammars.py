"""The reference grammars: trees found are the best of all, hidden kinds are fitted by exact sums, every sentence gets a tree."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import StudyError
from pipeline.interfaces import Items, TrainingItems
from pipeline.items.readers.brackets import BracketReader
from pipeline.metrics.brackets import BracketF1
from pipeline.testing import TrainerContract, TrainerExample, take_items
from reference_systems._cky import best_tree
from reference_systems._grammar import count_rules, estimate
from reference_systems._latent_grammar import climb, double, lay_out, one_kind
from reference_systems._latent_kernels import expect
from reference_systems._latent_parse import likely_spans, most_expected_tree
from reference_systems._lexicon import count_words
from reference_systems._trees import ROOT, Tree, binarise, leaves, read_tree, restore, write_tree
from reference_systems.latent_pcfg import LatentPcfgTrainer
from reference_systems.pcfg import PcfgTrainer

BANK = """
(S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ sleeps)) (. .))
(S (NP (PRP she)) (VP (VBZ sees) (NP (DT the) (NN dog)) (PP (IN in) (NP (DT the) (NN park)))) (. .))
(S (NP (NP (DT the) (NN man)) (PP (IN in) (NP (DT the) (JJ red) (NN coat)))) (VP (VBZ sings)) (. .))
(S (NP (NNP Anna)) (VP (VBZ says) (SBAR (IN that) (S (NP (PRP she)) (VP (VBZ sings))))) (. .))
(S (VP (VB look)) (. !))
(FRAG (NP (DT a) (JJ big) (JJ red) (NN coat)) (. .))
(S (NP (PRP he)) (VP (VBZ sees) (NP (NP (DT a) (NN park)) (PP (IN with) (NP (DT a) (NN dog))))) (. .))
(SINV (`` ``) (S (NP (PRP he)) (VP (VBZ sleeps))) ('' '') (VP (VBZ says)) (NP (NNP Anna)) (. .))
"""
TREES = tuple(BANK.strip().splitlines())
PARSERS = [PcfgTrainer(), PcfgTrainer(vertical=2, horizontal=1), LatentPcfgTrainer(cycles=1)]


def items(trees):
    pairs = [tuple(zip(*leaves(read_tree(tree)), strict=True)) for tree in trees]
    columns = {"tree": tuple(trees), "word": tuple(words for words, _ in pairs), "tag": tuple(tags for _, tags in pairs)}
    return TrainingItems(ids=tuple(str(k + 1) for k in range(len(trees))), columns=columns)


def sentences(*texts, tags=None):
    words = tuple(tuple(text.split()) for text in texts)
    columns = {"word": words} if tags is None else {"word": words, "tag": tags}
    return TrainingItems(ids=tuple(str(k + 1) for k in range(len(words))), columns=columns)


def parsed(trainer, training, test, sample=None, seed=1):
    sample = np.arange(len(training)) if sample is None else np.asarray(sample)
    model = trainer.fit(training, sample, seed=seed, workdir=Path())
    return trainer.predict(model, test)["tree"], model


class TestPcfg(TrainerContract):
    def example(self):
        return TrainerExample(PcfgTrainer(vertical=2, horizontal=1), items(TREES), items(TREES[::2]))


class TestLatentPcfg(TrainerContract):
    def example(self):
        return TrainerExample(LatentPcfgTrainer(cycles=1, steps=5), items(TREES), items(TREES[::2]))


@pytest.mark.parametrize("horizontal", [None, 0, 1, 2])
@pytest.mark.parametrize("vertical", [1, 2, 3])
def test_a_tree_made_binary_is_restored(vertical, horizontal):
    for text in TREES:
        tree = read_tree(text)
        binary = binarise(tree, vertical=vertical, horizontal=horizontal)
        assert write_tree(restore(binary)) == text
        assert max(len(rule) for rule in count_rules([binary])) == 3
        assert list(leaves(binary)) == list(leaves(tree))


def test_a_label_over_itself_is_left_out_and_a_root_that_says_nothing_too():
    assert write_tree(read_tree("(ROOT (S (NP (NP (NN dogs)))))")) == "(S (NP (NP (NN dogs))))"
    tree = binarise(read_tree("( (S (NP (NP (NN dogs)))))"), vertical=1, horizontal=None)
    assert write_tree(tree) == "(S (NP (NN dogs)))"


@pytest.mark.parametrize("text", ["(S (NN a)", "(S (NN a)))", "(A a) (B b)", ""])
def test_brackets_that_do_not_match_are_refused(text):
    with pytest.raises(ValueError, match="brackets"):
        read_tree(text)


def test_made_up_rules_multiply_to_the_share_of_the_whole_rule():
    training = [*["(A (B b) (C c) (D d) (E e))"] * 3, "(A (B b) (C c) (D d) (D d))", "(A (B b) (C c))"]
    rules = count_rules(binarise(read_tree(text), vertical=1, horizontal=None) for text in training)
    grammar = estimate(rules)
    score, _ = best_tree(grammar, ("b", "c", "d", "e"), word_by_word(grammar, "BCDE"))
    assert math.exp(score) == pytest.approx(3 / 5)


def word_by_word(grammar, tags):
    symbols = np.array([grammar.symbols.index(tag) for tag in tags])
    return np.arange(len(tags) + 1), symbols, np.zeros(len(tags))


def random_rules(generator):
    """Counts of rules over four phrases and three parts of speech, chains and cycles of chains among them."""
    phrases, tags = ["P0", "P1", "P2", "P3"], ["t0", "t1", "t2"]
    rules = Counter({(ROOT, "P0"): 3, (ROOT, "P1"): 1})
    for parent in phrases:
        for _ in range(4):
            rules[(parent, *generator.choice(phrases + tags, size=2).tolist())] += int(generator.integers(1, 5))
        rules[parent, str(generator.choice([name for name in phrases + tags if name != parent]))] += 2
    return rules


def all_trees(rules, words, symbol, i, j, above=()):
    """Yield every tree of a span; no label stands twice in a chain, which could only make it less probable."""
    if j == i + 1 and symbol in words[i]:
        yield Tree(symbol, word="w")
    for rule in rules:
        if rule[0] != symbol:
            continue
        if len(rule) == 2 and rule[1] not in (*above, symbol):
            for part in all_trees(rules, words, rule[1], i, j, (*above, symbol)):
                yield Tree(symbol, (part,))
        elif len(rule) == 3:
            for k in range(i + 1, j):
                for left in all_trees(rules, words, rule[1], i, k):
                    for right in all_trees(rules, words, rule[2], k, j):
                        yield Tree(symbol, (left, right))


def tree_score(rules, words, tree):
    made = Counter()
    for rule, count in rules.items():
        made[rule[0]] += count
    total, position = 0.0, 0
    for _, tag in leaves(tree):
        total, position = total + words[position][tag], position + 1
    return total + sum(n * math.log(rules[rule] / made[rule[0]]) for rule, n in count_rules([tree]).items())


def test_the_tree_found_is_the_best_of_all_trees():
    generator = np.random.default_rng(5)
    found_any = 0
    for _ in range(25):
        rules = random_rules(generator)
        grammar = estimate(rules)
        known = [tag for tag in ("t0", "t1", "t2") if tag in grammar.symbols]
        words = [{tag: math.log(generator.random()) for tag in known if generator.random() < 0.7} for _ in range(4)]
        first = np.concatenate(([0], np.cumsum([len(word) for word in words])))
        symbols = np.array([grammar.symbols.index(tag) for word in words for tag in word], dtype=np.int64)
        values = np.array([value for word in words for value in word.values()], dtype=float)
        score, tree = best_tree(grammar, ("w",) * 4, (first, symbols, values))
        scores = [tree_score(rules, words, top.parts[0]) for top in all_trees(rules, words, ROOT, 0, 4)]
        if tree is None:
            assert not scores
            continue
        found_any += 1
        assert score == pytest.approx(max(scores), rel=1e-12)
        assert tree_score(rules, words, tree) == pytest.approx(score, rel=1e-12)
    assert found_any > 10


@pytest.mark.parametrize("trainer", PARSERS)
def test_a_parser_finds_the_trees_of_a_treebank_without_doubt(trainer):
    sure = items((TREES[0], TREES[4], TREES[5]))
    assert parsed(trainer, sure, sure)[0] == sure.columns["tree"]


@pytest.mark.parametrize("trainer", PARSERS)
def test_words_never_seen_are_parsed_by_their_endings(trainer):
    (tree,), _ = parsed(trainer, items(TREES), sentences("the young cat eats ."))
    assert tree == "(S (NP (DT the) (JJ young) (NN cat)) (VP (VBZ eats)) (. .))"


@pytest.mark.parametrize("trainer", PARSERS)
def test_a_sentence_without_a_tree_gets_a_flat_one_and_the_model_says_so(trainer):
    trees, model = parsed(trainer, items(TREES[:1]), sentences("dog dog", "the old dog sleeps .", ""))
    assert [word for word, _ in leaves(read_tree(trees[0]))] == ["dog", "dog"]
    assert trees[0].startswith("(S (")
    assert trees[0].count("(") == 3
    assert trees[1:] == (TREES[0], "")
    assert model.notes == ("1 of 2 sentences had no tree by this grammar and got a flat one",)


@pytest.mark.parametrize("trainer", [PcfgTrainer(horizontal=0, tags="gold"), LatentPcfgTrainer(cycles=1, tags="gold")])
def test_gold_tags_are_kept_even_those_never_seen(trainer):
    tags = (("DT", "VBZ", "XX", "VBZ", "."),)
    (tree,), _ = parsed(trainer, items(TREES), sentences("the old dog sleeps .", tags=tags))
    assert tuple(tag for _, tag in leaves(read_tree(tree))) == tags[0]
    assert "tag" in trainer.takes


@pytest.mark.parametrize("trainer", PARSERS)
def test_one_tree_or_a_word_alone_is_enough(trainer):
    assert parsed(trainer, items(("(X (UH yes))",)), sentences("no"))[0] == ("(X (UH no))",)


@pytest.mark.parametrize("options", [{"vertical": 0}, {"horizontal": -1}, {"tags": "silver"}])
def test_options_of_no_use_are_refused(options):
    with pytest.raises(StudyError, match=next(iter(options))) as caught:
        PcfgTrainer(**options)
    assert caught.value.problems[0].code == "P151"


@pytest.mark.parametrize("options", [{"cycles": 0}, {"steps": 0}, {"tags": None}])
def test_options_of_hidden_kinds_of_no_use_are_refused(options):
    with pytest.raises(StudyError, match=next(iter(options))):
        LatentPcfgTrainer(**options)


def test_a_frequent_word_has_only_its_tags_and_a_rare_one_leans_on_its_ending():
    lexicon = count_words([("the", "DT")] * 30 + [("walks", "V")] * 2 + [("walks", "N")] + [("talks", "N")])
    the, walks = np.exp(lexicon.scores("the")), np.exp(lexicon.scores("walks"))
    shares = np.array([30, 2, 2]) / 34  # DT, N, V
    np.testing.assert_allclose(the * shares, [1, 0, 0], atol=1e-15)
    ending = lexicon.suffixes.tag_probabilities("walks")
    np.testing.assert_allclose(walks * shares, (np.array([0, 1, 2]) + ending) / 4, rtol=1e-13)


def laid_out():
    trees = [binarise(read_tree(tree), vertical=1, horizontal=0) for tree in TREES]
    return trees, *lay_out(trees, {word: word[-1] for tree in trees for word, _ in leaves(tree)})


def test_one_kind_of_each_symbol_is_the_grammar_of_relative_frequencies():
    _, layout, bank = laid_out()
    found = one_kind(layout, bank)
    assert found.top[layout.symbols.index("S"), 0] == pytest.approx(6 / 8)
    made = Counter(np.repeat(np.arange(len(layout.symbols)), np.diff(layout.first)).tolist())
    for symbol in range(len(layout.symbols)):
        rules = found.binary[layout.first[symbol] : layout.first[symbol + 1]].sum()
        chains = found.chain[layout.chain_first[symbol] : layout.chain_first[symbol + 1]].sum()
        if made[symbol] or chains:
            assert rules + chains == pytest.approx(1.0)
    np.testing.assert_allclose(found.word, 1.0)


def test_likelihood_and_expected_counts_are_sums_over_all_kinds_of_all_nodes():
    trees, _, _ = laid_out()
    layout, bank = lay_out([trees[0]], {word: word for word, _ in leaves(trees[0])})
    split = double(one_kind(layout, bank), np.random.default_rng(3), noise=0.5)
    total, binary, chain = 0.0, np.zeros_like(split.binary), np.zeros_like(split.chain)
    for kinds in itertools.product(range(2), repeat=len(bank.symbol)):
        share, pairs, links = split.top[bank.symbol[-1], kinds[-1]], [], []
        for node, kind in enumerate(kinds):
            rule, one, other = bank.rule[node], bank.one[node], bank.other[node]
            if one < 0:
                share *= split.word[rule, kind]
            elif other < 0:
                links.append((rule, kind, kinds[one]))
                share *= split.chain[links[-1]]
            else:
                pairs.append((rule, kind, kinds[one], kinds[other]))
                share *= split.binary[pairs[-1]]
        total += share
        for event in pairs:
            binary[event] += share
        for event in links:
            chain[event] += share
    given = (split.top, split.binary, split.chain, split.word)
    counts = [np.zeros_like(values) for values in given]
    assert expect(*bank, *given, *counts) == pytest.approx(math.log(total), rel=1e-12)
    np.testing.assert_allclose(counts[1], binary / total, rtol=1e-10)
    np.testing.assert_allclose(counts[2], chain / total, rtol=1e-10)


def test_em_never_makes_the_trees_less_likely_and_keeps_probabilities():
    _, layout, bank = laid_out()
    parameters = double(one_kind(layout, bank), np.random.default_rng(1))
    likelihoods = []
    for _ in range(15):
        parameters, likelihood = climb(layout, bank, parameters)
        likelihoods.append(likelihood)
    assert np.diff(likelihoods).min() > -1e-9
    assert likelihoods[-1] > likelihoods[0] + 1
    noun_phrase = layout.symbols.index("NP")
    for kind in range(2):
        rules = parameters.binary[layout.first[noun_phrase] : layout.first[noun_phrase + 1], kind].sum()
        chains = parameters.chain[layout.chain_first[noun_phrase] : layout.chain_first[noun_phrase + 1], kind].sum()
        assert rules + chains == pytest.approx(1.0)


def derivations(layout, values, spoken, symbol, i, j, *, chained=False):
    """Yield every derivation of a span: its probability and what happens in it."""
    _, binary, chain = values
    if not chained:
        for share, events in derivations(layout, values, spoken, symbol, i, j, chained=True):
            yield share, (("same", symbol, i, j), *events)
        for link in range(layout.chain_first[symbol], layout.chain_first[symbol + 1]):
            for share, events in derivations(layout, values, spoken, layout.bottom[link], i, j, chained=True):
                yield share * chain[link, 0, 0], (("chain", link, i, j), *events)
        return
    if j == i + 1 and spoken[i, symbol, 0] > 0:
        yield spoken[i, symbol, 0], (("word", symbol, i, j),)
    for rule in range(layout.first[symbol], layout.first[symbol + 1]):
        for k in range(i + 1, j):
            for one, events in derivations(layout, values, spoken, layout.left[rule], i, k):
                for other, more in derivations(layout, values, spoken, layout.right[rule], k, j):
                    yield one * other * binary[rule, 0, 0, 0], (("rule", symbol, i, j, rule, k), *events, *more)


def test_posteriors_and_the_most_expected_tree_are_those_of_all_derivations():
    generator = np.random.default_rng(8)
    _, layout, bank = laid_out()
    found = one_kind(layout, bank)
    values = (found.top, found.binary, found.chain)
    rules = (layout.first, layout.left, layout.right, layout.chain_first, layout.bottom)
    tags = [layout.symbols.index(tag) for tag in ("DT", "NN", "IN", "VBZ", "PRP", "JJ")]
    compared = 0
    for n in (4, 5, 6, 6, 7, 7):
        spoken = np.zeros((n, len(layout.symbols), 1))
        spoken[:, tags, 0] = generator.random((n, len(tags)))
        everything = []
        for symbol in range(len(layout.symbols)):
            if values[0][symbol, 0] > 0:
                for share, events in derivations(layout, values, spoken, symbol, 0, n):
                    everything.append((share * values[0][symbol, 0], (("top", symbol, 0, n), *events)))
        total = sum(share for share, _ in everything)
        posterior, span = defaultdict(float), defaultdict(float)
        for share, events in everything:
            for event in events:
                posterior[event] += share / total
            whole = {(e[2], e[3], layout_symbol(layout, e)) for e in events if e[0] != "top"}
            for place in whole:
                span[place] += share / total
        kept = likely_spans(n, spoken, *rules, values, 0.05)
        clear = {place for place, value in span.items() if abs(value - 0.05) > 0.04}
        assert all(kept[place] == (span[place] > 0.05) for place in clear if place[2] is not None)
        nodes = most_expected_tree(n, likely_spans(n, spoken, *rules, values, 0.0), spoken, *rules, values)
        scores = [sum(math.log(posterior[event]) for event in events) for _, events in everything]
        best = everything[int(np.argmax(scores))][1]
        wanted = [event[5] if event[0] == "rule" else -1 for event in best if event[0] in ("rule", "word")]
        assert nodes[:, 2].tolist() == wanted
        assert nodes[:, 0].tolist() == [event[1] for event in best if event[0] in ("rule", "word")]
        compared += len(everything) > 20
    assert compared >= 4


def layout_symbol(layout, event):
    """Return the symbol that is over the span of an event."""
    if event[0] == "chain":
        return int(np.searchsorted(layout.chain_first, event[1], side="right") - 1)
    return event[1]


def test_the_seed_shakes_hidden_kinds_apart_and_the_same_seed_gives_the_same():
    training = items(TREES)
    fits = [LatentPcfgTrainer(cycles=2).fit(training, np.arange(8), seed=seed, workdir=Path()) for seed in (1, 1, 2)]
    assert pickle.dumps(fits[0].fine) == pickle.dumps(fits[1].fine)
    assert not np.array_equal(fits[0].fine.binary, fits[2].fine.binary)
    assert np.array_equal(fits[0].coarse.binary, fits[2].coarse.binary)


@pytest.mark.slow
@pytest.mark.data
def test_every_refinement_parses_the_treebank_sample_better(data_dir):
    gold = BracketReader().read_gold([data_dir / "treebank-wsj-sample" / "wsj.mrg.txt.gz"], {})
    training = TrainingItems(gold.ids, {"tree": gold.columns["tree"]})
    test = take_items(gold, list(range(3501, 3561)))
    scores = []
    for trainer in (PcfgTrainer(), PcfgTrainer(vertical=2, horizontal=1), LatentPcfgTrainer()):
        trees, _ = parsed(trainer, training, TrainingItems(test.ids, {"word": test.columns["word"]}), range(3501))
        output = Items(test.ids, {"tree": trees, "word": test.columns["word"]}, "trees", test.lines)
        metric = BracketF1()
        matched, both = metric.extract(metric.prepare(test), output).values.sum(axis=0)
        scores.append(200 * matched / both)
    assert scores[0] > 65
    assert scores[1] > scores[0] + 2
    assert scores[2] > scores[1] + 3
