"""Logs of Inspect: both layouts, values in words, epochs as replicas, samples without a score, and damaged zips."""

from __future__ import annotations

import importlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.listening import listen
from support.mutated import dumped, mutated_bytes, mutated_json, trouble

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.items.align import alignment_table, survey_test_set
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file
from pipeline.study.load import study_from_value
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet
from pipeline.survey.survey import survey_study

MADE = Path(__file__).parents[2] / "fixtures" / "inspect"
ZIP, JSON = MADE / "quiz" / "anchor.eval", MADE / "quiz" / "buoy.json"
FAILING, GRADES, EPOCHS = MADE / "odd" / "failing.eval", MADE / "odd" / "grades.eval", MADE / "epochs" / "anchor.eval"
NAMES = ("3", "4", "ebb", "fog", "port", "starboard")


def read_all(path: Path, columns: dict[str, str] | None = None, **options: Any) -> tuple[dict[str, Items], list[str]]:
    reader = listen(load_reader({"name": "inspect", **options}))
    return reader.read_outputs(path, system="s", options={"columns": columns or {}}), reader.warnings


def read(path: Path, columns: dict[str, str] | None = None, **options: Any) -> tuple[Items, list[str]]:
    outputs, warnings = read_all(path, columns, **options)
    assert list(outputs) == ["s"]
    return outputs["s"], warnings


