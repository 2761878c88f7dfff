"""MultEval's example data give MultEval's numbers."""

from __future__ import annotations

import gzip
import json
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from support.multeval import multeval

from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.outputs import Replicas

SYSTEMS = ("baseline", "sys1", "sys2")
PAIRS = np.array([[0, 1], [0, 2]])
REPLICATES = 10_000
FALSE_ALARM = 1e-6


def read(path: Path) -> tuple[str, ...]:
    return tuple(gzip.decompress(path.read_bytes()).decode().split("\n")[:-1])


def as_items(column: str, lines: tuple[str, ...]) -> Items:
    count = len(lines)
    return Items(tuple(map(str, range(count))), {column: lines}, "test", tuple(range(1, count + 1)))


@pytest.fixture(scope="module")
def bleu(data_dir: Path) -> Replicas:
    folder = data_dir / "multeval" / "example"
    metric = load_metric("bleu", {"tokenize": "none", "smooth": "none"})
    prepared = metric.prepare(as_items("reference.0", read(folder / "refs.test2010.lc.tok.en.0.gz")))
    statistics = tuple(
        np.stack(
            [metric.extract(prepared, as_items("text", read(folder / f"hyps.lc.tok.en.{s}.opt{r}.gz"))).values for r in range(3)]
        )
        for s in SYSTEMS
    )
    return Replicas(statistics, metric.scorer((0,) * 10), "general", True, PAIRS)


@pytest.fixture(scope="module")
def length(bleu: Replicas) -> Replicas:
    """Output words per hundred reference words: MultEval's metric Length."""
    return Replicas(tuple(array[:, :, :2] for array in bleu.statistics), lambda s: 100 * s[0] / s[1], "ratio", True, PAIRS)


def address(units: int, key: int) -> Draws:
    return Draws(key, units, units)


@pytest.fixture(scope="module")
def found(bleu):
    return multeval(address(bleu.n_units, 1), address(bleu.n_units, 2), bleu, replicates=REPLICATES)


@pytest.mark.data
def test_bleu_and_its_spreads_are_multevals(bleu, found, data_dir):
    expected = json.loads((data_dir / "multeval" / "expected.json").read_text())
    by_run = bleu.score(bleu.statistics[0].sum(axis=1).T)
    assert f"{by_run[0]:.2f}" == expected["reg_test"]["upstream_gold_files"]["hyps.baseline.opt0.bleu.gold"] == "18.54"
    summary, independent = expected["replica_summary"], expected["independent_numpy"]
    np.testing.assert_allclose(found.spread.score, [summary[s]["mean"] for s in SYSTEMS], atol=1e-6)
    np.testing.assert_allclose(found.spread.s_test, [summary[s]["sd_ddof1"] for s in SYSTEMS], atol=1e-6)
    np.testing.assert_array_equal(found.spread.s_test.round(3), [0.057, 0.294, 0.057])
    np.testing.assert_array_equal(found.spread.s_sel.round(2), [0.26, 0.26, 0.26])
    # Standard deviations of 2000 and of 10 000 samples: false alarm 1e-6 at 4.9 of their standard errors.
    error = 4.9 * 0.265 * np.sqrt(1 / 4000 + 1 / 20000)
    np.testing.assert_allclose(found.spread.s_sel[:2], [independent[f"{s}.BLEU"]["s_sel"] for s in SYSTEMS[:2]], atol=error)


@pytest.mark.data
def test_p_of_bleu_is_what_multeval_prints(found):
    # The tool prints 0.00, of both pairs; that of the copy only because it counts strictly.
    assert [f"{p:.2f}" for p in found.tool_p] == ["0.00", "0.00"]
    assert found.counts.reason.tolist() == [0, 1]
    assert found.counts.p[1] == 1.0
    assert found.tool_p[1] == 1 / (REPLICATES + 1)
    assert found.counts.hits[1].sum() == REPLICATES


@pytest.mark.data
def test_p_of_length_is_what_multeval_prints(length):
    p = multeval(address(length.n_units, 1), address(length.n_units, 2), length, replicates=REPLICATES).tool_p[0]
    # 0.09 of 10 000 shuffles, ours as many: 4.9 standard errors of the difference, and rounding to two digits.
    assert p == pytest.approx(0.09, abs=0.005 + 4.9 * np.sqrt(2 * 0.09 * 0.91 / REPLICATES))


@pytest.mark.data
@pytest.mark.parametrize("name", ["bleu", "length"])
def test_per_output_p_is_what_an_independent_program_found(name, request, data_dir):
    expected = json.loads((data_dir / "multeval" / "expected.json").read_text())["independent_numpy"]
    theirs = expected["AR_stratified.BLEU" if name == "bleu" else "AR_stratified.Length"]
    replicas = request.getfixturevalue(name)
    ours = count_null("per-output", address(replicas.n_units, 3), replicas, cells=range(1), replicates=REPLICATES)
    hits, total = int(ours.hits[0, 0]), theirs["count_ge"] + int(ours.hits[0, 0])
    assert abs(ours.delta[0]) == pytest.approx(theirs["observed_abs_difference_of_means"], abs=1e-6)
    # As many replicates on either side: given their sum, hits are binomial with ½.
    assert 2 * min(binom.cdf(hits, total, 0.5), binom.sf(hits - 1, total, 0.5)) > FALSE_ALARM
    assert ours.p[1] == 1.0


def slots_of(a, b, swapped, permutation):
    """Fill the slots of X and Y as the tool does: Y from the inverse permutation and the opposite coins."""
    inverse = np.argsort(permutation)
    x = [(b if swapped[r] else a)[permutation[r]] for r in range(len(a))]
    y = [(a if swapped[r] else b)[inverse[r]] for r in range(len(a))]
    return sum(x), sum(y)


@pytest.mark.parametrize("runs", [2, 3])
def test_the_shuffle_has_the_law_of_all_its_outcomes(runs):
    rng = np.random.default_rng(4)
    statistics = rng.integers(1, 6, (2, runs, 2, 2))
    replicas = Replicas((statistics[0], statistics[1]), lambda s: s[0] / s[1], "general", True, np.array([[0, 1]]))
    outcomes = list(product(product([0, 1], repeat=runs), permutations(range(runs))))
    units = [[slots_of(statistics[0, :, u], statistics[1, :, u], w, np.array(pi)) for w, pi in outcomes] for u in range(2)]
    x = np.array([one[0] + other[0] for one in units[0] for other in units[1]])
    y = np.array([one[1] + other[1] for one in units[0] for other in units[1]])
    pooled = statistics.sum(axis=(1, 2))
    delta = abs(pooled[0, 0] / pooled[0, 1] - pooled[1, 0] / pooled[1, 1])
    share = np.mean(np.abs(x[:, 0] / x[:, 1] - y[:, 0] / y[:, 1]) >= delta - 1e-12)
    assert 0.02 < share < 0.98
    hits = count_null("multeval", address(2, 5), replicas, cells=range(1), replicates=16_384).hits[0, 0]
    assert binom.ppf(FALSE_ALARM / 2, 16_384, share) <= hits <= binom.isf(FALSE_ALARM / 2, 16_384, share)
