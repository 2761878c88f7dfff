"""The interval beside a verdict is that of the test which decides, and never contradicts the verdict."""

from collections import Counter
from dataclasses import fields
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from support.synthetic_cubes import build_cube, uncorrected, undecide
from support.synthetic_reports import build_document, make_report

from pipeline.inference.direct.exact import sign_flips_of_few
from pipeline.inference.direct.scores import gain_of_a_win
from pipeline.inference.intervals.proportions import tango
from pipeline.inference.multiple_comparisons.studentised_max_t import studentised_max_t
from pipeline.inference.unit_diagnostics.few_units import evidence_floor
from pipeline.report.build import build_report
from pipeline.report.document import read_report
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.layout.views import view_all
from pipeline.report.pairs.pair_fields import read_columns
from pipeline.report.pairs.pair_parts import Interval
from pipeline.report.values import MISSING
from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

B = 399
WHERE = {"metric": "mean", "test_size": "full", "procedure": "paired-bootstrap"}


def table(seed, *, right=False, units=40, systems=4):
    """Scores (unit, system): graded ones, or right and wrong answers that are mostly the same."""
    rng = np.random.default_rng(seed)
    ahead = np.linspace(0.0, rng.uniform(0, 1.5), systems)
    if not right:
        return np.rint(64 * (rng.exponential(size=(units, systems)) + ahead)).astype(np.int64)
    same = rng.random((units, 1)) < 0.6
    anew = rng.random((units, systems)) < rng.uniform(0.1, 0.8)
    return np.where(anew, rng.random((units, systems)) < 0.3 + ahead / 3, same).astype(np.int64)


def sparse(seed, *, units, systems):
    """Graded scores of systems that are better than the first on a few units each: some exact p are above a level."""
    rng = np.random.default_rng(seed)
    scores = np.repeat(rng.integers(0, 64, (units, 1)), systems, axis=1)
    for system in range(1, systems):
        few = rng.integers(3, 9)
        scores[rng.choice(units, few, replace=False), system] += 64 + rng.integers(0, 9, few)
    return scores


def cube_of(scores, *, baseline=None, seed=0, replicates=B):
    """A cube of the scores with the max-T that a run of so many replicates reads off."""
    systems = scores.shape[1]
    names = [f"s{k}" for k in range(systems)]
    pairs = np.array(list(combinations(range(systems), 2)))
    mean = lambda sums: sums[0] / sums[1]  # noqa: E731
    statistics = np.stack([scores, np.ones_like(scores)], axis=2)
    measure = Measure(statistics, mean, "ratio", True, pairs, np.ones(systems, bool))
    seen = observe(measure)
    draws = Draws(seed, len(scores), len(scores))
    kept = resample(draws, [measure], cells=range(1), replicates=replicates, keep_replicates=replicates)[0].score
    flips = sign_flips_of_few(measure, seen)
    floor = evidence_floor(seen.discordant, flips)
    member = np.ones(len(pairs), bool) if baseline is None else (pairs == baseline).any(axis=1)
    found = studentised_max_t(measure, seen, draws=draws, scores=kept, floor=floor, member=member)
    attrs = {"kept": True, "schema_version": 4, "effective_units": float(len(scores))}
    attrs |= {} if baseline is None else {"family": "against-baseline", "baseline": names[baseline]}
    same = [(names[a], names[b]) for (a, b), equal in zip(pairs, seen.identical, strict=True) if equal]
    cube = build_cube(seen.score, names, sizes={"full": len(scores)}, metric="mean", identical=same, attrs=attrs)
    pair, full = ("metric", "test_size", "pair"), ("procedure", "metric", "test_size", "pair")
    conventions = cube.sizes["convention"]
    max_t = np.full((1, conventions, 1, 1, 1, len(pairs)), np.nan)
    max_t[0, cube["convention"].values.tolist().index("two-sided-plus-one"), 0, 0, 0] = found.p
    return cube.assign(
        se=(pair, seen.se[None, None]),
        discordant=(pair, seen.discordant[None, None]),
        p_sign_flip=(pair, flips[None, None]),
        gain_of_a_win=(pair, gain_of_a_win(measure)[None, None]),
        p_few_units=(full, np.full((1, 1, 1, len(pairs)), np.nan)),
        p_by_adjustment=(("procedure", "convention", "adjustment", *pair), max_t),
        p_studentised=(full, found.alone[None, None, None]),
        max_t_se=(full, found.se[None, None, None]),
        max_t_replicates=(full, np.where(found.family.reason == 0, found.replicates, -1)[None, None, None]),
        max_t_largest=(("procedure", "metric", "test_size", "max_t_replicate"), found.largest[None, None, None]),
    ).assign_coords(adjustment=["max-t"])