def refused(path: Path, code: str, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_all(path, **options)
    (problem,) = caught.value.problems
    assert problem.code == code
    return f"{problem.message} @ {problem.where}"


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression=compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def change(path: Path, to: Path, member: str, edit: Callable[[Any], Any]) -> Path:
    members = members_of(path)
    return pack(to, {**members, member: dumped(edit(json.loads(members[member]))).encode()})


def log_of(*samples: dict[str, Any], status: str = "success", **header: Any) -> dict[str, Any]:
    whole = [{"input": f"ask {one['id']}", "target": "x", "epoch": 1, **one} for one in samples]
    return {"version": 2, "status": status, "eval": {"config": {}, "dataset": {}}, "results": None, "samples": whole, **header}


def scored(name: str | int, value: Any, **fields: Any) -> dict[str, Any]:
    return {"id": name, "scores": {"judge": {"value": value}}, **fields}


def write(path: Path, log: Any) -> Path:
    path.write_text(json.dumps(log, indent=2))
    return path


# What Inspect wrote


def test_a_zip_and_a_json_log_are_read_alike() -> None:
    anchor, warnings = read(ZIP)
    buoy, _ = read(JSON)
    assert anchor.ids == buoy.ids == NAMES
    assert anchor.columns["match"] == ("0", "1", "0", "1", "0", "1")
    assert buoy.columns["match"] == ("1", "0", "1", "0", "1", "1")
    assert anchor.columns["content"] == buoy.columns["content"]
    assert len(set(anchor.columns["content"])) == 6
    assert (anchor.published, buoy.published) == ({"match": 0.5}, {"match": 4 / 6})
    assert (anchor.numbered, warnings) == (False, [])


def test_values_in_words_are_what_they_are_worth_and_what_is_not_scored_is_missing() -> None:
    items, warnings = read(GRADES, scorer="grade")
    assert dict(zip(items.ids, items.columns["grade"], strict=True)) == {
        "3": "0",  # I
        "4": "0",  # N
        "ebb": "1",  # C
        "port": "1",  # C
        "starboard": "0.5",  # P
    }
    assert items.published == {"grade": 0.5}
    assert warnings == [f"{GRADES}: 1 of 6 samples are missing items (1 not scored): 'fog'"]


def test_one_scorer_of_several_must_be_named() -> None:
    assert refused(GRADES, "P261").startswith("samples have several scorers: 'grade', 'rubric'")
    assert "no sample has a score of 'match'; there are 'grade', 'rubric'" in refused(GRADES, "P261", scorer="match")


def test_parts_of_a_value_are_columns_and_one_may_be_asked_for() -> None:
    items, _ = read(GRADES, scorer="rubric")
    assert items.columns["rubric.tone"] == ("2", "3", "4", "5", "1", "2")
    assert items.columns["rubric.facts"] == ("0", "0", "0", "1", "1", "1")
    assert items.published == {"rubric.tone": 17 / 6, "rubric.facts": 0.5}
    tone, _ = read(GRADES, scorer="rubric", value="tone")
    assert (list(tone.columns), tone.published) == (["rubric.tone", "content"], {"rubric.tone": 17 / 6})
    assert "no item has the value 'wit'; there are 'tone', 'facts'" in refused(GRADES, "P261", scorer="rubric", value="wit")


def test_samples_that_failed_or_were_invalidated_are_missing_and_never_nought() -> None:
    items, warnings = read(FAILING)
    assert items.ids == ("3", "4", "fog", "starboard")
    assert items.columns["match"] == ("1", "0", "0", "1")
    assert items.published == {"match": 0.6}  # Inspect counts what was invalidated later
    assert warnings == [f"{FAILING}: 2 of 6 samples are missing items (1 invalidated, 1 ended in an error): 'port', 'ebb'"]


def test_epochs_are_replicas_of_the_system() -> None:
    outputs, warnings = read_all(EPOCHS)
    assert {name: dict(items.coordinates) for name, items in outputs.items()} == {
        "s/1": {"model": "s", "replica": "1", "runs_are": "samples"},
        "s/2": {"model": "s", "replica": "2", "runs_are": "samples"},
    }
    assert [items.ids for items in outputs.values()] == [NAMES, NAMES]
    assert outputs["s/1"].columns["match"] == ("0", "1", "0", "1", "0", "1")
    assert outputs["s/2"].columns["match"] == ("1", "0", "1", "1", "1", "0")
    assert all(items.published == {} for items in outputs.values())
    assert warnings == []


def test_what_is_published_over_epochs_is_held_against_their_scores(tmp_path: Path) -> None:
    def lie(header: Any) -> Any:
        header["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 0.75
        return header

    path = change(EPOCHS, tmp_path / "x.eval", "header.json", lie)
    _, warnings = read_all(path)
    assert warnings == [f"{path}: the log says that 'match' is 0.75 over its epochs, and its scores give 0.583333"]


def test_columns_group_by_metadata() -> None:
    for path in (ZIP, JSON):
        items, warnings = read(path, {"topic": "topic", "tag": "metadata.tags.0", "document": "target", "lost": "metadata.lost"})
        assert items.columns["topic"] == items.columns["tag"] == ("gear", "gear", "water", "water", "lights", "lights")
        assert items.columns["document"] == ("anchor", "boats", "ebb", "fog", "red", "green")
        assert warnings == [f"{path}: no item has 'metadata.lost', by which `columns:` names the lost of items"]


def test_metadata_that_summaries_leave_out_are_taken_from_the_samples(tmp_path: Path) -> None:
    def forget(summaries: Any) -> Any:
        return [{**one, "metadata": {}} for one in summaries]

    path = change(ZIP, tmp_path / "x.eval", "summaries.json", forget)
    assert read(path, {"topic": "topic"})[0].columns["topic"] == ("gear", "gear", "water", "water", "lights", "lights")


def test_a_long_question_is_the_same_in_a_summary_and_in_full(tmp_path: Path) -> None:
    asked = [{"id": "m", "role": "user", "content": [{"type": "image", "image": "x"}, {"type": "text", "text": "y" * 6000}]}]
    full = write(tmp_path / "full.json", log_of(scored(1, 1, input=asked)))
    asked[0] |= {"id": "n", "content": [{"type": "text", "text": "y" * 5120 + "...\n(content truncated)"}]}
    thin = write(tmp_path / "thin.json", log_of(scored(1, 1, input=asked)))
    assert read(full)[0].columns["content"] == read(thin)[0].columns["content"]
    asked[0]["content"][0]["text"] = "z"
    other = write(tmp_path / "other.json", log_of(scored(1, 1, input=asked)))
    assert read(full)[0].columns["content"] != read(other)[0].columns["content"]


# Values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "1"),
        (False, "0"),
        (3, "3"),
        (0.25, "0.25"),
        ("C", "1"),
        ("I", "0"),
        ("P", "0.5"),
        ("N", "0"),
        ("Yes", "1"),
        ("false", "0"),
        ("0.5", "0.5"),
    ],
)
def test_a_value_is_a_number(tmp_path: Path, value: Any, text: str) -> None:
    assert read(write(tmp_path / "x.json", log_of(scored("a", value))))[0].columns["judge"] == (text,)


