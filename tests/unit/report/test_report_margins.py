"""A study with a margin: four verdicts by one rule, non-inferiority both ways, and a gate."""

import numpy as np
import pytest
from support.synthetic_cubes import build_cube, uncorrected, undecide
from support.synthetic_reports import build_document, make_report

from pipeline.inference.equivalence import VERDICTS, equivalence
from pipeline.report.document import read_report
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.layout.tables import make_tables
from pipeline.report.layout.views import view_all
from pipeline.report.methods import methods_paragraph
from pipeline.report.pairs.pair_rows import list_pairs
from pipeline.report.rows import FamilyKey

B = 1_000_000


def with_margin(scores, above, below, **options):
    """Return a cube whose pairs have these counts against the margin; ``gains`` of .5 and more are separated.

    The counts are not those of its gains and standard errors, so that nothing is corrected by these.
    """
    cube = uncorrected(build_cube(np.array(scores), list("abcdef")[: len(scores)], **options))
    zero = cube["count_above_twice_delta"] * 0
    counts = {}
    for name, hits in (("above", above), ("below", below)):
        values = zero.values.copy()
        values[..., 0] = hits
        counts[f"count_margin_{name}"] = (zero.dims, values)
    return cube.assign(counts)


def build(cube, **resampling):
    return build_document(make_report({"news": cube}, analyses=(), resampling={"margin": {"bleu": 1.0}, **resampling}))


def by_pair(document):
    return {row["system_a"] + row["system_b"]: row for row in document["pairs"]}


# Pairs ab, ac, bc: gains .1 (not separated), 3.0 and 2.9 (separated).
SCORES = [50.0, 50.1, 53.0]


def test_every_pair_has_one_of_the_four_verdicts():
    rows = by_pair(build(with_margin(SCORES, 0, [900_000, 0, 900_000])))
    assert {pair: row["verdict"] for pair, row in rows.items()} == {"ba": "inconclusive", "ca": "equivalent", "cb": "better"}
    assert {pair: row["differs_within_margin"] for pair, row in rows.items()} == {"ba": False, "ca": True, "cb": False}
    assert rows["ca"]["separated"]
    assert "differs, within the margin" in rows["ca"]["note"]
    assert "not shown to be equivalent" in rows["ba"]["note"]


def test_the_paragraph_for_a_paper_names_the_margin_and_its_test():
    told = methods_paragraph(read_report(build(with_margin(SCORES, 0, [900_000, 0, 900_000]))))
    said = "Equivalence within a margin (BLEU 1) was tested by two one-sided tests (Schuirmann, 1987), and Holm's method."
    assert said in told
    without = make_report({"news": build_cube(np.array(SCORES), list("abc"))}, analyses=())
    assert "Equivalence" not in methods_paragraph(read_report(build_document(without)))


def test_the_rule_is_holm_s_equivalence_first_and_then_the_family_s_own_adjustment():
    rng = np.random.default_rng(6)
    seen = set()
    for _ in range(40):
        scores = 50 + np.cumsum(rng.choice([0.05, 1.2, 2.0], 4))
        below = rng.choice([0, 4_000, 12_000, 40_000, 600_000], 6)
        rows = by_pair(build(with_margin(scores, 0, below)))
        for row in rows.values():
            shown = row["p_adjusted"] <= 0.05
            expected = "equivalent" if row["p_equivalence_holm"] <= 0.05 else "better" if shown else "inconclusive"
            assert row["verdict"] == expected
            assert row["differs_within_margin"] == (expected == "equivalent" and shown)
            seen.add((row["verdict"], row["differs_within_margin"]))
    assert seen == {("equivalent", True), ("equivalent", False), ("better", False), ("inconclusive", False)}