def read(cube, *, alpha=0.05, family=None):
    baseline = cube.attrs.get("baseline")
    family = family or FamilyOf("all-pairs" if baseline is None else "against-baseline", baseline)
    effective = float(cube.attrs["effective_units"])
    of = read_columns(cube, **WHERE, alpha=alpha, margin=None, family=family, effective=effective)
    ends = zip(*(of.take(f"interval.{field.name}") for field in fields(Interval)), strict=True)
    known = {name: of.take(name) for name in ("delta", "se", "discordant", "separated", "verdict", "in_family")}
    return SimpleNamespace(**known, interval=[Interval(*of_pair) if of_pair[0] else None for of_pair in ends])


def agree(of):
    """Hold every interval of some pairs to its verdict; count what was held."""
    seen = Counter()
    for gain, interval, separated, verdict in zip(of.delta, of.interval, of.separated, of.verdict, strict=True):
        assert (interval is None) == (verdict in ("not decided", "identical", None)), verdict
        if interval is None:
            seen[None, verdict] += 1
            continue
        assert 0 <= gain <= interval.hi
        assert interval.open == (separated and interval.lo == 0)
        assert interval.lo >= 0 if separated else interval.lo <= 0, verdict
        seen[interval.method, separated, interval.lo == 0] += 1
    return seen


def test_no_interval_contradicts_its_verdict():
    """Families of two to eight systems, graded and 0/1, some pairs of them not decided, at two levels, by max-T and by Holm."""
    seen = Counter()
    for seed in range(12):
        scores = table(seed, right=seed % 2 == 0, units=(20, 40, 60)[seed % 3], systems=2 + seed % 7)
        cube = cube_of(scores, seed=seed)
        codes = np.random.default_rng(seed).choice([0, 0, 0, 1], cube.sizes["pair"])
        few = cube_of(sparse(seed, units=(20, 40)[seed % 2], systems=2 + seed % 2), seed=seed)
        cubes = (cube, undecide(cube, codes), undecide(cube.assign_attrs(schema_version=2), codes))
        for own in (*cubes, few, few.assign_attrs(schema_version=2)):
            seen += agree(read(own, alpha=(0.05, 0.2)[seed % 2]))
    for method in ("max-t", "bonferroni", "tango"):  # not separated though 0 would be outside, and separated with 0 outside
        assert seen[method, False, True], method
        assert seen[method, True, False], method
    assert seen["max-t", True, True]  # by a step down
    assert seen[None, "not decided"]


def test_ends_are_the_gain_and_c_standard_errors_of_max_t():
    scores = table(3, units=50)
    cube, largest, spread = cube_of(scores), [], []
    counts = np.array([np.bincount(draw_units(Draws(0, 50, 50), replicate), minlength=50) for replicate in range(B)])
    for a, b in combinations(range(4), 2):
        d = (scores[:, a] - scores[:, b]).astype(float)
        mean = counts @ d / 50
        square = (counts * (d - mean[:, None]) ** 2).sum(axis=1)
        largest.append(np.abs(mean - d.mean()) / np.sqrt(square / 49 / 50))
        spread.append(d.std(ddof=1) / np.sqrt(50))
    t = np.sort(np.max(largest, axis=0))
    for alpha in (0.05, 0.2):
        c = t[B - int(alpha * (B + 1))]  # (#(t* ≥ t) + 1)/(b + 1) ≤ α beyond it, and not at it
        of = read(cube, alpha=alpha)
        assert {interval.method for interval in of.interval} == {"max-t"}
        assert {interval.level for interval in of.interval} == {1 - alpha}
        np.testing.assert_allclose([i.hi for i in of.interval], np.array(of.delta) + c * np.array(spread), rtol=1e-9)
        free = [(i.lo, gain - c * se) for i, gain, se in zip(of.interval, of.delta, spread, strict=True) if i.lo]
        assert free
        np.testing.assert_allclose(*zip(*free, strict=True), rtol=1e-7)