def test_parts_of_lists_are_counted_from_nought(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", log_of(scored("a", [1, "C"]), scored("b", [0.5, "I"])))
    items, _ = read(path)
    assert (items.columns["judge.0"], items.columns["judge.1"]) == (("1", "0.5"), ("1", "0"))
    assert list(read(path, value=1)[0].columns) == ["judge.1", "content"]


def test_a_part_that_only_some_samples_have_makes_the_others_missing_where_it_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", log_of(scored("a", {"p": 1, "q": 2, "r": "x"}), scored("b", {"p": 0, "q": None, "r": "y"})))
    items, warnings = read(path)
    assert list(items.columns) == ["judge.p", "content"]
    assert [warning.removeprefix(f"{path}: ") for warning in warnings] == [
        "the value 'r' is not a number (\"x\"), and was left out",
        "1 of 2 items have no number for the value 'q', which was left out; `value: q` takes the items that have one",
    ]
    asked, warnings = read(path, value="q")
    assert (asked.ids, asked.columns["judge.q"]) == (("a",), ("2",))
    assert warnings == [f"{path}: 1 of 2 samples are missing items (1 not scored): 'b'"]


def test_a_word_among_numbers_is_refused_and_never_nought(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", log_of(scored("a", 1), scored("b", "maybe"), scored("c", "c")))
    with pytest.raises(DataError) as caught:
        read(path)
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [
        ("P210", f"{path}, sample 2"),
        ("P210", f"{path}, sample 3"),
    ]
    words = write(tmp_path / "y.json", log_of(scored("a", "good"), scored("b", "bad")))
    assert "no number is in any value of the items ('judge'): an item has \"good\"" in refused(words, "P261")


def test_limits_without_a_score_and_samples_that_are_not_there_are_told(tmp_path: Path) -> None:
    samples = [scored(1, 1), scored(2, 0, limit={"type": "token"}), {"id": 3, "limit": {"type": "time"}}, {"id": 4, "scores": {}}]
    log = log_of(*samples)
    log["eval"]["dataset"]["sample_ids"] = [1, 2, 3, 4, 5]
    path = write(tmp_path / "x.json", log)
    items, warnings = read(path)
    assert (items.ids, items.columns["judge"]) == (("1", "2"), ("1", "0"))
    assert warnings == [f"{path}: 3 of 5 samples are missing items (1 met a limit, 1 not scored, 1 not in the log): '3', '4', '5'"]


def test_no_score_at_all_is_refused(tmp_path: Path) -> None:
    assert "no sample has a score" in refused(write(tmp_path / "x.json", log_of({"id": 1}, {"id": 2})), "P261")
    assert "no sample has a score" in refused(write(tmp_path / "y.json", log_of()), "P261")


def test_the_last_run_of_a_sample_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", log_of(scored("a", 0), scored("b", 0), scored("a", 1)))
    items, warnings = read(path)
    assert dict(zip(items.ids, items.columns["judge"], strict=True)) == {"a": "1", "b": "0"}
    assert warnings == [f"{path}: 1 samples were run again in an epoch; the last run of each counts"]


def test_an_epoch_that_is_not_there_leaves_replicas_what_they_are(tmp_path: Path) -> None:
    log = log_of(scored("a", 1))
    log["eval"]["config"]["epochs"] = 2
    assert list(read_all(write(tmp_path / "x.json", log))[0]) == ["s/1"]


# Runs that are not complete


@pytest.mark.parametrize(
    ("status", "says"),
    [("started", "was started and has not ended"), ("cancelled", "was cancelled"), ("error", "ended in an error")],
)
def test_a_run_that_is_not_complete_is_refused_unless_the_study_says_so(tmp_path: Path, status: str, says: str) -> None:
    path = write(tmp_path / "x.json", log_of(scored("a", 1), status=status))
    assert refused(path, "P266") == f"the run {says}: the log has 1 samples @ {path}"
    items, warnings = read(path, incomplete=True)
    assert items.ids == ("a",)
    assert warnings == [f"{path}: the run {says}: the log has 1 samples; those that it lacks are missing items"]


def test_a_run_that_is_under_way_has_only_its_journal(tmp_path: Path) -> None:
    members = {name: data for name, data in members_of(ZIP).items() if name.startswith(("_journal", "samples"))}
    listed = json.loads(members.pop("_journal/summaries/1.json"))
    members |= {
        "_journal/summaries/10.json": dumped(listed[2:4]).encode(),
        "_journal/summaries/9.json": dumped(listed[:2]).encode(),
    }
    path = pack(tmp_path / "x.eval", members)
    assert "was started and has not ended: the log has 4 samples" in refused(path, "P266")
    items, warnings = read(path, incomplete=True)
    assert (items.ids, items.columns["match"]) == (("3", "4", "ebb", "fog"), ("0", "1", "0", "1"))
    assert "2 of 6 samples are missing items (2 not in the log): 'port', 'starboard'" in warnings[1]
    assert recognise_file(path)[0].name == "inspect"


def test_samples_are_read_one_by_one_where_nothing_sums_them_up(tmp_path: Path) -> None:
    members = {name: data for name, data in members_of(ZIP).items() if "summaries" not in name}
    assert read(pack(tmp_path / "x.eval", members))[0].columns == read(ZIP)[0].columns


# Damaged files


def test_a_zip_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes(ZIP.read_bytes()[:3000])
    assert refused(path, "P258") == f"cut.eval is a zip, and damaged: File is not a zip file @ {path}"


@pytest.mark.parametrize("member", ["header.json", "summaries.json"])
def test_a_damaged_member_is_named(tmp_path: Path, member: str) -> None:
    data = bytearray(ZIP.read_bytes())
    with zipfile.ZipFile(ZIP) as archive:
        info = archive.getinfo(member)
    start = info.header_offset + 30 + len(member)
    data[start + 20 : start + 40] = bytes(20)
    path = tmp_path / "x.eval"
    path.write_bytes(data)
    message = refused(path, "P258")
    assert message.startswith(f"the member '{member}' of the zip is damaged: ")
    assert message.endswith(f" @ {path}, {member}")


def test_a_damaged_sample_that_nothing_asks_for_does_no_harm(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.eval", {**members_of(ZIP), "samples/ebb_epoch_1.json": b"{"})
    assert read(path)[0].columns == read(ZIP)[0].columns
    assert refused_for_groups(path) == f"{path}, samples/ebb_epoch_1.json:1"


def refused_for_groups(path: Path) -> str | None:
    with pytest.raises(DataError, match="P257") as caught:
        read(path, {"lost": "lost"})
    return caught.value.problems[0].where


def test_a_zip_of_something_else_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.eval", {"a.txt": b"x"})
    assert "neither header.json nor _journal/start.json" in refused(path, "P258")


@pytest.mark.parametrize(
    ("member", "data", "code", "says"),
    [
        ("header.json", b"[]", "P257", "not an object"),
        ("header.json", b'{"status": 3}', "P257", "'status' is not a text"),
        ("header.json", b"\xff", "P204", "not UTF-8"),
        ("summaries.json", b"{}", "P257", "is not a list"),
        ("summaries.json", b'[{"id": 1}]', "P257", "no field 'epoch'"),
        ("summaries.json", b'[{"id": true, "epoch": 1}]', "P257", "'id' is not"),
        ("summaries.json", b"[3]", "P257", "not an object"),
        ("summaries.json", b'[{"id": 1, "epoch": 1, "scores": [1]}]', "P257", "'scores' is not an object"),
        ("summaries.json", b'[{"id": 1, "epoch": 1, "scores": {"m": {}}}]', "P257", "no field 'value'"),
        ("summaries.json", b'[{"id": "\\ud800", "epoch": 1, "scores": {"m": {"value": 1}}}]', "P257", "half a character"),
    ],
)
def test_a_member_of_another_shape_is_refused(tmp_path: Path, member: str, data: bytes, code: str, says: str) -> None:
    path = pack(tmp_path / "x.eval", {**members_of(ZIP), member: data})
    message = refused(path, code)
    assert says in message
    assert f" @ {path}" in message


def test_a_json_log_that_is_cut_off_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    lines = JSON.read_text().split("\n")
    path.write_text("\n".join(lines[:100]))
    message = refused(path, "P257")
    assert message.startswith("the JSON ends in the middle")
    assert message.endswith(f" @ {path}:100")


def test_a_json_log_without_samples_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    log = log_of(scored("a", 1))
    del log["samples"]
    assert "not one with samples" in refused(write(tmp_path / "x.json", log), "P257")
    refused(tmp_path / "none.eval", "P201")


@pytest.mark.parametrize("depth", [300, 5000])
def test_values_within_values_without_end_are_refused_or_read(tmp_path: Path, depth: int) -> None:
    path = write(tmp_path / "x.json", log_of(scored("a", 1, input="HERE")))
    path.write_text(path.read_text().replace('"HERE"', "[" * depth + "]" * depth))
    error = trouble(lambda: read(path))
    assert error is None or "nested too deeply" in str(error)
    assert (error is None) == (depth < 1000)


# Members compressed with Zstandard


def test_without_zstandard_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", lost)
    reader = load_reader("inspect")
    with pytest.raises(DataError) as caught:
        reader.read_outputs(MADE / "zstd" / "anchor.eval", system="s", options={})
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P206", str(MADE / "zstd" / "anchor.eval"))
    assert "pip install backports.zstd" in str(problem.help)


def test_zstandard_members_are_read_and_held_to_their_checksums(tmp_path: Path) -> None:
    path = MADE / "zstd" / "anchor.eval"
    items, _ = read(path)
    assert (items.ids, items.published) == (("port", "starboard"), {"match": 0.5})
    assert items.columns["match"] == ("0", "1")
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("summaries.json")
    for place, byte in ((info.header_offset, 0), (info.header_offset + 44 + 200, 0x55)):
        data = bytearray(path.read_bytes())
        data[place] ^= byte or 0xFF
        (tmp_path / "x.eval").write_bytes(data)
        assert "the member 'summaries.json' of the zip is damaged" in refused(tmp_path / "x.eval", "P258")


def test_members_of_every_other_compression_are_read(tmp_path: Path) -> None:
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        assert read(pack(tmp_path / "x.eval", members_of(ZIP), compression))[0].columns == read(ZIP)[0].columns


# Studies


def survey(folder: Path, outputs: str | dict[str, str], columns: dict[str, str] | None = None, unit: str = "item", **options: Any):
    spec = TestSet(format={"name": "inspect", **options}, outputs=outputs, columns=columns or {}, missing="error")
    return spec, survey_test_set("t", spec, base=folder, systems=Systems(), unit=unit)


def test_systems_whose_samples_are_in_another_order_or_have_other_kinds_of_names_are_joined(tmp_path: Path) -> None:
    shutil.copy(ZIP, tmp_path)
    log = json.loads(JSON.read_text())
    log["samples"] = [{**one, "id": str(one["id"])} for one in reversed(log["samples"])]
    write(tmp_path / "buoy.json", log)
    spec, found = survey(tmp_path, {"anchor": "anchor.eval", "buoy": "buoy.json"})
    anchor, buoy = (load_output(spec, output, frame=found.frame) for output in found.outputs)
    order = found.frame.ids
    assert sorted(order) == sorted(NAMES)
    assert set(anchor.columns) == {"match"}
    assert dict(zip(order, anchor.columns["match"], strict=True)) == dict(zip(NAMES, "010101", strict=True))
    assert dict(zip(order, buoy.columns["match"], strict=True)) == dict(zip(NAMES, "101011", strict=True))
    assert [dict(row.published) for row in alignment_table(found)] == [{"match": (0.5, 0.5)}, {"match": (4 / 6, 4 / 6)}]


def test_samples_of_one_name_that_asked_something_else_are_refused(tmp_path: Path) -> None:
    def ask(field: str) -> Path:
        return change(ZIP, tmp_path / f"{field}.eval", "summaries.json", lambda found: [{**found[0], field: "another"}, *found[1:]])

    shutil.copy(ZIP, tmp_path)
    for field in ("input", "target"):
        with pytest.raises(DataError, match=r"P262.*'3' is another item"):
            survey(tmp_path, {"anchor": "anchor.eval", "other": ask(field).name})
    assert len(survey(tmp_path, {"a": "anchor.eval", "b": "target.eval"}, agree=["input"])[1].outputs) == 2
    with pytest.raises(DataError, match="P262"):
        survey(tmp_path, {"a": "anchor.eval", "b": "input.eval"}, agree=["input"])


def test_a_sample_without_a_score_is_an_item_that_the_system_lacks() -> None:
    with pytest.raises(DataError, match="P216: system 'failing' lacks 2 of 6 items: 'ebb', 'port'"):
        survey(MADE, {"anchor": "quiz/anchor.eval", "failing": "odd/failing.eval"})


def test_epochs_are_surveyed_as_replicas_and_read_again_by_name() -> None:
    value = {
        "schema": 1,
        "study": "s",
        "test_sets": {"t": {"format": "inspect", "outputs": "epochs/{system}.eval"}},
        "metrics": ["mean"],
        "resampling": {"unit": "topic"},
    }
    inputs = survey_study(study_from_value(value, base=MADE).study, MADE).inputs
    assert {name: (of["model"], of["replica"]) for name, of in inputs.coordinates.items()} == {
        f"{model}/{epoch}": (model, str(epoch)) for model in ("anchor", "buoy") for epoch in (1, 2)
    }
    assert (inputs.test_sets[0].n_items, inputs.test_sets[0].n_units) == (6, 3)
    spec, found = survey(MADE, "epochs/{system}.eval")
    values = {output.system: load_output(spec, output, frame=found.frame).columns["match"] for output in found.outputs}
    assert values["anchor/2"] == ("1", "0", "1", "1", "1", "0")
    assert values["buoy/2"] == ("0", "1", "0", "0", "1", "0")


@pytest.mark.parametrize("path", [ZIP, JSON, MADE / "zstd" / "anchor.eval"])
def test_the_format_is_recognised(path: Path) -> None:
    assert recognise_file(path)[0].name == "inspect"


@pytest.mark.parametrize("options", [{"scorer": 1}, {"value": True}, {"value": [1]}, {"incomplete": 1}, {"agree": ["id"]}])
def test_options_that_are_none_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="P151"):
        load_reader({"name": "inspect", **options})


def test_a_gold_and_a_file_of_no_system_are_refused() -> None:
    reader = load_reader("inspect")
    assert reader.read_gold([], {}) is None
    with pytest.raises(DataError, match="P219"):
        reader.read_gold([ZIP], {})
    with pytest.raises(DataError, match="P219"):
        reader.read_outputs(ZIP, system=None, options={})
    with pytest.raises(ValueError, match="not written"):
        reader.write(ZIP, {}, ())


# Nothing else is raised

quiet = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=40)
OPTIONS = st.sampled_from([{}, {"incomplete": True}, {"scorer": "match"}, {"value": "x"}, {"value": 0, "agree": []}])
GROUPS = {"topic": "topic", "document": "target", "lost": "lost"}


def try_to_read(path: Path, options: dict[str, Any]) -> None:
    found: dict[str, Items] = {}
    error = trouble(lambda: found.update(read_all(path, GROUPS, **options)[0]))
    assert error is None or all(problem.where for problem in error.problems)
    for items in found.values():
        assert all(len(column) == len(items.ids) == len(items.lines) for column in items.columns.values())
        assert len(set(items.ids)) == len(items.ids) > 0


@quiet
@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.binary(max_size=200).map(lambda data: b"PK\x03\x04" + data),
        mutated_bytes(ZIP.read_bytes()),
        mutated_bytes((MADE / "zstd" / "anchor.eval").read_bytes()),
        mutated_bytes(JSON.read_bytes()),
    ),
    options=OPTIONS,
)
def test_no_bytes_raise_anything_but_data_errors(tmp_path: Path, data: bytes, options: dict[str, Any]) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(data)
    try_to_read(path, options)


@quiet
@given(log=mutated_json(json.loads(JSON.read_text())), options=OPTIONS)
def test_no_json_raises_anything_but_data_errors(tmp_path: Path, log: Any, options: dict[str, Any]) -> None:
    path = tmp_path / "x.json"
    path.write_text(dumped(log))
    try_to_read(path, options)


@quiet
@given(found=mutated_json([json.loads(members_of(EPOCHS)[name]) for name in ("header.json", "summaries.json")]), options=OPTIONS)
def test_no_members_raise_anything_but_data_errors(tmp_path: Path, found: list[Any], options: dict[str, Any]) -> None:
    members = dict(zip(("header.json", "summaries.json"), (dumped(value).encode() for value in found), strict=False))
    try_to_read(pack(tmp_path / "x.eval", {**members_of(FAILING), **members}, zipfile.ZIP_STORED), options)
