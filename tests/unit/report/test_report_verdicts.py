"""Which pairs are called better, equivalent or stable, and what is said where a number is missing."""

import numpy as np
import pytest
from support.synthetic_cubes import build_cube, uncorrected
from support.synthetic_reports import build_document, make_report

from pipeline.inference.multiple_comparisons.multiplicity import holm


def build(cube, **extra):
    return build_document(make_report({"news": cube}, analyses=(), **extra))


def with_counts(cube, *, twice, replicates):
    """Replace the counts: ``twice`` of b replicates above 2δ in each pair, none below 0, in one of two cells."""
    for name in ("below_zero", "at_zero", "at_twice_delta", "above_twice_delta"):
        cube[f"count_{name}"] = cube[f"count_{name}"] * 0
    values = cube["count_above_twice_delta"].values.copy()
    values[..., 0] = twice
    cube["count_above_twice_delta"] = (cube["count_above_twice_delta"].dims, values)
    p = cube["p_value"].values.copy()
    p[:, 0] = p[:, 1] = np.asarray(twice) / replicates
    p[:, 4] = p[:, 5] = (np.asarray(twice) + 1) / (replicates + 1)
    cube["p_value"] = (cube["p_value"].dims, p)
    return cube.assign_attrs(replicates=replicates)


def family(hits, replicates=100_000):
    """Five systems, ten pairs of distinct gains, with the hits given."""
    cube = build_cube(np.array([50.0, 51, 53, 56, 60]), list("abcde"), replicates=replicates)
    return uncorrected(with_counts(cube, twice=np.array(hits), replicates=replicates))


def test_the_asterisk_is_about_holm_and_not_about_the_unadjusted_p():
    # .005 · 10 is α: on the edge after Holm. .0499 is on the edge before Holm, and far from it after.
    rows = build(family([500, 4990, *[40_000] * 8]))["pairs"]
    by_hits = {row["count"]: row["stable"] for row in rows}
    assert by_hits == {500: False, 4990: True, 40_000: True}
    assert all(("could change" in (row["note"] or "")) == (row["stable"] is False) for row in rows)


def test_another_alpha_moves_the_asterisk_with_the_verdict():
    cube = family([500, 4990, *[40_000] * 8])
    rows = build(cube, resampling={"alpha": 0.449})["pairs"]  # .0499 · 9; as `pipeline report --set` asks
    assert {row["count"]: row["stable"] for row in rows} == {500: True, 4990: False, 40_000: True}


@pytest.mark.parametrize("name", ["stable", "p_error"])
def test_the_cube_s_own_flag_is_not_what_decides(name):
    cube = family([500, 4990, *[40_000] * 8])
    assert build(cube)["pairs"][0]["stable"] == build(cube.assign({name: cube[name] * 0}))["pairs"][0]["stable"]


@pytest.mark.parametrize(("m", "verdict"), [(2, "not separated"), (5, "not separated"), (6, "better"), (30, "better")])
def test_nothing_is_better_where_no_exact_test_can_reject(m, verdict):
    cube = uncorrected(build_cube(np.array([50.0, 51.06]), list("ab")))  # two-sided p = .034
    document = build(cube.assign(discordant=cube["discordant"] * 0 + m))
    (row,) = document["pairs"]
    assert (row["verdict"], row["separated"]) == (verdict, verdict == "better")
    assert row["p_floor"] == 2.0 ** (1 - m)
    assert row["p_adjusted"] == max(row["p_floor"], row["p"])
    assert row["few_discordant"] == (m < 20)
    assert ("p_adjusted is at least" in (row["note"] or "")) == (m < 20)
    text = " ".join(document["verdict"][0]["sentences"])
    assert (f"differ on {m} units only: an exact test of swaps of so few has no smaller p" in text) == (m < 6)
    assert (f"differ on {m} units only: an exact test of swaps is safer" in text) == (6 <= m < 20)
    assert ("better" in text.split(";")[0]) == (verdict == "better")


