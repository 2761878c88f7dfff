"""What stands beside a p: tails, the p of few units, what it is worth, and why there is none."""

import math

import numpy as np
import pytest
import xarray as xr
from scipy.stats import t as student
from support.synthetic_cubes import CONVENTIONS, build_cube
from support.synthetic_reports import build_document, make_report

from pipeline.cubes.declarations import METHODS, P_LABELS, P_REASONS, TAIL_REASONS
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.document import read_report
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.tables import make_tables
from pipeline.report.layout.terminal import Screen
from pipeline.report.layout.views import view_all
from pipeline.report.pairs.cube_facts import MISSING_TAILS
from pipeline.report.write import render_report

TESTS = ("procedure", "convention", "metric", "test_size", "pair")
SIGN_FLIP = "exact-sign-flip"


def build(cube, **resampling):
    return build_document(make_report({"news": cube}, analyses=(), resampling=resampling))


def codes(cube, name, words, value, dims=TESTS):
    """Add a variable of codes, the same everywhere or by pair."""
    shape = tuple(cube.sizes[dim] for dim in dims)
    values = np.broadcast_to(np.asarray(value, np.int8), shape)
    return cube.assign({name: (dims, values, {"flag_values": list(range(len(words))), "flag_meanings": " ".join(words)})})


def with_tails(cube, p, *, method="exact", label="none", error=0.0):
    p = np.asarray(p, float)
    there = np.isfinite(p)
    shape = tuple(cube.sizes[dim] for dim in TESTS)
    with np.errstate(divide="ignore"):
        logs = np.where(p > 0, np.log10(p), np.nan)
    for name, values in (("tail_p", p), ("tail_log10_p", logs), ("tail_p_error", np.where(there, error, np.nan))):
        cube = cube.assign({name: (TESTS, np.broadcast_to(values, shape))})
    cube = codes(cube, "tail_method", METHODS, np.where(there, METHODS.index(method), -1))
    return codes(cube, "tail_label", P_LABELS, np.where(there, P_LABELS.index(label), -1))


def pair_view(document):
    (view,) = (view for view in view_all(read_report(document)) if view.kind == "pairs")
    return view, [dict(zip(view.columns, row, strict=True)) for row in view.rows]


three = np.array([50.0, 52.6, 53.1])


def test_a_tail_stands_beside_the_count_with_its_label_and_error_and_only_where_there_is_one():
    cube = with_tails(build_cube(three, list("abc")), [2.5e-5, 3e-9, np.nan], method="tail", error=2e-6)
    cube = codes(cube, "tail_label", P_LABELS, [0, P_LABELS.index("model-tail"), -1])
    document = build(cube)
    rows = {(row["system_a"], row["system_b"]): row for row in document["pairs"]}
    assert rows["b", "a"]["tail"]["two_sided"] == {
        "p": 2.5e-5,
        "log10_p": pytest.approx(math.log10(2.5e-5)),
        "error": 2e-6,
        "method": "tilted",
        "label": "tilted",
    }
    assert rows["c", "a"]["tail"]["one_sided"]["label"] == "model tail"
    assert rows["c", "b"]["tail"] is None
    view, cells = pair_view(document)
    shown = {(row["better"], row["worse"]): row["tail"] for row in cells}
    assert shown == {("b", "a"): "2.5e-05 ± 2.0e-06 tilted", ("c", "a"): "3.0e-09 ± 2.0e-06 model tail", ("c", "b"): "–"}
    assert "No verdict uses it" in view.caption
    head, *lines = make_tables(read_report(document), {})["pairs.csv"].decode().splitlines()
    assert "tail.two_sided.label" in head.split(",")
    assert sum("tilted" in line for line in lines) == 2


def test_an_exact_tail_shows_how_wide_it_is_where_two_digits_say_too_much():
    cube = with_tails(build_cube(three, list("abc")), [2.5e-5, 2.5e-5, np.nan], error=[1e-7, 9e-7, np.nan])
    _, cells = pair_view(build(cube))
    shown = [row["tail"] for row in cells]
    assert sorted(shown) == ["2.5e-05 exact", "2.5e-05 ± 9.0e-07 exact", "–"]


def test_tails_change_no_verdict_and_without_any_there_is_no_column():
    cube = build_cube(three, list("abc"))
    plain, tails = (build(one) for one in (cube, with_tails(cube, [0.9, 0.9, 0.9])))
    assert [row | {"tail": None} for row in tails["pairs"]] == plain["pairs"]
    assert "tail" not in pair_view(plain)[0].columns
    for document, is_there in ((plain, False), (tails, True)):
        text = render_report(make_report({"news": cube}, analyses=()), read_report(document))["report.md"].decode()
        assert ("- Tails: " in text) == is_there


