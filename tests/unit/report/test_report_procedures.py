"""Several procedures in one report: each with its own null, columns and family, the first one the judge."""

import json

import numpy as np
import pytest
import xarray as xr
from support.synthetic_cubes import CONVENTIONS, build_cube, uncorrected, undecide
from support.synthetic_reports import build_document, make_report

from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.document import read_report
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.views import view_all
from pipeline.report.write import render_report

BOOTSTRAP, RANDOMIZATION = "paired-bootstrap", "approximate-randomization"
ALL = ("thresholds", "size-curve", "calibration-transfer")


def as_randomization(cube, p=None):
    """Return the cube of another procedure: no bias, no margins, p-values by three conventions only, larger where asked."""
    meant = np.isin(CONVENTIONS, PROCEDURES[RANDOMIZATION].conventions)[:, None, None, None]
    values = np.where(meant, cube["p_value"].values if p is None else np.asarray(p), np.nan)
    other = cube.assign_coords(procedure=[RANDOMIZATION])
    return other.assign(p_value=(cube["p_value"].dims, values))


def several(*cubes):
    """Join cubes of one procedure each."""
    return xr.concat(cubes, "procedure", data_vars="minimal", coords="minimal", compat="override", join="override").assign_attrs(
        cubes[0].attrs
    )


def build(cube, *, analyses=(), procedures=(BOOTSTRAP, RANDOMIZATION), **resampling):
    return build_document(make_report({"news": cube}, analyses=analyses, resampling={"procedures": list(procedures), **resampling}))


def four(**options):
    return build_cube(np.array([50.0, 51.0, 53.0, 56.0]), list("abcd"), **options)


@pytest.fixture(scope="module")
def document():
    return build(several(four(), as_randomization(four())), analyses=ALL)


def test_rows_come_by_procedure_in_the_study_s_order(document):
    assert [row["procedure"] for row in document["pairs"]] == [BOOTSTRAP] * 6 + [RANDOMIZATION] * 6
    turned = build(several(as_randomization(four()), four()), procedures=(RANDOMIZATION, BOOTSTRAP))
    assert [row["procedure"] for row in turned["signature"]] == [RANDOMIZATION, BOOTSTRAP]
    assert [row["procedure"] for row in turned["verdict"]] == [RANDOMIZATION]
    for rows in (document["leaderboard"], *(finding["rows"] for finding in document["findings"][:2])):
        assert list(dict.fromkeys(row["procedure"] for row in rows)) == [BOOTSTRAP, RANDOMIZATION]


def test_a_randomization_has_its_null_and_no_interval_and_no_bias_with_the_reason(document):
    for row in document["pairs"]:
        swaps = row["procedure"] == RANDOMIZATION
        assert (row["interval"] is None, row["bias"] is None) == (swaps, swaps)
        assert ("exchangeable unit by unit" in row["null"]) == swaps
        assert row["convention"] == ("two-sided-plus-one" if swaps else "one-sided")
        assert row["se"] is not None
        assert row["note"] is None
    assert "no interval" in document["reasons"]["pairs.interval"]
    assert "pairs.bias" in document["reasons"]
    alone = build(four(), procedures=(BOOTSTRAP,))
    assert set(alone["reasons"]) == {"pairs.design_effect", "pairs.intra_cluster_correlation"}


def test_each_procedure_is_a_family_of_its_own():
    cube = uncorrected(four())
    p = cube["p_value"].values.copy()
    p[:, 5] = np.reshape([0.01, 0.02, 0.03, 0.2, 0.4, 0.9], p[:, 5].shape)
    document = build(several(cube, as_randomization(cube, p)))
    for name, values in ((BOOTSTRAP, cube["p_value"].values[:, 5].ravel()), (RANDOMIZATION, p[:, 5].ravel())):
        rows = [row for row in document["pairs"] if row["procedure"] == name]
        assert sorted(row["adjustment"]["others"]["holm"] for row in rows) == sorted(holm(values).tolist())
        assert {row["adjustment"]["family_size"] for row in rows} == {6}
    assert {key: document["families"][key] for key in ("total", "full_size", "judged")} == {"total": 2, "full_size": 2, "judged": 1}


