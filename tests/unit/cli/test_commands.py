"""Each command does what its help says, prints what a script can rely on, and exits as the table says."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from support.studies import ODD_NAMES, ledger, run_cli, start_cli, text_study, times_done, write_scores, write_text_outputs


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A finished run and its folder of runs."""
    folder = tmp_path_factory.mktemp("done")
    ran = run_cli("run", text_study(folder, report={}), "--runs", folder / "runs", "--serial")
    assert ran.returncode == 0, ran.stderr
    return Path(ran.stdout.strip()), folder / "runs"


def test_the_run_directory_is_the_only_line_on_stdout(done: tuple[Path, Path]) -> None:
    directory, runs = done
    again = run_cli("run", directory.parent.parent / "study.yaml", "--runs", runs, "--serial")
    assert again.returncode == 0
    assert again.stdout == f"{directory}\n"
    assert "done already" in again.stderr


def test_a_run_directory_holds_what_the_interface_names(done: tuple[Path, Path]) -> None:
    directory, _ = done
    names = {path.name for path in directory.iterdir()}
    assert {
        "study.yaml",
        "plan.json",
        "state.json",
        "ledger.jsonl",
        "events.jsonl",
        "cubes.zarr",
        "report",
    } <= names
    report = {path.name for path in (directory / "report").iterdir()}
    assert {"index.html", "report.md", "report.json", "tables", "figures"} <= report


def test_a_list_of_no_runs_says_so(tmp_path: Path) -> None:
    done = run_cli("list", "--runs", tmp_path / "none")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"there are no runs in {tmp_path}/none: `pipeline run STUDY --runs {tmp_path}/none` starts one\n"


def test_status_and_list_tell_from_files(done: tuple[Path, Path]) -> None:
    directory, runs = done
    told = json.loads(run_cli("status", directory.name[:9], "--runs", runs, "--json").stdout)
    assert told["state"] == "COMPLETED"
    assert told["exit_code"] == 0
    assert told["done"] == told["total"] == sum(times_done(directory).values())
    assert directory.name in run_cli("list", "--runs", runs).stdout
    assert json.loads(run_cli("list", "--runs", runs, "--json").stdout)["runs"][0]["run"] == directory.name


