"""Statistics of HELM's instances: which are taken, which are missing, what trials and perturbations are."""

from __future__ import annotations

import gzip
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

FIXTURES = Path(__file__).parents[2] / "fixtures" / "helm"
EM = {"name": "helm", "metric": "exact_match"}


def stat(metric: str, value: float | None, *, split: str | None = "test", count: int = 1, **name: Any) -> dict[str, Any]:
    """A statistic as HELM writes it: what is nothing is not there."""
    of = {"name": metric, **({"split": split} if split else {}), **name}
    if value is None:
        return {"name": of, "count": 0, "sum": 0, "sum_squared": 0}
    return {"name": of, "count": count, "sum": value * count, "sum_squared": 0, "min": value, "max": value, "mean": value}


def entry(instance: str, *stats: dict[str, Any], trial: int = 0, **more: Any) -> dict[str, Any]:
    return {"instance_id": instance, **more, "train_trial_index": trial, "stats": list(stats)}


TYPOS = {"perturbation": {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed", "prob": 0.1}}
RUN = [
    entry("id7", stat("exact_match", 1.0), stat("f1", 0.125)),
    entry("id7", stat("exact_match", 0.0, **TYPOS), stat("f1", 0.0, **TYPOS), **TYPOS),
    entry("id2", stat("exact_match", 0.0), stat("f1", 0.5)),
    entry("id9", stat("exact_match", 1.0, split="valid"), stat("f1", 1.0, split="valid")),
    entry("id5", stat("exact_match", 1), stat("f1", None)),
    entry("id8", stat("num_prompt_tokens", 17)),
    entry("id7", stat("num_prompt_tokens", 31)),
]


def read(path: Path, form: Any = EM, **columns: str) -> Any:
    reader = listen(load_reader(form))
    return reader.read_outputs(path, system="north", options={"columns": columns}), reader.warnings


def test_the_metric_of_the_test_split_without_perturbation_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "run.json", RUN)
    found, warnings = read(path)
    (items,) = found.values()
    assert (items.ids, items.numbered, dict(items.coordinates)) == (("id7", "id2", "id5"), False, {})
    assert items.columns == {"exact_match": ("1.0", "0.0", "1")}
    lines = path.read_text().split("\n")
    assert [lines[line].strip() for line in items.lines] == [f'"instance_id": "{name}",' for name in items.ids]
    assert warnings == [f"{path}: 1 of 4 items are missing, without exact_match: id8"]


def test_a_run_that_helm_itself_wrote_has_its_values_and_its_mean() -> None:
    for system, values, mean in (("north", ("1.0", "1.0", "0.0", "1.0"), 0.75), ("south", ("0.0", "1.0", "1.0", "0.0"), 0.5)):
        path = FIXTURES / system / "per_instance_stats.json"
        (items,) = load_reader(EM).read_outputs(path, system=system, options={}).values()
        assert items.ids == ("id3", "id1", "id4", "id6")
        assert items.columns["exact_match"] == values
        assert items.published == {"exact_match": mean}
    of_tenths = listen(load_reader({"name": "helm", "metric": "tenths"}))
    (items,) = of_tenths.read_outputs(path, system="south", options={}).values()
    assert dict(zip(items.ids, items.columns["tenths"], strict=True)) == {"id3": "0.5", "id1": "0.4", "id4": "0.3"}
    assert items.published["tenths"] == pytest.approx(0.4, abs=1e-15)  # of the three that have an answer
    assert of_tenths.warnings == [f"{path}: 1 of 4 items are missing, without tenths: id6"]


def test_trials_that_helm_itself_wrote_are_replicas() -> None:
    path = FIXTURES / "trials" / "per_instance_stats.json"
    found = load_reader("helm").read_outputs(path, system="reef", options={})
    assert {name: items.columns["exact_match"] for name, items in found.items()} == {
        "reef/0": ("1.0", "1.0", "1.0", "1.0"),
        "reef/1": ("1.0", "0.0", "0.0", "0.0"),
    }


def test_a_count_of_nothing_is_a_missing_item_and_no_zero(tmp_path: Path) -> None:
    path = put(tmp_path / "run.json", RUN)
    found, warnings = read(path, {"name": "helm", "metric": "f1"})
    assert found["north"].columns == {"f1": ("0.125", "0.5")}
    assert warnings == [f"{path}: 2 of 4 items are missing, without f1: id5, id8"]


def test_another_split_and_a_perturbation_are_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path / "run.json", RUN)
    assert read(path, {**EM, "split": "valid"})[0]["north"].ids == ("id9",)
    typos = read(path, {**EM, "perturbation": "typos"})[0]["north"]
    assert (typos.ids, typos.columns) == (("id7",), {"exact_match": ("0.0",)})


