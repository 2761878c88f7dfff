"""The analysis of a suite on cubes whose counts are known: joining, directions, what is missing, and the words."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure as MatplotlibFigure
from scipy.stats import t as student
from support.synthetic_cubes import build_cube, undecide

from pipeline.analyses.suite.analysis import SuiteAnalysis
from pipeline.analyses.suite.data import NoDirection, join_cubes
from pipeline.analyses.suite.words import sum_up
from pipeline.errors import StudyError
from pipeline.inference.across.suite_conclusions import conclude_questions
from pipeline.interfaces.figures import GRID, PALETTE

B = 1_000_000


def p_of(z):
    """The p of a direction whose side is z standard errors ahead, as the counts of a synthetic cube have it."""
    from scipy.special import ndtr

    above = round(float(ndtr(-abs(z))) * B)
    return (above + 1) / (B + 1) if z >= 0 else (B - above + 1) / (B + 1)


def cubes_of(*gains, se=1.0, names="ab", **changes):
    """Cubes of two systems, the first ahead by each of the gains."""
    found = {f"t{k}": build_cube(np.array([50 + gain, 50.0]), list(names), name=f"t{k}", se=se) for k, gain in enumerate(gains, 1)}
    return found | changes


def rows_of(cubes, kind="pair", **options):
    return [row for row in SuiteAnalysis().find(cubes, options).rows if row["kind"] == kind]


def put(cube, name, values):
    """Return a cube with other values of one variable: those of a synthetic cube share their memory."""
    return cube.assign({name: (cube[name].dims, np.broadcast_to(values, cube[name].shape).copy())})


def test_two_of_three_by_hand():
    """p = .00003, .0062 and .31; ×3, ×2 and ×1, doubled: .0002, .025, .62."""
    (row,) = rows_of(cubes_of(4.0, 2.5, 0.5))
    assert (row["system_a"], row["system_b"], row["test_sets"]) == ("a", "b", 3)
    assert (row["better_at_least"], row["better_on"], row["better_where"]) == (2, ["t1", "t2"], "t1, t2")
    assert (row["worse_at_least"], row["worse_on"], row["worse_where"]) == (0, [], None)
    assert row["p_better_on_any"] == 2 * 3 * p_of(4.0)
    assert row["p_better_over_pairs"] == row["p_better_on_any"]  # one pair: Holm over two directions doubles
    assert row["better_together"] == 2
    assert row["stable"]
    # Q = Σ (gain − 7/3)² with weights 1: 25/9 + 1/36 + 121/36.
    assert row["q"] == pytest.approx(25 / 9 + 1 / 36 + 121 / 36)
    assert (row["degrees"], row["mean_gain"], row["mean_se"]) == (2, pytest.approx(7 / 3), pytest.approx(3**-0.5))
    on = rows_of(cubes_of(4.0, 2.5, 0.5), "test-set")
    assert [r["test_set"] for r in on] == ["t1", "t2", "t3"]
    assert [r["conclusion"] for r in on] == ["better", "better", "not separated"]
    assert [r["p_better"] for r in on] == [p_of(4.0), p_of(2.5), p_of(0.5)]
    assert [r["p_worse"] for r in on] == [p_of(-4.0), p_of(-2.5), p_of(-0.5)]
    assert on[1]["p_better_holm"] == pytest.approx(2 * 2 * p_of(2.5))
    assert on[1]["interval"] == pytest.approx({"lo": 2.5 - 1.959964, "hi": 2.5 + 1.959964})


def test_the_better_system_comes_first_whatever_its_name():
    (row,) = rows_of(cubes_of(-4.0, -3.0))
    assert (row["system_a"], row["better_at_least"], row["worse_at_least"]) == ("b", 2, 0)
    assert row["mean_gain"] == pytest.approx(3.5)
    assert [r["conclusion"] for r in rows_of(cubes_of(-4.0, -3.0), "test-set")] == ["better", "better"]
    assert [r["gain"] for r in rows_of(cubes_of(-4.0, -3.0), "test-set")] == [4.0, 3.0]
    # ... and its p is that of a.
    (turned,) = rows_of(cubes_of(4.0, 3.0))
    keys = (
        "p_better_on_any",
        "better_at_least",
        "p_worse_over_pairs",
        "q",
        "mean_gain",
        "gain_lowest",
        "gain_highest",
        "better_on",
    )
    assert [row[key] for key in keys] == [turned[key] for key in keys]
    assert (row["gain_lowest"], row["gain_highest"]) == (3.0, 4.0)


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ((-4.0, -3.0), "By BLEU over 2 test sets, b is better than a on all 2."),
        ((4.0, -4.5, 0.1), "By BLEU over 3 test sets, b is better than a on at least 1 and worse on at least 1."),
        ((4.0, 0.1, -0.1), "By BLEU over 3 test sets, a is better than b on at least 1."),
        ((0.1, -0.2), "By BLEU over 2 test sets, no system is shown to be better than another on any."),
    ],
)
def test_one_sentence_says_what_holds_of_the_suite(gains, said):
    (headline,) = SuiteAnalysis().find(cubes_of(*gains), {}).headlines
    assert (headline.where, headline.sentence) == ({"metric": "bleu", "procedure": "paired-bootstrap"}, said)


@pytest.mark.parametrize(
    ("gains", "direction", "said"),
    [
        ((4.0, 3.0), "better", "a is better than b on all 2."),
        ((4.0, 3.0), "worse", "no system is shown to be worse than b on any."),
        ((-4.0, -3.0), "worse", "a is worse than b on all 2."),
    ],
)
def test_the_sentence_says_that_one_direction_alone_was_asked(gains, direction, said):
    (headline,) = SuiteAnalysis().find(cubes_of(*gains), {"direction": direction, "baseline": "b"}).headlines
    asked = f"asked only who is {direction} than b (one-sided, α = 0.05)"
    assert headline.sentence == f"By BLEU over 2 test sets, {asked}, {said}"


def five(name, gains):
    return build_cube(np.array(gains), list("abcde"), name=name, se=0.01)


def test_of_many_pairs_the_sentence_names_some_and_counts_the_others():
    cubes = {name: five(name, [50.0, 48.0, 46.0, 44.0, 44.001]) for name in ("t1", "t2")}
    (headline,) = SuiteAnalysis().find(cubes, {}).headlines
    assert headline.sentence == (
        "By BLEU over 2 test sets, with all pairs together, a is better than b on all 2; a is better than c on all 2; "
        "a is better than d on all 2; in 6 more pairs one system is better on some test set; and in 1 of the 10 pairs "
        "neither system is shown to be better."
    )


def test_a_pair_that_differs_corrected_for_all_pairs_is_not_counted_as_one_without_a_better_system():
    class Row(dict):
        def __eq__(self, other):
            raise AssertionError("rows are compared with each other, of which there may be a hundred thousand")

    pair = {"kind": "pair", "test_sets": 3, "better_together": 0, "worse_together": 0, "p_worse_over_pairs": 1.0}
    rows = [
        pair | {"system_a": "a", "system_b": "b", "better_together": 1, "p_better_over_pairs": 0.012},
        pair | {"system_a": "a", "system_b": "c", "p_better_over_pairs": 0.045},
        pair | {"system_a": "b", "system_b": "c", "p_better_over_pairs": 0.2},
    ]
    rows = [Row(row) for row in rows]
    both = {"metric": "bleu", "alpha": 0.05, "direction": "both", "sides": (0, 1)}
    question, data = SimpleNamespace(**both, baseline=None), SimpleNamespace(test_sets=("t1", "t2", "t3"), replicates=None)
    assert sum_up(rows, question, data) == (
        "By BLEU over 3 test sets, with all pairs together, a is better than b on at least 1; in 1 more pair one system is better "
        "on some test set; and in 1 of the 3 pairs neither system is shown to be better."
    )
    alone = sum_up(rows[1:2], question, data)
    assert alone == "By BLEU over 3 test sets, in 1 pair one system is better on some test set."
    asked = both | {"sides": (1,), "direction": "worse"}
    worse = [row | {"p_worse_over_pairs": row["p_better_over_pairs"]} for row in rows]
    assert sum_up(worse, SimpleNamespace(**asked, baseline="d"), data) == (
        "By BLEU over 3 test sets, with all pairs together, asked only who is worse than d (one-sided, α = 0.05), a is better than "
        "b on at least 1; 1 more system is worse than d on some test set; and that is not shown for 1 of the 3 systems."
    )
    against = SimpleNamespace(**both, baseline="c")
    assert sum_up(rows[2:], against, data) == "By BLEU over 3 test sets, no system is shown to be better or worse than c on any."


def test_all_test_sets_are_those_of_the_suite_or_the_sentence_says_of_which():
    two = {name: build_cube(np.array([54.0, 50.0]), ["a", "b"], name=name, se=0.1) for name in ("t1", "t2")}
    other = build_cube(np.array([54.0, 50.0]), ["a", "c"], name="t3", se=0.1)
    (headline,) = SuiteAnalysis().find({**two, "t3": other}, {}).headlines
    assert headline.sentence == "By BLEU over 3 test sets, a is better than b on all 2 that have both."


def test_pairs_are_joined_by_names_in_any_order():
    first = build_cube(np.array([54.0, 50.0, 46.0]), list("abc"), name="t1", se=1.0)
    other = build_cube(np.array([46.0, 50.0, 54.0]), list("cba"), pairs=[("c", "a"), ("b", "a"), ("c", "b")], name="t2", se=1.0)
    found = {(row["system_a"], row["system_b"]): row["better_at_least"] for row in rows_of({"t1": first, "t2": other})}
    assert found == {("a", "b"): 2, ("a", "c"): 2, ("b", "c"): 2}


def test_better_on_one_and_worse_on_another_is_no_order():
    (row,) = rows_of(cubes_of(4.0, -4.5, 0.1))
    assert (row["better_at_least"], row["worse_at_least"]) == (1, 1)
    assert row["system_a"] == "b"  # its p is the smaller one
    assert row["words"].startswith(
        "b is better than a on at least 1 of 3 test sets (t2) and worse on at least 1 of 3 test sets (t1): no one order holds"
    )
    assert "no one number stands for all" in row["words"]


def test_with_a_baseline_only_its_pairs_and_always_in_one_order():
    cube = build_cube(np.array([50.0, 54.0, 46.0]), list("abc"), se=1.0)
    rows = rows_of({"t1": cube, "t2": cube}, baseline="a")
    assert [(row["system_a"], row["system_b"]) for row in rows] == [("b", "a"), ("c", "a")]
    assert [(row["better_at_least"], row["worse_at_least"]) for row in rows] == [(2, 0), (0, 2)]
    attrs = {"baseline": "c", "asked_baseline": "b"}
    asked = rows_of({"t1": cube.assign_attrs(attrs), "t2": cube.assign_attrs(attrs)})
    assert {row["system_b"] for row in asked} == {"b"}  # what a report asks stands above what a cube was made for
    attrs["asked_baseline"] = ""
    assert len(rows_of({"t1": cube.assign_attrs(attrs), "t2": cube.assign_attrs(attrs)})) == 3


@pytest.mark.parametrize(("direction", "z"), [("better", 1.0), ("worse", -1.0)])
def test_one_direction_is_tested_at_the_whole_level(direction, z):
    """p = .0401 on both: too large for .025, small enough for .05; the other direction says nothing."""
    gains = (1.75 * z, 1.75 * z)
    (both,) = rows_of(cubes_of(*gains), baseline="b")
    assert (both["better_at_least"], both["worse_at_least"]) == (0, 0)
    (row,) = rows_of(cubes_of(*gains, *gains[:1], *gains[:1]) | cubes_of(6 * z), baseline="b", direction=direction)
    other = {"better": "worse", "worse": "better"}[direction]
    assert (row[f"{direction}_at_least"], row[f"{direction}_on"]) == (1, ["t1"])
    assert row[f"{other}_at_least"] is row[f"p_{other}_on_any"] is row[f"{other}_on"] is None
    assert row[f"p_{direction}_on_any"] == 4 * p_of(6.0)
    on = rows_of(cubes_of(6 * z, -6 * z), "test-set", baseline="b", direction=direction)
    assert [r["conclusion"] for r in on] == [direction, "not separated"]
    (none,) = rows_of(cubes_of(*(-6 * g for g in gains)), baseline="b", direction=direction)
    assert none["words"].startswith(f"a is not shown to be {direction} than b on any of 2 test sets")


def test_one_direction_of_all_pairs_is_refused():
    (row,) = rows_of(cubes_of(1.0, 2.0), "none", direction="better")
    assert "needs a baseline" in row["reason"]


def test_equal_scores_count_ties_on_either_side():
    """δ = 0: counts are of the cube's own order, here (b, a), and pairs of a suite are by name: (a, b)."""
    cube = build_cube(np.array([50.0, 50.0]), ["b", "a"], se=1.0, replicates=1000)
    for name, value in (("above_twice_delta", 300), ("at_twice_delta", 100), ("below_zero", 600), ("at_zero", 100)):
        cube = put(cube, f"count_{name}", np.array([value, 0]))
    found = join_cubes({"t": cube}, metric="bleu", procedure="paired-bootstrap", baseline=None)
    assert found.pairs == (("a", "b"),)
    # b better: δ* ≥ 0 in 400; a better: δ* ≤ 0 in 700.
    assert found.p[:, 0, 0].tolist() == [701 / 1001, 401 / 1001]
    assert (found.lo <= found.p).all()
    assert (found.p <= found.hi).all()


