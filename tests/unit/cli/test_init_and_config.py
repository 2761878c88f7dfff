"""`init` writes a study that runs and gives the numbers of `compare`; `config` says where each value comes from; folders."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from support.studies import run_cli, write_scores, write_text_outputs

from pipeline.errors import DataError
from pipeline.study.load import load_study
from pipeline.study.origins import list_origins
from pipeline.survey.sets_in_names import find_sets_in_names

HARNESS = Path(__file__).resolve().parents[2] / "fixtures" / "lm_eval"


def text_folder(folder: Path) -> Path:
    """Write three systems, one of them called a baseline, with their reference."""
    write_text_outputs(folder, ["a", "b", "c"], items=40)
    (folder / "out-2.txt").rename(folder / "baseline.txt")
    (folder / "README.md").write_text("no output\n", encoding="utf-8")
    return folder


def test_a_study_of_the_files_of_a_folder_gives_the_numbers_of_compare(tmp_path: Path) -> None:
    folder = text_folder(tmp_path / "data")
    made = run_cli("init", cwd=folder)
    assert made.returncode == 0, made.stderr
    assert made.stdout == "study.yaml\n"
    assert made.stderr.endswith("\nnext: pipeline run study.yaml\n")
    assert "this folder: 3 outputs, compared with ref.txt" in made.stderr
    assert "baseline: baseline (by its name)" in made.stderr
    text = (folder / "study.yaml").read_text("utf-8")
    assert text.startswith("# yaml-language-server: $schema=study.schema.json\n")
    assert json.loads((folder / "study.schema.json").read_text("utf-8"))["properties"]["resampling"]
    ran = run_cli("run", "study.yaml", "--serial", "-q", "-b", "2000", "--set", "report.formats=[json]", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    report = json.loads((Path(ran.stdout.strip()) / "report" / "report.json").read_text("utf-8"))
    compared = run_cli("compare", ".", "--baseline", "baseline", "-b", "2000", "--json", "-q", cwd=folder)
    assert compared.returncode == 0, compared.stderr

    def numbers(document: dict[str, list[dict[str, object]]]) -> list[tuple[object, ...]]:
        return [(row["system_a"], row["system_b"], row["delta"], row["p"], row["verdict"]) for row in document["pairs"]]

    assert numbers(report) == numbers(json.loads(compared.stdout))
    assert len(numbers(report)) == 3


def test_folders_are_test_sets_of_one_study_that_runs(tmp_path: Path) -> None:
    for name, items in (("news", 30), ("talks", 20)):
        write_text_outputs(tmp_path / name, ["a", "b", "c", "d", "e"], items=items)
        (tmp_path / name / "out-1.txt").write_bytes((tmp_path / name / "out-0.txt").read_bytes())
    compared = run_cli("compare", ".", cwd=tmp_path)
    assert compared.returncode == 2
    assert "= note: `pipeline init .` writes one study of them all, each a test set\n" in compared.stderr
    made = run_cli("init", ".", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "news: 5 outputs, compared with ref.txt\ntalks: 5 outputs, compared with ref.txt\n" in made.stderr
    assert "size: news (30 segments), talks (20 segments)" in made.stderr
    assert made.stderr.count("have identical outputs") == 1
    loaded = load_study(tmp_path / "study.yaml")
    assert list(loaded.study.test_sets) == ["news", "talks"]
    assert [one.name for one in loaded.study.analyses] == ["thresholds", "calibration-transfer", "suite"]
    ran = run_cli("run", "study.yaml", "--serial", "-q", "-b", "500", "--set", "report.formats=[json]", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    report = json.loads((Path(ran.stdout.strip()) / "report" / "report.json").read_text("utf-8"))
    assert {row["test_set"] for row in report["pairs"]} == {"news", "talks"}
    assert {"thresholds", "calibration-transfer", "suite"} < {finding["analysis"] for finding in report["findings"]}


def test_outputs_of_one_pattern_are_written_as_the_pattern_that_finds_them_and_no_others(tmp_path: Path) -> None:
    write_text_outputs(tmp_path / "hyps", ["a", "b", "c", "d", "e"], items=12)
    (tmp_path / "hyps" / "ref.txt").rename(tmp_path / "ref.txt")
    made = run_cli("init", "hyps", "-r", "ref.txt", "-o", "all.yaml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "all.yaml").read_text("utf-8")
    assert "    outputs: hyps/{system}.txt\n" in text
    assert "# A file that is added later and matches {system} is one more system;" in text
    some = {f"out-{k}": f"hyps/out-{k}.txt" for k in range(4)}
    made = run_cli("init", *some.values(), "-r", "ref.txt", "-o", "some.yaml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    (test_set,) = load_study(tmp_path / "some.yaml").study.test_sets.values()
    assert test_set.outputs == some
    checked = run_cli("check", "all.yaml", cwd=tmp_path)
    assert re.findall(r"^  (out-\d)", checked.stdout, re.MULTILINE) == [f"out-{k}" for k in range(5)]


def write_tables(folder: Path, *, same_items: bool = False) -> None:
    folder.mkdir()
    for name, rate in (("law", 3), ("math", 4)):
        rows = [f"{'q' if same_items else name}{k},{int(k % rate > 0)},{int(k % 5 > 0)},{int(k % 2)}" for k in range(24)]
        (folder / f"{name}.csv").write_text("\n".join(["item,a,b,c", *rows]) + "\n", encoding="utf-8")


@pytest.mark.parametrize("named", [["suite"], ["suite/law.csv", "suite/math.csv"], ["suite", "--format", "scores"]])
def test_tables_of_the_same_systems_and_other_items_are_test_sets_of_one_study(named: list[str], tmp_path: Path) -> None:
    write_tables(tmp_path / "suite")
    made = run_cli("init", *named, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "systems: 3: a, b, c\nsize: law (24 items), math (24 items)\n" in made.stderr
    assert [one.name for one in load_study(tmp_path / "study.yaml").study.analyses] == ["thresholds", "suite"]
    ran = run_cli("run", "study.yaml", "--serial", "-q", "-b", "999", "--set", "report.formats=[json]", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    report = json.loads((Path(ran.stdout.strip()) / "report" / "report.json").read_text("utf-8"))
    assert [(row["name"], row["items"]) for row in report["test_sets"]] == [("law", 24), ("math", 24)]


def test_tables_of_the_same_items_are_systems(tmp_path: Path) -> None:
    write_tables(tmp_path / "suite", same_items=True)
    made = run_cli("init", "suite", "-m", "{name: mean, column: b}", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "systems: 2: law, math\nsize: 24 items\n" in made.stderr


def test_tables_of_tasks_that_number_their_items_alike_are_test_sets_where_that_is_said(tmp_path: Path) -> None:
    write_tables(tmp_path / "suite", same_items=True)
    compared = run_cli("compare", "suite", cwd=tmp_path)
    assert compared.returncode == 3
    told = "= note: if 'a', 'b', 'c' are systems, each file is a test set: `pipeline init --sets` takes them so\n"
    assert compared.stderr.count(told) == compared.stderr.count("error[P226]") == 1
    made = run_cli("init", "--sets", "suite", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "systems: 3: a, b, c\nsize: law (24 items), math (24 items)\n" in made.stderr
    checked = run_cli("check", "study.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr


def test_test_sets_are_offered_where_tasks_have_more_items_than_others(tmp_path: Path) -> None:
    write_tables(tmp_path / "suite", same_items=True)
    path = tmp_path / "suite" / "law.csv"
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:-3]), encoding="utf-8")
    for command in ("init", "compare"):
        refused = run_cli(command, "suite", "-m", "{name: mean, column: b}", cwd=tmp_path)
        assert refused.returncode == 3
        told = "= note: if 'a', 'b', 'c' are systems, each file is a test set: `pipeline init --sets` takes them so\n"
        assert refused.stderr.count(told) == refused.stderr.count("error[P216]: system 'law' lacks 3 of 24 items") == 1
    path = tmp_path / "suite" / "math.csv"
    path.write_text(path.read_text("utf-8").replace("item,a,b,c", "item,a,b,d"), encoding="utf-8")
    assert "is a test set" not in run_cli("init", "suite", "-m", "{name: mean, column: b}", cwd=tmp_path).stderr


def test_no_test_sets_are_offered_of_one_table_or_of_tables_with_other_columns(tmp_path: Path) -> None:
    write_tables(tmp_path / "suite", same_items=True)
    law = (tmp_path / "suite" / "law.csv").read_text("utf-8")
    (tmp_path / "suite" / "math.csv").write_text(law.replace("item,a,b,c", "item,a,b,d"), encoding="utf-8")
    compared = run_cli("compare", "suite", cwd=tmp_path)
    assert compared.returncode == 3
    assert "is a test set" not in compared.stderr
    refused = run_cli("init", "--sets", "suite/law.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "error[P005]: --sets takes two tables of scores or more" in refused.stderr


@pytest.mark.parametrize("missing", ["error", "drop", "zero"])
def test_outputs_without_a_common_item_are_not_compared_whatever_is_missing(missing: str, tmp_path: Path) -> None:
    write_tables(tmp_path / "suite")
    compared = run_cli("compare", "suite", "--missing", missing, cwd=tmp_path)
    assert compared.returncode == 3
    assert compared.stderr.count("error[P218]: no item is in all outputs") == compared.stderr.count("error[") == 1
    assert "if 'a', 'b', 'c' are systems, each file is a test set: `pipeline init`" in compared.stderr


def test_a_table_with_empty_cells_gets_a_study_that_says_what_becomes_of_them(tmp_path: Path) -> None:
    rows = [f"q{k},{k % 3},{'' if k == 5 else k % 4}" for k in range(12)]
    (tmp_path / "quiz.csv").write_text("\n".join(["item,north,south", *rows, ""]), encoding="utf-8")
    refused = run_cli("init", "quiz.csv", cwd=tmp_path)
    assert refused.returncode == 3
    assert "`--missing drop` or `--missing zero`" in refused.stderr
    made = run_cli("init", "quiz.csv", "--missing", "drop", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert [test_set.missing for test_set in load_study(tmp_path / "study.yaml").study.test_sets.values()] == ["drop"]
    checked = run_cli("check", "study.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "11 items" in checked.stdout


def with_documents(folder: Path, file: str, content: str) -> tuple[str, dict[str, object]]:
    """Return what `init` says of three outputs of 20 lines with a file beside them, and the test set that it writes."""
    write_text_outputs(folder, ["a", "b", "c"], items=20)
    (folder / file).write_text(content, encoding="utf-8")
    made = run_cli("init", *(f"out-{k}.txt" for k in range(3)), "-r", "ref.txt", cwd=folder)
    assert made.returncode == 0, made.stderr
    (test_set,) = load_study(folder / "study.yaml").study.test_sets.values()
    checked = run_cli("check", "study.yaml", cwd=folder)
    assert checked.returncode == 0, checked.stderr
    assert ("20 items in 5 documents" in checked.stdout) == (test_set.documents is not None)
    return made.stderr, {"documents": test_set.documents, "columns": dict(test_set.columns)}


@pytest.mark.parametrize(
    ("file", "head", "columns"),
    [
        ("docs.txt", None, {}),
        ("documents.tsv", "document\tdomain", {}),
        ("segments.tsv", "docid\tdomain", {"document": "docid"}),
    ],
)
def test_documents_beside_the_outputs_are_proposed(file: str, head: str | None, columns: dict[str, str], tmp_path: Path) -> None:
    rows = [f"d{k // 4}" + ("" if head is None else "\tnews") for k in range(20)]
    said, test_set = with_documents(tmp_path, file, "\n".join([*([head] if head else []), *rows]) + "\n")
    assert test_set == {"documents": file, "columns": columns}
    assert f"documents: {file} names 5; whole documents are drawn" in said
    assert "size: 20 segments in 5 documents" in said


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("docs.txt", "d1\nd2\n", "documents: docs.txt is left out: the documents have 2 lines, the test set has 20 items"),
        ("docs.txt", "".join(f"d{k}\n" for k in range(20)), "every line is a document of its own"),
        ("segments.tsv", "domain\tlength\n" + "news\t3\n" * 20, ""),
        ("segments.txt", "d\n" * 20, ""),
        ("thoughts.txt", "d1\n" * 10 + "d2\n" * 10, ""),
    ],
)
def test_what_does_not_say_where_items_stand_is_no_proposal(file: str, content: str, told: str, tmp_path: Path) -> None:
    said, test_set = with_documents(tmp_path, file, content)
    assert test_set == {"documents": None, "columns": {}}
    assert told in said
    assert ("documents: " in said) == bool(told)


def test_of_few_systems_no_p_is_asked_about_another_test_set(tmp_path: Path) -> None:
    for name in ("news", "talks"):
        write_text_outputs(tmp_path / name, ["a", "b"], items=10)
    assert run_cli("init", "news", "talks", cwd=tmp_path).returncode == 0
    assert [one.name for one in load_study(tmp_path / "study.yaml").study.analyses] == ["thresholds", "suite"]


def test_test_sets_without_a_metric_in_common_are_refused(tmp_path: Path) -> None:
    write_text_outputs(tmp_path / "news", ["a", "b"], items=10)
    (tmp_path / "quiz").mkdir()
    for name in ("a", "b"):
        write_scores(tmp_path / "quiz" / f"{name}.csv", [name], items=10)
    refused = run_cli("init", cwd=tmp_path)
    assert refused.returncode == 2
    assert "error[P021]: no metric is usual for all of these test sets: news, quiz" in refused.stderr
    assert "= help: name one with -m, or the files of one test set alone\n" in refused.stderr
    assert not (tmp_path / "study.yaml").exists()
    assert run_cli("init", "news", cwd=tmp_path).returncode == 0


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    folder = text_folder(tmp_path)
    (folder / "study.yaml").write_text("mine\n", encoding="utf-8")
    refused = run_cli("init", "--yes", cwd=folder)
    assert refused.returncode == 2
    assert "error[P022]" in refused.stderr
    assert (folder / "study.yaml").read_text("utf-8") == "mine\n"
    assert not (folder / "study.schema.json").exists()


def test_a_table_without_a_baseline_compares_all_pairs_and_says_how_not_to(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["yes", "north"], items=20)
    made = run_cli("init", "scores.csv", "-o", "sub.yaml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "baseline: none, so all pairs are compared" in made.stderr
    text = (tmp_path / "sub.yaml").read_text("utf-8")
    commented = [line.replace("# ", "", 1) for line in text.splitlines() if "family: " in line or "baseline: " in line]
    begun = text.index("  # family:")
    (tmp_path / "changed.yaml").write_text(text[:begun] + "\n".join(commented) + text[text.index("\n\n", begun) :], "utf-8")
    assert load_study(tmp_path / "sub.yaml").study.resampling.family == "all-pairs"
    assert load_study(tmp_path / "changed.yaml").study.resampling.family_baseline == "yes"


def test_a_mistake_in_the_files_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    folder = text_folder(tmp_path)
    (folder / "out-0.txt").write_text("too short\n", encoding="utf-8")
    refused = run_cli("init", cwd=folder)
    assert refused.returncode == 3
    assert "out-0.txt" in refused.stderr
    assert not (folder / "study.yaml").exists()


@pytest.mark.parametrize(
    ("files", "code", "told"),
    [
        ((), "P020", "no file that may be an output"),
        (("a.xyz", ".hidden.txt"), "P020", "no file that may be an output"),
        (("a.txt", "b.txt", "c.csv"), "P021", "name those of one kind: ./*.txt"),
    ],
)
def test_a_folder_that_leaves_outputs_open_is_refused(tmp_path: Path, files: tuple[str, ...], code: str, told: str) -> None:
    for file in files:
        (tmp_path / file).write_text("a b\n", encoding="utf-8")
    for command in (("init",), ("compare", ".")):
        refused = run_cli(*command, cwd=tmp_path)
        assert refused.returncode == 2
        assert f"error[{code}]" in refused.stderr
        assert told in refused.stderr


def test_a_folder_of_submissions_says_how_their_results_are_named(tmp_path: Path) -> None:
    for name, resolved in (("north", "x__y-1"), ("south", "x__y-2")):
        results = tmp_path / "sub missions" / name / "results" / "results.json"
        results.parent.mkdir(parents=True)
        unresolved = {"x__y-1", "x__y-2", "x__y-3"} - {resolved}
        results.write_text(json.dumps({"resolved": [resolved], "no_generation": sorted(unresolved)}), encoding="utf-8")
        (tmp_path / "sub missions" / name / "README.md").write_text("who we are\n", encoding="utf-8")
    refused = run_cli("compare", "sub missions", cwd=tmp_path)
    assert refused.returncode == 2
    assert "error[P021]: the outputs are not in this folder; each of the 2 in it has results/results.json\n" in refused.stderr
    assert "`pipeline compare 'sub missions'/*/results/results.json`" in refused.stderr
    advised = sorted(map(str, tmp_path.glob("sub missions/*/results/results.json")))  # as a shell expands it
    followed = run_cli("compare", *advised, "-b", "999", "-q", cwd=tmp_path)
    assert followed.returncode == 0, followed.stderr
    assert "north is ahead of south" in followed.stdout or "have the same score" in followed.stdout


def test_runs_are_found_by_their_numbers_where_their_names_have_no_ending(tmp_path: Path) -> None:
    folder = tmp_path / "hyps"
    folder.mkdir()
    lines = [f"one two three four w{k}" for k in range(20)]
    (folder / "refs.lc.0").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for k, name in enumerate(("base.opt0", "base.opt1", "new.opt0")):
        (folder / f"hyps.lc.{name}").write_text("\n".join(["x", *lines[1 + k :], *["x"] * k]) + "\n", encoding="utf-8")
    compared = run_cli("compare", "hyps", "--json", "-q", "-b", "500", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    assert [row["name"] for row in json.loads(compared.stdout)["systems"]] == ["base.opt0", "base.opt1", "new.opt0"]
    (folder / "base.txt").write_text("a b\n", encoding="utf-8")  # files of a known kind go first
    refused = run_cli("compare", "hyps", cwd=tmp_path)
    assert refused.returncode != 0
    assert "opt0" not in refused.stderr


def test_the_samples_of_a_harness_are_found_below_a_folder(tmp_path: Path) -> None:
    refused = run_cli("compare", "lm_eval", cwd=HARNESS.parent)
    assert refused.returncode == 2
    assert "error[P021]: the folder has samples of 3 tasks: harbour_quiz, harbour_sums, harbour_texts" in refused.stderr
    for model in ("anchor", "buoy"):
        for path in (HARNESS / model).glob("*harbour_quiz*"):
            (tmp_path / "results" / model).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "results" / model)
    compared = run_cli("compare", "results", "-m", "acc", "--json", "-q", "-b", "500", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    assert {row["name"] for row in json.loads(compared.stdout)["systems"]} == {"anchor", "buoy"}


def test_every_value_has_its_origin(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(
        "schema: 1\nstudy: small\npreset: sacrebleu-bs\ntest_sets:\n  news: {references: r.txt, outputs: '{system}.txt'}\n"
        "metrics:\n  - bleu\n  - {name: chrf, beta: 3}\nanalyses:\n  - size-curve: {percentile: 90}\n",
        encoding="utf-8",
    )
    study.write_text(study.read_text("utf-8").replace("references: r.txt", "references: [r.txt]"), encoding="utf-8")
    loaded = load_study(study, ["resampling.alpha=0.01"])
    origin = {one.key: (one.value, one.origin) for one in list_origins(loaded)}
    assert origin["resampling.alpha"] == (0.01, "--set resampling.alpha=0.01")
    assert origin["resampling.replicates"][1] == "preset sacrebleu-bs"
    assert origin["resampling.strata"] == (None, "default")
    assert origin["test_sets.news.references"] == (["r.txt"], f"{study}:5:10")
    assert origin["test_sets.news.format"] == ("text", "default")
    assert origin["metrics[0].name"] == ("bleu", f"{study}:7:5")
    assert origin["metrics[1].beta"] == (3, f"{study}:8:18")
    assert origin["analyses[0].name"] == ("size-curve", f"{study}:10:5")
    assert origin["report.null_laboratory"][1] == "default"


def test_origins_are_printed_as_text_and_as_json(tmp_path: Path) -> None:
    folder = text_folder(tmp_path)
    assert run_cli("init", cwd=folder).returncode == 0
    shown = run_cli("config", "study.yaml", "--seed", "3", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    lines = dict(line.split("  # ") for line in shown.stdout.splitlines() if "  # " in line)
    assert {key.strip(): origin for key, origin in lines.items()}["seed: 3"] == "--set seed=3"
    values = json.loads(run_cli("config", "study.yaml", "--json", cwd=folder).stdout)["values"]
    assert {"key": "resampling.tails", "value": "exact", "origin": "default"} in values


def write_each(folder: Path, names: dict[str, int], systems: tuple[str, ...], joint: str = "_") -> None:
    folder.mkdir()
    for name, items in names.items():
        for place, system in enumerate(systems):
            rows = "".join(f"{k},{(k * (place + 3) + items) % 5}\n" for k in range(items))
            (folder / f"{name}{joint}{system}.csv").write_text(f"item,score\n{rows}")


def test_files_of_every_test_set_and_system_are_found_by_a_pattern(tmp_path: Path) -> None:
    write_each(tmp_path / "out", {"arc": 24, "arc_easy": 30, "quiz": 20}, ("big_1", "small_2"))
    made = run_cli("init", "out/{test_set}_{system}.csv", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "systems: 2: big_1, small_2\nsize: arc (24 items), arc_easy (30 items), quiz (20 items)\n" in made.stderr
    test_sets = yaml.safe_load((tmp_path / "study.yaml").read_text("utf-8"))["test_sets"]
    assert test_sets["quiz"]["outputs"] == "out/quiz_{system}.csv"
    # The pattern of arc would find the files of arc_easy too.
    assert test_sets["arc"]["outputs"] == {"big_1": "out/arc_big_1.csv", "small_2": "out/arc_small_2.csv"}
    checked = run_cli("check", "study.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("test_sets", [("arc", "arc_easy"), ("arc", "quiz"), ("pro", "pro_max")])
@pytest.mark.parametrize("systems", [("a", "b"), ("a", "easy_a"), ("a", "b", "pro_c")])
def test_names_of_two_test_sets_are_cut_where_all_systems_have_both(
    test_sets: tuple[str, ...], systems: tuple[str, ...], tmp_path: Path
) -> None:
    """One name may begin as another does, of test sets and of systems."""
    if (test_sets, systems) == (("arc", "arc_easy"), ("a", "easy_a")):
        return  # arc_easy_a may be either
    write_each(tmp_path / "out", dict.fromkeys(test_sets, 12), systems)
    found = find_sets_in_names(["out/{test_set}_{system}.csv"], [], base=tmp_path)
    assert list(found) == sorted(test_sets)
    for name, files in found.items():
        outputs = [pattern.replace("{system}", system) for pattern in files.outputs for system in systems]
        assert {one.rpartition("=")[2] for one in outputs} == {f"out/{name}_{system}.csv" for system in systems}


def test_files_that_a_pattern_of_test_sets_does_not_tell_apart_are_refused(tmp_path: Path) -> None:
    write_each(tmp_path / "out", {"arc": 12, "quiz": 12}, ("a", "b"))
    with pytest.raises(DataError, match="does not name their systems") as caught:
        find_sets_in_names(["out/{test_set}_*.csv"], [], base=tmp_path)
    assert caught.value.problems[0].help == "write {system} where the name of the system is"
    assert list(find_sets_in_names(["out/{test_set}_{system}.csv"], [], base=tmp_path)) == ["arc", "quiz"]


def test_runs_whose_test_set_is_not_told_by_their_names_are_refused(tmp_path: Path) -> None:
    write_each(tmp_path / "runs", {"arc": 12, "arc_easy": 12, "quiz": 12}, ("a.1", "a.2", "b.1", "b.2"))
    with pytest.raises(DataError, match="runs are not named one by one") as caught:
        find_sets_in_names(["runs/{test_set}_{system}.{replica}.csv"], [], base=tmp_path)
    assert caught.value.problems[0].help == "put the files of each test set into a folder of its own"
    for path in list((tmp_path / "runs").iterdir()):
        name, _, run = path.name.rpartition("_")
        (tmp_path / "runs" / name).mkdir(exist_ok=True)
        path.rename(tmp_path / "runs" / name / run)
    found = find_sets_in_names(["runs/{test_set}/{system}.{replica}.csv"], [], base=tmp_path)
    assert {name: files.outputs for name, files in found.items()} == {
        name: [f"runs/{name}/{{system}}.{{replica}}.csv"] for name in ("arc", "arc_easy", "quiz")
    }


def test_a_pattern_of_test_sets_has_their_references_too(tmp_path: Path) -> None:
    for name in ("news", "talks"):
        for kind, words in (("ref", "a b c d e"), ("x", "a b c d f"), ("y", "a b d e f")):
            (tmp_path / f"{name}.{kind}.txt").write_text(f"{words} {name}\n" * 9)
    made = run_cli("init", "{test_set}.{system}.txt", "-r", "{test_set}.ref.txt", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    test_sets = yaml.safe_load((tmp_path / "study.yaml").read_text("utf-8"))["test_sets"]
    assert {name: one["references"] for name, one in test_sets.items()} == {
        "news": ["news.ref.txt"],
        "talks": ["talks.ref.txt"],
    }


def test_compare_says_that_init_takes_a_pattern_of_test_sets(tmp_path: Path) -> None:
    write_each(tmp_path / "out", {"arc": 24, "quiz": 20}, ("a", "b"), "-")
    refused = run_cli("compare", "out/{test_set}-{system}.csv", cwd=tmp_path)
    assert refused.returncode == 3
    assert "`pipeline init 'out/{test_set}-{system}.csv'` makes a study of all" in refused.stderr
    one = run_cli("compare", "out/arc-{system}.csv", "-b", "200", cwd=tmp_path)  # a name in its place, as it says too
    assert one.returncode == 0, one.stderr
    missed = run_cli("init", "out/{test_set}+{system}.csv", cwd=tmp_path)
    assert missed.returncode == 3
    assert "error[P207]: no file matches the pattern" in missed.stderr


def test_the_pattern_is_offered_where_names_have_two_parts_and_items_differ(tmp_path: Path) -> None:
    write_each(tmp_path / "out", {"arc": 24, "quiz": 20}, ("a", "b", "c"))
    told = (
        "if the names are those of test sets and systems in this order, `pipeline init 'out/{test_set}_{system}.csv'` takes them so"
    )
    refused = run_cli("compare", "out", cwd=tmp_path)
    assert refused.returncode == 3
    assert refused.stderr.count(told) == 1
    (tmp_path / "out" / "quiz_c.csv").unlink()  # not each with each
    assert "{test_set}" not in run_cli("compare", "out", cwd=tmp_path).stderr
