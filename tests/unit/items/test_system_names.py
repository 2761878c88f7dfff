"""The names of systems are those of their files, whole, and the same for `compare` and for a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.api import compare_study
from pipeline.errors import UsageError
from pipeline.interfaces import Reader
from pipeline.items.discover import find_outputs
from pipeline.items.names import name_outputs, name_without_ending
from pipeline.items.readers import registry
from pipeline.items.readers.registry import known_endings
from pipeline.plugins import import_plugin, list_plugins
from pipeline.survey.compare_arguments import parse_named


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["Claude-3.5.txt", "Claude-3.7.txt"], ["Claude-3.5", "Claude-3.7"]),
        (["gpt-4.1.txt"], ["gpt-4.1"]),
        (["gpt-4.1.txt", "gpt-4.5.txt"], ["gpt-4.1", "gpt-4.5"]),
        (["gpt-4.1.txt", "claude-3.1.txt"], ["gpt-4.1", "claude-3.1"]),
        (["gpt-4.1-mini.txt", "o.1-mini.txt"], ["gpt-4.1-mini", "o.1-mini"]),
        (["gpt-4.1.txt.gz", "Gemini-1.5-Pro.txt.xz"], ["gpt-4.1", "Gemini-1.5-Pro"]),
        (["gpt-4.turbo.txt", "gpt-4.mini.txt"], ["gpt-4.turbo", "gpt-4.mini"]),
        (["llama.v2.txt", "llama.v3.txt"], ["llama.v2", "llama.v3"]),
        (["uedin.de-en.txt", "nvidia.de-en.txt"], ["uedin", "nvidia"]),
        (["uedin-3.5.de-en.txt", "nvidia-3.5.de-en.txt"], ["uedin-3.5", "nvidia-3.5"]),
        (["newstest2019.a.de-en", "newstest2019.b.de-en"], ["a", "b"]),
        (["newstest2019-deen.txt", "newstest2019-deen.b.txt"], ["newstest2019-deen", "newstest2019-deen.b"]),
        (["hyps.lc.tok.en.base.opt0.gz", "hyps.lc.tok.en.sys1.opt0.gz"], ["base.opt0", "sys1.opt0"]),
        (["set1.out.0.gz", "set1.out.1.gz"], ["set1.out.0", "set1.out.1"]),
        (["C2L2__2017-05-11-00-21-07.conllu.gz", "C2L2__2017-05-12-06-53-22.conllu.gz"], None),
        (["metric-a.seg.score", "metric-b.seg.score"], ["metric-a", "metric-b"]),
        (["A.TXT", "b.Csv"], ["A", "b"]),
        (["north.csv", "north.tsv"], ["north.csv", "north.tsv"]),
        (["1/north.txt", "2/north.txt", "2/south.txt"], ["1/north", "2/north", "2/south"]),
        (["v1.5/out.txt", "v1.6/out.txt"], ["v1.5", "v1.6"]),
        ([".txt", "x.txt"], [".txt", "x"]),
        (["x", "x.y"], ["x", "x.y"]),
    ],
)
def test_known_endings_and_what_all_names_share_are_left_out_and_nothing_else(files: list[str], names: list[str] | None) -> None:
    wanted = names or [file.removesuffix(".conllu.gz") for file in files]
    assert list(name_outputs(files)) == wanted
    assert sorted(name_outputs(files[::-1])) == sorted(wanted)


def test_a_known_ending_alone_changes_a_name_in_a_study_as_in_compare(tmp_path: Path) -> None:
    files = ["GPT-4.1.txt", "GPT-4.5.txt.gz", "o3.txt"]
    for file in files:
        (tmp_path / file).write_text("a\n")
    named = [*name_outputs(files)]
    assert named == ["GPT-4.1", "GPT-4.5", "o3"]
    for pattern in ("{system}", "{system}*"):
        found, problems = find_outputs(pattern, base=tmp_path)
        assert problems == []
        assert [one.system for one in found] == named, pattern
    assert [one.system for one in find_outputs("{system}.txt", base=tmp_path)[0]] == ["GPT-4.1", "o3"]
    assert [one.system for one in find_outputs("{system}.gz", base=tmp_path)[0]] == ["GPT-4.5"]


def test_the_rest_of_a_pattern_says_where_a_name_ends(tmp_path: Path) -> None:
    for file in ("a.txt.x", "b.txt.x", "m.opt0.gz", "m.opt1.gz"):
        (tmp_path / file).write_text("a\n")
    assert [one.system for one in find_outputs("{system}.x", base=tmp_path)[0]] == ["a.txt", "b.txt"]
    assert [one.system for one in find_outputs("{system}.opt{replica}", base=tmp_path)[0]] == ["m/0", "m/1"]


def test_a_system_is_excluded_by_its_name_and_by_that_of_its_file(tmp_path: Path) -> None:
    for file in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / file).write_text("a\n")
    found, _ = find_outputs("{system}", base=tmp_path, exclude=["a", "b.txt"])
    assert [one.system for one in found] == ["c"]


def test_two_files_of_one_name_are_refused_in_a_study(tmp_path: Path) -> None:
    for file in ("a.txt", "a.txt.gz"):
        (tmp_path / file).write_text("a\n")
    _, (problem,) = find_outputs("{system}", base=tmp_path)
    assert problem.code == "P208"
    assert "a.txt and" in str(problem.where)


def test_every_reader_that_is_installed_says_how_its_files_end() -> None:
    for name in list_plugins("readers"):
        made: type[Reader] = import_plugin("readers", name)
        endings = made.endings
        assert endings, name
        assert set(endings) <= set(known_endings()), name


def test_a_reader_of_another_package_brings_its_ending_and_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    class Another:
        endings = (".mine", ".1", "loose")

    monkeypatch.setattr(registry, "list_plugins", lambda family: {"another": None})
    monkeypatch.setattr(registry, "import_plugin", lambda family, name: Another)
    assert known_endings() == (".mine",)
    assert [name_without_ending(file) for file in ("gpt-4.1.mine.gz", "gpt-4.1", "heloose")] == ["gpt-4.1", "gpt-4.1", "heloose"]


def test_systems_are_named_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "x=a.txt").write_text("a\n")
    given = parse_named(["ours=out/3.txt", "x=a.txt", "runs/lr=1/a.txt", "GPT-4.1.txt"], base=tmp_path)
    assert given == {"ours": "out/3.txt", "x=a": "x=a.txt", "a": "runs/lr=1/a.txt", "GPT-4.1": "GPT-4.1.txt"}
    assert list(given) == ["ours", "x=a", "a", "GPT-4.1"]
    assert parse_named(["scores.csv"], base=tmp_path) == {"*": "scores.csv"}
    assert parse_named(["north=scores.csv"], base=tmp_path) == {"north": "scores.csv"}
    assert parse_named(["a=one.txt", "b=one.txt"], base=tmp_path) == {"a": "one.txt", "b": "one.txt"}


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (["a=one.txt", "a=two.txt"], "P017", "one.txt and two.txt"),
        (["a=one.txt", "two/a.txt"], "P017", "one.txt and two/a.txt"),
        (["a=", "b"], "P018", "a="),
        (["=a.txt", "b"], "P018", "=a.txt"),
        (["a.txt", "a.txt"], "P013", None),
        (["a.txt", "./a.txt", "b.txt"], "P013", None),
        (["x//a.txt", "x/b/../a.txt"], "P013", None),
    ],
)
def test_names_that_cannot_be_are_refused_with_the_files(tmp_path: Path, arguments: list[str], code: str, where: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_named(arguments, base=tmp_path)
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [(code, where)]


def test_one_path_need_not_stand_in_a_list_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("item,north,south\n1,.5,.25\n2,1,0\n")
    for given in ("scores.csv", Path("scores.csv"), ["scores.csv"], {"*": Path("scores.csv")}):
        (test_set,) = compare_study(given, ()).study.test_sets.values()  # type: ignore[arg-type]
        assert test_set.outputs == "scores.csv"
    study = compare_study(
        {"a": Path("a.txt"), "b": "b.txt"}, Path("ref.txt"), metrics="bleu", procedures="paired-bootstrap", format="text"
    ).study
    (test_set,) = study.test_sets.values()
    assert (test_set.outputs, test_set.references) == ({"a": "a.txt", "b": "b.txt"}, ("ref.txt",))
    assert ([metric.name for metric in study.metrics], study.resampling.procedures) == (["bleu"], ("paired-bootstrap",))


def test_paths_are_shown_without_the_folders_that_a_study_goes_up_from(tmp_path):
    (tmp_path / "studies" / "wmt").mkdir(parents=True)
    (tmp_path / "a.txt").write_text("x\n")
    found, problems = find_outputs("../../{system}.txt", base=tmp_path / "studies" / "wmt")
    assert (found[0].path, found[0].system, problems) == (tmp_path / "a.txt", "a", [])
    found, _ = find_outputs({"a": "../a.txt"}, base=tmp_path / "elsewhere" / ".." / "studies")  # as a study is named on the way
    assert str(found[0].path) == str(tmp_path / "a.txt")


def test_the_folder_above_a_link_is_that_of_the_place_it_leads_to(tmp_path):
    (tmp_path / "elsewhere" / "wmt").mkdir(parents=True)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "wmt").symlink_to(tmp_path / "elsewhere" / "wmt")
    (tmp_path / "elsewhere" / "a.txt").write_text("x\n")
    found, _ = find_outputs({"a": "../a.txt"}, base=tmp_path / "studies" / "wmt")
    assert found[0].path.read_text() == "x\n"


@pytest.mark.parametrize(
    ("files", "pattern"),
    [
        (["a.txt", "b.txt", "README.md", ".hidden.txt"], "{system}.txt"),
        (["mt.a.de.csv", "mt.b.de.csv"], "mt.{system}.de.csv"),
        (["a.jsonl.gz", "b.jsonl.gz", "log"], "{system}.jsonl.gz"),
        (["gpt-4.1.conllu", "gpt-4.5.conllu", "notes.txt"], "{system}.conllu"),
        (["scores.csv"], "scores.csv"),
        (["one/out.txt", "two/out.txt", "two/log.txt"], "{system}/out.txt"),
        (["one/.DS_Store", "one/out.txt", "two/.DS_Store", "two/out.txt"], "{system}/out.txt"),
        (["one/x.txt", "two/y.txt"], "{system}/*"),
        ([], "{system}.txt"),
    ],
)
def test_outputs_that_are_a_folder_are_named_as_its_files_are(files: list[str], pattern: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for file in files:
        (tmp_path / "out" / file).parent.mkdir(exist_ok=True)
        (tmp_path / "out" / file).write_text("x\n")
    found, problems = find_outputs("out", base=tmp_path)
    assert found == []
    assert [(problem.code, problem.help) for problem in problems] == [("P219", f'name its files: `outputs: "out/{pattern}"`')]
    if files:
        assert find_outputs(f"out/{pattern}", base=tmp_path)[1] == []