def test_a_tail_that_is_left_out_has_a_reason():
    cube = with_tails(build_cube(three, list("abc")), [2.5e-5, np.nan, np.nan])
    reasons = [TAIL_REASONS.index(name) for name in ("none", "beyond-the-budget", "enough-replicates")]
    document = build(codes(cube, "tail_reason", TAIL_REASONS, reasons, ("procedure", "metric", "test_size", "pair")))
    rows = {(row["system_a"], row["system_b"]): row for row in document["pairs"]}
    assert rows["b", "a"]["tail_reason"] is None
    assert rows["c", "a"]["tail"] is None
    assert rows["c", "a"]["tail_reason"] == MISSING_TAILS["beyond-the-budget"]
    assert rows["c", "b"]["tail_reason"] is None  # nothing is missing: counting was enough
    head, *lines = make_tables(read_report(document), {})["pairs.csv"].decode().splitlines()
    assert "tail_reason" in head.split(",")
    assert sum("beyond the budget" in line for line in lines) == 1


def test_a_chance_of_exactly_nothing_is_told_as_exact():
    document = build(with_tails(build_cube(three, list("abc")), [0.0, 0.0, 0.0]))
    assert document["pairs"][0]["tail"]["two_sided"]["log10_p"] is None
    assert pair_view(document)[1][0]["tail"] == "0 exact"


def few(units=12, **options):
    """Two systems on few units, a gain of 1 with a standard error of .4; all units differ."""
    cube = build_cube(np.array([50.0, 51.0]), list("ab"), sizes={"full": units}, se=0.4, replicates=10_000, **options)
    return cube.assign(discordant=cube["discordant"] * 0 + units)


def test_few_units_have_a_p_of_their_own_by_student_s_t_and_it_decides():
    document = build(few())
    (row,) = document["pairs"]
    assert row["p_few_units"] == pytest.approx(2 * student.sf(2.5, 11))
    counted = row["p_raw"]["two_sided_plus_one"]
    assert counted < row["p"] == row["p_adjusted"] == row["p_few_units"]
    view, (cells,) = pair_view(document)
    assert "p is two-sided, as (s + 1)/(b + 1), corrected for few units" in view.caption
    told = " ".join(document["verdict"][0]["sentences"])
    assert f"two-sided p = {row['p_adjusted']:.4f}, paired-bootstrap" in told
    assert f"corrected for few units (12 effective ones); paired-bootstrap by itself counts p = {counted:.4f}" in told
    detail = next(row["detail"] for row in document["trust"] if row["check"] == "Few units")
    assert "The p-values that decide are corrected for that" in detail
    assert f"{row['p_adjusted']:.4f}" in summarise(read_report(document))
    assert cells["p"] == cells["p adjusted"] == f"{row['p_few_units']:.4f}"


def test_the_units_of_the_test_set_s_structure_count_and_not_their_number():
    (row,) = build(few(60, attrs={"effective_units": 6.0}))["pairs"]
    assert row["p_few_units"] == pytest.approx(2 * student.sf(2.5, 5))
    for units, told in ((60, False), (50, False), (49, True)):
        document = build(few(units))
        assert document["pairs"][0]["p_few_units"] == pytest.approx(2 * student.sf(2.5, units - 1))
        assert ("corrected for few units (" in " ".join(document["verdict"][0]["sentences"])) == told


def test_strata_take_degrees_of_freedom_away():
    strata = {"column": "domain", "count": 4, "smallest": 3, "largest": 3, "alone": 0}
    (row,) = build(few(attrs={"strata": strata}))["pairs"]
    assert row["p_few_units"] == pytest.approx(2 * student.sf(2.5, 8))


def computed(cube, procedure, p, *, reason="none", label="none", log10=None, error=0.0, method="exact"):
    """Return the cube of a procedure without draws."""
    shape = tuple(cube.sizes[dim] for dim in TESTS)
    meant = np.isin(CONVENTIONS, PROCEDURES[procedure].conventions)[:, None, None, None]
    values = np.where(meant, np.broadcast_to(np.asarray(p, float), shape), np.nan)
    cube = cube.assign(
        p_value=(TESTS, values),
        p_error=(TESTS, np.where(np.isfinite(values), error, np.nan)),
        log10_p=(TESTS, np.broadcast_to(np.asarray(np.nan if log10 is None else log10, float), shape)),
    )
    cube = codes(cube, "method", METHODS, np.where(np.isfinite(values), METHODS.index(method), -1))
    cube = codes(cube, "p_label", P_LABELS, P_LABELS.index(label))
    cube = codes(cube, "p_reason", P_REASONS, P_REASONS.index(reason), dims=("procedure", *TESTS[2:]))
    return cube.assign_coords(procedure=[procedure])