def test_in_a_family_the_floor_is_held_against_holm():
    cube = family([0, *[40_000] * 9])
    m = np.where(np.arange(10) == 0, 8, 200)  # 2^-7 = .0078 is below α, and above α/10
    rows = build(cube.assign(discordant=cube["discordant"] * 0 + m))["pairs"]
    (first,) = [row for row in rows if row["discordant"] == 8]
    assert 10 * first["p_raw"]["two_sided_plus_one"] < 0.05
    assert first["p"] == 2.0**-7
    assert first["p_adjusted"] == 10 * 2.0**-7
    assert first["verdict"] == "not separated"


def test_ranks_do_not_use_what_only_few_units_say():
    cube = build_cube(np.array([50.0, 53.0, 56.0]), list("abc"))
    board = build(cube.assign(discordant=cube["discordant"] * 0 + 4))["leaderboard"]
    assert [(row["rank_low"], row["rank_high"]) for row in board] == [(1, 3)] * 3


@pytest.mark.parametrize(("metric", "advice"), [("accuracy", "McNemar"), ("bleu", "swaps")])
def test_mcnemar_is_advised_for_accuracy_only(metric, advice):
    cube = build_cube(np.array([50.0, 51.5]), list("ab"), metric=metric)
    document = build(cube.assign(discordant=cube["discordant"] * 0 + 12), metric=metric)
    detail = next(row["detail"] for row in document["trust"] if row["check"] == "Few discordant units")
    for text in (document["pairs"][0]["note"], detail, " ".join(document["verdict"][0]["sentences"])):
        assert advice in text
        assert ("McNemar" in text) == (metric == "accuracy")


def test_a_pair_without_a_standard_error_is_never_better_and_says_why():
    cube = build_cube(np.array([50.0, 55.0]), list("ab"))
    document = build(cube.assign(se=cube["se"] * np.nan))
    (row,) = document["pairs"]
    assert row["adjustment"]["others"]["holm"] < 0.001
    assert (row["se"], row["verdict"]) == (None, "not separated")
    assert "se: undefined" in row["note"]
    assert "no difference is claimed" in " ".join(document["verdict"][0]["sentences"])


def test_empty_replicates_are_told_at_the_pair():
    cube = build_cube(np.array([50.0, 50.5]), list("ab"))
    document = build(cube.assign(count_empty=cube["count_empty"] + 50))
    (row,) = document["pairs"]
    assert (row["replicates"], row["empty_replicates"]) == (999_900, 100)
    assert "p is conditional on the 999,900 defined replicates of 1,000,000" in row["note"]
    assert "conditional on the 999,900 of 1,000,000" in " ".join(document["verdict"][0]["sentences"])
    full = build(build_cube(np.array([50.0, 50.5]), list("ab")))["pairs"][0]
    assert (full["empty_replicates"], full["note"]) == (0, None)


def test_equal_scores_have_no_count_and_no_bias_but_a_reason():
    (row,) = build(build_cube(np.array([50.0, 50.0]), list("ab")))["pairs"]
    assert (row["delta"], row["count"], row["bias"], row["p_raw"]["one_sided"], row["p"]) == (0.0, None, None, None, 1.0)
    assert "no order" in row["note"]
    assert "count or bias" in row["note"]


@pytest.mark.parametrize("identical", [(), (("a", "b"),)])
def test_a_p_of_one_by_definition_is_not_called_monte_carlo(identical):
    cube = build_cube(np.array([50.0, 50.0, 52.0]), list("abc"), identical=identical)
    shape = cube["p_value"].isel(convention=0).shape
    method = (cube["p_value"].dims, np.zeros((shape[0], 6, *shape[1:]), np.int8))
    cube["method"] = (*method, {"flag_values": [0, 1, 2], "flag_meanings": "monte-carlo exact tail"})
    methods = {(row["system_a"], row["system_b"]): row["method"] for row in build(cube)["pairs"]}
    assert methods == {("a", "b"): "definition", ("c", "a"): "asymptotic", ("c", "b"): "asymptotic"}