def test_identical_systems_have_p_one_and_are_told():
    same = build_cube(np.array([50.0, 50.0]), list("ab"), name="t9", identical=[("a", "b")])
    (row,) = rows_of(cubes_of(4.0, 3.0, t9=same))
    assert (row["test_sets"], row["better_at_least"], row["identical_on"], row["degrees"]) == (3, 2, ["t9"], 1)
    assert "Identical on t9." in row["words"]
    assert [r["p_better"] for r in rows_of(cubes_of(4.0, t9=same), "test-set")][1] == 1.0
    (row,) = rows_of({"t1": same, "t2": same})
    assert row["words"] == "a and b are identical on all 2 test sets."
    assert (row["better_at_least"], row["p_better_on_any"], row["q"]) == (0, 1.0, None)


def test_a_system_that_is_missing_somewhere_is_told_and_lowers_t():
    cubes = cubes_of(4.0, 3.0)
    cubes["t3"] = build_cube(np.array([50.0, 40.0]), ["a", "c"], name="t3", se=1.0)
    found = SuiteAnalysis().find(cubes, {})
    (row,) = [row for row in found.rows if row["kind"] == "pair"]
    assert (row["test_sets"], row["missing_on"]) == (2, ["t3"])
    assert "Not compared on t3, where a system is missing." in row["words"]
    (alone,) = [row for row in found.rows if row["kind"] == "unmeasured"]
    assert (alone["system_a"], alone["system_b"], alone["test_sets"]) == ("a", "c", 1)
    assert alone["reason"] == "a and c are compared on t3 only: a suite is made of two test sets or more"
    assert row["p_better_over_pairs"] == row["p_better_on_any"]  # the pair a, c is in no correction
    assert "1 more pair is on fewer than two test sets" in found.notes[0]