def test_what_is_not_decided_has_no_claim_of_either_kind_and_keeps_its_reason():
    """Pairs ab, ac, bc: would be equivalent, equivalent and separated, separated."""
    cube = with_margin(SCORES, 0, [0, 0, 900_000])
    assert {pair: row["verdict"] for pair, row in by_pair(build(cube)).items()} == {
        "ba": "equivalent", "ca": "equivalent", "cb": "better",
    }  # fmt: skip
    document = build(undecide(cube, [1, 2, 3]))
    rows = by_pair(document)
    assert {row["verdict"] for row in rows.values()} == {"not decided"}
    assert {pair: row["undecided"] for pair, row in rows.items()} == {
        "ba": "few units",
        "ca": "rare losses",
        "cb": "failures of others",
    }
    assert {(row["separated"], row["differs_within_margin"]) for row in rows.values()} == {(False, False)}
    assert all("neither a difference nor equivalence is claimed" in row["note"] for row in rows.values())
    assert all(row["interval"] is None and "interval: none is shown" in row["note"] for row in rows.values())
    told = " ".join(document["verdict"][0]["sentences"])
    assert "equivalent within" not in told
    assert (
        "c has the best score, 53.000, and is not separated from either of the 2 others; against none of them is the difference"
        in told
    )
    assert told.count("is not decided: ") == 3
    (view,) = (view for view in view_all(read_report(document)) if view.kind == "pairs")
    assert {cells[view.columns.index("verdict")] for cells in view.rows} == {"not decided"}
    assert "Not decided: a p is at most α, and neither a difference nor equivalence is claimed" in view.caption
    # Of two equal systems equivalence is what would have been claimed: no p of a difference is small.
    (verdict,) = build(undecide(with_margin([50.0, 50.0, 50.1], 0, 0), 1))["verdict"]
    assert "c has the best score, 50.100, and is not separated from either of the 2 others (" in verdict["sentences"][0]
    open_pair = by_pair(build(undecide(with_margin(SCORES, 0, 900_000), [1, 0, 0])))["ba"]
    assert (open_pair["verdict"], open_pair["undecided"]) == ("inconclusive", "few units")


def test_a_single_pair_that_is_not_decided_says_so_of_the_margin_too():
    (sentences,) = (d["sentences"] for d in build(undecide(with_margin([50.0, 50.1], 0, 10), 1))["verdict"])
    assert "b is ahead of a by 0.100; not decided: graded scores of n = 1,000 units" in sentences[0]
    assert (
        "Nor is anything decided about the margin of 1 (p of equivalence = 1.1e-05; that a is not worse by the margin"
        in sentences[1]
    )
    assert not any("not separated" in sentence for sentence in sentences[:2])
    # Nothing would be claimed but that the one that is ahead is not worse: that is not decided either.
    (sentences,) = (d["sentences"] for d in build(undecide(with_margin([50.0, 50.1], 0, 900_000), 1))["verdict"])
    assert "the two are not separated" in sentences[0]
    assert sentences[1].startswith("Nor is anything decided about the margin of 1: graded scores of n = 1,000 units")


def test_an_equivalence_that_is_not_decided_leaves_no_share_to_others_and_turns_with_no_draw():
    """p_eq = .01 and .03 of two pairs: by Holm .03 · 1 once the first is rejected, and .06 where it is no evidence."""
    cube = with_margin([50.0, 50.1, 50.2], 0, [10_000, 18_000, 900_000])
    plain, held = by_pair(build(cube)), by_pair(build(undecide(cube, [1, 0, 0])))
    assert plain["ba"]["verdict"] == plain["ca"]["verdict"] == "equivalent"
    assert plain["ca"]["p_equivalence_holm"] == pytest.approx(2 * 18_001 / (B + 1))
    assert held["ca"]["p_equivalence_holm"] == pytest.approx(3 * 18_001 / (B + 1))
    assert (held["ba"]["verdict"], held["ca"]["verdict"]) == ("not decided", "inconclusive")
    assert (held["ba"]["p_equivalence_holm"], held["ba"]["stable"]) == (plain["ba"]["p_equivalence_holm"], True)
    # 2 · .025 is so near the level that other draws could turn it; 3 · .025 is not.
    near = with_margin([50.0, 50.1, 50.2], 0, [10_000, 24_990, 900_000])
    assert [by_pair(build(of))["ca"]["stable"] for of in (near, undecide(near, [1, 0, 0]))] == [False, True]