def test_several_metrics_are_columns_of_the_items_that_have_all(tmp_path: Path) -> None:
    found, _ = read(put(tmp_path / "run.json", RUN), {"name": "helm", "metric": ["f1", "exact_match"]})
    assert found["north"].columns == {"f1": ("0.125", "0.5"), "exact_match": ("1.0", "0.0")}


def test_a_mean_that_is_not_told_is_the_sum_over_the_count(tmp_path: Path) -> None:
    one = {"name": {"name": "em", "split": "test"}, "count": 4, "sum": 3.0}
    found, _ = read(put(tmp_path / "run.json", [entry("a", one)]), "helm")
    assert found["north"].columns == {"em": ("0.75",)}


def test_trials_are_replicas_where_there_are_several(tmp_path: Path) -> None:
    run = [
        entry(name, stat("em", value), trial=trial) for trial, name, value in [(0, "a", 1), (0, "b", 0), (1, "b", 1), (1, "a", 1)]
    ]
    beside = [stat("em", 0.75)]
    put(tmp_path / "stats.json", beside)
    found, _ = read(put(tmp_path / "per_instance_stats.json", run), "helm")
    assert list(found) == ["north/0", "north/1"]
    assert [found[name].columns["em"] for name in found] == [("1", "0"), ("1", "1")]
    assert found["north/1"].ids == ("b", "a")
    assert found["north/1"].coordinates == {"model": "north", "replica": "1", "runs_are": "prompts"}
    assert not found["north/0"].published  # the mean over trials is that of none of them


def test_the_published_mean_is_that_of_the_same_split_and_perturbation(tmp_path: Path) -> None:
    worst = {"perturbation": {**TYPOS["perturbation"], "computed_on": "worst"}}
    stats = [stat("exact_match", 0.9, split="valid"), stat("exact_match", 0.6), stat("exact_match", 0.1, **TYPOS)]
    put(tmp_path / "stats.json", [*stats, stat("exact_match", 0.05, **worst)])
    path = put(tmp_path / "per_instance_stats.json", RUN)
    assert read(path)[0]["north"].published == {"exact_match": 0.6}
    assert read(path, {**EM, "perturbation": "typos"})[0]["north"].published == {"exact_match": 0.1}


def test_parts_of_a_split_have_no_published_mean_and_may_be_a_group(tmp_path: Path) -> None:
    run = [entry("a", stat("em", 1, sub_split="toxic")), entry("b", stat("em", 0, sub_split="non-toxic"))]
    put(tmp_path / "stats.json", [stat("em", 1, sub_split="toxic"), stat("em", 0, sub_split="non-toxic")])
    found, _ = read(put(tmp_path / "run.json", run), "helm", part="sub_split", other="nothing")
    assert found["north"].columns == {"em": ("1", "0"), "part": ("toxic", "non-toxic")}
    assert not found["north"].published


def test_damage_beside_is_told_and_hinders_nothing(tmp_path: Path) -> None:
    (tmp_path / "stats.json").write_text("[{")
    (tmp_path / "instances.json").write_text('[{"id": "a", "input": 3}]')
    found, warnings = read(put(tmp_path / "run.json", [entry("a", stat("em", 1))]), "helm")
    assert found["north"].columns == {"em": ("1",)}
    assert [warning.split(":")[0] for warning in warnings] == [str(tmp_path / name) for name in ("stats.json", "instances.json")]


