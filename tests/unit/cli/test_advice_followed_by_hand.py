"""What messages advise beside the words of a study or a command: followed here to the letter, one by one."""

from __future__ import annotations

import csv
import errno
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import pandas
import pytest
import yaml
from support.following_advice import help_of, template
from support.studies import write_scores, write_study

import pipeline
from pipeline import inputs
from pipeline.cubes.history import open_history
from pipeline.engine import doctor
from pipeline.engine.clusters import cluster
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.items.readers.registry import import_reader
from pipeline.own_code import import_object
from pipeline.record.history import History
from pipeline.resampling.standard_errors import studentise_budget
from pipeline.store.lease import hold_lease
from pipeline.store.ledger import read_ledger
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.load import load_study
from pipeline.study.profile import ClusterProfile
from pipeline.survey.survey import survey_loaded

Call = Callable[..., tuple[int, str]]
AGAIN = "start the study again: the changed file makes it a new run, which reuses what is still valid"
FEW = {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]}
ARRAYS = "give each system one array with a score for each item, in the same order of items: {'ours': scores, 'base': others}"
SCORES = [1.0, 2.0, 4.0, 3.0, 5.0, 2.5]
OTHERS = [1.5, 2.0, 3.0, 3.5, 4.0, 2.0]


class Begun(Exception):
    """A comparison has read everything and begins to compute, which is the same for all of them."""


def compare(outputs: Any) -> None:
    with mock.patch("pipeline.engine.launch.execute", side_effect=Begun), pytest.raises(Begun):
        pipeline.compare(outputs, replicates=100)


def test_names_of_several_levels_are_joined() -> None:
    frame = pandas.DataFrame({("x", "ours"): SCORES, ("x", "base"): OTHERS})
    said = help_of(lambda: compare(frame), "join them: frame.columns = ['-'.join(map(str, names)) for names in frame.columns]")
    exec(said.partition(": ")[2], {"frame": frame})
    compare(frame)


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        ({"ours": SCORES, "base": OTHERS[:3]}, ARRAYS),
        ([SCORES, OTHERS], "name files or a folder, or {}"),
    ],
)
def test_arrays_are_given_by_name_and_alike(outputs: Any, says: str) -> None:
    said = help_of(lambda: compare(outputs), says)
    compare(eval(said[said.index("{") :], {"scores": SCORES, "others": OTHERS}))


def test_all_are_given_as_arrays(tmp_path: Path) -> None:
    (tmp_path / "base.csv").write_text("item,score\n1,2\n")
    help_of(lambda: compare({"ours": SCORES, "base": str(tmp_path / "base.csv")}), "give all as arrays or all as paths")
    compare({"ours": SCORES, "base": OTHERS})


def test_each_has_a_name_of_its_own() -> None:
    help_of(lambda: compare({1: SCORES, "1": OTHERS}), "give each a name of its own")
    compare({1: SCORES, "2": OTHERS})


def test_series_are_paired_by_label_or_by_place() -> None:
    outputs = {"ours": pandas.Series(SCORES), "base": pandas.Series(OTHERS, index=[1, 2, 3, 4, 5, 6])}
    says = "pandas.DataFrame(outputs).dropna() pairs items by label; .to_numpy() of each pairs them by place"
    said = help_of(lambda: compare(outputs), says)
    compare(eval(said.split(" ")[0], {"pandas": pandas, "outputs": outputs}))
    compare({name: eval(f"one{re.findall(r'[.]to_numpy..', said)[0]}", {"one": one}) for name, one in outputs.items()})


def test_a_table_in_memory_is_written_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame({"ours": SCORES, "base": OTHERS})
    said = help_of(lambda: pipeline.compare(frame, runs="runs"), "write it to a file, such as scores.csv, and compare that")
    name = said.split(" ")[7].rstrip(",")
    frame.to_csv(name, index_label="item")
    pipeline.compare(name, runs="runs", replicates=100)
    assert list(Path("runs").glob("*/report/report.json"))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write_scores(tmp_path / "scores.csv", ["a", "b"], items=12)
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    return write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets=test_sets)