@pytest.mark.parametrize("margin", [{}, {"bleu": 1.0}])
def test_a_claim_that_is_not_made_turns_with_no_draw(margin):
    """1.96 standard errors, and p_eq = .05: other draws could turn both claims, if there were one."""
    near = with_margin([50.0, 50.98], 0, 49_990)
    ((row,), (open_row,)) = (
        build_document(make_report({"news": of}, analyses=(), resampling={"margin": margin}))["pairs"]
        for of in (near, undecide(near, 1))
    )
    assert (row["stable"], open_row["stable"]) == (False, True)


def test_what_could_not_be_measured_is_no_finding():
    cube = with_margin(SCORES, -1, -1)
    rows = by_pair(build(cube.assign(p_value=cube["p_value"].where(cube["system_a"] != "a"))))
    assert {row["verdict"] for row in rows.values()} == {"not measured", "better"}
    assert rows["ba"]["p_equivalence"] is None


def test_non_inferiority_is_told_both_ways():
    document = build(with_margin(SCORES, [10, 20, 30], [1_000, 2_000, 3_000]))
    rows = by_pair(document)
    expected = equivalence(np.array([10, 20, 30]), np.array([1_000, 2_000, 3_000]), np.full(3, B), identical=np.zeros(3, np.bool_))
    for pair, behind, ahead in zip(("ba", "ca", "cb"), expected.p_behind, expected.p_ahead, strict=True):
        assert (rows[pair]["p_behind"], rows[pair]["p_ahead"]) == (behind, ahead)
        assert rows[pair]["p_equivalence"] == behind
    (view,) = (view for view in view_all(read_report(document)) if view.kind == "pairs")
    cells = dict(zip(view.columns, view.rows[0], strict=True))
    assert (cells["n.i. better"], cells["n.i. worse"]) == ("2.1e-05", "0.0020")
    assert {"p_ahead", "p_behind", "differs_within_margin"} <= set(
        make_tables(read_report(document), {})["pairs.csv"].decode().split("\n")[0].split(",")
    )


def test_a_difference_within_the_margin_is_marked_and_said():
    document = build(with_margin([50.0, 53.0], 0, 0))
    (row,) = document["pairs"]
    assert (row["verdict"], row["differs_within_margin"]) == ("equivalent", True)
    assert "b is better, by less than the margin" in " ".join(document["verdict"][0]["sentences"])
    (view,) = (view for view in view_all(read_report(document)) if view.kind == "pairs")
    assert view.rows[0][view.columns.index("verdict")] == "equivalent ‡"
    assert "‡ equivalent, and yet separated" in view.caption


def test_identical_systems_are_equivalent_and_said_to_be_identical():
    document = build(with_margin([50.0, 50.0, 53.0], [-1, 0, 0], [-1, 900_000, 900_000], identical=[("a", "b")]))
    row = by_pair(document)["ab"]
    assert (row["verdict"], row["p_equivalence"], row["differs_within_margin"]) == ("equivalent", None, False)
    (view,) = (view for view in view_all(read_report(document)) if view.kind == "pairs")
    assert {cells[view.columns.index("verdict")] for cells in view.rows} == {"better", "equivalent (identical)"}
    assert "1 is identical on every unit" in document["verdict"][0]["sentences"][1]
    assert "equivalent" not in document["verdict"][0]["sentences"][1]


def test_counts_against_another_margin_are_not_taken_for_this_one():
    cube = with_margin(SCORES, 0, 0)
    assert {row["verdict"] for row in build(cube.assign_attrs(margin={"bleu": 1.0}))["pairs"]} == {"equivalent"}
    for held, words in (({"bleu": 0.3}, "against a margin of 0.3"), ({}, "without a margin")):
        document = build(cube.assign_attrs(margin=held))
        assert {row["p_equivalence"] for row in document["pairs"]} == {None}
        assert {row["verdict"] for row in document["pairs"]} == {"better", "inconclusive"}
        assert all(f"the run counted {words}, and the report asks for 1" in row["note"] for row in document["pairs"])
        assert any(row["check"] == "Margin" for row in document["trust"])


def against(scores, below, **more):
    return build(with_margin(scores, 0, below), family="against-baseline", baseline="b", **more)


