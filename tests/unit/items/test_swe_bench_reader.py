"""Results of SWE-bench: sets of instances and what is in none of them, details of each, repositories, and counts beside."""

from __future__ import annotations

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

FIXTURES = Path(__file__).parents[2] / "fixtures" / "swe_bench"
SWE = "swe-bench"
TIDE, FOG, SALT = "tide__chart-12", "fog__horn-7", "old-salt__knot-tools-3"


def read(path: Path, form: Any = SWE, **columns: str) -> Any:
    reader = listen(load_reader(form))
    return reader.read_outputs(path, system="north", options={"columns": columns}), reader.warnings


def resolved(items: Any) -> dict[str, str]:
    return dict(zip(items.ids, items.columns["resolved"], strict=True))


def test_every_instance_that_a_list_names_is_an_item_resolved_or_not(tmp_path: Path) -> None:
    lists = {"no_generation": [FOG], "no_logs": ["fog__horn-8"], "resolved": [TIDE, SALT]}
    path = put(tmp_path / "results.json", lists)
    found, warnings = read(path)
    assert resolved(found["north"]) == {FOG: "0", "fog__horn-8": "0", SALT: "1", TIDE: "1"}
    lines = path.read_text().split("\n")
    assert all(name in lines[line - 1] for name, line in zip(found["north"].ids, found["north"].lines, strict=True))
    assert warnings[0] == f"{path}: counted as not resolved: 1 in no_generation, 1 in no_logs"
    assert "those in no list are missing items; `gold:`, a file of all instances, and `missing: zero`" in warnings[1]
    assert len(warnings) == 2


def test_lists_that_resolved_instances_are_in_too_add_the_others(tmp_path: Path) -> None:
    lists = {"generated": [TIDE, FOG, SALT], "applied": [TIDE, FOG], "no_apply": [SALT], "resolved": [TIDE], "test_errored": []}
    found, warnings = read(put(tmp_path / "results.json", lists))
    assert resolved(found["north"]) == {FOG: "0", SALT: "0", TIDE: "1"}
    assert ["1 in no_apply" in warning for warning in warnings] == [True]


def test_reports_that_the_harness_itself_wrote_have_its_rate() -> None:
    found, outputs = survey(FIXTURES, SWE, "{system}.made.json")
    assert found.frame.ids == ("fog__horn-7", "fog__horn-8", SALT, "tide__chart-101", "tide__chart-117", TIDE)
    assert outputs["anchor"].columns == {"resolved": ("0", "0", "1", "1", "0", "1")}
    assert outputs["buoy"].columns == {"resolved": ("0", "0", "1", "0", "0", "1")}
    assert [dict(row.published) for row in alignment_table(found)] == [{"resolved": (0.5, 0.5)}, {"resolved": (2 / 6, 2 / 6)}]
    told = {warning.split(": ", 1)[1] for warning in found.warnings if ": counted" in warning}
    assert told == {
        "counted as not resolved: 1 in empty_patch_ids, 1 in error_ids",
        "counted as not resolved: 1 in incomplete_ids, 1 in error_ids",
    }


def test_with_all_instances_as_gold_the_others_count_as_not_resolved(tmp_path: Path) -> None:
    put(tmp_path / "all.txt", f"{TIDE}\n{FOG}\n{SALT}\nfog__horn-8\n")
    put(tmp_path / "north" / "results.json", {"resolved": [TIDE, SALT], "no_logs": [FOG]})
    put(tmp_path / "south" / "results.json", {"resolved": [FOG], "no_generation": []})
    found, outputs = survey(tmp_path, SWE, "{system}/results.json", gold="all.txt", missing="zero")
    assert found.frame.ids == (TIDE, FOG, SALT, "fog__horn-8")
    assert outputs["north"].columns["resolved"] == ("1", "0", "1", "0")
    assert outputs["south"].columns["resolved"] == ("0", "1", "0", "0")
    assert [output.missing for output in found.outputs] == [1, 3]
    with pytest.raises(DataError, match=r"P216.*lacks 1 of 4 items") as named:
        survey(tmp_path, SWE, "{system}/results.json", gold="all.txt")
    assert str(named.value.problems[0].help).startswith("set `missing: drop` or `missing: zero`")
    with pytest.raises(DataError, match=r"P216.*lacks 2 of 3 items") as unnamed:
        survey(tmp_path, SWE, "{system}/results.json")
    assert str(unnamed.value.problems[0].help).startswith("give `gold:`, a file of all items, and set `missing: zero`")
    put(tmp_path / "south" / "results.json", {"resolved": [FOG, "not__there-1"]})
    with pytest.raises(DataError, match="P217"):
        survey(tmp_path, SWE, "{system}/results.json", gold="all.txt", missing="zero")


