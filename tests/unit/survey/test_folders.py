"""A folder is read where it is clear what is in it; elsewhere the refusal says what to type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.errors import Problem, UsageError
from pipeline.study.schema import Study
from pipeline.survey.folders import expand_folders, find_reference, find_test_sets


def made(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("a line\n")


def refused(folder: Path, *arguments: str, command: str = "compare") -> Problem:
    with pytest.raises(UsageError) as raised:
        expand_folders(arguments, (), base=folder, command=command)
    (problem,) = raised.value.problems
    return problem


def test_outputs_in_a_folder_below_are_named_with_the_references_beside_it(tmp_path: Path) -> None:
    made(tmp_path, "wmt/ref.de.txt", "wmt/segments.tsv", "wmt/my out/a.txt", "wmt/my out/b.txt", "wmt/.git/x.txt", "wmt/.git/y.txt")
    problem = refused(tmp_path, "wmt")
    assert (problem.code, problem.where) == ("P021", "wmt")
    assert problem.message == "the outputs are not in this folder but in one below it"
    assert problem.help == "name the folder that has them: `pipeline compare 'wmt/my out' -r wmt/ref.de.txt`"


def test_runs_of_studies_hold_no_outputs(tmp_path: Path) -> None:
    made(tmp_path, "scores.csv", "runs/study-1/plan.json", "runs/study-1/state.json", "study.yaml", "study.schema.json")
    assert expand_folders(["."], (), base=tmp_path).outputs == ["scores.csv"]


def test_references_in_the_folder_below_need_not_be_named(tmp_path: Path) -> None:
    made(tmp_path, "de/ref.txt", "de/a.txt", "de/b.txt", "en/a.txt", "en/b.txt", "ref.txt")
    problem = refused(tmp_path, ".")
    assert problem.message == "the outputs are not in this folder but in 2 folders below it: de, en"
    assert problem.help == "name one of the folders that has them: `pipeline compare de`"


def test_a_folder_of_test_sets_names_the_first_of_them_as_it_would_be_typed(tmp_path: Path) -> None:
    made(tmp_path, *(f"wmt/{name}/{file}" for name in ("news", "talks") for file in ("ref.txt", "systems/a.txt", "systems/b.txt")))
    problem = refused(tmp_path, "wmt", command="init")
    assert problem.message.endswith("in 2 folders below it: wmt/news/systems, wmt/talks/systems")
    assert problem.help == "name one of the folders that has them: `pipeline init wmt/news/systems -r wmt/news/ref.txt`"
    assert problem.note == "`pipeline init wmt` writes one study of them all, each a test set"
    assert expand_folders(["wmt/news/systems"], ["wmt/news/ref.txt"], base=tmp_path).outputs
    two = {name: {"outputs": f"wmt/{name}/systems/{{system}}.txt"} for name in ("news", "talks")}
    assert list(Study.model_validate({"schema": 1, "study": "s", "metrics": ["bleu"], "test_sets": two}).test_sets) == [*two]


SETS = ("news", "talks")


@pytest.mark.parametrize(
    ("files", "folders", "named"),
    [
        (("ref.txt", "a.txt", "b.txt"), ["."], SETS),
        (("ref.txt", "a.txt", "b.txt"), ["news", "./talks/"], SETS),
        (("ref.txt", "systems/a.txt", "systems/b.txt"), ["."], SETS),
        (("ref.txt", "systems/a.txt", "systems/b.txt"), ["news/systems", "talks/systems"], SETS),
        (("ref.txt", "a.txt", "b.txt"), ["news"], ()),
        (("out.txt",), ["."], ()),  # a folder each for two systems
        (("out.txt",), ["news", "talks"], ()),
        (("a.txt", "b.txt"), ["news", "talks/a.txt"], ()),  # a file is none
    ],
)
def test_folders_of_several_outputs_are_test_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], folders: list[str], named: tuple[str, ...]
) -> None:
    made(tmp_path, *(f"{name}/{file}" for name in SETS for file in files))
    monkeypatch.chdir(tmp_path)
    found = find_test_sets(folders, base=Path())
    assert tuple(found) == named
    for name, own in found.items():
        paths = [*map(Path, (*own.outputs, *own.references))]
        assert {path.parts[0] for path in paths} == {name}
        assert [path.name for path in paths] == ["a.txt", "b.txt", "ref.txt"]


def test_references_above_are_those_of_every_test_set_that_has_none(tmp_path: Path) -> None:
    made(tmp_path, "ref.txt", "in/a.txt", "in/b.txt", "out/a.txt", "out/b.txt", "out/ref.txt")
    found = find_test_sets(["."], base=tmp_path)
    assert {name: own.references for name, own in found.items()} == {"in": ["ref.txt"], "out": ["out/ref.txt"]}


def test_outputs_beside_folders_of_outputs_are_one_test_set(tmp_path: Path) -> None:
    made(tmp_path, "ref.txt", "a.txt", "b.txt", *(f"{name}/{file}" for name in SETS for file in ("a.txt", "b.txt")))
    assert find_test_sets(["."], base=tmp_path) == {}


def test_outputs_of_a_folder_are_taken_whatever_is_below_it(tmp_path: Path) -> None:
    made(tmp_path, "ref.txt", "a.txt", "b.txt", "old/a.txt", "old/b.txt")
    assert expand_folders(["."], (), base=tmp_path)[:2] == (["a.txt", "b.txt"], ["ref.txt"])


def test_folders_with_an_output_each_are_compared_whatever_is_below_them(tmp_path: Path) -> None:
    made(tmp_path, *(f"{system}/{file}" for system in ("ours", "theirs") for file in ("out.txt", "logs/1.txt", "logs/2.txt")))
    assert expand_folders(["ours", "theirs"], (), base=tmp_path).outputs == ["ours/out.txt", "theirs/out.txt"]
    assert refused(tmp_path, "ours").help == "name the folder that has them: `pipeline compare ours/logs`"


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files may not be listed."""
    listed, may = Path.iterdir, os.access

    def refuse(path: Path) -> Iterator[Path]:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked" and may(path, mode))
    return tmp_path / "locked"