def test_a_test_set_without_any_defined_replicate_has_no_p():
    cubes = cubes_of(4.0, 3.0, 2.0)
    cubes["t3"] = put(cubes["t3"], "count_empty", B // 2)  # of each of two cells
    (row,) = rows_of(cubes)
    assert (row["test_sets"], row["undefined_on"], row["missing_on"]) == (2, ["t3"], [])
    assert "Without a score on t3." in row["words"]
    assert rows_of(cubes, "test-set")[2]["conclusion"] == "not measured"


def test_few_units_that_differ_bound_the_p_of_a_bootstrap():
    """With 5 discordant units no exact one-sided p is below 1/32; 1/32 · 2 · 2 is no finding."""
    cubes = cubes_of(6.0, 6.0)
    assert rows_of(cubes)[0]["better_at_least"] == 2
    (row,) = rows_of({name: put(cube, "discordant", 5) for name, cube in cubes.items()})
    assert (row["better_at_least"], row["p_better_on_any"]) == (0, 4 / 32)
    assert row["warning"] == "fewer than 20 units differ on t1, t2"


def test_too_few_replicates_are_told_with_the_number_that_would_do():
    cubes = {f"t{k}": build_cube(np.array([60.0, 50.0]), list("ab"), se=1.0, replicates=60) for k in (1, 2)}
    found = SuiteAnalysis().find(cubes, {})
    told = "60 replicates are too few to separate any pair on any test set: take 80 or more."
    assert told in found.notes[0]
    assert [row.sentence for row in found.headlines] == [
        f"By BLEU over 2 test sets, no system is shown to be better than another on any. {told}"
    ]


def test_more_replicates_may_change_a_number():
    """p ≈ .0252 by 2000 replicates stands near .025: either number is possible."""
    cubes = {f"t{k}": build_cube(np.array([53.0 - k, 50.0]), list("ab"), se=1.0, replicates=2000) for k in (0, 1)}
    (row,) = rows_of(cubes)
    assert (row["stable"], row["better_bounds"]) == (False, {"lo": 1, "hi": 2})
    assert "More replicates may change these numbers (1 to 2 better, 0 to 0 worse)." in row["words"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "blue"}, "metric 'blue'; did you mean 'bleu'?"),
        ({"procedure": "paired-t"}, "procedure 'paired-t'"),
        ({"test_sets": ["t1", "t22"]}, "test set 't22'; did you mean 't2'?"),
        ({"baseline": "A"}, "system 'A'"),
    ],
)
def test_a_name_that_is_not_there_is_a_row_with_the_reason(options, words):
    assert words in rows_of(cubes_of(1.0, 2.0, 3.0), "none", **options)[0]["reason"]


