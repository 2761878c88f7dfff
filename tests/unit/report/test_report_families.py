"""Corrections across families: verdicts of a report against the functions of numbers, in every part of it."""

import numpy as np
import pytest
from support.synthetic_cubes import build_cube, uncorrected, undecide
from support.synthetic_reports import build_document, make_report

from pipeline.inference.multiple_comparisons.multiplicity import adjust_across_families
from pipeline.report.build import build_report
from pipeline.report.document import read_report
from pipeline.report.families.across_families import correct_across
from pipeline.report.layout.views import view_all
from pipeline.report.methods import describe_methods, methods_paragraph
from pipeline.report.pairs.columns import constant

SCORES = {"news": [50, 50.2, 53.0], "talks": [50, 51.2, 50.4], "web": [50, 51.3, 50.1]}


def given(scores=SCORES, by="none", **resampling):
    cubes = {name: build_cube(np.array(values, float), list("abc")[: len(values)], name=name) for name, values in scores.items()}
    return make_report(cubes, analyses=(), resampling={"across_families": by, **resampling})


def build(scores=SCORES, by="none", **resampling):
    return build_document(given(scores, by, **resampling))


def within_of(document):
    """Return p within each family, in the order of its rows."""
    within = {}
    for row in document["pairs"]:
        within.setdefault(row["test_set"], []).append(row["adjustment"].get("across", {"within": row["p_adjusted"]})["within"])
    return [np.array(p) for p in within.values()]


def detail(document, check="Families"):
    return next(row for row in document["trust"] if row["check"] == check)


@pytest.mark.parametrize("by", ["holm", "benjamini-bogomolov"])
def test_verdicts_follow_from_p_adjusted_over_all_families(by):
    plain, document = build(), build(by=by)
    within = within_of(plain)
    found = adjust_across_families(within, by=by, alpha=0.05)
    assert [row["p_adjusted"] for row in document["pairs"]] == pytest.approx(np.concatenate(found.p).tolist())
    assert np.concatenate(within_of(document)).tolist() == pytest.approx(np.concatenate(within).tolist())
    for row in document["pairs"]:
        assert row["separated"] == (row["p_adjusted"] <= 0.05)
        assert row["verdict"] == ("better" if row["separated"] else "not separated")
        across = row["adjustment"]["across"]
        assert (across["by"], across["families"], across["level"]) == (by, 3, pytest.approx(0.05 * found.share))
    families = document["families"]
    assert (families["judged"], families["across"], families["level"]) == (3, by, pytest.approx(0.05 * found.share))
    assert [row["p"] for row in families["differing"]] == pytest.approx(found.any_pair.tolist())


def test_a_verdict_that_only_its_own_family_supports_falls_and_ranks_with_it():
    plain, document = build(), build(by="holm")
    (better, not_separated) = (
        {(row["test_set"], row["system_a"], row["system_b"]) for row in of["pairs"] if row["verdict"] == "better"}
        for of in (plain, document)
    )
    assert better - not_separated == {("talks", "b", "a"), ("web", "b", "a"), ("web", "b", "c")}
    ranks = {(row["test_set"], row["name"]): (row["rank_low"], row["rank_high"]) for row in document["leaderboard"]}
    assert {ranks["web", name] for name in "abc"} == {(1, 3)}
    assert ranks["news", "c"] == (1, 1)
    sentence = next(verdict for verdict in document["verdict"] if verdict["test_set"] == "web")["sentences"][0]
    assert "not separated from either of the 2 others (Holm over 3 pairs, Holm over 3 families, " in sentence