@pytest.mark.parametrize(
    "text",
    [
        f"{TIDE}\n\n {FOG} \n",
        json.dumps([TIDE, FOG]),
        json.dumps([{"instance_id": TIDE, "patch": "x"}, {"instance_id": FOG}], indent=1),
        f'{{"instance_id": "{TIDE}"}}\n{{"instance_id": "{FOG}", "repo": "fog/horn"}}\n',
    ],
)
def test_all_instances_are_named_in_lines_lists_or_objects(tmp_path: Path, text: str) -> None:
    gold = load_reader(SWE).read_gold([put(tmp_path / "all", text)], {"columns": {"repository": "repository"}})
    assert gold is not None
    assert (gold.ids, gold.numbered) == ((TIDE, FOG), False)
    assert gold.columns == {"document": ("tide/chart", "fog/horn"), "repository": ("tide/chart", "fog/horn")}
    assert [TIDE in text.split("\n")[gold.lines[0] - 1], FOG in text.split("\n")[gold.lines[1] - 1]] == [True, True]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (f"{TIDE}\n{FOG}\n{TIDE}\n", "P209", 3),
        (json.dumps([TIDE, 3.5]), "P257", 1),
        (f'{{"instance_id": "{TIDE}"}}\n{{"id": 3}}\n', "P257", 2),
        (json.dumps([TIDE])[:-3], "P257", 1),
    ],
)
def test_what_does_not_name_every_instance_once_is_refused(tmp_path: Path, text: str, code: str, line: int) -> None:
    path = put(tmp_path / "all", text)
    with pytest.raises(DataError) as caught:
        load_reader(SWE).read_gold([path], {})
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [(code, f"{path}:{line}")]


def test_no_gold_is_none_and_two_are_refused(tmp_path: Path) -> None:
    assert load_reader(SWE).read_gold([], {}) is None
    with pytest.raises(DataError, match="P219"):
        load_reader(SWE).read_gold([tmp_path / "a", tmp_path / "b"], {})


def test_repositories_are_documents_and_units_where_they_are_asked_for(tmp_path: Path) -> None:
    details = {name: {"resolved": True} for name in (SALT, FOG, TIDE, "fog__horn-8")}
    put(tmp_path / "north.json", details)
    put(tmp_path / "south.json", {name: {"resolved": False} for name in reversed(details)})
    found, _ = survey(tmp_path, SWE, "{system}.json")
    assert found.frame.ids == ("fog__horn-7", "fog__horn-8", SALT, TIDE)
    assert found.frame.document_of_item == (0, 0, 1, 2)
    for unit, columns in (("document", {}), ("repository", {"repository": "repository"})):
        found, outputs = survey(tmp_path, SWE, "{system}.json", unit=unit, columns=columns)
        assert found.frame.units == ("fog/horn", "old-salt/knot-tools", "tide/chart")
        assert set(outputs["north"].columns) == {"resolved"}
    odd, _ = read(put(tmp_path / "odd.json", {"resolved": ["a__b.0f1e2d3c.func__x", "nothing", "o__r-n-5"]}), r="repository")
    assert odd["north"].columns == {"resolved": ("1", "1", "1"), "r": ("a/b", "", "o/r-n")}


def test_details_give_what_became_of_each_instance_or_another_number(tmp_path: Path) -> None:
    details = {
        TIDE: {"cost": 0.25, "resolved": True},
        FOG: {"cost": 1.5, "resolved": False},
        SALT: {"cost": None, "resolved": None},
    }
    path = put(tmp_path / "per_instance_details.json", details)
    found, warnings = read(path)
    assert resolved(found["north"]) == {FOG: "0", TIDE: "1"}
    assert warnings == [f"{path}: 1 of 3 items are missing, for they have no 'resolved': {SALT}"]
    assert read(path, {"name": SWE, "metric": "cost"})[0]["north"].columns["cost"] == ("1.5", "0.25")
    (problem,) = problems_of({"name": SWE, "metric": "steps"}, path)
    assert (problem.code, "it has cost, resolved" in problem.message) == ("P261", True)


def test_an_instance_that_is_resolved_and_not_is_refused_with_its_line(tmp_path: Path) -> None:
    path = put(tmp_path / "results.json", {"resolved": [TIDE, FOG], "no_generation": [FOG], "no_logs": [SALT]})
    (problem,) = problems_of(SWE, path)
    assert (problem.code, problem.where) == ("P209", f"{path}:4")
    assert f"'{FOG}' is resolved, and in the list 'no_generation'" in problem.message


def test_an_instance_twice_in_a_list_is_one_and_told(tmp_path: Path) -> None:
    found, warnings = read(put(tmp_path / "results.json", {"resolved": [TIDE, FOG, TIDE], "applied": []}))
    assert resolved(found["north"]) == {FOG: "1", TIDE: "1"}
    assert [f"'resolved' names 1 instances several times, {TIDE}" in warning for warning in warnings] == [True]