def test_one_test_set_is_no_suite():
    (row,) = SuiteAnalysis().find(cubes_of(4.0), {}).rows
    assert row["reason"] == "a suite is made of two test sets or more; there is t1"
    (row,) = SuiteAnalysis().find({}, {}).rows
    assert "there is none" in row["reason"]


def test_a_subset_of_test_sets_and_one_metric():
    (row,) = rows_of(cubes_of(4.0, 3.0, -9.0), test_sets=["t1", "t2"], metric="bleu")
    assert (row["test_sets"], row["better_at_least"]) == (2, 2)


@pytest.mark.parametrize("options", [{"direction": "up"}, {"test_sets": ["t1"]}, {"test_sets": "t1"}, {"alpha": 0.1}])
def test_options_of_no_use_are_refused(options):
    with pytest.raises(StudyError):
        SuiteAnalysis().check(options)


def without_counts(cube, name, **p):
    """Return the cube of a procedure that draws nothing."""
    cube = cube.assign_coords(procedure=[name]).drop_vars([v for v in cube if v.startswith(("count_", "sum_", "histogram"))])
    for convention, value in p.items():
        cube["p_value"].loc[{"convention": convention.replace("_", "-")}] = value
    return cube


def computed_p(name, gain, **p):
    cube = without_counts(build_cube(np.array([50.0 + gain, 50.0]), list("ab"), se=1.0), name, **p)
    return join_cubes({"t": cube}, metric="bleu", procedure=name, baseline=None).p[:, 0, 0].tolist()