def test_one_line_says_what_is_corrected_and_what_not():
    row = detail(build())
    assert row["status"] == "check"
    assert "3 families of tests (test set × metric) with 9 pairs" in row["detail"]
    assert "not across families" in row["detail"]
    assert "0.14 if the families were independent (1 − 0.95^3), and of 0.15 at most" in row["detail"]
    row = detail(build(by="holm"))
    assert row["status"] == "ok"
    assert (
        "by Holm across families, which tests each at 0.0167: the chance of any false verdict is at most about 0.05."
        in row["detail"]
    )
    assert "In 1 of them some pair differs." in row["detail"]
    row = detail(build(by="benjamini-bogomolov"))
    assert "of the families with any verdict a share of at most about 0.05" in row["detail"]
    one = detail(build({"news": SCORES["news"]}, by="holm"))
    assert one == {
        "check": "Families",
        "status": "ok",
        "detail": "1 family of tests (test set × metric): p adjusted is corrected for its 3 pairs by Holm.",
    }
    alone = detail(build({"news": [50.0, 53.0]}))
    assert alone["detail"].endswith(": one pair is tested, and there is nothing to correct for.")


def test_methods_and_captions_name_the_correction():
    report = read_report(build(by="benjamini-bogomolov"))
    names = [method.name for method in describe_methods(report)]
    assert "Many families, Benjamini and Bogomolov" in names
    assert "Many families, Holm" not in names
    assert "3 families in all, and by the method of Benjamini and Bogomolov across them, at α = 0.05" in methods_paragraph(report)
    captions = [view.caption for view in view_all(report) if view.kind == "pairs"]
    assert all("by Holm over 3 pairs, Benjamini and Bogomolov over 3 families" in caption for caption in captions)
    assert not any(name.startswith("Many families") for name in (m.name for m in describe_methods(read_report(build()))))


def test_a_single_pair_says_that_its_p_is_corrected_across_families():
    scores = {"news": [50.0, 51.2], "web": [50.0, 50.3]}
    document = build(scores, by="holm")
    first = document["verdict"][0]["sentences"]
    (row, _) = document["pairs"]
    assert row["p_adjusted"] == pytest.approx(2 * row["adjustment"]["across"]["within"])
    assert any(s.startswith("That p is corrected by Holm over 2 families; within its own family the pair has p = ") for s in first)


def with_margin(below):
    """Two test sets of one pair, .1 apart, with as many hits of a hundred thousand against a margin of 1."""
    cubes = {}
    for name, hits in below.items():
        cube = uncorrected(build_cube(np.array([50.0, 50.1]), list("ab"), name=name, replicates=100_000))
        zero = cube["count_above_twice_delta"] * 0
        values = zero.values.copy()
        values[..., 0] = hits
        cubes[name] = cube.assign(count_margin_above=zero, count_margin_below=(zero.dims, values))
    return cubes


@pytest.mark.parametrize(("by", "expected"), [("none", "equivalent"), ("holm", "inconclusive")])
def test_tests_of_equivalence_are_families_too(by, expected):
    """p_eq = .015 and .03, twice p = .84: four families, 4 · .015 = .06."""
    given = make_report(
        with_margin({"news": 1500, "web": 3000}), analyses=(), resampling={"margin": {"bleu": 1.0}, "across_families": by}
    )
    document = build_document(given)
    assert {row["verdict"] for row in document["pairs"]} == {expected}
    p = [row["p_equivalence_holm"] for row in document["pairs"]]
    factors = [1, 1] if by == "none" else [4, 3]  # each family has one pair: Holm over four p-values
    assert p == pytest.approx([factor * (hits + 1) / 100_001 for factor, hits in zip(factors, (1500, 3000), strict=True)])


@pytest.mark.parametrize("by", ["holm", "benjamini-bogomolov"])
def test_what_is_not_decided_leaves_no_share_and_selects_no_family(by):
    known = dict(build_report(given()).full)
    (web,) = (place for place in known if place.test_set == "web")
    undecided = {"undecided": constant("few units", 3), "separated": constant(False, 3)}
    known[web] = known[web].with_columns(undecided)
    found = correct_across(known, by=by, alpha=0.05)
    within = [np.ones(3) if place == web else pairs.columns["p_adjusted"].values for place, pairs in known.items()]
    expected = adjust_across_families(within, by=by, alpha=0.05)
    assert found.level == pytest.approx(0.05 * expected.share)
    assert found.any_pair[web] == 1.0
    judged = known[web].with_columns(found.apply(web, known[web].columns, stable=constant(True, 3)))
    for row, before in zip(judged, known[web], strict=True):
        assert row.p_adjusted == pytest.approx(min(1.0, before.p_adjusted / expected.share))
        assert not row.separated