def look(study: Path) -> Any:
    return survey_loaded(load_study(study))


def test_a_limit_is_raised_as_is_said(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_MAX_INPUT", "1500")
    says = "check that it is what it should be; if it is right and there is memory for it, set {}, for example to {}"
    said = help_of(lambda: look(study), says)
    name, size = re.findall(r"set (\w+), for example to (\S+)", said)[0]
    monkeypatch.setenv(name, size)
    look(study)
    monkeypatch.setenv(name, "much")
    said = help_of(lambda: look(study), "write 8GiB, or 500 MB")
    for size in said.removeprefix("write ").split(", or "):
        monkeypatch.setenv(name, size)
        look(study)


def test_what_is_compressed_well_is_read_where_that_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "FREE", 1 << 10)
    rows = "".join(f"q{k:05},1,2\n" for k in range(20)) + "\n" * 99_999
    (tmp_path / "scores.csv.gz").write_bytes(gzip.compress(f"item,a,b\n{rows}".encode()))
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv.gz"}}
    study = write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets=test_sets)
    says = "check where it comes from; if it is right, {}=4GiB reads up to 4 GiB, however well compressed"
    name, size = re.findall(r"(\w+)=(\w+)", help_of(lambda: look(study), says))[0]
    monkeypatch.setenv(name, size)
    look(study)


def test_a_file_of_arrow_has_columns_of_values_and_is_whole(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    test_sets = {"set": {"format": "scores", "outputs": "scores.parquet"}}
    study = write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets=test_sets)
    file = tmp_path / "scores.parquet"
    parquet.write_table(arrow.table({"scores": [[1.0, 2.0], [3.0, 1.0]]}), file)
    help_of(lambda: look(study), "write the values as columns of their own")
    parquet.write_table(arrow.table({"a": [1.0, 3.0], "b": [2.0, 1.0]}), file)
    look(study)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    help_of(lambda: look(study), "copy or make the file again")
    file.write_bytes(whole)
    look(study)


def test_one_of_two_formats_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    links, bitext = import_reader("links"), import_reader("bitext")
    monkeypatch.setattr(bitext, "recognise", staticmethod(links.recognise))
    for name in "ab":
        (tmp_path / f"{name}.out").write_text("0-0 1-1\n0-0\n")
    test_set = {"format": "auto", "gold": "a.out", "outputs": {"a": "a.out", "b": "b.out"}}
    study = write_study(tmp_path / "study.yaml", metrics=["aer"], test_sets={"set": test_set})
    said = help_of(lambda: look(study), "name the format: `format: {}`")
    named = yaml.safe_load(said.split("`")[1].replace("bitext", "links"))  # the first by the alphabet, of two that are as good
    write_study(study, metrics=["aer"], test_sets={"set": test_set | named})
    look(study)


def test_fewer_products_are_asked_for_in_each_of_the_ways_that_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"q{k},{k % 3},{1 + k % 2}\n" for k in range(12))
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(f"item,e,n\n{rows}")
    monkeypatch.setattr(studentise_budget, "MOST_PRODUCTS", 12 * 2000)

    def asked(*, systems: str = "abc", intervals: str = "studentised", **more: Any) -> Path:
        outputs = {name: f"{name}.csv" for name in systems}
        return write_study(
            tmp_path / "study.yaml",
            metrics=[{"name": "ratio", "numerator": "e", "denominator": "n"}],
            test_sets={"set": {"format": "scores", "outputs": outputs}},
            resampling={"replicates": 2000, "test_sizes": ["full"], "intervals": [intervals], **more},
        )

    said = help_of(
        lambda: look(asked()), "{}compare fewer systems in this study, or ask for `bca`, which is read off the kept scores"
    )
    kept, method = said.split("`")[1::2]
    look(asked(**yaml.safe_load(kept)))
    look(asked(systems="ab"))
    look(asked(intervals=method))