def instance(name: str, text: str, **more: Any) -> dict[str, Any]:
    references = [{"output": {"text": "yes"}, "tags": ["correct"]}, {"output": {"text": "no"}, "tags": []}]
    return {"input": {"text": text}, "references": references, "split": "test", "id": name, **more}


def test_systems_align_by_instance_whatever_the_order_and_the_mean_is_shown_beside_the_published(tmp_path: Path) -> None:
    for system, names, values in (("north", "abcd", (1, 0, 0, 1)), ("south", "dbca", (0, 1, 1, 0))):
        run = [entry(name, stat("em", value)) for name, value in zip(names, values, strict=True)]
        put(tmp_path / system / "per_instance_stats.json", run)
        put(tmp_path / system / "stats.json", [stat("em", 0.5 if system == "north" else 0.75)])
        put(tmp_path / system / "instances.json", [instance(name, f"is {name} so?") for name in names])
    found, outputs = survey(tmp_path, {"name": "helm"}, "{system}/per_instance_stats.json")
    assert found.frame.ids == ("a", "b", "c", "d")
    assert [outputs[name].columns for name in ("north", "south")] == [{"em": ("1", "0", "0", "1")}, {"em": ("0", "1", "1", "0")}]
    assert [row.published for row in alignment_table(found)] == [{"em": (0.5, 0.5)}, {"em": (0.75, 0.5)}]


def test_an_instance_of_one_name_and_another_text_is_refused(tmp_path: Path) -> None:
    for system, text in (("north", "is it so?"), ("south", "is it not?")):
        put(tmp_path / system / "per_instance_stats.json", [entry("a", stat("em", 1)), entry("b", stat("em", 0))])
        of_typos = instance("a", "is ti so?", **TYPOS)
        put(tmp_path / system / "instances.json", [instance("a", text), instance("b", "and this?"), of_typos])
    with pytest.raises(DataError) as caught:
        survey(tmp_path, "helm", "{system}/per_instance_stats.json")
    (problem,) = caught.value.problems
    assert problem.code == "P262"
    assert "in 1 of 2 items: 'a' is another item" in problem.message


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("helm", "the file has 3 metrics, and none is named: exact_match, f1, num_prompt_tokens"),
        ({"name": "helm", "metric": "bleu"}, "no metric 'bleu'; it has exact_match, f1, num_prompt_tokens"),
        (
            {"name": "helm", "metric": "f1", "split": "train"},
            "no statistics of the split train with perturbation none; "
            "it has test with perturbation none; test with perturbation typos; valid with perturbation none",
        ),
    ],
)
def test_what_is_not_there_or_not_one_is_refused_with_what_there_is(tmp_path: Path, form: Any, says: str) -> None:
    path = put(tmp_path / "run.json", RUN)
    (problem,) = problems_of(form, path)
    assert (problem.code, problem.where) == ("P261", str(path))
    assert says in problem.message


def test_an_instance_with_a_metric_twice_in_a_trial_is_refused_with_both_lines(tmp_path: Path) -> None:
    path = put(tmp_path / "run.json", "[\n" + ",\n".join(json.dumps(entry(name, stat("em", 1))) for name in "aba") + "]")
    (problem,) = problems_of("helm", path)
    assert problem.code == "P209"
    assert "'a' occurs twice: on line 2 and on line 4" in problem.message
    assert problem.where == f"{path}:4"


GOOD = entry("a", stat("em", 1))