def test_a_test_without_replicates_has_the_p_of_its_side():
    assert computed_p("exact-sign-flip", 1.0, one_sided=0.02, two_sided=0.04) == [0.02, 1.0]
    assert computed_p("exact-sign-flip", -1.0, one_sided=0.02, two_sided=0.04) == [1.0, 0.02]
    assert computed_p("mcnemar", 0.0, two_sided=1.0) == [1.0, 1.0]
    # P(δ* ≥ 2δ) is both tails less what lies at or below 0: the strict one-sided p leaves ties out.
    both = computed_p("exact-bootstrap", 1.0, one_sided=0.02, two_sided=0.07, at_or_below_zero=0.04)
    assert both == [pytest.approx(0.03), 1.0]
    assert np.isnan(computed_p("paired-t", 1.0, one_sided=np.nan, two_sided=np.nan)).all()


def test_a_procedure_without_sides_is_refused_with_the_reason():
    with pytest.raises(NoDirection, match="skew"):
        computed_p("energy-distance", 1.0, two_sided=0.01)
    cubes = {name: without_counts(cube, "energy-distance") for name, cube in cubes_of(1.0, 2.0).items()}
    (row,) = rows_of(cubes, "none")
    assert "energy-distance has no p of one side" in row["reason"]


def test_the_most_decided_pairs_are_first_and_shown():
    rng = np.random.default_rng(2)
    names = [f"s{i}" for i in range(8)]
    cubes = {f"t{k}": build_cube(50 + 3 * rng.normal(size=8), names, name=f"t{k}", se=1.0) for k in range(3)}
    rows = rows_of(cubes)
    counts = [max(row["better_at_least"], row["worse_at_least"]) for row in rows]
    assert counts == sorted(counts, reverse=True)
    assert [row["shown"] for row in rows] == [True] * 12 + [False] * 16
    assert sum(row["shown"] for row in rows_of(cubes, "test-set")) == 36
    # Holm over 28 pairs and both directions of three times the smallest p.
    least = min(r["p_better"] for r in rows_of(cubes, "test-set"))
    assert min(row["p_better_over_pairs"] for row in rows) == pytest.approx(56 * 3 * least)