def test_a_form_of_products_that_is_not_there_is_unset(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_PRODUCT", "none")
    says = "unset {}: the best available form is then used, and results do not depend on it"
    said = help_of(lambda: look(study), says)
    monkeypatch.delenv(re.findall(r"unset (\w+)", said)[0])
    look(study)


def test_what_is_not_utf_8_is_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {name: f"{name} b\nc d\n" for name in ("a.txt", "b.txt", "ref.txt")}
    for name, content in texts.items():
        Path(name).write_text(content)
    test_sets = {"set": {"format": "text", "references": ["ref.txt"], "outputs": {"a": "a.txt", "b": "b.txt"}}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets)
    found = (("utf-16", "the file looks like UTF-16: {}"), ("latin-1", "convert it: iconv -f {} -t UTF-8{}"))
    for encoding, says in found:
        Path("a.txt").write_bytes("ä b\nc d\n".encode(encoding))
        said = help_of(lambda: look(study), says)
        subprocess.run(said[said.index("iconv") :], shell=True, check=True)
        Path("a.utf8.txt").replace("a.txt")
        look(study)
    content = study.read_text()
    study.write_bytes(content.replace("small", "smäll").encode("latin-1"))
    help_of(lambda: look(study), "save it as UTF-8")
    study.write_text(content.replace("small", "smäll"), encoding="utf-8")
    look(study)
    study.write_text(content.replace("schema: 1\n", ""))
    said = help_of(lambda: look(study), "begin the file with `schema: 1`")
    study.write_text(f"{said.split('`')[1]}\n{study.read_text()}")
    look(study)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study and its run."""
    folder = tmp_path_factory.mktemp("done")
    write_scores(folder / "scores.csv", ["a", "b"], items=12)
    few = {"replicates": 300, "keep_replicates": 200, "test_sizes": ["full"], "intervals": ["percentile"]}
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    write_study(folder / "study.yaml", metrics=["mean"], test_sets=test_sets, resampling=few, analyses=["thresholds"])
    pipeline.run(folder / "study.yaml", runs=folder / "runs", serial=True)
    return folder


def said_of(call: Call, typed: str, says: str) -> str:
    """Call what is wrong, and return the help that is given."""
    code, printed = call(*shlex.split(typed))
    assert code != 0, printed
    said = [one for one in re.findall(r"= help: (.*)", printed) if template(says).fullmatch(one)]
    assert said, printed
    return said[0]


def typed_well(call: Call, typed: str) -> None:
    code, printed = call(*shlex.split(typed))
    assert code == 0, printed


def test_a_report_is_asked_for_what_it_may_be_asked_for(done: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(done)
    says = (
        "a report can be asked for another resampling.alpha, .family, .baseline, .across_families or .intervals (of those "
        "computed), analyses, systems.relation, report and expect"
    )
    said = said_of(call, "report --set resampling.replicates=400", says)
    names = [f"resampling{name}" if name.startswith(".") else name for name in re.findall(r"\.?\w+(?:\.\w+)?", said[33:])]
    assert names[:2] == ["resampling.alpha", "resampling.family"]
    typed_well(call, f"report --set {names[0]}=0.1")
    said = said_of(call, "report --set resampling.intervals=[bca]", "it has: {}")
    typed_well(call, f"report --set resampling.intervals=[{said.removeprefix('it has: ')}]")


def test_a_run_is_named_by_more_of_its_id(done: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (run,) = (path for path in (done / "runs").iterdir() if path.name != ".store" and path.is_dir())
    for number in "12":
        shutil.copytree(run, tmp_path / "runs" / f"small-{number}{run.name[7:]}")
    said_of(call, "status small", "give more of the id")
    typed_well(call, "status small-1")


def test_an_archive_goes_where_it_may(done: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    typed_well(call, f"export small sent.zip --runs '{done / 'runs'}'")
    said = said_of(
        call,
        "import sent.zip --max-size 10kB",
        "check where it comes from; --max-size says how large a run may be, and no run is packed more than {} times",
    )
    typed_well(call, f"import sent.zip {re.findall(r'--[a-z-]+', said)[0]} 10MB")
    said = said_of(call, "import sent.zip", "name another folder with --output")
    typed_well(call, f"import sent.zip {said.split(' ')[-1]} elsewhere")
    said_of(call, "import snet.zip", "check the path")


def test_a_store_that_others_may_use_is_cleared_as_is_said(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    old = Store(tmp_path / "owner" / ".store").path("cells", "a" * 32, ".arrays")
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    os.utime(old, (time.time() - 9999,) * 2)
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / ".store").symlink_to(tmp_path / "owner" / ".store")
    said = said_of(call, "gc --runs user", "if no other folder of runs has a link to it, say so with --linked-store")
    typed_well(call, f"gc --runs user --dry-run {said.split(' ')[-1]}")
    notes = tmp_path / "owner" / ".store" / "linked-from"
    notes.mkdir()
    (notes / "note").write_text(str(tmp_path / "gone"))
    says = "bring it back, or remove this note if it is gone for good"
    said_of(call, "gc --runs owner --dry-run", says)
    (tmp_path / "gone").mkdir()
    typed_well(call, "gc --runs owner --dry-run")
    (tmp_path / "gone").rmdir()
    said_of(call, "gc --runs owner --dry-run", says)
    (notes / "note").unlink()
    (tmp_path / "owner" / "theirs" / "ledger.jsonl").mkdir(parents=True)
    says = "run this as a user who may read all runs of the folder, or move this one out of it"
    said_of(call, "gc --runs owner", says)
    (tmp_path / "owner" / "theirs").rename(tmp_path / "theirs")
    typed_well(call, "gc --runs owner")
    assert not old.exists()


def test_numbers_that_cannot_be_added_exactly_are_given_with_fewer_decimals(tmp_path: Path) -> None:
    for name, scores in {"a": ["0.123456789", "0.2", "0.3"], "b": ["9e12", "8e12", "1"]}.items():
        (tmp_path / f"{name}.csv").write_text("item,score\n" + "".join(f"{k},{score}\n" for k, score in enumerate(scores)))
    value = {"metrics": ["mean"], "test_sets": {"set": {"format": "scores", "outputs": {"a": "a.csv", "b": "b.csv"}}}}
    few = {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]}
    study = write_study(tmp_path / "study.yaml", **value, resampling=few, analyses=["thresholds"])
    says = "give the scores with fewer decimals, or compare these systems in studies of their own"
    help_of(lambda: pipeline.run(study, runs=tmp_path / "runs", serial=True), says)
    (tmp_path / "a.csv").write_text("item,score\n0,0.1\n1,0.2\n2,0.3\n")
    pipeline.run(study, runs=tmp_path / "runs", serial=True)


@pytest.fixture
def history(tmp_path: Path) -> History:
    """A history of two slots."""
    found = History(tmp_path / "history")
    for number, slot in enumerate(("one", "two"), start=1):
        known = {"slot": slot, "number": number, "run": "r", "level": 0.05}
        found.add({**known, "found": {"board": {"a": 1.0}, "pairs": {}, "threshold": {}}}, "nothing changed")
    return found


def removed(said: str) -> None:
    """Remove what a help names."""
    path = Path(re.findall(r"remove (?:the folder )?([^,;:]+)", said)[0])
    assert path.exists()
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_what_is_damaged_in_a_history_is_removed(history: History) -> None:
    (history.root / "missed").mkdir()
    (history.root / "missed" / "x.json").write_text("{")
    removed(help_of(history.missed, "remove {}; nothing else depends on it"))
    assert history.missed() == {}
    history.note_answers("r", {"a": "better"})
    (history.root / "gate" / "answers.json").write_text("{")
    removed(help_of(lambda: history.note_answers("s", {}), "remove {}: confirmation starts again"))
    assert history.note_answers("s", {}) == []
    shutil.rmtree(history.root / "slots" / "one" / "cube.zarr" / "gain")
    says = "restore it from a copy; or remove the folder {}: the rest can be opened, but the last look is spent again"
    removed(help_of(lambda: open_history(history.root), says))
    assert open_history(history.root).sizes["slot"] == 1
    (history.root / "slots" / "two" / "account.json").write_text("{")
    says = "restore it from a copy; or remove the folder {}, and the history goes on without it; the last look is spent again"
    removed(help_of(history.accounts, says))
    assert history.accounts() == []


def test_a_history_that_others_write_is_asked_again(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.record.history.WAIT_SECONDS", 0.0)

    def write() -> None:
        with history.writing():
            pass

    with history.writing():
        help_of(write, "wait until it ends and ask again: a slot that is done is not done twice")
    write()
    (history.root / "gate").mkdir()
    with hold_lease(history.root / "gate"):
        help_of(lambda: history.note_answers("r", {}), "ask again: the run is kept, and nothing is computed twice")
    history.note_answers("r", {})


def test_a_profile_names_a_class_and_leaves_encryption_to_us() -> None:
    for wrong, says in (
        ("distribute.LocalCluster", "{}, or correct `cluster:` in the profile"),
        ("json.JSONDecoder", "name a class such as distributed.LocalCluster or dask_jobqueue.SLURMCluster in `cluster:`"),
    ):
        help_of(lambda wrong=wrong: cluster.find_class(ClusterProfile(name="p", cluster=wrong)), says)  # type: ignore[misc]
    assert cluster.find_class(ClusterProfile(name="p", cluster="distributed.LocalCluster"))[1] == "local"
    says = (
        "leave `protocol` and `security` out of `options:`; certificates of your own go into `config:` as distributed.comm.tls.*. "
        "A scheduler that you start yourself can be named by `address:`"
    )
    for options in ({"protocol": "tcp"}, {"security": False}):
        asked = ClusterProfile(name="p", cluster="distributed.LocalCluster", options=options)
        said = help_of(lambda asked=asked: cluster._refuse_plain(asked), says)  # type: ignore[misc]
        rest = {name: value for name, value in options.items() if name not in re.findall(r"`(\w+)`", said)}
        cluster._refuse_plain(asked.model_copy(update={"options": rest}))


def start_again(study: Path, change: Callable[[], Any]) -> None:
    """Change a file once the study was planned; the tasks that read it say what to do, and that works."""
    runs = study.parent / "runs"
    run = prepare(load_study(study), runs, Launch("serial"))
    change()
    assert execute(run, Launch("serial")).exit_code != 0
    said = [str(problem[3]) for entry in read_ledger(run.ledger)[0] if entry["event"] == "failed" for problem in entry["problems"]]
    assert set(said) == {AGAIN}
    done = pipeline.run(study, runs=runs, serial=True)
    assert done.id != run.id


@pytest.mark.parametrize("name", ["out.txt", "ref.txt"])
def test_a_study_whose_files_change_is_started_again(tmp_path: Path, name: str) -> None:
    for file, end in {"ref.txt": "x", "out.txt": "y", "other.txt": "z"}.items():
        (tmp_path / file).write_text(f"a b c d {end}\ne f g h\n")
    test_sets = {"set": {"format": "text", "references": ["ref.txt"], "outputs": {"a": "out.txt", "b": "other.txt"}}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, resampling=FEW, analyses=["thresholds"])
    start_again(study, lambda: (tmp_path / name).write_text("a b c d x\ne f g x\n"))


TRAINER = """
import pathlib
class Own:
    takes = ()
    gives = ("label",)
    def fit(self, items, sample, *, seed, workdir):
        tried = pathlib.Path(__file__).with_name("tried")
        if not tried.exists():
            tried.touch()
            raise OSError("busy")
        return str(items.columns["label"][sample[0]])
    def predict(self, model, items):
        return {"label": [model] * len(items)}
"""


def learnt(folder: Path, **model: Any) -> Path:
    """Write a study of trainings on labels, by code of one's own; a module is imported once, so each folder has another."""
    own = f"own_{folder.name}"
    for name in ("train.csv", "test.csv"):
        (folder / name).write_text("id,label\n" + "".join(f"i{k},{'ab'[k % 2]}\n" for k in range(8)))
    (folder / f"{own}.py").write_text(TRAINER)
    training = {
        "data": {"path": "train.csv", "format": "labels"},
        "resamples": [{"method": "bootstrap", "replicas": 3}],
        "models": {"m": {"trainer": "python", "object": f"{own}:Own", "path": ".", **model}},
    }
    test_sets = {"set": {"format": "labels", "gold": "test.csv"}}
    more: dict[str, Any] = {"metrics": ["accuracy"], "analyses": ["thresholds"], "resampling": FEW}
    return write_study(folder / "study.yaml", test_sets=test_sets, training=training, **more)


def test_a_study_whose_training_data_change_is_started_again(tmp_path: Path) -> None:
    def change() -> None:
        with (tmp_path / "train.csv").open("a") as file:
            file.write("i8,a\n")

    study = learnt(tmp_path)
    (tmp_path / "tried").touch()
    start_again(study, change)


def board(run: RunDirectory) -> list[Any]:
    """Return the leaderboard of a run."""
    rows: list[Any] = json.loads((run.report / "report.json").read_text())["leaderboard"]
    return rows


def test_a_training_that_fails_leaves_the_others_and_is_tried_again(tmp_path: Path) -> None:
    run = prepare(load_study(learnt(tmp_path)), tmp_path / "runs", Launch("serial"))
    ended = execute(run, Launch("serial"))
    failed = [entry for entry in read_ledger(run.ledger)[0] if entry["event"] == "failed"]
    (said,) = [problem[3] for entry in failed for problem in entry["problems"]]
    assert said == "the rest of the study goes on without this system; `retries:` of the model tries again"
    assert ended.exit_code == 4
    assert len(board(run)) == 2
    (tmp_path / "tried").unlink()
    again = pipeline.run(learnt(tmp_path, **{said.split("`")[1].rstrip(":"): 1}), runs=tmp_path / "others", serial=True)
    assert len(board(again)) == 3


def test_the_outputs_of_one_task_are_named(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for system in "ab":
        (tmp_path / "all" / system).mkdir(parents=True)
        for task in ("one", "two"):
            rows = [
                {"doc_id": k, "doc": {"q": k}, "target": "x", "arguments": {"a": {"arg_0": f"q{k}"}}, "resps": [["x"]]}
                | {"filtered_resps": ["x"], "filter": "none", "metrics": ["acc"], "acc": float((k + ord(system)) % 3 > 0)}
                for k in range(6)
            ]
            path = tmp_path / "all" / system / f"samples_{task}_2026-01-02T03-04-05.678901.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = said_of(call, "compare all", "name the files of one task: {}/*/samples_{}_*.jsonl")
    files = sorted(str(path) for path in Path().glob(said.partition(": ")[2]))
    assert len(files) == 2
    typed_well(call, f"compare {' '.join(files)} -b 100")


def test_what_is_no_file_is_written_to_one(tmp_path: Path) -> None:
    content = write_scores(tmp_path / "kept.csv", ["a", "b"], items=12).read_text()
    os.mkfifo(tmp_path / "scores.csv")
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets=test_sets)
    help_of(lambda: look(study), "write it to a file: inputs are read several times, by several processes")
    (tmp_path / "scores.csv").unlink()
    (tmp_path / "scores.csv").write_text(content)
    look(study)


def test_code_that_changed_is_run_in_a_new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    module = tmp_path / "own_changing.py"
    module.write_text("def make():\n    pass\n")
    import_object("own_changing:make", tmp_path)
    module.write_text("def make():\n    return 1\n")
    help_of(lambda: import_object("own_changing:make", tmp_path), "start the study in a new process")
    code = "import sys, pathlib; from pipeline.own_code import import_object; import_object(sys.argv[1], pathlib.Path(sys.argv[2]))"
    subprocess.run([sys.executable, "-c", code, "own_changing:make", str(tmp_path)], check=True)


def test_where_a_folder_cannot_be_written_another_is_named(done: Path, call: Call, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    said = said_of(call, f"run '{done / 'study.yaml'}' --serial --runs file/x", "name another place with --runs")
    monkeypatch.setattr("pipeline.engine.launch.execute", begun)
    typed_well(call, f"run '{done / 'study.yaml'}' --serial {said.split(' ')[-1]} place")


def begun(run: RunDirectory, *_: object, **__: object) -> NoReturn:
    """Stand for a run that begins to compute, once its folder is written."""
    assert run.ledger.exists() or run.root.exists()
    raise SystemExit(0)


def test_an_input_in_another_folder_is_brought(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    write_scores(tmp_path / "kept" / "scores.csv", ["a", "b"], items=12)
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets=test_sets, fetch="cp kept/scores.csv .")
    said = help_of(lambda: look(study), "{}bring the data: `{}`{}")
    subprocess.run(re.findall(r"bring the data: `([^`]+)`", said)[0], shell=True, cwd=tmp_path, check=True)
    look(study)


def test_an_answer_that_turned_is_taken_over_or_explained(done: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(done)
    known = Path("study.yaml").read_text()

    def typed(more: str) -> str:
        Path("expecting.yaml").write_text(f"{known}expect:\n- {{table: leaderboard, where: {{name: a}}, column: score, {more}}}\n")
        return "run expecting.yaml --serial --runs runs"

    says = "the run is complete; if the new number is right, change `expect` in the study, or say there why it `differs`"
    said = said_of(call, typed("value: 999, within: 0.01"), says)
    (report,) = [path for path in Path("runs").glob("*/report/tables/expectations.csv")]
    (row,) = csv.DictReader(report.read_text().splitlines())
    typed_well(call, typed(f"value: {row['ours']}, within: 0.01"))
    typed_well(call, typed(f"value: 999, {said.split('`')[3]}: of another year"))


def test_a_known_answer_that_is_not_in_the_results_is_corrected_or_left_out(
    done: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(done)
    known = Path("study.yaml").read_text()

    def typed(expect: str) -> str:
        Path("expecting.yaml").write_text(known + expect)
        return "run expecting.yaml --serial --runs runs"

    def expecting(name: str) -> str:
        return f"expect:\n- {{table: leaderboard, where: {{name: {name}}}, column: score, value: 1, differs: of another year}}\n"

    says = "the run is complete; correct the table, `where` or column in `expect`, or leave the expectation out"
    said_of(call, typed(expecting("a2")), says)
    typed_well(call, typed(expecting("a")))
    typed_well(call, typed(""))


def test_a_folder_that_refuses_this_user_is_made_writable_or_another_named(
    done: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def as_others(path: Any, *rest: Any, **named: Any) -> None:
        """Refuse what a user who is not root may not do: tests may run as root."""
        if Path(path).parent.is_dir() and not Path(path).parent.stat().st_mode & 0o200:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        make(path, *rest, **named)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "mkdir", as_others)
    (tmp_path / "closed").mkdir(mode=0o500)
    typed = f"run '{done / 'study.yaml'}' --serial"
    said = said_of(
        call, f"{typed} --runs closed/runs", "make the directory writable for this user, or name another place with --runs"
    )
    monkeypatch.setattr("pipeline.engine.launch.execute", begun)
    typed_well(call, f"{typed} {said.rpartition(' ')[2]} open")
    (tmp_path / "closed").chmod(0o700)
    typed_well(call, f"{typed} --runs closed/runs")


def test_what_a_doctor_finds_is_mended_as_stands_below(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "examine_machine", lambda runs: doctor._folder(doctor._existing(runs)))
    (tmp_path / "file").write_text("")
    code, printed = call("doctor", "--runs", "file/runs")
    assert code == 69
    said = re.findall(r"= help: (.*)", printed)[0]
    assert said == "do what it says below each line that begins with `fail`"
    (below,) = re.findall(rf"^{said.split('`')[1]} .*\n +(.*)", printed, re.MULTILINE)
    typed_well(call, f"doctor {below.rpartition(' ')[2]} runs")
