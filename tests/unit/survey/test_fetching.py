"""Inputs in object stores: brought once, known again by their content, and compared as files are."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import obstore
import obstore.store
import pytest

from pipeline.engine.launch import Launch, prepare
from pipeline.errors import DataError, StoreError
from pipeline.store.files import temporary_name
from pipeline.store.garbage import find_garbage
from pipeline.study.load import load_study
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import DataFiles, Training
from pipeline.study.writing import place_paths
from pipeline.survey import fetching
from pipeline.survey.fetching import bring_objects
from pipeline.survey.survey import StudySurvey, survey_loaded

STUDY = """\
schema: 1
study: bucket
test_sets:
  news:
    format: text
    references: [s3://bucket/news/ref.txt]
    outputs: s3://bucket/news/outputs/{system}.txt
systems: {exclude: [old*]}
metrics: [bleu]
"""
FILES = {
    "news/ref.txt": b"a b c d e\nf g h i j\n",
    "news/outputs/one.txt": b"a b c d e\nf g h i k\n",
    "news/outputs/two.txt": b"a b c d x\nf g h i j\n",
    "news/outputs/old1.txt": b"\n\n",
    "news/outputs/notes.md": b"not an output",
    "news/outputs/deeper/three.txt": b"not matched",
}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> obstore.store.MemoryStore:
    """An object store in memory that stands for `s3://bucket`; it counts what is fetched."""
    memory = obstore.store.MemoryStore()
    monkeypatch.setattr(obstore.store, "from_url", lambda url: _Below(memory, url.removeprefix("s3://bucket").strip("/")))
    for name in ("list", "get", "head"):
        monkeypatch.setattr(obstore, name, lambda store, *args, _name=name: getattr(store, _name)(*args))
    for name, content in FILES.items():
        obstore.put(memory, name, content)
    _Below.fetched.clear()
    return memory


class _Below:
    """A folder of the store in memory, as obstore has one of a real store."""

    fetched: ClassVar[Counter[str]] = Counter()
    real: ClassVar[dict[str, Any]] = {name: getattr(obstore, name) for name in ("list", "get", "head")}

    def __init__(self, memory: Any, folder: str) -> None:
        self.memory, self.folder = memory, f"{folder}/" if folder else ""

    def list(self) -> Any:
        pages = self.real["list"](self.memory, prefix=self.folder)
        return [[{**one, "path": one["path"].removeprefix(self.folder)} for one in page] for page in pages]

    def get(self, name: str) -> Any:
        self.fetched[self.folder + name] += 1
        return self.real["get"](self.memory, self.folder + name)

    def head(self, name: str) -> Any:
        return self.real["head"](self.memory, self.folder + name)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def look(study: Path) -> StudySurvey:
    return survey_loaded(load_study(study))


def files_beside(study: Path) -> list[str]:
    root = study.parent / ".objects"
    return sorted(path.relative_to(root).as_posix().partition("/")[2] for path in root.glob("*/**/*") if path.is_file())


@pytest.mark.usefixtures("bucket")
def test_objects_are_the_same_inputs_as_files(study: Path) -> None:
    found = look(study).inputs
    (news,) = found.test_sets
    assert [output.system for output in news.outputs] == ["one", "two"]
    for name, content in FILES.items():
        path = study.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    study.write_text(STUDY.replace("s3://bucket/", ""))
    assert look(study).inputs.fingerprint() == found.fingerprint()


@pytest.mark.usefixtures("bucket")
def test_what_is_here_is_not_fetched_again(study: Path) -> None:
    look(study)
    assert set(_Below.fetched) == {"news/ref.txt", *(f"news/outputs/{name}.txt" for name in ("one", "two", "old1"))}
    look(study)
    assert set(_Below.fetched.values()) == {1}


def test_an_object_that_changes_is_fetched_alone_and_leaves_the_earlier_where_it_is(bucket: Any, study: Path) -> None:
    before = look(study).inputs.test_sets[0].outputs
    obstore.put(bucket, "news/outputs/two.txt", b"a b c d e\nf g h i j\n")
    after = look(study).inputs.test_sets[0].outputs
    assert [one.identity == other.identity for one, other in zip(before, after, strict=True)] == [True, False]
    assert _Below.fetched.pop("news/outputs/two.txt") == 2
    assert set(_Below.fetched.values()) == {1}
    old = [Path(str((one.output or {})["path"])) for one in before]
    assert [path.read_bytes() for path in old] == [FILES["news/outputs/one.txt"], FILES["news/outputs/two.txt"]]


@pytest.mark.usefixtures("bucket")
def test_a_file_that_was_damaged_here_is_fetched_again(study: Path) -> None:
    before = look(study).inputs.fingerprint()
    (damaged,) = (study.parent / ".objects").glob("*/data/two.txt")
    damaged.write_bytes(b"a b c d z\nf g h i j\n")
    assert look(study).inputs.fingerprint() == before
    assert _Below.fetched["news/outputs/two.txt"] == 2
    assert _Below.fetched["news/outputs/one.txt"] == 1


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("ref.txt", "absent.txt", "P201"), ("outputs/{system}.txt", "outputs/{system}.out", "P207")],
)
@pytest.mark.usefixtures("bucket")
def test_what_is_not_there_is_named_by_its_address(study: Path, old: str, new: str, code: str) -> None:
    study.write_text(STUDY.replace(old, new))
    with pytest.raises(DataError, match=code) as caught:
        look(study)
    assert (caught.value.problems[0].where or "").startswith("s3://bucket/news/")
    assert files_beside(study) in ([], ["data/ref.txt", "files.txt", "marks.json"])


def test_tables_of_systems_and_training_data_may_be_objects_too(bucket: Any, study: Path) -> None:
    obstore.put(bucket, "systems.csv", b"system,team\none,x\ntwo,y\n")
    study.write_text(STUDY.replace("exclude: [old*]", "exclude: [old*], table: s3://bucket/systems.csv"))
    assert look(study).inputs.coordinates["two"]["team"] == "y"
    data = DataFiles(path=("here.txt", "s3://bucket/news/outputs/*.txt"), gold="s3://bucket/news/ref.txt", format="tagged")
    asked = load_study(study).study.model_copy(update={"training": Training.model_construct(data=data)})
    brought = bring_objects(asked, study.parent).training
    assert brought is not None
    here, there = brought.data.path
    assert here == "here.txt"
    assert len(list(Path(there).parent.glob(Path(there).name))) == 3
    assert Path(brought.data.gold).read_bytes() == FILES["news/ref.txt"]


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("gold", [{"gold": "s3://bucket/news/ref.txt"}, {"references": ["s3://bucket/news/ref.txt"]}])
def test_all_that_a_test_set_names_is_brought(study: Path, gold: dict[str, Any]) -> None:
    asked = load_study(study).study
    spec = TestSet(
        outputs={"one": "s3://bucket/news/outputs/one.txt", "two": "two.txt"}, documents="s3://bucket/news/ref.txt", **gold
    )
    found = bring_objects(asked.model_copy(update={"test_sets": {"news": spec}}), study.parent).test_sets["news"]
    assert found.outputs["two"] == "two.txt"
    named = [found.documents, found.outputs["one"], *([found.gold] if found.gold else found.references)]
    assert [Path(name).read_bytes() for name in named] == [FILES[f"news/{name}.txt"] for name in ("ref", "outputs/one", "ref")]


def test_objects_of_two_places_are_apart_whatever_their_marks(bucket: Any, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, fetch = fetching.list_objects, fetching.fetch_object
    monkeypatch.setattr(fetching, "list_objects", lambda *asked: [one._replace(mark="same") for one in listed(*asked)])
    monkeypatch.setattr(fetching, "fetch_object", lambda url, file, **options: fetch(url, file, **options | {"mark": ""}))
    other = FILES["news/ref.txt"].swapcase()
    obstore.put(bucket, "more/ref.txt", other)
    study.write_text(STUDY.replace("ref.txt]", "ref.txt, s3://bucket/more/ref.txt]"))
    look(study)
    assert {path.read_bytes() for path in (study.parent / ".objects").glob("*/data/ref.txt")} == {FILES["news/ref.txt"], other}


@pytest.mark.usefixtures("bucket")
def test_what_is_brought_is_its_owner_s_alone_and_of_no_concern_to_git(study: Path) -> None:
    before = os.umask(0o022)
    try:
        look(study)
    finally:
        os.umask(before)
    root = study.parent / ".objects"
    assert [path for path in root.glob("*/**/*") if path.stat().st_mode & 0o077] == []
    assert (root / ".gitignore").read_bytes() == b"*\n"


def test_an_object_that_is_replaced_while_it_is_fetched_is_told_and_nothing_half_is_left(
    bucket: Any, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = _Below.list

    def replace_after(self: _Below) -> Any:
        found = listed(self)
        obstore.put(bucket, "news/outputs/two.txt", FILES["news/outputs/two.txt"].swapcase())
        return found

    monkeypatch.setattr(_Below, "list", replace_after)
    with pytest.raises(StoreError, match="P736") as caught:
        look(study)
    assert files_beside(study) == ["data/ref.txt", "files.txt", "marks.json"]
    assert caught.value.problems[0].help == "give the command again"
    monkeypatch.setattr(_Below, "list", listed)
    assert look(study)


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_process_that_was_quicker_is_believed_where_what_it_brought_is_whole(
    study: Path, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    def come_late(source: Path, target: Path) -> None:
        shutil.copytree(source, target)
        if not is_whole:
            next((target / "data").iterdir()).write_bytes(b"damaged")
        raise OSError(errno.ENOTEMPTY, "Directory not empty")

    monkeypatch.setattr(fetching.os, "rename", come_late)
    if is_whole:
        assert look(study).inputs.fingerprint()
    else:
        with pytest.raises(StoreError, match="not empty"):
            look(study)


def test_a_study_that_is_written_anew_keeps_addresses(study: Path) -> None:
    value = {"test_sets": {"news": {"outputs": "s3://bucket/{system}.txt", "references": ["ref.txt"]}}, "metrics": ["bleu"]}
    place_paths(value, study.parent, study.parent / "below" / "study.yaml")
    assert value["test_sets"] == {"news": {"outputs": "s3://bucket/{system}.txt", "references": ["../ref.txt"]}}


def test_an_object_named_like_a_way_out_of_the_folder_is_refused(bucket: Any, study: Path) -> None:
    listed = [{"path": name, "size": 1, "e_tag": '"x"', "last_modified": None} for name in ("..", "one")]
    study.write_text(STUDY.replace("outputs/{system}.txt", "named/{system}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Below, "list", lambda self: [listed])
        with pytest.raises(DataError, match="no file can have") as caught:
            look(study)
    assert caught.value.problems[0].help == "rename it"
    for name in ("one", "two"):
        obstore.put(bucket, f"news/named/{name}", FILES[f"news/outputs/{name}.txt"])
    assert look(study)


@pytest.mark.usefixtures("bucket")
def test_what_is_too_large_is_refused_before_it_is_fetched(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_MAX_INPUT", "10")
    with pytest.raises(DataError, match="P286") as caught:
        look(study)
    assert files_beside(study) == []
    ((variable, size),) = re.findall(r"set (\w+) to a larger size, such as (\w+)", str(caught.value.problems[0].help))
    monkeypatch.setenv(variable, size)
    assert look(study)


@pytest.mark.usefixtures("bucket")
def test_a_study_in_a_folder_that_cannot_be_written_says_what_to_do(study: Path) -> None:
    (study.parent / ".objects").write_bytes(b"")
    with pytest.raises(StoreError) as caught:
        look(study)
    assert "copy the study into a folder" in str(caught.value.problems[0].help)
    (study.parent / "mine").mkdir()
    assert look(Path(shutil.copy(study, study.parent / "mine")))


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("wrong", ["new/ref.txt", "news/reff.txt"])
def test_an_address_that_leads_nowhere_is_checked(study: Path, wrong: str) -> None:
    study.write_text(STUDY.replace("news/ref.txt", wrong))
    with pytest.raises(DataError, match="no such object") as caught:
        look(study)
    assert caught.value.problems[0].help == "check the address"
    study.write_text(STUDY)
    assert look(study)


def test_gc_knows_what_was_brought_and_frees_what_no_run_reads(bucket: Any, study: Path) -> None:
    runs = study.parent / "runs"
    first = prepare(load_study(study), runs, Launch("serial"))
    before = set((study.parent / ".objects").glob("*/data"))
    obstore.put(bucket, "news/outputs/two.txt", b"a b c d e\nf g h i j\n")
    prepare(load_study(study), runs, Launch("serial"))
    for folder in (study.parent / ".objects").iterdir():
        os.utime(folder, (0, 0))
    assert find_garbage(runs).files == ()
    shutil.rmtree(first.root)
    (old,) = find_garbage(runs, to=0).files  # of the references, which did not change, there is one folder
    assert old.path / "data" in before
    alone = [file for path in old.path.rglob("*") if path.is_file() and (file := path.stat()).st_nlink == 1]
    assert len(alone) == 3  # the object that changed, and two lists; what did not change is shared with what stays
    assert old.bytes == sum(file.st_size for file in alone)


@pytest.mark.usefixtures("bucket")
def test_what_a_process_left_that_was_killed_is_removed_by_the_next_that_fetches(study: Path) -> None:
    left = study.parent / ".objects" / re.sub(r"-\d+-", f"-{2**22 + 1}-", temporary_name())  # no process has such a number
    (left / "data").mkdir(parents=True)
    look(study)
    assert not left.exists()


@pytest.mark.usefixtures("bucket")
def test_what_is_here_is_marked_as_used_before_it_is_looked_through(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(study)
    folders = [path.parent for path in (study.parent / ".objects").glob("*/data")]
    for folder in folders:
        os.utime(folder, (0, 0))
    seen: list[float] = []
    damaged = fetching.damaged_file_of
    monkeypatch.setattr(
        fetching, "damaged_file_of", lambda folder, verify: seen.append(folder.stat().st_mtime) or damaged(folder, verify=verify)
    )
    look(study)
    assert len(seen) == len(folders)
    assert min(seen) > 0  # as it may take minutes to look through them


@pytest.mark.usefixtures("bucket")
def test_what_is_here_is_read_from_a_disk_that_cannot_be_written(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = look(study).study

    def refuse(path: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(os, "utime", refuse)
    assert look(study).study == before