def test_only_what_is_behind_the_baseline_by_more_than_the_margin_is_worse():
    # b is the baseline: a is 3 below it, c .1 below, d .1 above and e 3 above. Pairs: ab ac ad ae bc bd be cd ce de.
    scores = [50.0, 53.0, 52.9, 53.1, 56.0]
    lost = [900_000] * 10
    document = against(scores, lost)
    standing = {row["name"]: row["against_baseline"] for row in document["leaderboard"]}
    assert standing == {"a": "worse", "b": None, "c": "inconclusive", "d": "inconclusive", "e": "better"}
    within = against(scores, [0, *lost[1:]])  # a is worse, and within the margin
    assert {row["name"]: row["against_baseline"] for row in within["leaderboard"]}["a"] == "equivalent"


def test_what_is_not_decided_against_the_baseline_is_counted_and_is_neither_better_nor_worse():
    cube = undecide(with_margin([50.0, 53.0, 56.0], 0, 900_000), [1, 0, 0])  # a – b, a – c, b – c
    document = build(cube, family="against-baseline", baseline="b")
    assert {row["name"]: row["against_baseline"] for row in document["leaderboard"]} == {
        "a": "not decided",
        "b": None,
        "c": "better",
    }
    assert "1 is better, none is worse and 1 is not decided (" in document["verdict"][0]["sentences"][0]
    plain = build(with_margin([50.0, 53.0, 56.0], 0, 900_000), family="against-baseline", baseline="b")
    assert "1 is better and 1 is worse (" in plain["verdict"][0]["sentences"][0]


def test_only_pairs_of_the_family_are_adjusted_together():
    document = against([50.0, 53.0, 52.9], [12_000, 12_000, 12_000])
    rows = by_pair(document)
    assert rows["ca"]["verdict"] is None
    assert rows["ca"]["p_equivalence"] is rows["ca"]["p_behind"] is rows["ca"]["differs_within_margin"] is None
    assert rows["ba"]["p_equivalence_holm"] == pytest.approx(2 * 12_001 / (B + 1))


def test_words_are_those_of_the_one_place_that_judges():
    cube = with_margin(SCORES, 0, [900_000, 0, 900_000])
    place = FamilyKey("news", "bleu", "paired-bootstrap")
    rows = list_pairs(cube, place, alpha=0.05, unit="item", margins={"bleu": 1.0})
    assert {row.verdict for row in rows} <= set(VERDICTS)
    plain = list_pairs(cube, place, alpha=0.05, unit="item", family=FamilyOf())
    assert {row.verdict for row in plain} == {"not separated", "better"}
    assert {row.differs_within_margin for row in plain} == {None}


def floors(other):
    """Two pairs of a family, the first with six discordant units and no hit: .03125 is small enough for Holm's last step only."""
    cube = uncorrected(build_cube(np.array([50.0, 55.0, 50.9]), list("abc"), replicates=100_000))
    zero, twice = cube["count_at_zero"] * 0, np.zeros_like(cube["count_at_zero"].values)
    twice[..., 0] = [0, other, 0]
    counts = {f"count_{name}": zero for name in ("below_zero", "at_zero", "at_twice_delta")}
    p = cube["p_value"].values.copy()
    p[:, 5] = (np.array([0, other, 0]) + 1) / 100_001
    cube = cube.assign(
        **counts,
        count_above_twice_delta=(zero.dims, twice),
        p_value=(cube["p_value"].dims, p),
        discordant=cube["discordant"] * 0 + np.array([6, 200, 200]),
    )
    resampling = {"family": "against-baseline", "baseline": "a"}
    return build_document(make_report({"news": cube}, analyses=(), resampling=resampling))


@pytest.mark.parametrize(
    ("other", "verdict", "stable"), [(2500, None, False), (2000, "better", True), (3000, "not separated", True)]
)
def test_a_verdict_that_hangs_on_the_draws_of_another_pair_is_not_called_stable(other, verdict, stable):
    row = by_pair(floors(other))["ba"]
    assert 2 * row["p_raw"]["two_sided_plus_one"] < 1e-4  # its own draws leave no doubt
    assert row["stable"] is stable
    assert verdict is None or row["verdict"] == verdict