@pytest.mark.parametrize(("alpha", "expected"), [(0.05, "not decided"), (0.02, "inconclusive")])
def test_an_equivalence_that_is_not_decided_is_no_evidence_for_other_families(alpha, expected):
    """p_eq = .005 and .018: with the first as 1, 4 · .018 = .07; with it rejected it were 3 · .018 = .054."""
    given = {"margin": {"bleu": 1.0}, "across_families": "holm", "alpha": alpha}
    cubes = with_margin({"news": 500, "web": 1800})
    cubes["news"] = undecide(cubes["news"], 1)
    document = build_document(make_report(cubes, analyses=(), resampling=given))
    news, web = document["pairs"]
    assert web["p_equivalence_holm"] == pytest.approx(4 * 1801 / 100_001)
    assert news["p_equivalence_holm"] == pytest.approx(4 * 501 / 100_001)
    assert (news["verdict"], web["verdict"]) == (expected, "inconclusive")


def test_other_names_are_refused():
    with pytest.raises(ValueError, match="across_families"):
        build(by="sidak")


def test_the_paragraph_for_a_paper_says_what_was_drawn_and_nothing_else():
    cube = build_cube(np.array([50.0, 53.0]), ["a", "b"])
    told = methods_paragraph(read_report(build_document(make_report({"news": cube}, analyses=()))))
    assert "over segments with b = 1,000,000 replicates shared by all systems (seed " in told
    assert "threshold" not in told  # no such analysis was asked for
    documents = cube.assign_attrs(unit="speaker", n_items=9000, effective_units=900.0)
    told = methods_paragraph(read_report(build_document(make_report({"news": documents}, analyses=()))))
    assert "over units of speaker with b = " in told
    computed = cube.assign_coords(procedure=["mcnemar"])
    told = methods_paragraph(read_report(build_document(make_report({"news": computed}, analyses=()))))
    assert "replicates" not in told
    assert "seed" not in told
    assert "P-values are two-sided, min(1, 2 P(X ≥ max(wins, losses)))" in told


def test_the_paragraph_for_a_paper_tells_what_is_exact_from_what_is_counted():
    exact = {"exact": {"paired-bootstrap": {"bleu": 131_072}}}

    def told(**attrs):
        cubes = {name: build_cube(np.array([50.0, 53.0]), ["a", "b"], name=name, attrs=own) for name, own in attrs.items()}
        return methods_paragraph(read_report(build_document(make_report(cubes, analyses=()))))

    law, counted = "P(|δ* − δ| ≥ δ), computed exactly, and", "(s + 1)/(b + 1) (Phipson and Smyth, 2010)"
    assert f"two-sided, {counted}, of BLEU on news {law}" in told(news=exact, talks={})
    assert f"two-sided, {counted}, of BLEU on talks {law}" in told(news={}, talks=exact)
    assert "with b = 1,000,000 replicates" in told(news=exact, talks={})  # not that of the first test set, which has none
    assert f"two-sided, {law}" in told(news=exact, talks=exact)
    assert "b = " not in told(news=exact, talks=exact)
    assert "computed exactly" not in told(news={}, talks={})


def test_unstable_verdicts_are_counted_among_the_pairs_that_have_one():
    cube = build_cube(np.array([50.0, 53.0, 56.0, 57.0]), list("abcd")).assign_attrs(family="against-baseline", baseline="b")
    asked = {"family": "against-baseline", "baseline": "b"}
    document = build_document(make_report({"news": cube}, analyses=(), resampling=asked))
    (check,) = (row for row in document["trust"] if row["check"] == "Unstable verdicts")
    assert check["detail"].startswith("Another random seed could change the verdict on 0 of 3 pairs (*)")