def null_suite(test_sets, units, pairs, rng):
    """Cubes of pairs of equal systems, each pair with two systems of its own: so many independent suites of Gaussian scores."""
    systems = [f"s{k}" for k in range(2 * pairs)]
    named = [(systems[2 * k], systems[2 * k + 1]) for k in range(pairs)]
    for k in range(test_sets):
        d = rng.normal(size=(pairs, units))
        scores = np.full(2 * pairs, 50.0)
        scores[::2] += d.mean(axis=1)
        given = {"pairs": named, "sizes": {"full": units}, "attrs": {"effective_units": float(units)}}
        # The spread of the bootstrap's replicates is that of the units divided by n, the jackknife's of the units by n − 1.
        cube = build_cube(scores, systems, name=f"t{k}", se=d.std(axis=1)[None] / np.sqrt(units), **given)
        cube = put(cube, "se", d.std(axis=1, ddof=1) / np.sqrt(units))
        yield f"t{k}", put(cube, "discordant", units)


@pytest.mark.statistical
@pytest.mark.parametrize(("test_sets", "units"), [(12, 12), (20, 20)])
def test_equal_systems_on_many_small_test_sets_are_seldom_better_on_any(test_sets, units):
    """.049 of 4000 suites at .05, with a standard deviation of .0034; 6 of them have a false-alarm chance of 2e-9.

    Counted p-values that know nothing of few units claim something in about a fifth of them.
    """
    cubes = dict(null_suite(test_sets, units, 4000, np.random.default_rng(np.random.SeedSequence().entropy)))
    data = join_cubes(cubes, metric="bleu", procedure="paired-bootstrap", baseline=None)
    found = conclude_questions(data.p, alpha=0.05)
    claimed = (found.at_least > 0).any(axis=0).mean()
    assert claimed <= 0.049 + 6 * 0.0034
    assert (data.lo <= data.p).all()
    assert (data.p <= data.hi).all()