def test_the_latest_run_is_meant_where_none_is_named(done: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    directory, runs = done
    assert run_cli("status", "--runs", runs).stdout.startswith(directory.name)
    monkeypatch.setenv("PIPELINE_RUNS", str(runs))
    assert run_cli("status").stdout.startswith(directory.name)


def test_logs_tell_what_happened(done: tuple[Path, Path]) -> None:
    told = run_cli("logs", "--runs", done[1]).stdout
    assert "started" in told
    assert "COMPLETED" in told


def test_odd_names_reach_the_report_unharmed(done: tuple[Path, Path]) -> None:
    directory, _ = done
    document = json.loads((directory / "report" / "report.json").read_text())
    assert {system["name"] for system in document["systems"]} == set(ODD_NAMES)
    html = (directory / "report" / "index.html").read_text()
    assert "<b>bold</b>" not in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "系统三" in html
    assert "news <2024> & co/文" not in html


def test_plan_shows_all_open_and_then_nothing_open(done: tuple[Path, Path], tmp_path: Path) -> None:
    directory, runs = done
    study = directory.parent.parent / "study.yaml"
    fresh = json.loads(run_cli("plan", study, "--runs", tmp_path, "--json").stdout)
    assert all(stage["open"] == stage["tasks"] for stage in fresh["stages"])
    assert {s["stage"]: s["tasks"] for s in fresh["stages"]}["extract"] == len(ODD_NAMES)
    known = json.loads(run_cli("plan", study, "--runs", runs, "--json").stdout)
    assert known["run"] == directory.name
    assert all(stage["open"] == 0 for stage in known["stages"])
    assert not list(tmp_path.iterdir())  # a plan writes nothing
    assert "extract" in run_cli("submit", study, "--dry-run", "--runs", tmp_path).stdout


def test_check_prints_the_alignment_and_computes_nothing(done: tuple[Path, Path], tmp_path: Path) -> None:
    study = text_study(tmp_path / "s")
    checked = run_cli("check", study, cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    for name in ODD_NAMES:
        assert name in checked.stdout
    assert "60" in checked.stdout
    told = json.loads(run_cli("check", study, "--json").stdout)
    assert told["test_sets"][0]["items"] == 60
    assert not (tmp_path / "runs").exists()


def test_check_counts_systems_that_are_to_be_trained() -> None:
    checked = run_cli("check", Path(__file__).resolve().parents[3] / "workflows" / "quickstart.yaml")
    assert checked.returncode == 0, checked.stderr
    assert "digits: 892 items, 75 systems to be trained" in checked.stdout


@pytest.mark.slow
def test_report_writes_the_same_bytes_again_and_other_levels_elsewhere(done: tuple[Path, Path], tmp_path: Path) -> None:
    directory, runs = done
    before = {path: path.read_bytes() for path in (directory / "report").rglob("*") if path.is_file()}
    assert run_cli("report", "--runs", runs).returncode == 0
    assert {path: path.read_bytes() for path in (directory / "report").rglob("*") if path.is_file()} == before
    other = run_cli("report", "--runs", runs, "--set", "resampling.alpha=0.2", "-o", tmp_path / "other")
    assert "α = 0.2" in other.stderr
    assert other.stdout == f"{tmp_path / 'other' / 'index.html'}\n"
    assert other.returncode == 0, other.stderr
    assert json.loads((tmp_path / "other" / "report.json").read_text())["alpha"] == 0.2
    assert json.loads((directory / "report" / "report.json").read_text())["alpha"] == 0.05


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    write_text_outputs(tmp_path / "data", ["a", "b", "c"])
    return tmp_path / "data"


def compare(*arguments: object) -> Any:
    ran = run_cli("compare", *arguments, "-b", 5000)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_compare_takes_outputs_and_a_reference_and_keeps_nothing(outputs: Path, tmp_path: Path) -> None:
    printed = compare(outputs / "out-0.txt", outputs / "out-1.txt", outputs / "out-2.txt", "-r", outputs / "ref.txt")
    for name in ("out-0", "out-1", "out-2"):
        assert name in printed
    start = time.monotonic()
    told = run_cli("compare", *outputs.glob("out-*"), "-r", outputs / "ref.txt", "-b", 1000).stderr
    # What is soon done tells no progress; on a machine that is busy it is not soon done.
    assert "resample" not in told or time.monotonic() - start > 5
    assert not (tmp_path / "runs").exists()


def test_compare_json_is_the_document_of_a_report(outputs: Path) -> None:
    files = (outputs / "out-0.txt", outputs / "out-2.txt")
    document = json.loads(compare(*files, "-r", outputs / "ref.txt", "-m", "bleu", "-m", "chrf", "--json"))
    assert document["schema_version"] == 6
    assert [(p["metric"], p["system_a"]) for p in document["pairs"]] == [("bleu", "out-0"), ("chrf", "out-0")]
    swapped = json.loads(compare(*files[::-1], "-r", outputs / "ref.txt", "-m", "bleu", "-m", "chrf", "--json"))
    assert [p["p"] for p in swapped["pairs"]] == [p["p"] for p in document["pairs"]]


def test_compare_reads_a_table_of_scores(tmp_path: Path) -> None:
    table = write_scores(tmp_path / "scores.csv", ["one", "two", "three"])
    document = json.loads(compare(table, "--format", "scores", "--json"))
    assert len(document["pairs"]) == 3


def test_compare_refuses_what_it_cannot_compare(outputs: Path) -> None:
    one = run_cli("compare", outputs / "out-0.txt", "-r", outputs / "ref.txt")
    assert one.returncode == 5
    assert run_cli("compare", outputs / "out-0.txt", outputs / "out-1.txt").returncode == 2
    twice = run_cli("compare", outputs / "out-0.txt", outputs / "out-0.txt", "-r", outputs / "ref.txt")
    assert twice.returncode == 2
    assert "twice" in twice.stderr


def test_overrides_are_recorded_and_make_another_run(done: tuple[Path, Path], tmp_path: Path) -> None:
    directory, _ = done
    study = directory.parent.parent / "study.yaml"
    ran = run_cli(
        "run", study, "--runs", tmp_path, "--serial", "-b", 1000, "--set", "resampling.alpha=0.01", "--test-sizes", "30,full"
    )
    assert ran.returncode == 0, ran.stderr
    plan = json.loads((Path(ran.stdout.strip()) / "plan.json").read_text())
    assert plan["overrides"] == ["resampling.replicates=1000", "resampling.test_sizes=[30,full]", "resampling.alpha=0.01"]
    assert plan["study"]["resampling"]["replicates"] == 1000
    assert Path(ran.stdout.strip()).name != directory.name


def submitted(study: Path, runs: Path, *options: object) -> Path:
    ran = run_cli("submit", study, "--runs", runs, "--workers", 1, *options, own_process=True)
    assert ran.returncode == 0, ran.stderr
    return Path(ran.stdout.strip())


def wait_for(directory: Path, states: set[str], seconds: float = 90) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        told = json.loads(run_cli("status", directory, "--json").stdout)
        if told["state"] in states:
            return dict(told)
        time.sleep(0.2)
    raise AssertionError(f"{directory} is {told}")


def test_submit_returns_at_once_and_the_run_goes_on_alone(tmp_path: Path) -> None:
    directory = submitted(text_study(tmp_path / "s", ("a", "b")), tmp_path / "runs", "-b", 1000)
    assert wait_for(directory, {"COMPLETED", "FAILED"})["state"] == "COMPLETED"


def test_a_cancelled_run_keeps_what_is_done_and_goes_on_when_resumed(tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ("a", "b"))
    directory = submitted(study, tmp_path / "runs", "-b", 1_200_000, "--block-cells", 1)
    deadline = time.monotonic() + 60
    while not any(e["event"] == "done" and e["receipt"]["kind"] == "resample" for e in ledger(directory)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert run_cli("cancel", directory).returncode == 0
    assert wait_for(directory, {"CANCELLED", "COMPLETED"})["state"] == "CANCELLED"
    kept = times_done(directory)
    resumed = run_cli("resume", directory, "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert kept <= times_done(directory)
    assert set(times_done(directory).values()) == {1}
    assert "not running" in run_cli("cancel", directory).stderr


def test_ctrl_c_ends_with_130_and_loses_nothing(tmp_path: Path) -> None:
    import signal

    study = text_study(tmp_path / "s")
    process = start_cli("run", study, "--runs", tmp_path / "runs", "--serial", "-b", 2_000_000, "--block-cells", 1)
    deadline = time.monotonic() + 60
    while not any(times_done(path.parent) for path in (tmp_path / "runs").glob("*/ledger.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "pipeline resume" in errors
    (directory,) = (path.parent for path in (tmp_path / "runs").glob("*/plan.json"))
    assert json.loads(run_cli("status", directory, "--json").stdout)["state"] == "INTERRUPTED"


def test_help_begins_with_examples() -> None:
    printed = run_cli("--help").stdout
    assert printed.index("Examples:") < printed.index("Options:")
    for command in ("compare", "run", "submit", "status", "logs", "cancel", "resume", "list", "check", "plan", "report"):
        assert f"\n  {command} " in printed
