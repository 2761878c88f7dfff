"""Sentences are true of the numbers: directions, ties, families, replicates, equivalence, few units."""

from dataclasses import replace

import numpy as np
import pytest
from support.synthetic_cubes import build_cube, gaussian_cube, uncorrected
from support.synthetic_reports import build_document, make_report, odd_cubes

from pipeline.analyses.thresholds.analysis import Thresholds
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.build import build_report
from pipeline.report.document import read_report
from pipeline.report.drawing.figures import draw_all
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.views import view_all
from pipeline.report.write import render_report


def build(cube, **extra):
    return build_document(make_report({"news": cube}, analyses=(), **extra))


def views(document):
    return view_all(read_report(document))


def sentences(cube, **extra):
    return build(cube, **extra)["verdict"][0]["sentences"]


def trust(document, check):
    return next(row for row in document["trust"] if row["check"] == check)


def test_a_round_bracket_is_explained_where_a_terminal_shows_one():
    close = build_cube(np.array([50.0, 50.2]), list("ab"))
    for report in (read_report(build_document(make_report(odd_cubes()))), read_report(build(close))):
        for family in summarise(report).split(" · ")[1:]:
            assert ("  (0.0" in family) == ("a round bracket at 0: the interval leaves out 0 itself" in family)


def test_where_less_is_better_nothing_scores_higher():
    cube = build_cube(np.array([-9.27, -21.04]), list("ab"), metric="ter", attrs={"higher_is_better": {"ter": False}})
    cube["observed_score"] = -cube["observed_score"]
    (first,) = sentences(cube, metric="ter")
    assert first.startswith("a is better than b by 11.770 [")
    assert "(scores 9.270 and 21.040, lower is better)" in first
    assert "higher" not in first.replace("lower is better", "")


def test_where_more_is_better_the_sentence_says_nothing_of_direction():
    assert "lower" not in sentences(build_cube(np.array([50.0, 53.0]), list("ab")))[0]


def test_the_null_is_free_of_direction():
    assert not any(word in words.null for words in PROCEDURES.values() for word in ("higher", "lower"))


def test_equal_scores_are_not_told_as_a_gain():
    first, *_ = sentences(build_cube(np.array([50.0, 50.0]), list("ab")))
    assert first == "a and b have the same score, 50.000, though they differ on 200 units: neither is ahead, p = 1."


def test_an_undefined_score_is_named():
    cube = build_cube(np.array([50.0, 53.0]), ["fine", "void"])
    cube["observed_score"] = cube["observed_score"].where(cube["system"] != "void")
    cube["observed_delta"], cube["p_value"] = cube["observed_delta"] * np.nan, cube["p_value"] * np.nan
    (first,) = sentences(cube)
    assert first == "fine and void cannot be compared on this test set: the score of void is undefined."


def test_an_interval_that_is_missing_leaves_no_dash():
    unknown = build_cube(np.array([50.0, 53.0]), list("ab"), attrs={"effective_units": 1.0})
    assert " by 3.000; " in sentences(unknown)[0]


def test_systems_that_share_the_best_score_are_named_together():
    first = sentences(build_cube(np.array([50.0, 50.0, 50.0, 50.0]), [f"t{i}" for i in range(4)]))[0]
    assert first.startswith("t0, t1, t2 and t3 share the best score, 50.000 (Holm over 6 pairs")
    first = sentences(build_cube(np.array([55.0, 50.0, 55.0]), list("abc")))[0]
    assert first.startswith("a and c share the best score, 55.000, and are each separated from the other (")


def test_the_family_is_of_the_pairs_that_have_a_p():
    cube = build_cube(np.array([50.0, 53.0, 56.0, 59.0]), list("abcd"))
    lost = (cube["system_a"] == "d") | (cube["system_b"] == "d")
    cube["observed_score"] = cube["observed_score"].where(cube["system"] != "d")
    cube["observed_delta"], cube["p_value"] = cube["observed_delta"].where(~lost), cube["p_value"].where(~lost)
    document = build(cube)
    first, second = document["verdict"][0]["sentences"]
    assert "(Holm over 3 pairs, " in first
    assert second == "All 3 pairs are separated; 3 more could not be measured: nothing was written."
    assert "|family:all-pairs(3)|" in document["signature"][0]["line"]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (
            [50.0, 53.0, 53.1],
            "2 of 3 pairs are separated; 1 is not separated at this n = 1,000, which does not show that the two are equal.",
        ),
        (
            [50.0, 50.9, 51.8],
            "1 of 3 pairs is separated; 2 are not separated at this n = 1,000, which does not show that they are equal.",
        ),
        ([50.0, 53.0, 56.0], "All 3 pairs are separated."),
        (
            [50.0, 50.1, 50.2],
            "None of the 3 pairs is separated at this n = 1,000, which does not show that they are equal.",
        ),
    ],
)
def test_counts_and_verbs_agree(scores, expected):
    assert sentences(build_cube(np.array(scores), list("abc")))[1] == expected