def test_the_first_procedure_judges_and_the_others_agree_or_not():
    cube = build_cube(np.array([50.0, 53.0, 56.0, 59.0]), list("abcd"))
    same = build(several(cube, as_randomization(cube)))
    (verdict,) = same["verdict"]
    assert "two-sided paired-bootstrap" in verdict["sentences"][0]
    separated = sum(row["separated"] for row in same["pairs"] if row["procedure"] == BOOTSTRAP)
    assert verdict["sentences"][-1] == f"By approximate-randomization {separated} of 6 pairs are separated, the same ones."
    p = cube["p_value"].values.copy()
    first = (cube["system_a"].values == "a") & (cube["system_b"].values == "d")
    p[..., first] = 0.6
    (verdict,) = build(several(cube, as_randomization(cube, p)))["verdict"]
    assert verdict["sentences"][-1] == (
        f"By approximate-randomization {separated - 1} of 6 pairs are separated; "
        "1 verdict differs from those of paired-bootstrap: d – a."
    )


@pytest.mark.parametrize(
    ("gain", "p", "undecided", "ending"),
    [
        (3.0, None, (0, 0), "the difference is separated from zero as well."),
        (0.1, None, (0, 0), "the difference is not separated either."),
        (3.0, 0.3, (0, 0), "(two-sided p = 0.3000) the difference is not separated, which is another verdict."),
        (3.0, None, (1, 1), "the difference is not decided either."),
        (3.0, 0.3, (1, 1), "(two-sided p = 0.3000) the difference is not separated."),
        (3.0, None, (1, 0), "the difference is separated from zero, which is another verdict."),
    ],
)
def test_one_pair_is_judged_in_a_sentence_of_its_own(gain, p, undecided, ending):
    cube = build_cube(np.array([50.0, 50.0 + gain]), list("ab"))
    other = as_randomization(cube, None if p is None else np.full(cube["p_value"].shape, p))
    cube, other = (undecide(of, code) for of, code in zip((cube, other), undecided, strict=True))
    (verdict,) = build(several(cube, other))["verdict"]
    assert verdict["sentences"][-1].startswith("By approximate-randomization (two-sided p = ")
    assert verdict["sentences"][-1].endswith(ending)


def test_identical_systems_need_no_second_opinion():
    cube = build_cube(np.array([50.0, 50.0]), list("ab"), identical=[("a", "b")])
    (verdict,) = build(several(cube, as_randomization(cube)))["verdict"]
    assert verdict["sentences"] == ["b and a are identical on every unit: there is no difference to test."] or (
        verdict["sentences"] == ["a and b are identical on every unit: there is no difference to test."]
    )


def test_tables_of_a_randomization_have_no_column_that_it_cannot_fill(document):
    bootstrap, randomization = (view for view in view_all(read_report(document)) if view.kind == "pairs")
    assert {"95 % interval", "one-sided"} <= set(bootstrap.columns)
    assert not {"95 % interval", "one-sided"} & set(randomization.columns)
    assert all(len(row) == len(randomization.columns) and "–" not in row for row in randomization.rows)
    assert "|δ°| ≥ δ" in randomization.caption
    assert "Berg-Kirkpatrick" not in randomization.caption


def test_a_margin_is_the_bootstrap_s_alone():
    cube = build_cube(np.array([50.0, 50.1]), list("ab"))
    zero = cube["count_above_twice_delta"] * 0
    near = cube.assign(count_margin_above=zero + 10, count_margin_below=zero + 20_000)
    far = as_randomization(cube).assign(count_margin_above=zero - 1, count_margin_below=zero - 1)
    document = build(several(near, far.assign_coords(procedure=[RANDOMIZATION])), margin={"bleu": 1.0})
    one, other = document["pairs"]
    assert (one["margin"], one["verdict"]) == (1.0, "equivalent")
    assert (other["margin"], other["p_equivalence"], other["verdict"]) == (None, None, "not separated")
    views = {view.title.rsplit(" ", 1)[-1]: view.columns for view in view_all(read_report(document)) if view.kind == "pairs"}
    assert ("p eq." in views[BOOTSTRAP], "p eq." in views[RANDOMIZATION]) == (True, False)


def test_few_discordant_units_cast_doubt_on_the_bootstrap_alone():
    cube = build_cube(np.array([50.0, 53.0]), list("ab"))
    cube = cube.assign(discordant=cube["discordant"] * 0 + 12)
    document = build(several(cube, as_randomization(cube)))
    one, other = document["pairs"]
    assert (one["few_discordant"], other["few_discordant"]) == (True, False)
    assert "not to be trusted" not in (other["note"] or "")
    reach = cube.assign(discordant=cube["discordant"] * 0 + 4)
    assert [row["verdict"] for row in build(several(reach, as_randomization(reach)))["pairs"]] == ["not separated"] * 2