def test_a_direction_s_p_is_half_of_the_corrected_one_and_of_the_exact_one():
    cubes = {name: cube.assign_attrs(effective_units=12.0) for name, cube in cubes_of(3.0, 3.0).items()}
    at_few = join_cubes(cubes, metric="bleu", procedure="paired-bootstrap", baseline=None)
    assert at_few.p[0, :, 0] == pytest.approx(student.sf(3.0, 11))
    assert at_few.p[1, :, 0].tolist() == [p_of(-3.0)] * 2
    exact = {name: put(cube, "discordant", 8) for name, cube in cubes.items()}
    exact = {name: cube.assign(p_sign_flip=cube["se"] * 0 + 0.07) for name, cube in exact.items()}
    found = join_cubes(exact, metric="bleu", procedure="paired-bootstrap", baseline=None)
    assert found.p[0, :, 0].tolist() == [0.035] * 2
    many = {name: put(cube, "discordant", 20) for name, cube in exact.items()}
    assert join_cubes(many, metric="bleu", procedure="paired-bootstrap", baseline=None).p[0, :, 0] == pytest.approx(
        student.sf(3.0, 11)
    )


def test_a_pair_that_gains_the_same_on_every_unit_is_better_on_no_test_set():
    """A standard error that rounding made gives any gain a p of nearly 0, which its own report calls not testable."""
    cubes = cubes_of(4.0, 4.0)
    assert [row["conclusion"] for row in rows_of(cubes, "test-set")] == ["better", "better"]
    cubes["t2"] = put(cubes["t2"], "se", 1e-14)
    assert [row["conclusion"] for row in rows_of(cubes, "test-set")] == ["better", "not separated"]


def test_skewed_units_take_from_the_evidence_of_the_side_that_is_ahead_alone():
    """Gains of a have a long tail below: t of 3 with 999 degrees of freedom is worth 3 − .05 − .9 + .09 = 2.14."""
    cubes = {name: cube.assign_attrs(effective_units=1000.0) for name, cube in cubes_of(3.0, -3.0).items()}
    known = {name: cube.assign(acceleration=cube["se"] * 0 - 0.05) for name, cube in cubes.items()}
    plain, bent = (join_cubes(of, metric="bleu", procedure="paired-bootstrap", baseline=None) for of in (cubes, known))
    assert plain.pairs == bent.pairs == (("a", "b"),)
    expected = student.sf(3 - 0.05 - 2 * 0.05 * 9 + 4 / 3 * 0.05**2 * 27, 999)
    assert bent.p[0, 0, 0] == pytest.approx(expected)
    assert bent.lo[0, 0, 0] >= expected * (1 - 1e-9)  # whatever other draws would count
    # Where b is ahead, its own gains have a long tail above, which counts for nothing.
    assert bent.p[1, 1, 0] == plain.p[1, 1, 0]
    assert (bent.p[1, 0, 0], bent.p[0, 1, 0]) == (plain.p[1, 0, 0], plain.p[0, 1, 0])


def test_the_order_of_a_cube_s_pairs_does_not_matter_to_skewness():
    """The pair b – a of a cube is asked as a – b: the acceleration of b's gains is turned with them."""
    (cube,) = (of.assign_attrs(effective_units=1000.0) for of in cubes_of(-3.0, names="ba").values())
    bent = join_cubes(
        {"t1": cube.assign(acceleration=cube["se"] * 0 + 0.05)}, metric="bleu", procedure="paired-bootstrap", baseline=None
    )
    assert bent.pairs == (("a", "b"),)
    assert bent.p[0, 0, 0] == pytest.approx(student.sf(3 - 0.05 - 2 * 0.05 * 9 + 4 / 3 * 0.05**2 * 27, 999))