def test_keys_that_stand_twice_are_refused_for_reading_would_keep_the_last(tmp_path: Path) -> None:
    details = f'{{"{TIDE}": {{"resolved": true}},\n"{FOG}": {{"resolved": true}},\n"{TIDE}": {{"resolved": false}}}}'
    path = put(tmp_path / "details.json", details)
    (problem,) = problems_of(SWE, path)
    assert (problem.code, f"'{TIDE}'" in problem.message) == ("P209", True)
    assert problems_of(SWE, put(tmp_path / "lists.json", '{"resolved": [], "resolved": ["a__b-1"]}'))[0].code == "P257"


def test_lists_that_nobody_knows_are_told_and_containers_are_no_instances(tmp_path: Path) -> None:
    lists = {"resolved_ids": [TIDE], "submitted_ids": [TIDE], "unremoved_images": ["sweb"], "favourites": [FOG]}
    found, warnings = read(put(tmp_path / "report.json", lists))
    assert resolved(found["north"]) == {TIDE: "1"}
    assert ["the list 'favourites' is none that is known" in warning for warning in warnings] == [True]


def test_counts_that_are_not_those_of_the_lists_are_told(tmp_path: Path) -> None:
    report = {"resolved_ids": [TIDE], "unresolved_ids": [FOG], "resolved_instances": 2, "total_instances": 5}
    found, warnings = read(put(tmp_path / "report.json", report))
    assert dict(found["north"].published) == {"resolved": 0.4}
    assert ["is of 5 instances, and names 2" in warning for warning in warnings] == [True]
    put(tmp_path / "resolved_by_repo.json", {"tide/chart": {"resolved": 2, "total": 2}, "fog/horn": {"resolved": 0, "total": 1}})
    found, warnings = read(put(tmp_path / "results.json", {"resolved": [TIDE], "generated": [FOG, SALT]}))
    assert dict(found["north"].published) == {"resolved": 2 / 3}
    assert ["names 1 resolved instances, and resolved_by_repo.json beside it counts 2" in warning for warning in warnings] == [True]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (json.dumps({"resolved": [TIDE, FOG]}, indent=1)[:-6], 4, "ends in the middle"),
        ("[]", 1, "the file is not an object with a list"),
        ("{}", 1, "the file is not an object with a list"),
        (json.dumps({TIDE: {"resolved": True}, FOG: True}), 1, "the file is not an object with a list"),
        (json.dumps({"resolved_ids": 3}), 1, "the file is not an object with a list"),
    ],
)
def test_what_is_no_result_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = put(tmp_path / "x.json", text)
    (problem,) = problems_of(SWE, path)
    assert (problem.code, problem.where) == ("P257", f"{path}:{line}")
    assert says in problem.message


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"resolved": [TIDE], "no_logs": "none"}, "P257"),
        ({"resolved": [TIDE, 4.5]}, "P257"),
        ({"resolved": [TIDE, ""]}, "P257"),
        ({TIDE: {"resolved": float("nan")}}, "P210"),
        ({TIDE: {"resolved": "yes"}, FOG: {"resolved": 1}}, "P210"),
        ({"\ud800": {"resolved": 1}}, "P257"),
        ({"": {"resolved": 1}}, "P257"),
        ({TIDE: {}}, "P261"),
    ],
)
def test_values_of_another_kind_are_refused(tmp_path: Path, value: Any, code: str) -> None:
    assert [problem.code for problem in problems_of(SWE, put(tmp_path / "x.json", value))] == [code]


def test_lists_have_no_other_metric_and_files_a_name(tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", {"resolved": [TIDE]})
    assert problems_of({"name": SWE, "metric": "cost"}, path)[0].code == "P261"
    assert problems_of(SWE, path, system=None)[0].code == "P219"


@pytest.mark.parametrize(
    "value",
    [
        {"no_generation": [FOG], "no_logs": [], "resolved": [TIDE]},
        {"total_instances": 3, "resolved_instances": 1, "resolved_ids": [TIDE]},
        {TIDE: {"resolved": True, "cost": 1}},
        {TIDE: {"cost": 1, "resolved": True}},
    ],
)
def test_the_format_is_recognised_in_all_its_forms(tmp_path: Path, value: Any) -> None:
    for indent in (None, 4):
        assert recognise_file(put(tmp_path / f"x{indent}", value, indent))[0].name == SWE


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(changes=st.just([]) | edits, others=swaps, lists=st.booleans())
def test_damaged_bytes_are_refused_or_read_and_never_anything_else(
    tmp_path: Path, changes: list[tuple[float, str, bytes]], others: list[tuple[float, Any]], lists: bool
) -> None:
    report = {"total_instances": 3, "resolved_instances": 1, "resolved_ids": [TIDE], "error_ids": [FOG], "submitted_ids": [SALT]}
    value = report if lists else {name: {"resolved": True, "cost": 0.5} for name in (TIDE, FOG, SALT)}
    read_or_refuse(
        SWE,
        tmp_path / "x.json",
        damage(json.dumps(swap(value, others), indent=1).encode(), changes),
        options={"columns": {"r": "repository"}},
    )
