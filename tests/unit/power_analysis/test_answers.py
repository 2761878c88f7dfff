"""What the calculator says of counts, of two accuracies and of a gain, and the charts behind it."""

from __future__ import annotations

import csv
import errno
import io
import json
import re
from itertools import groupby
from math import inf, nan
from pathlib import Path

import pytest
from support.studies import run_cli

from pipeline.inference.sample_size.planning import bootstrap_p
from pipeline.power_analysis.answers import LIKELY, from_accuracies, from_counts, from_gain
from pipeline.power_analysis.charts import ITEMS, list_points, write_points


def test_two_accuracies_leave_the_number_that_is_hurt_open() -> None:
    scenarios = {one.name: one.counted for one in from_accuracies(500, 71.2, 69.8)}
    assert {one.helped - one.hurt for one in scenarios.values()} == {7}
    assert scenarios["nobody hurt"].hurt == 0
    # 349 right of the other, 144 wrong of the better one: 349 · 144 / 500 by independence.
    assert scenarios["independent failures"].hurt == round(349 * 144 / 500)
    assert scenarios["typical of models"].hurt == round(LIKELY * 349 * 144 / 500)
    assert scenarios["as many hurt as can be"].hurt == 144
    p = [one.mcnemar for one in scenarios.values()]
    assert p == sorted(p)
    assert p[0] == pytest.approx(2**-6)


@pytest.mark.parametrize("accuracies", [(60.0, 70.0), (101.0, 50.0), (50.0, -1.0)])
def test_accuracies_that_are_none_are_refused(accuracies: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"write 71\.2 69\.8"):  # not 0.712 and 0.698 % of the items
        from_accuracies(500, 0.712, 0.698)
    assert from_accuracies(500, 71.2, 69.8)
    assert from_counts(500, 4, 3).mcnemar == 1.0  # .8 and .6 %
    with pytest.raises(ValueError, match="accuracies are percentages"):
        from_accuracies(100, *accuracies)


def test_what_is_said_is_what_was_computed() -> None:
    told = from_counts(100, 7, 2).say()
    assert "7 helped and 2 hurt of 100 items: a gain of 5.00 points" in told
    assert "p = 0.1797, two-sided: not significant at 0.05" in told
    assert "p = 0.0584, one-sided" in told
    planned = from_gain(2.0, 3.0, items=500)
    assert (planned.helped, planned.power is not None) == (5.0, True)
    assert f"It takes {planned.items_needed:,} items" in planned.say()
    assert "No number of items" in from_gain(0.0, 3.0).say()


def test_numbers_are_said_as_they_were_given() -> None:
    told = from_gain(0.001, 3.0, items=10**6, power=0.9999999).say()
    assert "A true gain of 0.001 points: 3.001 % of the items helped and 3 % hurt." in told
    assert "with 99.99999 % power" in told
    assert "smallest gain found there with 80 % power is 0.000791 points" in from_gain(0.5, 0.0, items=10**6).say()
    # Not 4.08, which has 79.9 %: the smallest is 4.084.
    assert "80 % power is 4.09 points" in from_gain(2.0, 3.0, items=500).say()
    assert from_gain(4.08, 3.0, items=500).power < 0.8 < from_gain(4.09, 3.0, items=500).power


def test_shares_that_fill_the_items_but_for_rounding_are_taken() -> None:
    assert 28.6 + 35.7 + 35.7 > 100
    assert from_gain(28.6, 35.7).items_needed == from_gain(28.6, 35.7 - 1e-12).items_needed


def test_a_loss_is_no_gain_to_be_found() -> None:
    with pytest.raises(ValueError, match="a gain of -2 points is a loss: ask for the gain of the other system"):
        from_gain(-2.0, 3.0)


@pytest.mark.parametrize(
    "asked",
    [
        {"gain": 2.0, "hurt": -1.0},
        {"gain": 60.0, "hurt": 30.0},
        {"gain": -5.0, "hurt": 1.0},
        {"gain": nan, "hurt": 1.0},
        {"gain": 1.0, "hurt": nan},
        {"gain": inf, "hurt": 0.0},
    ],
)
def test_shares_that_are_none_are_refused(asked: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="are not shares of the items"):
        from_gain(**asked)