def test_trust_speaks_of_the_procedures_that_are_there():
    cube = four(sizes={"full": 40})

    def panel(found):
        return {row["check"]: row for row in found["trust"]}

    alone = panel(build(as_randomization(cube), procedures=(RANDOMIZATION,)))
    assert "Bias of the bootstrap" not in alone
    assert (alone["Few units"]["status"], alone["Few units"]["detail"]) == (
        "ok",
        "The level of approximate-randomization does not need many units, where the null holds.",
    )
    assert alone["What approximate-randomization supposes"]["status"] == "not checked"
    both = panel(build(several(cube, as_randomization(cube))))
    assert both["Few units"]["status"] == "check"
    assert "p-values of paired-bootstrap are too small" in both["Few units"]["detail"]
    assert "Bias of the bootstrap" in both
    assert "What approximate-randomization supposes" not in panel(build(cube, procedures=(BOOTSTRAP,)))
    exact = panel(build(as_randomization(cube).assign_coords(procedure=["exact-sign-flip"]), procedures=("exact-sign-flip",)))
    assert "exactly if outputs are exchangeable" in exact["What exact-sign-flip supposes"]["detail"]


def test_notes_say_what_the_one_sided_p_of_swaps_is(document):
    for analysis in ("thresholds", "size-curve"):
        assert sum("#(δ° > δ)/b" in note for note in document["notes"][analysis]) == 1
    assert not any(
        "δ°" in note for notes in build(four(), analyses=ALL, procedures=(BOOTSTRAP,))["notes"].values() for note in notes
    )


def test_pages_name_the_procedure_of_every_figure_and_describe_both():
    report = make_report({"news": several(four(), as_randomization(four()))}, resampling={"procedures": [BOOTSTRAP, RANDOMIZATION]})
    files = render_report(report, read_report(build_document(report)))
    page, text = files["index.html"].decode(), files["report.md"].decode()
    for words in ("by the paired bootstrap and by approximate randomization", "verdicts those of the paired bootstrap", "W05-0908"):
        assert words in text
        assert words in page
    for name in (BOOTSTRAP, RANDOMIZATION):
        assert f"Confidence against gain on news, BLEU, {name}" in page
    # Scores are the same by both, and are drawn once: with the procedure that gives them intervals.
    assert f"Scores on news, BLEU, {BOOTSTRAP}" in page
    assert f"Scores on news, BLEU, {RANDOMIZATION}" not in page
    assert page.count('<article class="card') == 1

    def refuse(constant):
        raise AssertionError(constant)

    json.loads(files["report.json"], parse_constant=refuse)
    assert files["tables/pairs.csv"].count(b"\n") == 13


def test_the_bootstrap_alone_is_told_as_before():
    report = make_report({"news": four()})
    text = render_report(report, read_report(build_document(report)))["report.md"].decode()
    assert "by the paired bootstrap over segments" in text
    assert "randomization" not in text
    assert "Confidence against gain on news, BLEU. Each" in text


def test_the_terminal_shows_the_first_procedure_and_what_the_other_says():
    text = summarise(read_report(build(several(as_randomization(four()), four()), procedures=(RANDOMIZATION, BOOTSTRAP))))
    assert text.count("news · BLEU · ") == 1
    assert "news · BLEU · approximate-randomization" in text
    assert "By paired-bootstrap" in text


def test_a_t_test_of_few_units_is_not_said_to_reject_as_often_as_a_bootstrap():
    few = four(sizes={"full": 10})

    def panel(cube, *procedures):
        document = build(cube, procedures=procedures)
        (row,) = (row for row in document["trust"] if row["check"] == "Few units")
        return row, document["test_sets"][0]["expected_rejection"]

    by_t = as_randomization(few).assign_coords(procedure=["paired-t"])
    alone, rate = panel(by_t, "paired-t")
    assert (alone["status"], rate) == ("check", None)
    assert alone["detail"] == (
        "With fewer than 50 units, paired-t may miss its level unless the differences of units are near to Gaussian: "
        "news (10 items)."
    )
    both, rate = panel(several(few, by_t), BOOTSTRAP, "paired-t")
    assert rate == pytest.approx(0.0959, abs=1e-4)
    assert "counted p-values of paired-bootstrap are too small: news (10 items): about 9.6 % of true nulls" in both["detail"]
    assert both["detail"].endswith(
        " With so few units, paired-t may miss its level unless the differences of units are near to Gaussian."
    )
