"""The presets of sacreBLEU are its own numbers, bit for bit, on made texts and on real ones."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from pipeline.interfaces import PresetData
from pipeline.metrics.bleu import Bleu
from pipeline.metrics.chrf import Chrf
from pipeline.metrics.ter import Ter
from pipeline.presets import sacrebleu_paired
from pipeline.presets.sacrebleu_paired import (
    bootstrap,
    format_p,
    paired_bootstrap,
    paired_randomization,
    randomization,
    row_score,
)

METRICS = {
    "bleu": (BLEU, {}),
    "bleu-floor": (BLEU, {"smooth_method": "floor"}),
    "bleu-add-k": (BLEU, {"smooth_method": "add-k"}),
    "bleu-add-half": (BLEU, {"smooth_method": "add-k", "smooth_value": 0.5}),
    "bleu-none": (BLEU, {"smooth_method": "none", "effective_order": True}),
    "chrf": (CHRF, {}),
    "chrf++": (CHRF, {"word_order": 2}),
    "chrf-eps": (CHRF, {"eps_smoothing": True}),
    "ter": (TER, {}),
}
OURS = {
    "bleu": Bleu(),
    "bleu-floor": Bleu(smooth="floor"),
    "bleu-add-k": Bleu(smooth="add-k"),
    "bleu-add-half": Bleu(smooth="add-k", smooth_value=0.5),
    "bleu-none": Bleu(smooth="none", effective_order=True),
    "chrf": Chrf(),
    "chrf++": Chrf(word_order=2),
    "chrf-eps": Chrf(eps_smoothing=True),
    "ter": Ter(),
}


@pytest.fixture(autouse=True)
def _own_seed(monkeypatch):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)


def made_texts(units, systems, references=1, seed=1):
    """Texts of made words: systems change some words of the first reference; the last system is a copy of the first."""
    rng = np.random.default_rng(seed)
    words = np.array(["the", "a", "red", "old", "house", "tree", "sees", "finds", "near", "two", "small", "river"])
    lines = [rng.choice(words, rng.integers(1, 15)) for _ in range(units)]

    def noisy(share):
        return [" ".join(np.where(rng.random(len(line)) < share, rng.choice(words, len(line)), line)) for line in lines]

    refs = [[" ".join(line[min(other, 1) :]) for line in lines] for other in range(references)]  # of length L, L − 1, L − 1
    texts = [noisy(0.25 + 0.02 * s) for s in range(systems - 1)]
    return [(f"s{s}", text) for s, text in enumerate([*texts, texts[0]])], refs


def statistics_of(metric, texts, references):
    """(unit, system, statistic), as sacreBLEU extracts them."""
    per_system = [metric._extract_corpus_statistics(text, references) for _, text in texts]
    return np.array(per_system).transpose(1, 0, 2)


def printed(metric, texts, references, **options):
    """What sacreBLEU says: (system,) score, p, mean, ci."""
    _, scores = PairedTest(texts, {"m": metric}, references, **options)()
    (results,) = (value for name, value in scores.items() if name != "System")
    return {name: [getattr(result, name) for result in results] for name in ("score", "p_value", "mean", "ci")}


def assert_equal(found, known):
    assert found.score.tolist() == known["score"]
    assert np.isnan(found.p[0])
    assert found.p[1:].tolist() == known["p_value"][1:]
    for own, tool in ((found.mean, known["mean"]), (found.half_width, known["ci"])):
        assert np.array_equal(own, [np.nan if value is None else value for value in tool], equal_nan=True)


@pytest.mark.parametrize("name", sorted(METRICS))
@pytest.mark.parametrize("kind", ["bs", "ar"])
def test_a_preset_of_a_metric_has_the_tools_p_of_every_pair_with_the_baseline(name, kind, monkeypatch):
    """Whatever the options of the metric, and however many systems are held at a time."""
    monkeypatch.setattr(sacrebleu_paired, "SYSTEMS", 2)
    tool, options = METRICS[name]
    texts, references = made_texts(40, 5)
    known = printed(tool(**options), texts, references, test_type=kind, n_samples=100)["p_value"]
    statistics = statistics_of(tool(**options), texts, references).astype(np.int64)
    pairs = np.array([(a, b) for a in range(5) for b in range(a + 1, 5)])
    data = PresetData(OURS[name], 5, pairs, lambda places: statistics[:, places], 0, 12345, 100, 1)
    found = {"bs": bootstrap, "ar": randomization}[kind](data)
    assert found.p[:4].tolist() == known[1:]
    assert np.isnan(found.p[4:]).all()
    assert found.why_none == "not-with-the-baseline"
    turned = {"bs": bootstrap, "ar": randomization}[kind](replace(data, pairs=pairs[:, ::-1]))
    assert np.array_equal(turned.p, found.p, equal_nan=True)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_bootstrap_is_the_tools_to_the_last_bit(name):
    kind, options = METRICS[name]
    texts, references = made_texts(60, 4)
    metric = kind(**options)
    known = printed(metric, texts, references, test_type="bs", n_samples=200)
    found = paired_bootstrap(statistics_of(metric, texts, references), score=row_score(metric), replicates=200)
    assert_equal(found, known)
    assert 1 / 201 < found.p[1] < 1  # a count, not only its limits
    assert found.p[3] == 1 / 201  # the copy of the baseline


@pytest.mark.parametrize("name", sorted(METRICS))
def test_randomization_is_the_tools_to_the_last_bit(name):
    kind, options = METRICS[name]
    texts, references = made_texts(60, 4)
    metric = kind(**options)
    known = printed(metric, texts, references, test_type="ar", n_samples=300, n_ar_confidence=50)
    found = paired_randomization(statistics_of(metric, texts, references), score=row_score(metric), trials=300, confidence=50)
    assert_equal(found, known)
    assert 1 / 301 < found.p[1] < 1
    assert found.p[3] == 1 / 301


def test_without_confidence_no_mean_is_given():
    texts, references = made_texts(30, 3)
    known = printed(BLEU(), texts, references, test_type="ar", n_samples=100)
    assert_equal(paired_randomization(statistics_of(BLEU(), texts, references), score=row_score(BLEU()), trials=100), known)


def test_lengths_over_three_references_are_rounded_in_the_tools_order():
    """TER divides reference lengths by 3: float32 and float64 sums depend on the order of additions."""
    texts, references = made_texts(80, 3, references=3)
    statistics = statistics_of(TER(), texts, references)
    assert np.any(statistics % 1 != 0)
    known = printed(TER(), texts, references, test_type="bs", n_samples=150)
    assert_equal(paired_bootstrap(statistics, score=row_score(TER()), replicates=150), known)
    known = printed(TER(), texts, references, test_type="ar", n_samples=150)
    assert_equal(paired_randomization(statistics, score=row_score(TER()), trials=150), known)


def test_sums_are_those_that_numpy_adds_in_float32():
    """A score that is the sum itself: where roundings pile up, in the order of the draws."""
    statistics = np.random.default_rng(4).lognormal(3, 2, (500, 2, 3))
    drawn = np.random.default_rng(12345).choice(500, size=(100, 500), replace=True)
    for column in range(3):
        found = paired_bootstrap(statistics, score=lambda row, column=column: row[column], replicates=100)
        sums = np.sort([sample.sum(0)[column] for sample in statistics[:, 0].astype("float32")[drawn]])
        assert found.mean[0] == sums.mean()
        assert found.half_width[0] == 0.5 * (sums[97] - sums[2])


def test_segments_too_short_for_any_match_are_scored_as_the_tool_scores_them():
    """Some samples have no 4-gram at all, and some no match."""
    texts = [("a", ["red tree", "two", "old house near", "x y"]), ("b", ["red tree", "x", "old tree near", "x"]), ("c", [""] * 4)]
    references = [["red tree", "two", "old house near", "small river"]]
    for name in ("bleu", "bleu-floor", "bleu-add-k", "bleu-none", "chrf", "chrf-eps", "ter"):
        kind, options = METRICS[name]
        metric = kind(**options)
        statistics = statistics_of(metric, texts, references)
        assert_equal(
            paired_bootstrap(statistics, score=row_score(metric), replicates=100),
            printed(metric, texts, references, test_type="bs", n_samples=100),
        )
        assert_equal(
            paired_randomization(statistics, score=row_score(metric), trials=100),
            printed(metric, texts, references, test_type="ar", n_samples=100),
        )


def test_another_seed_gives_other_numbers_and_is_still_the_tools(monkeypatch):
    texts, references = made_texts(60, 3)
    statistics = statistics_of(BLEU(), texts, references)
    monkeypatch.setenv("SACREBLEU_SEED", "99")
    found = paired_bootstrap(statistics, score=row_score(BLEU()), replicates=200, seed=99)
    assert_equal(found, printed(BLEU(), texts, references, test_type="bs", n_samples=200))
    assert found.mean[0] != paired_bootstrap(statistics, score=row_score(BLEU()), replicates=200).mean[0]


def test_what_cannot_be_met_is_refused():
    statistics = np.ones((5, 2, 10), np.int64)
    with pytest.raises(ValueError, match="0 for no seed"):
        paired_bootstrap(statistics, score=row_score(BLEU()), seed=0)
    with pytest.raises(ValueError, match="at least 1 replicate"):
        paired_randomization(statistics, score=row_score(BLEU()), trials=0)
    with pytest.raises(ValueError, match=r"at least 2\), not \(5, 2, 1\)"):
        paired_bootstrap(statistics[:, :, :1], score=row_score(BLEU()))


def test_p_is_written_as_the_tool_writes_it():
    assert (format_p(0.05), format_p(0.05004)) == ("(p = 0.0500)*", "(p = 0.0500)")


def read_wmt24(folder, names):
    def lines(path):
        return gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]

    def scored(path):
        return [line for line, row in zip(lines(path), rows, strict=True) if row[domain] != "canary"]

    head, *rows = [line.split("\t") for line in lines(folder / "segments.tsv.gz")]
    domain = head.index("domain")
    texts = [(name, scored(folder / "systems" / f"{name}.txt.gz")) for name in names]
    return texts, [scored(folder / f"ref.{ref}.de.txt.gz") for ref in "AB"]


@pytest.mark.data
def test_real_texts_have_the_tools_numbers(data_dir):
    """One reference, 997 segments, systems whose BLEU is near: p-values in the middle."""
    texts, references = read_wmt24(data_dir / "wmt24-en-de", ("GPT-4", "ONLINE-W", "ONLINE-A"))
    statistics = statistics_of(BLEU(), texts, references[:1])
    found = paired_bootstrap(statistics, score=row_score(BLEU()))
    assert_equal(found, printed(BLEU(), texts, references[:1], test_type="bs"))
    assert np.all(found.p[1:] > 0.01)
    found = paired_randomization(statistics[:, :2], score=row_score(BLEU()), trials=500)
    assert_equal(found, printed(BLEU(), texts[:2], references[:1], test_type="ar", n_samples=500))


@pytest.mark.data
def test_real_copies_have_the_tools_smallest_p(data_dir):
    texts, references = read_wmt24(data_dir / "wmt24-en-de", ("CycleL", "CycleL2"))
    statistics = statistics_of(BLEU(), texts, references[:1])
    assert np.array_equal(statistics[:, 0], statistics[:, 1])
    found = paired_bootstrap(statistics, score=row_score(BLEU()))
    assert_equal(found, printed(BLEU(), texts, references[:1], test_type="bs"))
    assert found.p[1] == 1 / 1001


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_real_texts_have_the_tools_numbers_at_its_defaults(data_dir, name):
    """Two references, five systems, b = 1000 and R = 10 000."""
    kind, options = METRICS[name]
    texts, references = read_wmt24(data_dir / "wmt24-en-de", ("GPT-4", "Claude-3.5", "ONLINE-W", "ONLINE-A", "IOL-Research"))
    metric = kind(**options)
    statistics = statistics_of(metric, texts, references)
    found = paired_bootstrap(statistics, score=row_score(metric))
    assert_equal(found, printed(metric, texts, references, test_type="bs"))
    assert_equal(paired_randomization(statistics, score=row_score(metric)), printed(metric, texts, references, test_type="ar"))