def test_charts_have_a_panel_for_each_number_and_rise_with_the_share_that_is_hurt() -> None:
    points = list(list_points())
    assert tuple(dict.fromkeys(point.items for point in points)) == ITEMS
    for (items, gain), own in groupby(points, lambda point: (point.items, point.gain)):
        line = list(own)
        assert {point.helped - point.hurt for point in line} == {round(items * gain / 100)}
        assert [point.p for point in line] == sorted(point.p for point in line)
        assert line[-1].p == bootstrap_p(line[-1].helped, line[-1].hurt, items)
    # Half an item of a hundred is none.
    assert (100, 0.5) not in {(point.items, point.gain) for point in points}
    rows = list(csv.DictReader(io.StringIO(write_points(points))))
    assert [float(row["p"]) for row in rows] == [point.p for point in points]


def invoke(*words: str, code: int = 0) -> str:
    done = run_cli("power", *words)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_each_question_is_answered_as_json() -> None:
    counted = json.loads(invoke("--items", "100", "--helped", "2", "--hurt", "0", "--json"))["counted"]
    assert counted["bootstrap"] == pytest.approx(0.132620, abs=1e-6)
    scenarios = json.loads(invoke("-n", "500", "--accuracy", "71.2", "69.8", "--json"))["scenarios"]
    assert [one["name"] for one in scenarios][:2] == ["nobody hurt", "typical of models"]
    planned = json.loads(invoke("--gain", "2", "--hurt-percent", "3", "-n", "500", "--power", ".9", "--json"))["planned"]
    assert planned["target"] == 0.9
    assert 0.25 < planned["power"] < 0.9
    assert json.loads(invoke("--pairs", "105", "--json"))["any_of"]["chance"] == pytest.approx(0.9954188, abs=1e-7)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what you expect"),
        (["--helped", "3"], "give --items with"),
        (["--helped", "3", "--gain", "2", "-n", "10"], "ask different questions"),
        (["--helped", "8", "--hurt", "8", "-n", "10"], "do not fit into 10 items"),
        (["--accuracy", "60", "70", "-n", "10"], "the better one first"),
        (["--gain", "2", "--power", "1"], "--power 1 must be between 0 and 1"),
        (["--pairs", "3", "--alpha", "0"], "--alpha 0 must be between 0 and 1"),
        (["-n", "10", "--helped", "3", "--hurt-percent", "3"], "belongs to --gain"),
        (["-n", "10", "--helped", "3"], "--helped and --hurt are given together"),
        (["-n", "10", "--hurt", "3"], "--helped and --hurt are given together"),
        (["-n", "10", "--gain", "nan"], "--gain nan must be a number"),
        (["--gain", "1", "--hurt-percent", "inf"], "--hurt-percent inf must be a number"),
        (["--gain", "-2", "--hurt-percent", "3"], "ask for the gain of the other system"),
    ],
)
def test_what_cannot_be_answered_is_told(words: list[str], said: str) -> None:
    assert said in re.sub(r"\s+", " ", invoke(*words, code=2))


def test_charts_are_written(tmp_path: Path) -> None:
    told = invoke("--charts", str(tmp_path / "charts"))
    text = (tmp_path / "charts" / "p-against-hurt.svg").read_text("utf-8")
    assert text.startswith("<svg")
    assert "10,000 items" in text
    assert len((tmp_path / "charts" / "p-against-hurt.csv").read_text("utf-8").splitlines()) > 300
    assert "p-against-hurt.svg" in told


def test_a_folder_that_takes_no_charts_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.power_analysis.charts.draw_charts", lambda points: "<svg/>")
    (tmp_path / "file").touch()
    said = invoke("--charts", str(tmp_path / "file" / "x"), code=73)
    assert f"error[P702]: the charts cannot be written: Not a directory\n  --> {tmp_path / 'file' / 'x'}\n" in said
    assert "name a folder that can be written with --charts" in said
    assert "p-against-hurt.svg" in invoke("--charts", str(tmp_path / "another"))


def test_a_chart_that_cannot_be_finished_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.power_analysis.charts.draw_charts", lambda points: "<svg/>")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "the charts cannot be written: No space left on device" in invoke("--charts", str(tmp_path), code=73)
    assert list(tmp_path.iterdir()) == []
