"""Hundreds of trainings: each fails alone, is told in the report, and is never done twice."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from support import taggers
from support.many_trainings import counted, hundreds, trained
from support.studies import files_of, ledger, run_cli, start_cli, times_done, write_study

from pipeline.api import run
from pipeline.errors import TaskError
from pipeline.store.runs import RunDirectory, list_runs

TESTS = Path(__file__).resolve().parents[1]

FILL = ": {train}; dd if=/dev/zero of=big bs=100k count=99"
NOUN = "sed 's#/_#/NOUN#g' {input} > {output}"
SOUND = {"sound": counted(depth=9), "noun": {"trainer": "command", "predict": NOUN}}
BROKEN: dict[str, dict[str, Any]] = {
    "exits": {"trainer": "command", "fit": "echo no licence >&2; : {train}; exit 3", "predict": NOUN, "retries": 2},
    "hangs": {"trainer": "command", "fit": ": {train}; sleep 98763", "predict": NOUN, "limits": {"minutes": 0.005}},
    "silent": {"trainer": "command", "predict": "echo done; : {input} {output}"},
    "short": {"trainer": "command", "predict": "sed 9q {input} > {output}"},
    "fills": {"trainer": "command", "fit": FILL, "predict": NOUN, "limits": {"disk": "1 MB"}},
    "diverges": counted(fails="nan"),
    "blank": counted(fails="blank"),
}
"""How each of them fails: code, exit status, words of the reason, words of the log."""
ENDINGS: dict[str, tuple[int | None, str, str]] = {
    "exits": (3, "the fit command ended with exit code 3", "no licence"),
    "hangs": (None, "the fit command was stopped after 0.005 minutes", ""),
    "silent": (0, "the predict command ended well and wrote no {output}", "done"),
    "short": (0, "it has 7 items, and there are 30 to predict", ""),
    "fills": (153, "one of its files grew too large", ""),
    "diverges": (None, "FloatingPointError: the loss is not a number", "the loss is not a number"),
    "blank": (None, "'tag' of all 30 items of test set 'test' is blank", "P425"),
}


@pytest.fixture(scope="module", autouse=True)
def _importable() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))
        yield


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which each training leaves a file as it starts, whose name begins with its process."""
    folder = tmp_path / "starts"
    folder.mkdir()
    monkeypatch.setenv("STARTS", str(folder))
    return folder


def attempt(study: Path, runs: Path) -> RunDirectory:
    """Run a study that loses some of its systems."""
    with pytest.raises(TaskError) as failed:
        run(study, runs=runs, serial=True)
    assert failed.value.exit_code == 4
    (directory,) = list_runs(runs)
    return directory


def report_of(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "report" / "report.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunDirectory, dict[str, Any]]:
    """A study of two sound models and one of each kind of failure, and its report."""
    folder = tmp_path_factory.mktemp("broken")
    formats = {"formats": ["json", "markdown", "html"], "null_laboratory": False}
    done = attempt(hundreds(folder, {**SOUND, **BROKEN}, report=formats), folder / "runs")
    return done, report_of(done.root)


def test_every_kind_of_failure_leaves_the_rest_whole(broken: tuple[RunDirectory, dict[str, Any]]) -> None:
    done, report = broken
    state = json.loads(done.state.read_text())
    assert (state["state"], state["exit_code"]) == ("INCOMPLETE", 4)
    lost = sorted(f"{name}/bootstrap-0.5/{k}" for name in BROKEN for k in (0, 1))
    assert state["message"] == f"done without {', '.join(lost[:8])} and 6 more"
    assert sorted(s["name"] for s in report["systems"]) == sorted(f"{name}/bootstrap-0.5/{k}" for name in SOUND for k in (0, 1))
    assert len(report["trainings"]) == 2 * len({**SOUND, **BROKEN})
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "98763"]]


@pytest.mark.parametrize("model", ENDINGS)
def test_a_failed_training_has_a_clear_record(broken: tuple[RunDirectory, dict[str, Any]], model: str) -> None:
    done, report = broken
    status, reason, printed = ENDINGS[model]
    rows = [row for row in report["trainings"] if row["model"] == model]
    assert [row["system"] for row in rows] == [f"{model}/bootstrap-0.5/{k}" for k in (0, 1)]
    for row in rows:
        assert (row["status"], row["exit_status"]) == ("failed", status)
        assert reason in row["reason"]
        assert row["attempts"] == (3 if model == "exits" else 1)
        assert row["seconds"] > 0
        assert printed in (done.store.root / row["log"]).read_text("utf-8")