def test_folders_that_this_user_may_not_read_are_left_alone(locked: Path, tmp_path: Path) -> None:
    made(tmp_path, "a.txt")
    made(locked, "1.txt", "2.txt")
    assert expand_folders(["."], (), base=tmp_path).outputs == ["a.txt"]


def test_no_reference_is_looked_for_where_this_user_may_not_read(locked: Path, tmp_path: Path) -> None:
    """Outputs in another's home, of which a folder may be read and the home itself may not."""
    made(locked, "out/a.txt", "ref.txt")
    assert find_reference(["locked/out/a.txt"], base=tmp_path) is None


@pytest.mark.parametrize("address", ["https://example.org/scores.csv", "s3://bucket/a.txt", "ours=s3://bucket/a.txt"])
def test_an_address_is_not_looked_for_as_a_file(tmp_path: Path, address: str) -> None:
    problem = refused(tmp_path, address)
    assert problem.code == "P005"
    assert problem.message.endswith(f"{address} is an address")
    assert "fetch it first" in str(problem.help)


def test_a_file_that_may_be_the_reference_is_named_where_none_is_given(tmp_path: Path) -> None:
    made(tmp_path, "a.txt", "out/b.txt", "ref.de.txt", "alone/c.txt", "alone/deep/d.txt")
    found = [find_reference([name], base=tmp_path) for name in ("a.txt", "out/b.txt", "alone/deep/d.txt", "nowhere/e.txt")]
    assert found == ["ref.de.txt", "ref.de.txt", None, "ref.de.txt"]


def test_references_and_sources_are_known_by_the_names_that_shared_tasks_give_them(tmp_path: Path) -> None:
    made(tmp_path / "wmt", "ref.B.de.txt", "source.en.txt", "segments.tsv", "systems/a.txt", "systems/b.txt")
    told = refused(tmp_path, "wmt").help
    assert told == "name the folder that has them: `pipeline compare wmt/systems -r wmt/ref.B.de.txt`"