def test_too_few_replicates_are_the_reason_where_they_are():
    cube = build_cube(np.linspace(0, 200, 40), [f"s{i:02d}" for i in range(40)], replicates=5000)
    document = build(cube)
    second = document["verdict"][0]["sentences"][1]
    assert second.startswith("No pair can be separated with b = 5,000: Holm over 780 pairs")
    assert "at least 15,600 replicates" in second
    assert not any("of 780 pairs are separated" in text for text in document["verdict"][0]["sentences"])
    row = trust(document, "Enough replicates")
    assert row["status"] == "check"
    assert "15,600" in row["detail"]
    enough = build(build_cube(np.linspace(0, 200, 40), [f"s{i:02d}" for i in range(40)], replicates=20_000))
    assert trust(enough, "Enough replicates")["status"] == "ok"
    assert "separated" in enough["verdict"][0]["sentences"][1]


def with_margin(scores, above, below):
    cube = uncorrected(build_cube(np.array(scores), list("abcdef")[: len(scores)]))
    zero = cube["count_above_twice_delta"] * 0
    counts = {}
    for name, hits in (("above", above), ("below", below)):
        values = zero.values.copy()
        values[..., 0] = hits
        counts[f"count_margin_{name}"] = (zero.dims, values)
    return make_report({"news": cube.assign(counts)}, analyses=(), resampling={"margin": {"bleu": 1.0}})


def test_equivalence_is_told_with_its_p_and_margin():
    document = build_document(with_margin([50.0, 50.1], 10, 20_000))
    (first,) = document["verdict"][0]["sentences"]
    assert "equivalent within the margin of 1 (p of equivalence = 0.0200; two-sided p = " in first
    document = build_document(with_margin([50.0, 50.1], 10, 200_000))
    assert document["verdict"][0]["sentences"][1] == (
        "Equivalence within the margin of 1 is not shown (p = 0.2000); that a is not worse by the margin has p = 0.2000, that b is "
        "not p = 1.1e-05."
    )


def test_equivalents_are_counted_among_many():
    document = build_document(with_margin([50.0, 50.1, 55.0], 0, [0, 900_000, 900_000]))
    assert document["verdict"][0]["sentences"][1] == "2 of 3 pairs are separated; 1 is equivalent within the margin of 1."


def test_a_margin_adds_its_columns_and_none_adds_none():
    (view,) = [view for view in views(build_document(with_margin([50.0, 50.1], 10, 20_000))) if view.kind == "pairs"]
    cells = dict(zip(view.columns, view.rows[0], strict=True))
    assert (cells["p eq."], cells["Holm eq."]) == ("0.0200", "0.0200")
    assert "within the margin of 1" in view.caption
    (view,) = [view for view in views(build(build_cube(np.array([50.0, 50.1]), list("ab")))) if view.kind == "pairs"]
    assert not any("eq." in column for column in view.columns)


def test_few_discordant_units_are_marked_in_the_row_and_counted_in_the_verdict():
    cube = build_cube(np.array([50.0, 53.0, 56.0]), list("abc"))
    document = build(cube.assign(discordant=cube["discordant"] * 0 + np.array([12, 13, 200])))
    (view,) = [view for view in views(document) if view.kind == "pairs"]
    assert sorted(row[view.columns.index("verdict")] for row in view.rows) == ["better", "better †", "better †"]
    assert "† fewer than 20 units" in view.caption
    assert "2 of the separated pairs rest on fewer than 20 discordant units (†)" in document["verdict"][0]["sentences"][2]
    document = build(cube.assign(discordant=cube["discordant"] * 0 + np.array([3, 200, 200])))
    assert "1 more has a counted p ≤ α and is not called better: so few units differ" in document["verdict"][0]["sentences"][2]


@pytest.mark.parametrize(("units", "rate"), [(5, "15.4 %"), (10, "9.6 %"), (20, "7.1 %")])
def test_few_units_come_with_the_expected_rejection(units, rate):
    row = trust(build(build_cube(np.array([50.0, 51.0]), list("ab"), sizes={"full": units})), "Few units")
    assert row["status"] == "check"
    assert f"news ({units} items): about {rate} of true nulls are rejected at .05" in row["detail"]


def test_effective_units_count_where_the_cube_has_them():
    cube = build_cube(np.array([50.0, 51.0]), list("ab"), sizes={"full": 170}, attrs={"effective_units": 10.0})
    document = build(cube, resampling={"unit": "document"})
    assert document["pairs"][0]["effective_units"] == 10.0
    assert document["test_sets"][0]["expected_rejection"] == pytest.approx(0.0957, abs=1e-3)
    row = trust(document, "Few units")
    assert row["status"] == "check"
    assert "170 documents, worth 10 of equal size" in row["detail"]
    assert "9.6 %" in row["detail"]
    many = build(cube.assign_attrs(effective_units=120.0), resampling={"unit": "document"})
    assert trust(many, "Few units")["status"] == "ok"


