"""Values of a report are JSON's own types, and p-values are written as readers expect."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from support.synthetic_reports import make_report, odd_cubes

from pipeline.inference.p_values import clopper_pearson
from pipeline.interfaces.wording import write_p_at
from pipeline.report import values
from pipeline.report.build import build_report
from pipeline.report.document import encode_document
from pipeline.report.history.gate import Judged
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.tables import encode_csv
from pipeline.report.values import format_end, format_gain, format_p, plain, write_all
from pipeline.report.write import render_report


def test_nothing_that_json_lacks_survives():
    value = plain({"a": np.float64("nan"), "b": np.array([1.0, np.inf]), "c": np.int64(3), "d": np.bool_(True)})
    assert value == {"a": None, "b": [1.0, None], "c": 3, "d": True}
    assert type(value["c"]) is int
    assert type(value["d"]) is bool


def test_plain_values_are_told_by_their_type_alone(monkeypatch):
    class Asked(type):
        def __instancecheck__(cls, value):
            raise AssertionError("asked whether it is a mapping")

    monkeypatch.setattr(values, "Mapping", Asked("Mapping", (), {}))
    told = (0.5, float("nan"), -float("inf"), 3, True, "a", None)
    assert [plain(value) for value in told] == [0.5, None, None, 3, True, "a", None]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("digits", range(5))
@pytest.mark.parametrize("write", [format_gain, format_end])
def test_many_numbers_are_written_as_each_by_itself(write, digits):
    halves = np.arange(-4000, 4001) / 2 / 10**digits  # half of them where rounding may go either way
    near = [np.nextafter(halves, end) for end in (-np.inf, np.inf)]
    sizes = np.random.default_rng(1).normal(size=2000) * 10.0 ** np.arange(-10, 10).repeat(100)
    some = np.concatenate([halves, *near, sizes, [0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, -1.7e308, 5e-324]])
    assert write_all(write, some, digits) == ["–" if np.isnan(value) else write(value, digits) for value in some.tolist()]


def test_numbers_that_round_to_the_same_one_are_written_once():
    asked = []
    some = 0.12 + np.linspace(-0.004, 0.004, 1001)
    assert set(write_all(lambda value, digits: asked.append(value) or format_gain(value, digits), some, 2)) == {"0.12"}
    assert asked == [0.12]


@pytest.mark.parametrize("digits", range(5))
def test_a_number_of_any_size_shows_a_digit_that_is_not_0_or_what_it_is_below(digits):
    for size in 10.0 ** np.arange(-digits - 4, 3):
        for value in (size, np.nextafter(size, 0), 0.3 * size, -0.51 * size, -size, -np.nextafter(size, 0)):
            written = format_gain(value, digits)
            assert float(written.split()[-1]) != 0
            assert written == f"{value:.{digits}f}" or abs(value) < 10.0**-digits


def test_a_document_is_json_again():
    document = {"rows": [{"a": 1.5, "b": None}, {"a": "中 <x>"}], "empty": [], "map": {"k": [1]}}
    assert json.loads(encode_document(document)) == document


@pytest.mark.parametrize(("p", "text"), [(0.04124, "0.0412"), (0.001, "0.0010"), (0.00099, "9.9e-04"), (1.0, "1.0000")])
def test_small_p_values_keep_two_digits(p, text):
    assert format_p(p) == text


@pytest.mark.parametrize("level", [0.1, 0.05, 0.01, 0.001])
def test_a_p_stands_on_its_own_side_of_a_usual_level_as_it_is_written(level):
    off = np.concatenate([[0.0], np.geomspace(1e-8, 0.2, 400)])
    for p in (level * np.concatenate([1 - off, 1 + off])).tolist():
        assert (float(format_p(p)) <= level) == (p <= level)
    assert float(format_p(level * (1 + 1e-15))) == level  # rounding, and no side


@pytest.mark.parametrize("level", [0.02, 0.0251, 0.012344, 0.2, 0.05])
def test_a_p_stands_on_its_own_side_of_the_level_of_a_study_as_it_is_written(level):
    off = np.concatenate([[0.0], np.geomspace(1e-8, 0.2, 400)])
    with write_p_at(level):
        for p in (level * np.concatenate([1 - off, 1 + off])).tolist():
            assert (float(format_p(p)) <= level) == (p <= level)
        assert format_p(0.050004) == "0.050004"  # and of the usual ones
    assert format_p(0.02001) == "0.0200"


@pytest.mark.parametrize("level", [1e-170, 5e-308, 0.02])
def test_p_beside_any_level_is_written_on_its_side(level):
    with write_p_at(level):
        for p in (1.01 * level, 0.99 * level, np.nextafter(level, 1), level):
            assert (float(format_p(p)) > level) == (p > level * (1 + 1e-9))


def test_every_text_of_a_report_writes_p_on_its_side_of_alpha():
    given = make_report(odd_cubes())
    p = min(row.p_adjusted for row in build_report(given).pairs if row.p_adjusted is not None and row.p_adjusted > 0.001)
    alpha = (p + round(p, 4)) / 2
    given = make_report(odd_cubes(), resampling={"alpha": alpha})
    report = build_report(given)
    pages = render_report(given, report)
    with write_p_at(alpha):
        own = format_p(p)
    assert own != format_p(p)
    for text in (pages["index.html"].decode(), summarise(report)):
        assert re.search(rf"(?<![\d.]){re.escape(own)}(?!\d)", text)
    judged = replace(Judged("news", "bleu", "b", "a", "inconclusive", 0.2, None, p, "", 2), level=alpha)
    assert judged.show_p() == own


@pytest.mark.parametrize("replicates", [19, 1000, 5000, 50_000, 200_000, 1_000_000])
def test_no_hit_is_printed_as_the_bound_that_the_replicates_give(replicates):
    _, hi = clopper_pearson(np.array([0]), np.array([replicates]), 0.95)
    text = format_p(0.0, replicates)
    assert text.startswith("< ")
    assert hi[0] <= float(text[2:]) <= 1.1 * hi[0]  # two digits, never rounded down
    assert float(text[2:]) > 3 / replicates


def test_missing_inner_columns_do_not_shift_others():
    lines = encode_csv([{"i": None, "x": 1}, {"i": {"lo": 2.0}, "x": 'a "b", c'}]).decode().splitlines()
    assert lines[0].split(",") == ["x", "i.lo"]
    assert lines[1:] == ["1,", '"a ""b"", c",2.0']


@pytest.mark.parametrize(
    ("gain", "interval", "shown"),
    [
        (0.0012, (0.0007, 0.0016), "+0.001 [0.0007, 0.002]"),
        (-0.0012, (-0.0016, -0.0007), "-0.001 [-0.002, -0.0007]"),
        (2e-6, None, "< 0.0001"),
        (-2e-6, None, "> -0.0001"),
        (0.0, (-0.5, 0.5), "0.00 [-0.50, 0.50]"),
    ],
)
def test_a_gate_shows_no_gain_of_zero_that_is_none(gain, interval, shown):
    assert Judged("news", "bleu", "new", "old", "better", gain, interval, 0.01, "", digits=2).show_gain() == shown


def test_a_gate_names_a_test_set_without_a_name_as_a_sentence_does():
    judged = Judged("test set", "bleu", "new", "old", "worse", -1.0, (-1.5, -0.5), 0.01, "", digits=2)
    assert judged.say() == "new is worse than old on the test set by BLEU: -1.00 [-1.50, -0.50], p 0.0100"