@pytest.mark.parametrize(
    ("text", "line", "code", "says"),
    [
        (json.dumps([GOOD])[:-20], 1, "P257", "ends in the middle"),
        (json.dumps([GOOD, GOOD], indent=1)[:-40], 33, "P257", "ends in the middle"),
        (json.dumps({"stats": []}), 1, "P257", "the file is not a list"),
        (f"[{json.dumps(GOOD)},\n3]", 2, "P257", "an element of the list is not an object: 3"),
        (f"[{json.dumps(GOOD)}\n,]", 2, "P257", "this is not JSON"),
        (f"[{json.dumps(GOOD)}]\n\nx", 3, "P257", "this is not JSON"),
        ("[" * 5000, 1, "P257", "nested too deeply"),
        (json.dumps([{**GOOD, "instance_id": 4.0}]), 1, "P257", "'instance_id' is not a text or a whole number: 4.0"),
        (json.dumps([{**GOOD, "instance_id": "\ud800"}]), 1, "P257", "'instance_id' is not a name"),
        (json.dumps([{**GOOD, "train_trial_index": True}]), 1, "P257", "'train_trial_index' is not a whole number: true"),
        (json.dumps([{**GOOD, "stats": {}}]), 1, "P257", "'stats' is not a list"),
        (json.dumps([entry("a", {"name": "em", "count": 1})]), 1, "P257", "'name' is not an object"),
        (json.dumps([entry("a", {**stat("em", 1), "count": "1"})]), 1, "P257", "'count' is not a whole number"),
        (json.dumps([entry("a", stat("em", float("nan")))]), 1, "P210", "the em of 'a' is nan"),
        (json.dumps([entry("a", {**stat("em", 1), "mean": "1"})]), 1, "P210", "the em of 'a' is '1'"),
        (json.dumps([entry("a", stat("em", 1, **TYPOS))]), 1, "P257", "the perturbation of 'em' is not that of its instance, none"),
    ],
)
def test_what_is_no_run_of_helm_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, code: str, says: str) -> None:
    path = put(tmp_path / "run.json", text)
    (problem,) = problems_of({"name": "helm", "metric": "em"}, path)
    assert (problem.code, problem.where) == (code, f"{path}:{line}")
    assert says in problem.message


def test_a_byte_order_mark_and_gzip_change_nothing_and_other_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(RUN, indent=1).replace("\n", "\r\n").encode()))
    found, warnings = read(path)
    plain = read(put(tmp_path / "plain.json", RUN))[0]["north"]
    assert (found["north"].columns, found["north"].lines) == (plain.columns, plain.lines)
    assert len(warnings) == 2
    path.write_bytes(json.dumps(RUN, indent=1).encode().replace(b"id9", b"id\xe9"))
    assert problems_of("helm", path)[0].code == "P204"


def test_options_and_uses_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    for options in ({"metric": 3}, {"metric": ["f1", 3]}, {"split": 1}, {"perturbation": ["typos"]}, {"metric": ""}):
        with pytest.raises(Exception, match="P151"):
            load_reader({"name": "helm", **options})
    reader = load_reader("helm")
    with pytest.raises(DataError, match="P219"):
        reader.read_gold([tmp_path / "gold"], {})
    assert problems_of("helm", put(tmp_path / "run.json", RUN), system=None)[0].code == "P219"
    with pytest.raises(ValueError, match="not written in this format"):
        reader.write(tmp_path / "x", {}, [])


def test_the_format_is_recognised_by_its_fields(tmp_path: Path) -> None:
    for indent in (None, 2):
        form, why = recognise_file(put(tmp_path / f"run{indent}", RUN, indent))
        assert form.name == "helm"
        assert why.endswith("a list of objects with instance_id, train_trial_index and stats")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(changes=st.just([]) | edits, others=swaps, indent=st.sampled_from([None, 1]))
def test_damaged_bytes_are_refused_or_read_and_never_anything_else(
    tmp_path: Path, changes: list[tuple[float, str, bytes]], others: list[tuple[float, Any]], indent: int | None
) -> None:
    data = damage(json.dumps(swap(RUN, others), indent=indent).encode(), changes)
    read_or_refuse(EM, tmp_path / "run.json", data, options={"columns": {"part": "sub_split"}})