def test_the_monte_carlo_error_belongs_to_the_two_sided_p():
    (row,) = build(build_cube(np.array([50.0, 51.0]), list("ab"), replicates=10_000))["pairs"]
    p = row["p_raw"]["two_sided_plus_one"]
    assert row["monte_carlo_error"] == pytest.approx(1.96 * np.sqrt(p * (1 - p) / 10_000))
    assert row["monte_carlo_error_one_sided"] < row["monte_carlo_error"]


def test_a_missing_monte_carlo_error_has_its_reason():
    cube = build_cube(np.array([50.0, 51.0]), list("ab")).drop_vars("p_error")
    (row,) = build(cube)["pairs"]
    assert row["monte_carlo_error"] is None
    assert "monte_carlo_error: not in the cube" in row["note"]


def equivalence(margin_hits, **extra):
    """Three systems whose pairs have the hits given against equivalence."""
    cube = uncorrected(build_cube(np.array([50.0, 50.1, 50.3]), list("abc"), replicates=100_000))
    zero = cube["count_above_twice_delta"] * 0
    below = zero.values.copy()
    below[..., 0] = margin_hits
    cube = cube.assign(count_margin_above=zero, count_margin_below=(zero.dims, below))
    return build(cube, resampling={"margin": {"bleu": 1.0}}, **extra)


def test_equivalence_is_held_against_holm():
    document = equivalence([1000, 2000, 3000])  # .01, .02 and .03: ·3, ·2, ·1
    rows = {(row["system_a"], row["system_b"]): row for row in document["pairs"]}
    p = np.array([1001, 2001, 3001]) / 100_001
    order = [("b", "a"), ("c", "a"), ("c", "b")]
    assert [rows[pair]["p_equivalence"] for pair in order] == pytest.approx(p)
    assert [rows[pair]["p_equivalence_holm"] for pair in order] == pytest.approx(holm(p))
    assert {row["verdict"] for row in rows.values()} == {"equivalent"}
    document = equivalence([2000, 2000, 3000])  # each at most .05, but .02 · 3 is not
    assert {row["verdict"] for row in document["pairs"]} == {"inconclusive"}


def test_a_verdict_of_equivalence_is_stable_by_its_own_counts():
    stable = {row["count"]: row["stable"] for row in equivalence([1666, 90_000, 90_000])["pairs"]}  # .01666 · 3 is α
    assert sorted(stable.values()) == [False, True, True]
    assert all(row["stable"] for row in equivalence([0, 90_000, 90_000])["pairs"])


def test_identical_systems_are_not_in_the_family_of_equivalence():
    cube = build_cube(np.array([50.0, 50.0]), list("ab"), identical=[("a", "b")])
    zero = cube["count_above_twice_delta"] * 0
    cube = cube.assign(count_margin_above=zero, count_margin_below=zero)
    (row,) = build(cube, resampling={"margin": {"bleu": 1.0}})["pairs"]
    assert (row["verdict"], row["identical"], row["p_equivalence"]) == ("equivalent", True, None)
    assert "identical" in row["note"]
    assert row["differs_within_margin"] is False


def test_tied_systems_share_a_rank():
    board = build(build_cube(np.array([50.0, 52.0, 50.0, 52.0, 52.0, 49.0]), list("abcdef")))["leaderboard"]
    assert [(row["rank"], row["name"]) for row in board] == [(1, "b"), (1, "d"), (1, "e"), (4, "a"), (4, "c"), (6, "f")]
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in board)


def test_a_system_without_a_score_has_no_rank():
    cube = build_cube(np.array([50.0, 52.0, 51.0]), list("abc"))
    cube["observed_score"] = cube["observed_score"].where(cube["system"] != "c")
    cube["observed_delta"] = cube["observed_delta"].where((cube["system_a"] != "c") & (cube["system_b"] != "c"))
    cube["p_value"] = cube["p_value"].where((cube["system_a"] != "c") & (cube["system_b"] != "c"))
    document = build(cube)
    board = {row["name"]: row for row in document["leaderboard"]}
    assert (board["c"]["rank"], board["c"]["rank_low"], board["c"]["rank_high"]) == (None, None, None)
    assert board["a"]["rank_high"] == 2