def test_why_there_is_no_p_is_told_wherever_one_looks_for_it():
    words = "the score is not a ratio of sums over units"
    document = build(computed(build_cube(three, list("abc")), SIGN_FLIP, np.nan, reason="not-a-ratio"), procedures=[SIGN_FLIP])
    for row in document["pairs"]:
        assert (row["p"], row["p_reason"], row["verdict"]) == (None, words, "not measured")
        assert row["note"].startswith(f"there is no p-value: {words}")
    assert f"No pair could be measured: {words}." in document["verdict"][0]["sentences"]
    assert f"No p: {words}." in pair_view(document)[0].caption
    detail = next(row["detail"] for row in document["trust"] if row["check"] == "Missing p-values")
    assert detail == f"news, BLEU, {SIGN_FLIP}: 3 of 3 pairs have no p; {words}."
    two = build(computed(build_cube(three[:2], list("ab")), SIGN_FLIP, np.nan, reason="not-a-ratio"), procedures=[SIGN_FLIP])
    assert two["verdict"][0]["sentences"] == [f"b and a cannot be compared by {SIGN_FLIP}: {words}."]
    assert not any(row["check"] == "Missing p-values" for row in build(build_cube(three, list("abc")))["trust"])


def test_a_second_procedure_without_p_says_why_too():
    cube = build_cube(three, list("abc"))
    first = computed(cube, SIGN_FLIP, np.nan).assign(p_value=cube["p_value"], p_error=cube["p_error"])
    second = computed(cube, SIGN_FLIP, np.nan, reason="denominators-differ")
    joined = {"data_vars": "minimal", "coords": "minimal", "compat": "override", "join": "override", "combine_attrs": "override"}
    both = xr.concat([first.assign_coords(procedure=["paired-bootstrap"]), second], "procedure", **joined)
    (verdict,) = build(both, procedures=["paired-bootstrap", SIGN_FLIP])["verdict"]
    assert verdict["sentences"][-1] == f"By {SIGN_FLIP} no pair could be measured: the denominators of the two systems differ."


def test_what_an_approximate_p_is_worth_stands_with_it():
    cube = computed(build_cube(three, list("abc")), "paired-t", 0.01, label="jackknife-t", method="asymptotic")
    document = build(cube, procedures=["paired-t"])
    assert {row["p_label"][:10] for row in document["pairs"]} == {"asymptotic"}
    assert {row["p_reason"] for row in document["pairs"]} == {None}
    assert "p: asymptotic: gain over its jackknife standard error" in pair_view(document)[0].caption


def test_a_p_below_the_smallest_float_is_told_by_its_logarithm():
    cube = computed(build_cube(three, list("abc")), SIGN_FLIP, 0.0, log10=-412.4)
    cube = cube.assign(discordant=cube["discordant"] * 0 + 2000)  # 2^-1999 is below it as well
    document = build(cube, procedures=[SIGN_FLIP])
    assert {row["method"] for row in document["pairs"]} == {"exact"}
    assert {row["log10_p"] for row in document["pairs"]} == {-412.4}
    assert {row["p"] for row in pair_view(document)[1]} == {"4.0e-413"}


@pytest.mark.parametrize(("procedure", "m", "verdict"), [("mcnemar-mid-p", 5, "better"), ("mcnemar", 5, "not separated")])
def test_mid_p_is_held_against_its_own_floor(procedure, m, verdict):
    cube = build_cube(np.array([50.0, 52.0]), list("ab"), metric="mean")
    p = 2.0**-m if procedure == "mcnemar-mid-p" else 2.0 ** (1 - m)
    cube = computed(cube.assign(discordant=cube["discordant"] * 0 + m), procedure, p)
    (row,) = build_document(make_report({"news": cube}, metric="mean", analyses=(), resampling={"procedures": [procedure]}))[
        "pairs"
    ]
    assert (row["verdict"], row["p_adjusted"], row["p_floor"]) == (verdict, p, p)


@pytest.mark.parametrize(("method", "stable"), [("tail", False), ("exact", True)])
def test_an_estimated_p_is_stable_at_the_level_of_all_decisions_and_not_at_95_percent(method, stable):
    # .04 ± .008: below .05 at 95 %, not at 1 - .01/K. An enclosure needs no level.
    cube = computed(build_cube(np.array([50.0, 52.0]), list("ab")), "exact-bootstrap", 0.04, error=0.008, method=method)
    (row,) = build(cube, procedures=["exact-bootstrap"])["pairs"]
    assert row["stable"] is stable


@pytest.mark.parametrize(("extra", "left_out"), [(0, {"exact"}), (17, {"exact", "p"})])
def test_a_terminal_leaves_out_the_exact_p_before_the_p_of_the_pair(extra, left_out):
    """As far as 80 columns ask for it: the adjusted p is never below the exact one."""
    names = ["a" + "x" * extra, "b"]
    cube = build_cube(np.array([50.0, 51.0]), names, sizes={"full": 60})
    exact = cube["discordant"].astype(float) * 0 + 0.0625
    document = build(cube.assign(discordant=cube["discordant"] * 0 + 6, p_sign_flip=exact))
    assert "exact" in pair_view(document)[0].columns
    (told,) = (line for line in summarise(read_report(document), screen=Screen(80)).splitlines() if line.startswith("columns that"))
    assert {*told.partition(": ")[2].split(", ")} == left_out
    (head,) = (f"{line}  " for line in summarise(read_report(document)).splitlines() if line.startswith("better"))
    assert all(f"  {name}  " in head for name in ("exact", "p", "p adjusted"))  # a file or a pipe has room for all