def test_families_are_counted():
    sizes = {"100": 100, "200": 200, "full": 400}
    cubes = {name: build_cube(np.array([50.0, 53.0]), list("ab"), name=name, sizes=sizes) for name in ("news", "talks")}
    document = build_document(make_report(cubes, analyses=()))
    assert document["families"] == {
        "total": 6,
        "full_size": 2,
        "judged": 2,
        "across": "none",
        "level": 0.05,
        "any_false_if_independent": pytest.approx(1 - 0.95**2),
        "differing": [],
    }
    row = trust(document, "Families")
    assert row["status"] == "check"
    assert row["detail"] == (
        "2 families of tests (test set × metric) with 2 pairs: p adjusted is corrected by Holm within each family, not across "
        "families. If no systems differed, some pair would be separated with a chance of 0.098 if the families were independent "
        "(1 − 0.95^2), and of 0.1 at most; `resampling.across_families` (`--across-families` of "
        "`compare`) corrects for that. 4 more, at "
        "smaller test sizes or by further procedures, are not among them."
    )


def test_the_monte_carlo_error_of_the_panel_is_of_the_two_sided_p():
    document = build(build_cube(np.array([50.0, 51.0]), list("ab"), replicates=10_000))
    assert "every two-sided p is accurate to ± 0.0041" in trust(document, "Monte-Carlo error")["detail"]


def test_gains_above_the_threshold_are_called_usually_significant():
    rng = np.random.default_rng(1)
    cube = gaussian_cube(rng, systems=60, sizes={"full": 400}, sigma=20.0, spread=1.5)
    document = build_document(make_report({"news": cube}, analyses=("thresholds",)))
    last = document["verdict"][0]["sentences"][-1]
    assert "is usually significant where one pair alone is tested, one-sided. This is the 95th percentile" in last
    row = document["findings"][0]["rows"][0]
    assert f"{row['gain']:.3f}" in last


def test_the_gaussian_column_is_named_after_the_window():
    cube = gaussian_cube(np.random.default_rng(1), systems=12, sizes={"full": 400}, sigma=20.0, spread=1.5)
    report = make_report({"news": cube}, analyses=())
    found = Thresholds().find({"news": cube}, {"window": [0.09, 0.11]})
    (view,) = [
        v
        for v in view_all(read_report(build_document(type(report)(**{**vars(report), "findings": [found]}))))
        if v.kind == "thresholds" and "threshold" in v.columns
    ]
    assert "1.282 × median standard error" in view.columns
    assert "1.645" not in " ".join([*view.columns, view.caption])


def test_alternative_texts_look_at_the_data():
    names = [f"s{i:02d}" for i in range(8)]
    sizes = {"100": 100, "200": 200, "400": 400, "full": 800}
    rising = np.array([[0.5], [0.7], [1.0], [1.4]])  # a test set on which gains do not shrink
    cube = build_cube(np.linspace(0, 9, 8), names, sizes=sizes, se=np.broadcast_to(rising, (4, 28)))
    report = make_report({"news": cube})
    alts = {drawing.section: drawing.alt for drawing in draw_all(report, build_report(report))}
    assert "fall" not in alts["size-curve"]
    assert "rises" not in alts["figures"]
    assert "28 pairs: gains from 1.286 to 9.000, confidence from " in alts["figures"]


def test_the_alternative_text_of_the_scatter_writes_no_gain_as_0_that_is_not_0() -> None:
    scores = np.array([50.0001, 50.0, 53.0, 54.0, 55.0, 56.0, 57.0, 59.0])
    report = make_report({"news": build_cube(scores, list("abcdefgh"))})
    alts = {drawing.section: drawing.alt for drawing in draw_all(report, build_report(report))}
    assert "28 pairs: gains from 0.0001 to 9.000, confidence from " in alts["figures"]


def test_copies_are_named_together_and_once_for_all_test_sets() -> None:
    def told(**sets: list[tuple[str, str]]) -> str:
        scores = np.array([53.0, 52.0, 51.0, 50.0])
        cubes = {name: build_cube(scores, list("abcd"), name=name, identical=same) for name, same in sets.items()}
        return trust(build_document(make_report(cubes, analyses=())), "Identical outputs")["detail"]

    three = [("a", "b"), ("a", "c"), ("b", "c")]
    assert told(t=three).startswith("a = b = c. p = 1; ")
    assert told(t=three, u=three, v=[]).startswith("a = b = c (t, u). ")
    assert told(t=[("a", "b")], u=[("a", "b"), ("c", "d")]).startswith("a = b (on both test sets), c = d (u). ")


def test_a_page_says_none_where_nothing_is_to_be_looked_at():
    given = make_report({"news": build_cube(np.array([50.0, 53.0]), list("ab"))}, analyses=())
    report = build_report(given)
    for status, told in (("ok", "2 in order, none to look at."), ("check", "0 in order, 2 to look at.")):
        trust = [replace(row, status=status) for row in report.trust[:2]]
        page = render_report(given, replace(report, trust=trust))["index.html"].decode()
        assert told in page
