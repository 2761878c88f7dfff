"""The document of a report: every field is there, verdicts follow from its own numbers, and none is NaN."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.synthetic_cubes import build_cube
from support.synthetic_reports import build_document, make_report, odd_cubes

from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.report.alignment import format_alignment
from pipeline.report.document import encode_document, read_report
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.views import view_all
from pipeline.report.trust.trust import describe_trust

PAIR_FIELDS = [
    "test_set",
    "metric",
    "test_size",
    "procedure",
    "convention",
    "null",
    "system_a",
    "system_b",
    "score_a",
    "score_b",
    "delta",
    "se",
    "bias",
    "ties",
    "discordant",
    "units",
    "effective_units",
    "count",
    "replicates",
    "p",
    "p_adjusted",
    "p_raw",
    "adjustment",
    "interval",
    "monte_carlo_error",
    "stable",
    "method",
    "note",
]
FIELDS = [
    "schema_version",
    "study",
    "signature",
    "versions",
    "test_sets",
    "systems",
    "pairs",
    "clusters",
    "sections",
    "findings",
    "warnings",
    "failures",
]


@pytest.fixture(scope="module")
def document(odd_report):
    return build_document(odd_report)


def test_every_promised_field_is_there(document):
    assert set(FIELDS) <= set(document)
    assert all(set(PAIR_FIELDS) <= set(row) for row in document["pairs"])


def test_the_better_system_comes_first_whatever_the_order_of_the_cube():
    cube = build_cube(np.array([50.0, 53.0]), ["worse", "better"])
    (row,) = build_document(make_report({"news": cube}))["pairs"]
    assert (row["system_a"], row["system_b"], row["delta"]) == ("better", "worse", 3.0)
    assert (row["score_a"], row["score_b"]) == (53.0, 50.0)


def test_a_metric_where_less_is_better_puts_the_lower_score_first():
    cube = build_cube(np.array([-50.0, -53.0]), ["low", "high"], metric="ter", attrs={"higher_is_better": {"ter": False}})
    cube["observed_score"] = -cube["observed_score"]  # the cube's differences have the direction applied
    document = build_document(make_report({"news": cube}, metric="ter"))
    assert [row["name"] for row in document["leaderboard"]] == ["low", "high"]
    assert document["pairs"][0]["system_a"] == "low"


def test_nothing_is_nan_even_where_the_cube_is(document):
    cube = build_cube(np.array([50.0, 53.0, 53.0]), list("abc"))
    cube["se"] = cube["se"] * np.nan
    cube["p_value"] = cube["p_value"] * np.nan
    text = encode_document(build_document(make_report({"news": cube}))).decode()

    def refuse(constant):
        raise AssertionError(constant)

    json.loads(text, parse_constant=refuse)
    json.loads(encode_document(document).decode(), parse_constant=refuse)


def test_holm_is_over_all_pairs_of_the_two_sided_p_corrected_for_few_units(document):
    rows = [row for row in document["pairs"] if row["test_set"] == "news <1>"]
    expected = holm(np.array([max(row["p"], row["p_few_units"] or 0.0) for row in rows]))
    assert [row["p_adjusted"] for row in rows] == pytest.approx(expected.tolist())
    assert [row["adjustment"]["others"]["holm"] for row in rows] == [row["p_adjusted"] for row in rows]
    assert {row["adjustment"]["family_size"] for row in rows} == {66}
    assert len(rows) == 66
    assert all(row["adjustment"]["others"]["max_t"] is None and "max_t" in row["adjustment"]["reason"] for row in rows)


def test_verdict_and_adjusted_p_never_disagree(document):
    for row in document["pairs"]:
        assert (row["verdict"] == "better") == (row["adjustment"]["others"]["holm"] <= document["alpha"])


def test_identical_systems_are_called_so(document):
    (row,) = [row for row in document["pairs"] if row["identical"] and row["test_set"] == "news <1>"]
    assert row["verdict"] == "identical"
    assert row["interval"] is None
    assert "equal" in row["note"]
    assert row["p"] == 1.0


def test_without_kept_replicates_the_interval_is_bonferroni_s(document):
    row = next(row for row in document["pairs"] if row["interval"] and row["interval"]["lo"])
    half = (row["interval"]["hi"] - row["interval"]["lo"]) / 2
    t = stats.t.isf(0.025 / row["adjustment"]["family_size"], row["effective_units"] - 1)
    assert row["interval"]["method"] == "bonferroni"
    assert half == pytest.approx(t * row["se"])
    assert row["interval"]["lo"] + half == pytest.approx(row["delta"])


def test_count_and_p_are_the_same_number(document):
    for row in document["pairs"]:
        if row["delta"] > 0:
            assert row["count"] / row["replicates"] == row["p_raw"]["one_sided"]


def test_ranks_follow_from_the_separated_pairs(document):
    for place in document["leaderboard"]:
        lost = sum(
            r["separated"] and r["system_b"] == place["name"] and r["test_set"] == place["test_set"] for r in document["pairs"]
        )
        assert place["rank_low"] == 1 + lost
        assert place["rank_low"] <= place["rank"] <= place["rank_high"]


def test_a_signature_pins_the_number(document):
    line = document["signature"][0]["line"]
    assert line == (
        "pipeline:0.1.0|paired-bootstrap|b:1000000|seed:7|unit:item|n:1000|sides:two|family:all-pairs(66)|metric:bleu|nrefs:1|tok:13a"
    )


def test_equivalence_needs_a_margin_and_the_counts():
    cube = build_cube(np.array([50.0, 50.1]), list("ab"))
    zero = cube["count_above_twice_delta"] * 0
    cube = cube.assign(count_margin_above=zero + 10, count_margin_below=zero + 20_000)
    report = make_report({"news": cube})
    study = report.study.model_copy(update={"resampling": report.study.resampling.model_copy(update={"margin": {"bleu": 1.0}})})
    (row,) = build_document(type(report)(**{**vars(report), "study": study}))["pairs"]
    assert row["p_equivalence"] == row["p_equivalence_holm"] == 40_001 / 1_000_001
    assert row["verdict"] == "equivalent"
    (row,) = build_document(report)["pairs"]
    assert (row["margin"], row["p_equivalence"], row["verdict"]) == (None, None, "not separated")


def test_two_systems_give_a_sentence_with_both_names_and_the_gain():
    cube = build_cube(np.array([50.0, 50.1]), list("ab"))
    (verdict,) = build_document(make_report({"news": cube}))["verdict"]
    assert verdict["sentences"][0].startswith("b is ahead of a by 0.100 [")
    assert "not separated at this n = 1,000" in verdict["sentences"][0]
    assert not any("equal" in sentence for sentence in verdict["sentences"])


def test_few_units_and_few_discordant_units_are_told():
    cube = build_cube(np.array([50.0, 51.0]), list("ab"), sizes={"full": 40})
    status = {row["check"]: row["status"] for row in build_document(make_report({"news": cube}))["trust"]}
    assert status["Few units"] == "check"
    assert status["Few discordant units"] == "check"
    assert status["Calibration of the test"] == "not checked"


def test_curves_hold_points_and_fits(document):
    (curve,) = (finding for finding in document["findings"] if finding["analysis"] == "size-curve")
    assert [point["units"] for point in curve["rows"] if point["test_set"] == "news <1>"] == [100, 200, 400, 1000]
    fit = next(f for f in curve["details"]["fits"] if f["quantity"] == "median_se")
    assert fit["slope"] == pytest.approx(-0.5)
    assert math.isfinite(fit["c"])


def test_the_summary_is_plain_aligned_text(document):
    text = summarise(read_report(document), most_pairs=5)
    assert "… 56 more pairs are in the report" in text  # of the first six systems nine are listed, and one close verdict
    assert "\x1b" not in text
    assert "中文系统" in text


def test_the_summary_explains_its_marks():
    cube = build_cube(np.array([50.0, 53.0]), list("ab"), sizes={"full": 40})
    text = summarise(read_report(build_document(make_report({"news": cube}))))
    assert "better †" in text
    assert "† fewer than 20 units on which the two systems differ" in text
    assert "* the verdict" not in text


def test_the_alignment_table_lines_up_and_names_twins():
    rows = [{"system": "中文", "items": 1000, "identical_to": ("b",)}, {"system": "b", "items": 998, "identical_to": ()}]
    assert format_alignment("news", 1000, 100, rows, ["line 3 is empty"], unit="document").splitlines() == [
        "news: 1,000 items in 100 documents, 2 systems",
        "  system  items  identical to",
        "  中文    1,000  b",
        "  b         998",
        "  warning: line 3 is empty",
    ]


def test_of_many_systems_only_those_that_are_odd_have_a_line() -> None:
    rows = [{"system": f"s{k}", "items": 50, "common": 50, "missing": 0, "duplicates": 0, "identical_to": ()} for k in range(13)]
    (told,) = format_alignment("news", 50, 50, rows).splitlines()[1:]
    assert told == "  all 13 systems have all 50 items, each once"
    rows[3] |= {"items": 49, "common": 49, "missing": 1}
    assert [line.split()[:2] for line in format_alignment("news", 50, 50, rows).splitlines()[2:]] == [["s3", "49"], ["12", "more"]]
    assert len(format_alignment("news", 50, 50, rows[:12]).splitlines()) == 14  # of a dozen each is shown


def test_pairs_of_which_nothing_was_written_are_not_measured():
    cube = build_cube(np.array([50.0, 53.0, 54.0]), list("abc"))
    for name in ("p_value", "se", "sum_shift"):
        cube[name] = cube[name].where(cube["system_a"] != "a")
    for name in ("discordant", "histogram", "count_above_twice_delta"):
        cube[name] = cube[name].where(cube["system_a"] != "a", -1)
    rows = build_document(make_report({"news": cube}))["pairs"]
    lost = [row for row in rows if "a" in (row["system_a"], row["system_b"])]
    assert {row["verdict"] for row in lost} == {"not measured"}
    assert {(row["discordant"], row["count"], row["interval"], row["stable"]) for row in lost} == {(None, None, None, None)}
    assert all(row["note"] for row in lost)
    (kept,) = [row for row in rows if row not in lost]
    assert (kept["adjustment"]["family_size"], kept["p_adjusted"]) == (1, kept["p_few_units"])


def test_the_same_study_gives_the_same_document():
    one, two = (encode_document(build_document(make_report(odd_cubes()))) for _ in range(2))
    assert one == two


class Walked(list):
    """A list that counts how often it is gone through."""

    walks = 0

    def __iter__(self):
        self.walks += 1
        return super().__iter__()


@pytest.mark.parametrize("show", [view_all, describe_trust, summarise])
def test_all_pairs_are_not_gone_through_for_each_family(show):
    walks = []
    for sets in (1, 2):
        report = read_report(build_document(make_report(dict(list(odd_cubes().items())[:sets]))))
        walked = Walked(report.pairs)
        show(replace(report, pairs=walked))
        walks.append(walked.walks)
    assert walks[0] == walks[1] > 0