def test_a_test_set_where_a_pair_is_not_decided_is_no_evidence_and_is_named_with_its_reason():
    cubes = cubes_of(4.0, 4.0, 4.0, 4.0)
    assert rows_of(cubes)[0]["better_at_least"] == 4
    some = cubes | {"t1": undecide(cubes["t1"], 1), "t4": undecide(cubes["t4"], 2)}
    (row,) = rows_of(some)
    assert (row["better_at_least"], row["better_on"], row["worse_at_least"]) == (2, ["t2", "t3"], 0)
    assert (row["test_sets"], row["undecided_on"], row["better_bounds"]) == (4, ["t1", "t4"], {"lo": 2, "hi": 2})
    assert row["p_better_on_any"] == pytest.approx(2 * 4 * p_of(4.0))
    assert "Not decided on t1, t4, which counts for no direction: graded scores of n = 1,000 units" in row["words"]
    assert "loses much on a few units" in row["words"]
    assert row["warning"].startswith("not decided on t1, t4")
    on = rows_of(some, "test-set")
    assert [r["conclusion"] for r in on] == ["not decided", "better", "better", "not decided"]
    assert [(r["p_better"], r["p_worse"]) for r in on] == [(1, 1), *[(p_of(4.0), p_of(-4.0))] * 2, (1, 1)]
    assert [r["undecided"] for r in on] == ["few units", None, None, "rare losses"]
    (summary,) = SuiteAnalysis().find(some, {}).notes
    assert "1 pair is not decided on some test sets" in summary


def test_the_figure_draws_what_is_not_decided_in_grey_and_says_so():
    cubes = cubes_of(4.0, 4.0)
    for given, told in ((cubes, False), (cubes | {"t1": undecide(cubes["t1"], 1)}, True)):
        (figure,) = SuiteAnalysis().find(given, {}).figures
        assert ("Grey: not decided there, and no evidence." in figure.caption) == told
        drawn = MatplotlibFigure()
        figure.draw(drawn)
        (panel,) = drawn.axes
        colours = [line.get_color() for line in panel.get_lines() if line.get_marker() == "o"]
        assert colours == [GRID if told else PALETTE[0], PALETTE[0]]


def test_a_suite_of_test_sets_that_are_not_decided_shows_nothing_and_says_so():
    cubes = {name: undecide(cube.assign_attrs(), 1) for name, cube in cubes_of(9.0, 9.0, 9.0, 9.0).items()}
    (row,) = rows_of(cubes)
    assert (row["better_at_least"], row["worse_at_least"], row["p_better_on_any"], row["stable"]) == (0, 0, 1.0, True)
    assert row["words"].startswith("a and b are separated on none of 4 test sets. Not decided on any of them")


def test_what_is_not_decided_never_makes_a_suite_stronger():
    """Also not of other pairs: a pair that is decided on all of its test sets would leave them its share of the level."""
    rng = np.random.default_rng(11)
    changed = 0
    for _ in range(20):
        names = list("abcd")
        cubes = {f"t{k}": build_cube(50 + 3 * rng.normal(size=4), names, name=f"t{k}", se=1.0) for k in range(4)}
        weaker = {name: undecide(cube, 3 * (rng.random(6) < 0.3)) for name, cube in cubes.items()}
        plain, held = (join_cubes(of, metric="bleu", procedure="paired-bootstrap", baseline=None) for of in (cubes, weaker))
        full, less = (conclude_questions(of.p, alpha=0.05) for of in (plain, held))
        assert (less.at_least <= full.at_least).all()
        assert (less.together <= full.together).all()
        assert (less.over_pairs >= full.over_pairs).all()
        changed += (less.together < full.together).sum()
    assert changed > 20


def test_identical_outputs_and_pairs_without_a_p_need_no_reason():
    cube = build_cube(np.array([50.0, 50.0]), ["a", "b"], name="t1", identical=[("a", "b")])
    found = join_cubes({"t1": undecide(cube, 1)}, metric="bleu", procedure="paired-bootstrap", baseline=None)
    assert found.undecided.tolist() == [[0]]
    assert found.p[:, 0, 0].tolist() == [1.0, 1.0]