def test_a_training_that_is_done_says_what_it_took_and_held(broken: tuple[RunDirectory, dict[str, Any]]) -> None:
    done, report = broken
    receipts = {e["receipt"]["label"]: e["receipt"] for e in ledger(done.root) if e["event"] == "done"}
    for row in [row for row in report["trainings"] if row["model"] in SOUND]:
        receipt = receipts[f"train {row['system']}"]
        assert (row["status"], row["exit_status"], row["attempts"], row["reason"]) == ("done", 0, 1, None)
        assert (row["items"], row["units"], row["fraction"], row["sample"]) == (30, 30, 0.5, "bootstrap")
        assert (row["seconds"], row["distinct"]) == (receipt["seconds"], receipt["covers"]["distinct"])
        assert 10**6 < row["peak_memory_bytes"] <= receipt["peak_memory_bytes"] + 10**6


def test_the_report_counts_trainings_and_lists_those_that_failed(broken: tuple[RunDirectory, dict[str, Any]]) -> None:
    done, report = broken
    text = done.report.joinpath("report.md").read_text("utf-8")
    section = text.partition("## Trainings")[2].partition("\n## ")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| ")]
    assert ["sound", "bootstrap-0.5", "2", "0"] in [line[:4] for line in lines]
    assert ["exits", "bootstrap-0.5", "0", "2"] in [line[:4] for line in lines]
    assert sum(line[0].startswith("exits/bootstrap") and line[1:3] == ["3", "3"] for line in lines) == 2
    failed = [line for line in text.splitlines() if line.startswith("> Failed")]
    assert len(failed) == 1
    assert "14 of 18 trainings (2 of exits, " in failed[0]
    page = done.report.joinpath("index.html").read_text("utf-8")
    assert page.count("<strong>Failed.</strong>") == 1
    assert "the loss is not a number" in page
    with done.report.joinpath("tables", "trainings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["system"] for row in rows] == [row["system"] for row in report["trainings"]]


def test_a_second_study_trains_nothing_and_a_changed_option_one_model(tmp_path: Path, starts: Path) -> None:
    models = {"whole": counted(depth=9), "letter": counted(depth=1)}

    ledgers: dict[str, list[str]] = {}

    def go(**changes: Any) -> list[str]:
        """Return the systems that are trained now; the files that trainings leave count them independently."""
        before = len(list(starts.iterdir()))
        done = run(hundreds(tmp_path, models, **changes), runs=tmp_path / "runs", serial=True)
        known, ledgers[done.id] = ledgers.get(done.id, []), trained(done.root)
        assert len(list(starts.iterdir())) - before == len(ledgers[done.id]) - len(known)
        return ledgers[done.id][len(known) :]

    everything = [f"{model}/bootstrap-0.5/{k}" for model in models for k in (0, 1)]
    assert go() == everything
    assert go() == []
    other = {"replicates": 200, "keep_replicates": 0, "unit": "item", "test_sizes": [10, "full"], "alpha": 0.1}
    assert go(study="another", resampling=other, metrics=[{"name": "tag-accuracy"}]) == []
    models["letter"] = counted(depth=2)
    assert go() == ["letter/bootstrap-0.5/0", "letter/bootstrap-0.5/1"]


def test_names_and_paths_that_mean_something_to_a_shell_do_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a b;$(touch x)'\"`touch y`&\n*"
    (folder / "models").mkdir(parents=True)
    monkeypatch.chdir(folder)
    temporary = folder / "t $(touch z)"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    copy = {"trainer": "command", "path": "models", "fit": "cp {train} {model}", "predict": f": {{path}} {{model}}; {NOUN}"}
    names = ("m;$(touch v)'\"", "`touch w` & <b>", "sound")
    study = hundreds(folder, dict(zip(names, [copy, copy, counted(depth=9)], strict=True)))
    done = run(study, runs=folder / "runs;$(touch u)", serial=True)
    assert json.loads(done.state.read_text())["exit_code"] == 0
    assert sorted(trained(done.root)) == sorted(f"{name}/bootstrap-0.5/{k}" for name in names for k in (0, 1))
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["train.txt", "test.txt", "models", "study.yaml", "runs;$(touch u)", temporary.name]
    )
    assert not list(temporary.iterdir())


