"""The table of presets: own numbers without exceptions, and claims that are computed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.stats import norm
from support.multeval import multeval

from pipeline.inference.convention_levels import folded_p, gaussian_rejection, null_p, null_rejection
from pipeline.inference.conventions import riezler_maxwell
from pipeline.inference.p_values import CONVENTIONS, counted_p, p_values
from pipeline.interfaces import PresetData, PresetRule
from pipeline.metrics.ter import Ter
from pipeline.plugins import import_function
from pipeline.presets.registry import PRESETS
from pipeline.presets.sacrebleu_paired import bootstrap
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.replicas.nulls import null_named
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.shuffles import shuffled_share
from pipeline.resampling.resample import resample

NAMES = PRESETS.own()
COUNTED = [(name, rule) for name in NAMES for rule in PRESETS[name].rules if rule.counts]


IDENTICAL = {"0": 0.0, "1": 1.0, "1/(b + 1)": 1 / 1001}
"""What the values say of identical outputs, of 1000 replicates."""


def own_p(rule, counts, replicates):
    return counted_p(rule.counts, counts, replicates, plus_one=rule.plus_one)


def accuracies():
    """One win in 100, a copy, and a system that differs and scores the same."""
    right = np.zeros((100, 4), np.int64)
    right[:50] = 1
    right[99, 0] = 1
    right[[0, 60], 3] = 0, 1
    statistics = np.stack([right, np.ones_like(right)], axis=2)
    pairs = np.array([[0, 1], [1, 2], [1, 3]])
    return Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.ones(4, bool))


def test_every_preset_says_what_it_is():
    assert len(NAMES) >= 6
    for name, preset in ((name, PRESETS[name]) for name in NAMES):
        assert preset.name == name
        assert preset.null
        assert preset.reference
        assert preset.misleads
        assert preset.rules
    with pytest.raises(FrozenInstanceError):
        PRESETS["koehn-2004"].replicates = 3
    with pytest.raises(TypeError, match="item assignment"):
        PRESETS["koehn-2004"].settings["seed"] = 3


def test_a_number_has_one_source():
    for sources in ({}, {"counts": ("below_zero",), "analysis": "replicas"}):
        with pytest.raises(ValueError, match="below-zero: exactly one"):
            PresetRule("paired-bootstrap", "below-zero", **sources)


@pytest.mark.parametrize("name", NAMES)
def test_the_code_that_a_preset_names_is_there(name):
    for rule in PRESETS[name].rules:
        for path in filter(None, (rule.kept, rule.compute)):
            assert callable(import_function(path))


def test_own_numbers_of_real_counts_make_no_exception():
    measure = accuracies()
    (counts,) = resample(Draws(5, 100, 100), [measure], cells=range(1), replicates=1000, keep_replicates=1000)
    folded = counts.counts[:, 0].astype(np.int64)
    own = {name: own_p(rule, folded, np.full(3, 1000)) for name, rule in COUNTED if name.startswith(("koehn", "berg"))}
    assert own["koehn-2004"][:2].tolist() == [0.0, 0.0]  # one win in 100; a copy
    assert own["koehn-2004"][2] == pytest.approx(null_p("below-zero", wins=1, losses=1, units=100), abs=6 * 0.016)
    seen = observe(measure)
    verdicts = p_values(folded, np.full(3, 1000), delta=seen.delta, identical=seen.identical, sums=np.zeros((3, 3))).p[
        CONVENTIONS.index("two-sided-plus-one")
    ]
    assert verdicts[1:].tolist() == [1.0, 1.0]
    fold = riezler_maxwell(counts.score, measure.pairs, score=seen.score, delta=seen.delta, identical=seen.identical)
    assert fold.own[1] == 1.0


@pytest.mark.parametrize(("name", "rule"), COUNTED, ids=[name for name, _ in COUNTED])
def test_counts_of_identical_outputs_are_what_the_table_says(name, rule):
    """Every replicate is a tie with 0, δ and 2δ at once."""
    ties = np.array([[0, 1000, 0, 1000, 1000, 0, -1, -1]])
    assert own_p(rule, ties, np.array([1000]))[0] == IDENTICAL[rule.identical]


def test_identical_outputs_have_the_tools_smallest_p_in_the_tools_own_arithmetic():
    statistics = np.random.default_rng(1).integers(1, 9, (20, 1, 2)).repeat(2, axis=1)
    data = PresetData(Ter(), 2, np.array([[0, 1]]), lambda places: statistics[:, places], 0, 12345, 1000, 1)
    assert bootstrap(data).p.tolist() == [IDENTICAL[PRESETS["sacrebleu-bs"].rules[0].identical]]


def test_no_replicates_have_no_number():
    rule = PRESETS["koehn-2004"].rules[0]
    assert np.isnan(own_p(rule, np.zeros((1, 8), np.int64), np.array([0]))[0])
    with pytest.raises(ValueError, match="2 replicates"):
        own_p(rule, np.zeros((1, 8), np.int64), np.array([9, 9]))


def test_numbers_in_the_words_are_the_computed_ones():
    words = {name: PRESETS[name].misleads for name in NAMES}
    assert f"{gaussian_rejection(0.05):.3f}"[1:] in words["riezler-maxwell-2005"]
    assert f"{gaussian_rejection(0.05):.3f}"[1:] in words["sacrebleu-bs"]
    assert f"{gaussian_rejection(0.10):.3f}"[1:] in words["riezler-maxwell-2005"]
    assert 0.42 < folded_p(0.0) < 0.43
    for strict, shown in ((", strict", ".115"), ("", ".041")):
        rate = null_rejection(f"approximate-randomization{strict}", discordant=20, units=20)
        assert f"{rate:.3f}"[1:] == shown
        assert shown in words["sacrebleu-ar"]
    of_100, of_20 = (null_rejection("one-sided", discordant=20, units=n) for n in (100, 20))
    assert f"{of_100:.2f}"[1:] + " to " + f"{of_20:.2f}"[1:] in words["berg-kirkpatrick-2012"]


def test_the_words_of_multeval_are_those_of_its_shuffle():
    (rule,) = PRESETS["multeval"].rules
    assert (rule.analysis, null_named(rule.procedure).name) == ("replicas", "multeval")
    rates = [2 * norm.cdf(norm.ppf(0.025) * np.sqrt(shuffled_share(runs))) for runs in (3, 5, 10)]
    assert ", ".join(f"{rate:.3f}"[1:] for rate in rates) in PRESETS["multeval"].misleads
    one = np.random.default_rng(2).integers(0, 9, (3, 12, 1))
    pair = Replicas((one, one.copy()), lambda sums: sums[0], "general", True, np.array([[0, 1]]))
    found = multeval(Draws(1, 12, 12), Draws(2, 12, 12), pair, replicates=1000)
    assert found.tool_p[0] == IDENTICAL[rule.identical]


@pytest.mark.parametrize(("helped", "hurt", "items", "posted"), [(4, 3, 10, 0.42173), (2, 0, 100, 0.1326), (7, 2, 100, 0.0584)])
def test_the_primer_s_own_number_is_the_share_of_samples_without_a_gain(helped: int, hurt: int, items: int, posted: float) -> None:
    limit = null_p("at-or-below-zero", wins=helped, losses=hurt, units=items)
    assert limit == pytest.approx(posted, abs=5e-5)
    right = np.zeros((items, 2), np.int64)
    right[:helped, 0] = right[helped : helped + hurt, 1] = 1
    statistics = np.stack([right, np.ones_like(right)], axis=2)
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, np.array([[0, 1]]), np.ones(2, bool))
    (counts,) = resample(Draws(5, items, items), [measure], cells=range(1), replicates=10_000, keep_replicates=0)
    (rule,) = PRESETS["jansen-blog"].rules
    (found,) = own_p(rule, counts.counts[:, 0].astype(np.int64), np.array([10_000]))
    assert found == pytest.approx(limit, abs=5 * np.sqrt(limit * (1 - limit) / 10_000))


def test_the_words_of_the_primer_are_computed() -> None:
    words = PRESETS["jansen-blog"].misleads
    assert f"p = {null_p('at-or-below-zero', wins=2, losses=0, units=100):.2f}".replace("0.", ".") in words
    assert f"{null_rejection('at-or-below-zero', discordant=20, units=100):.3f}"[1:] in words