def test_few_right_answers_have_tango_s_interval_at_the_level_of_c():
    cube = cube_of(table(4, right=True, units=60, systems=3))
    of = read(cube)
    critical = np.sort(cube["max_t_largest"].values.ravel())[B - 20]
    z = stats.norm.isf(min(stats.t.sf(critical, 59), 0.025))
    few = [k for k, m in enumerate(of.discordant) if 0 < m < 20]
    assert few
    for k in few:
        ahead = round(of.delta[k] * 60)
        lo, hi = tango((of.discordant[k] + ahead) // 2, (of.discordant[k] - ahead) // 2, 60, alpha=2 * stats.norm.sf(z))
        assert of.interval[k].method == "tango"
        assert of.interval[k].hi == pytest.approx(float(hi))
        assert of.interval[k].lo == pytest.approx(max(float(lo), 0.0) if of.separated[k] else min(float(lo), 0.0))


def test_where_holm_decides_the_level_is_bonferroni_s():
    cube = uncorrected(cube_of(table(5, units=30, systems=4)).assign_attrs(kept=False))
    of = read(cube)
    t = stats.t.isf(0.05 / 12, 29)
    assert {interval.method for interval in of.interval} == {"bonferroni"}
    np.testing.assert_allclose([i.hi for i in of.interval], np.array(of.delta) + t * np.array(of.se))
    agree(of)


def test_pairs_outside_the_family_have_no_interval_of_the_decision():
    of = read(cube_of(table(7), baseline=1))
    assert [interval is not None for interval in of.interval] == of.in_family == [True, False, False, True, True, False]
    everybody = read(cube_of(table(7)))
    for mine, among_all in zip(of.interval, everybody.interval, strict=True):
        assert mine is None or mine.hi < among_all.hi  # fewer pairs, a smaller c
    agree(of)
    document = build_document(
        make_report(
            {"bench": cube_of(table(7), baseline=1)},
            metric="mean",
            analyses=(),
            resampling={"family": "against-baseline", "baseline": "s1"},
        )
    )
    assert all("no adjusted p, verdict or interval" in row["note"] for row in document["pairs"] if not row["in_family"])


@pytest.mark.parametrize(("alpha", "expected"), [(0.05, "not decided"), (0.02, "not separated")])
def test_what_is_not_decided_has_no_interval_and_says_why(alpha, expected):
    """In its family p is at most α; across 2 families only at .05: it had no interval before, and has none after."""
    cubes = {"news": build_cube(np.array([50.0, 53.0]), ["a", "b"], se=1.2), "web": build_cube(np.array([50.0, 50.1]), ["a", "b"])}
    (p,) = (row["p_adjusted"] for row in build_document(make_report(cubes))["pairs"] if row["test_set"] == "news")
    assert 0.01 < p < 0.02
    cubes = {name: undecide(cube, 1) for name, cube in cubes.items()}
    document = build_document(make_report(cubes, analyses=(), resampling={"across_families": "holm", "alpha": alpha}))
    news, web = document["pairs"]
    assert (news["verdict"], news["interval"]) == (expected, None)
    assert "interval: none is shown, as none would hold its level where no test does" in news["note"]
    assert web["verdict"] == "not separated"
    assert "interval" not in (web["note"] or "")
    assert web["interval"]["lo"] < 0 < web["interval"]["hi"]
    tables = [view for view in view_all(read_report(document)) if view.kind == "pairs"]
    (cells,) = (dict(zip(view.columns, view.rows[0], strict=True)) for view in tables if view.title.startswith("news"))
    assert cells[f"{100 - 100 * alpha:g} % interval"] == MISSING


def test_a_verdict_across_families_holds_its_interval_too():
    """One family in which a pair is separated narrowly, and others in which nothing is: Holm over the families takes it back."""
    shifted = {"a": np.array([52.0, 50.0, 49.9]), **{name: np.array([50.0, 50.1, 50.2]) for name in "bcdefg"}}
    cubes = {name: build_cube(scores, list("xyz"), se=0.75, name=name) for name, scores in shifted.items()}
    alone, together = (
        build_document(make_report(cubes, analyses=(), resampling={"across_families": how})) for how in ("none", "holm")
    )
    lo = [[(row["separated"], row["interval"]["lo"]) for row in of["pairs"]] for of in (alone, together)]
    taken = [(before, after) for before, after in zip(*lo, strict=True) if before[0] > after[0]]
    assert taken
    assert all(before[1] > 0 == after[1] for before, after in taken)


@pytest.mark.parametrize("attrs", [{}, {"strata": {"count": 2}}])
def test_the_pairs_that_max_t_judges_by_an_exact_p_are_those_of_few_wins(attrs):
    scores = np.concatenate([table(4, right=True, units=60, systems=3), np.zeros((60, 1), np.int64)], axis=1)
    cube = cube_of(scores).assign_attrs(attrs)
    of = read_columns(cube, **WHERE, alpha=0.05, margin=None, family=FamilyOf("all-pairs", None), effective=60.0)
    few = [0 < m < 20 for m in of.take("discordant")]
    assert 0 < sum(few) < len(few)
    asked = [is_few and not attrs for is_few in few]  # within strata wins have another law
    assert [method == "exact" for method in of.take("method")] == asked
    assert [method == "tango" for method in of.take("interval.method")] == asked


@pytest.mark.parametrize(("systems", "alpha"), [(2, 0.05), (3, 0.05), (3, 0.1)])
def test_the_table_says_of_what_the_intervals_of_several_pairs_have_their_level(systems, alpha):
    cube = build_cube(np.linspace(50, 58, systems), list("abc")[:systems])
    report = build_report(make_report({"news": cube}, analyses=(), resampling={"alpha": alpha}))
    (caption,) = [view.caption for view in view_all(report) if view.kind == "pairs"]
    told = f"Intervals are simultaneous: {100 * (1 - alpha):g} % is the level of all pairs of the family together."
    assert (told in caption, "simultaneous" in caption) == (systems > 2, systems > 2)