def test_a_full_disk_is_free_again_for_the_next_training(tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    monkeypatch.setenv("TMPDIR", str(small_disk))
    # It may use more than there is: by default it is stopped at nine tenths, if it is looked at while it fills the last one.
    greedy = {"trainer": "command", "fit": FILL, "predict": NOUN, "limits": {"disk": "1 GB"}}
    done = attempt(hundreds(tmp_path, {"greedy": greedy, **SOUND}), tmp_path / "runs")
    report = report_of(done.root)
    reasons = {row["reason"] for row in report["trainings"] if row["status"] == "failed"}
    assert len(reasons) == 1
    assert {row["model"] for row in report["trainings"] if row["status"] == "done"} == set(SOUND)
    assert "disk" in reasons.pop()
    assert not list(small_disk.iterdir())


def started(folder: Path, *, replicas: int, starts: Path, at_least: int) -> tuple[subprocess.Popen[str], Path]:
    """Start a run of slow trainings of two models on two workers, and wait until some of them have begun."""
    models = {"a": counted(seconds=0.2, depth=1), "b": counted(seconds=0.2, depth=9)}
    study = hundreds(folder, models, resamples=[{"method": "bootstrap", "replicas": replicas}])
    process = start_cli("run", study, "--runs", folder / "runs", "--workers", 2)
    deadline = time.monotonic() + 120
    while len(list(starts.iterdir())) < at_least:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no training began within two minutes"
        time.sleep(0.01)
    (directory,) = [path for path in (folder / "runs").iterdir() if (path / "plan.json").exists()]
    return process, directory


@pytest.mark.slow
def test_a_killed_worker_loses_the_trainings_in_flight_at_most(tmp_path: Path, starts: Path) -> None:
    process, directory = started(tmp_path, replicas=15, starts=starts, at_least=8)
    pids = {int(path.name.partition("-")[0]) for path in starts.iterdir()}
    os.kill(pids.pop(), signal.SIGKILL)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert len(trained(directory)) == 30
    assert set(times_done(directory).values()) == {1}
    assert 30 < len(list(starts.iterdir())) <= 31  # that of the dead worker once more


@pytest.mark.slow
def test_a_killed_run_goes_on_with_what_was_in_flight(tmp_path: Path, starts: Path) -> None:
    process, directory = started(tmp_path, replicas=10, starts=starts, at_least=6)
    children = psutil.Process(process.pid).children(recursive=True)
    for victim in [psutil.Process(process.pid), *children]:
        victim.kill()
    process.communicate()
    psutil.wait_procs(children, timeout=30)
    before, begun = trained(directory), len(list(starts.iterdir()))
    assert begun - len(before) <= 4  # two at work, two whose receipts were on their way
    resumed = run_cli("resume", directory, "--workers", 2, own_process=True)
    assert resumed.returncode == 0, resumed.stderr
    assert trained(directory)[: len(before)] == before
    assert set(times_done(directory).values()) == {1}
    assert len(list(starts.iterdir())) == begun + 20 - len(before)


def tree_study(folder: Path) -> Path:
    """Write a study of a parser on dependency trees of our own making."""
    for name, sentences, seed in (("train", 40, 1), ("test", 20, 2)):
        tagged = taggers.write_tagged(folder / f"{name}.txt", sentences=sentences, seed=seed, documents=0).read_text()
        lines = []
        for line in tagged.splitlines():
            pairs = [token.rpartition("/") for token in line.split(" ")]
            tags = [tag for _, _, tag in pairs]
            root = next((k for k, tag in enumerate(tags) if tag == "VERB"), 0)
            for k, (word, _, tag) in enumerate(pairs):
                # Words hang on the next noun, and nouns on the root.
                head = next((j for j in range(k + 1, len(tags)) if tags[j] == "NOUN"), root) if tag != "NOUN" else root
                above, relation = (0, "root") if k == root else (head + 1, tag.lower())
                lines.append(f"{k + 1}\t{word}\t_\t{tag}\t{tag}\t_\t{above}\t{relation}\t_\t_")
            lines.append("")
        (folder / f"{name}.conllu").write_text("\n".join(lines) + "\n")
    resamples = [{"method": "bootstrap", "fraction": 0.5, "replicas": 2}, {"method": "cross-validation", "folds": 2}]
    training = {
        "data": {"path": "train.conllu", "format": "conllu"},
        "unit": "sentence",
        "resamples": resamples,
        "models": {"transition": {"trainer": "transition-parser"}, "graph": {"trainer": "graph-parser"}},
    }
    return write_study(
        folder / "study.yaml",
        test_sets={"test": {"format": "conllu", "gold": "test.conllu"}},
        training=training,
        metrics=["uas"],
        resampling={"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]},
        analyses=[],
        report={"formats": ["json"], "null_laboratory": False},
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["taggers", "parsers"])
def test_reference_systems_have_the_same_bits_on_any_number_of_workers(tmp_path: Path, kind: str) -> None:
    models = {"perceptron": {"trainer": "perceptron-tagger"}, "hmm": {"trainer": "hmm-tagger"}}
    study = hundreds(tmp_path, models) if kind == "taggers" else tree_study(tmp_path)
    runs = []
    for number, options in enumerate((["--serial"], ["--workers", 1], ["--workers", 3])):
        done = run_cli("run", study, "--runs", tmp_path / f"runs{number}", *options, own_process=True)
        assert done.returncode == 0, done.stderr
        store = tmp_path / f"runs{number}" / ".store"
        runs.append((files_of(store / "outputs"), files_of(Path(done.stdout.strip()) / "cubes.zarr")))
    assert runs[0] == runs[1] == runs[2]
    assert len(runs[0][0]) == (4 if kind == "taggers" else 8)
    # The outputs are those of systems that differ, and not four times the same.
    assert len({content for content in runs[0][0].values()}) > 1
