"""Annotations of AlpacaEval: who wins by which preference, what a draw and a missing one are, and what names an item."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.listening import listen
from support.tool_files import damage, edits, problems_of, put, read_or_refuse, survey, swap, swaps

from pipeline.errors import DataError
from pipeline.items.align import alignment_table
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file

FIXTURES = Path(__file__).parents[2] / "fixtures" / "alpaca_eval"
ALPACA = "alpaca-eval"


def row(asked: str, preference: Any, *, model: str = "north", **more: Any) -> dict[str, Any]:
    value = {
        "dataset": "odd",
        "instruction": asked,
        "output_1": f"plain {asked}",
        "generator_1": "plain",
        "output_2": f"{model} {asked}",
        "generator_2": model,
        "annotator": "judge",
        "preference": preference,
    }
    return {**value, **more}


def name_of(asked: str, occurrence: str = "") -> str:
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16] + occurrence


def read(path: Path, form: Any = ALPACA, system: str | None = "north", **columns: str) -> Any:
    reader = listen(load_reader(form))
    return reader.read_outputs(path, system=system, options={"columns": columns}), reader.warnings


def test_a_preference_of_two_is_a_win_of_the_model_and_decimals_stay_what_they_are(tmp_path: Path) -> None:
    given_ = [("a", 2), ("b", 1), ("c", 1.5), ("d", 0), ("e", 1.1), ("f", 1.9999971), ("g", 1.0), ("h", 0.0), ("i", 2.0)]
    path = put(tmp_path / "annotations.json", [row(asked, preference) for asked, preference in given_])
    items = read(path)[0]["north"]
    assert items.columns["win"] == ("1", "0", "0.5", "0.5", "0.1", "0.9999971", "0.0", "0.5", "1.0")
    assert items.ids == tuple(name_of(asked) for asked, _ in given_)
    assert (items.numbered, items.lines[:2]) == (False, (2, 12))
    assert set(items.columns) == {"win", "content"}


def test_no_preference_is_a_missing_item_and_told_by_its_line(tmp_path: Path) -> None:
    path = put(tmp_path / "annotations.json", [row("a", None), row("b", 2), row("c", float("nan"))])
    found, warnings = read(path)
    assert found["north"].ids == (name_of("b"),)
    assert warnings == [f"{path}: 2 of 3 items are missing, for they have no preference: line 2, line 22"]


def test_annotations_that_alpaca_eval_itself_wrote_have_its_win_rate() -> None:
    for model, rate, wins in (
        ("anchor", 0.7678571428571429, ["1.0", "0.5", "1.0", "1.0", "0.75", "0.125", "1.0"]),
        ("buoy", 0.95, ["0.875", "1.0", "0.875", "1.0", "1.0"]),
    ):
        (items,) = read(FIXTURES / model / "annotations.json", system=None)[0].values()
        assert list(items.columns["win"]) == wins
        assert items.published["win"] == pytest.approx(rate, abs=1e-15)
        assert sum(map(float, wins)) / len(wins) == pytest.approx(rate, abs=1e-15)


def test_the_four_annotations_of_an_instruction_that_stands_twice_are_four_items() -> None:
    items = read(FIXTURES / "anchor" / "annotations.json")[0]["north"]
    fish = [k for k, name in enumerate(items.ids) if name.startswith(name_of("Name a fish."))]
    assert sorted(items.ids[k] for k in fish) == [name_of("Name a fish.", end) for end in ("", "-2", "-3", "-4")]
    assert len({items.columns["content"][k] for k in fish}) == 2  # two outputs of the baseline


def test_systems_align_by_instruction_in_any_order_and_the_rate_is_shown_beside_the_published(tmp_path: Path) -> None:
    same = {"output_1": "cod"}
    north = [row("a", 2), row("fish", 1), row("fish", 1.25, **same), row("b", 1.75)]
    south = [row("b", 1, model="x"), row("fish", 1.125, model="x", **same), row("a", 1.5, model="x"), row("fish", 2, model="x")]
    put(tmp_path / "north" / "judge" / "annotations.json", north)
    put(tmp_path / "south" / "judge" / "annotations.json", south)
    (tmp_path / "north" / "leaderboard.csv").write_text(",win_rate,avg_length\nsouth,1.0,3\nnorth,50.0,7\n")
    found, outputs = survey(tmp_path, ALPACA, "{system}/judge/annotations.json")
    order = found.frame.ids
    wins = {system: dict(zip(order, outputs[system].columns["win"], strict=True)) for system in ("north", "south")}
    fishes = {system: (wins[system].pop(name_of("fish")), wins[system].pop(name_of("fish", "-2"))) for system in wins}
    assert wins["north"] == {name_of("a"): "1", name_of("b"): "0.75"}
    assert wins["south"] == {name_of("a"): "0.5", name_of("b"): "0"}
    assert set(zip(fishes["north"], fishes["south"], strict=True)) == {("0", "1"), ("0.25", "0.125")}
    assert [dict(row.published) for row in alignment_table(found)] == [{"win": (0.5, 0.5)}, {}]


def test_another_baseline_is_another_item(tmp_path: Path) -> None:
    put(tmp_path / "north.json", [row("a", 2), row("b", 1)])
    for change in ({"output_1": "else"}, {"generator_1": "other"}):
        put(tmp_path / "south.json", [row("b", 1, model="south"), row("a", 2, model="south", **change)])
        with pytest.raises(DataError) as caught:
            survey(tmp_path, ALPACA, "{system}.json")
        (problem,) = caught.value.problems
        assert (problem.code, f"in 1 of 2 items: '{name_of('a')}'" in problem.message) == ("P262", True)


def test_models_of_one_file_are_systems_where_the_study_names_none(tmp_path: Path) -> None:
    path = put(tmp_path / "annotations.json", [row("a", 2), row("a", 1, model="south"), row("b", 1), row("b", 1.5, model="south")])
    found, _ = read(path, system=None)
    assert {name: items.columns["win"] for name, items in found.items()} == {"north": ("1", "0"), "south": ("0", "0.5")}
    (problem,) = problems_of(ALPACA, path)
    assert (problem.code, "2 models, north, south, but is named 'north'" in problem.message) == ("P219", True)
    assert set(survey(tmp_path, ALPACA, "annotations.json")[1]) == {"north", "south"}


def test_one_of_several_annotators_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "annotations.json", [row("a", 2), row("a", 1, annotator="jury")])
    (problem,) = problems_of(ALPACA, path)
    assert problem.code == "P261"
    assert "the file has 2 annotators, and none is named: judge, jury" in problem.message
    assert read(path, {"name": ALPACA, "annotator": "jury"})[0]["north"].columns["win"] == ("0",)
    assert "no annotator 'nobody'; it has judge, jury" in problems_of({"name": ALPACA, "annotator": "nobody"}, path)[0].message


def test_several_baselines_and_repeats_are_told(tmp_path: Path) -> None:
    _, warnings = read(put(tmp_path / "a.json", [row("a", 2), row("b", 1, generator_1="other")]))
    assert ["2 baselines: other, plain" in warning for warning in warnings] == [True]
    found, warnings = read(put(tmp_path / "b.json", [row("a", 2), row("a", 1)]))
    assert dict(zip(found["north"].ids, found["north"].columns["win"], strict=True)) == {name_of("a"): "1", name_of("a", "-2"): "0"}
    assert ["1 annotations repeat an instruction and the baseline's output" in warning for warning in warnings] == [True]


def test_the_data_set_of_an_instruction_groups_items_where_the_study_names_it(tmp_path: Path) -> None:
    rows = [row("a", 2, dataset="koala"), row("b", None), row("c", 1, dataset="vicuna")]
    items = read(put(tmp_path / "a.json", rows), source="dataset", other="nothing")[0]["north"]
    assert (items.columns["source"], set(items.columns)) == (("koala", "vicuna"), {"win", "content", "source"})


def test_a_leaderboard_that_is_damaged_is_told(tmp_path: Path) -> None:
    (tmp_path / "leaderboard.csv").write_text(",win_rate\nnorth\n")
    found, warnings = read(put(tmp_path / "annotations.json", [row("a", 2)]))
    assert not found["north"].published
    assert [warning.split(":")[0] for warning in warnings] == [str(tmp_path / "leaderboard.csv")]


@pytest.mark.parametrize("preference", [0.5, 2.5, -1, 3, "1", True, [1], "", float("inf"), {}])
def test_what_is_no_preference_is_refused(tmp_path: Path, preference: Any) -> None:
    path = put(tmp_path / "a.json", [row("a", 1), row("b", preference), row("c", 2)])
    (problem,) = problems_of(ALPACA, path)
    assert (problem.code, problem.where) == ("P267", f"{path}:12")


def test_all_that_are_no_preferences_are_told_at_once(tmp_path: Path) -> None:
    assert len(problems_of(ALPACA, put(tmp_path / "a.json", [row(asked, 7) for asked in "abc"]))) == 3


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (json.dumps([row("a", 1), row("b", 1)], indent=1)[:-40], 19, "ends in the middle"),
        (json.dumps({"annotations": []}), 1, "the file is not a list"),
        (json.dumps([row("a", 1), 3], indent=1), 12, "an element of the list is not an object: 3"),
        (json.dumps([row("a", 1, instruction=None)]), 1, "'instruction' is not a text: null"),
        (json.dumps([row("a", 1, generator_2=None)]), 1, "'generator_2' is not a text or a whole number: null"),
        (json.dumps([row("a", 1, generator_1=[])]), 1, "'generator_1' is not a text: []"),
        (json.dumps([{"instruction": "a", "generator_2": "b"}]), 1, "no field 'preference'"),
    ],
)
def test_what_is_no_annotation_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = put(tmp_path / "a.json", text)
    (problem,) = problems_of(ALPACA, path)
    assert (problem.code, problem.where) == ("P257", f"{path}:{line}")
    assert says in problem.message


def test_an_empty_list_has_no_annotator(tmp_path: Path) -> None:
    assert problems_of(ALPACA, put(tmp_path / "a.json", []))[0].code == "P261"


def test_the_format_is_recognised_and_goes_with_the_win_rate() -> None:
    form, why = recognise_file(FIXTURES / "buoy" / "annotations.json")
    assert (form.name, load_reader(form).usual_metric) == (ALPACA, "win-rate")
    assert why.endswith("a list of objects with instruction, generator_1 and generator_2")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(changes=st.just([]) | edits, others=swaps, indent=st.sampled_from([None, 2]))
def test_damaged_bytes_are_refused_or_read_and_never_anything_else(
    tmp_path: Path, changes: list[tuple[float, str, bytes]], others: list[tuple[float, Any]], indent: int | None
) -> None:
    rows = [row("a", 2), row("b", 1.25), row("a", None), row("ü", 0, model="south")]
    data = damage(json.dumps(swap(rows, others), indent=indent).encode(), changes)
    read_or_refuse(ALPACA, tmp_path / "x.json", data, system=None, options={"columns": {"source": "dataset"}})
