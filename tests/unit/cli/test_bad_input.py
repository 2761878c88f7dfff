"""Whatever a user does wrong has a message with what, where and how to mend it, an exit code, and leaves nothing half-written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.studies import ledger, run_cli, start_cli, text_study, times_done, write_scores, write_study, write_text_outputs

from pipeline import cli

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line in this process: exit code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pipeline", *map(str, arguments)])
        with pytest.raises(SystemExit) as ending:
            cli.main()
        captured = capsys.readouterr()
        return int(ending.value.code or 0), captured.out, captured.err

    return run


def text_yaml(folder: Path, body: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(body, encoding="utf-8")
    return path


BASE = """schema: 1
study: small
test_sets:
  news:
    format: text
    references: [data/ref.txt]
    outputs: data/out-{system}.txt
metrics: [bleu]
resampling: {replicates: 2000, keep_replicates: 0}
"""

BENCH = {"bench": {"format": "scores", "outputs": "scores.csv"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_text_outputs(tmp_path / "data", ["a", "b", "c"])
    return tmp_path


def refuse(call: Call, study: Path, code: int, *words: str) -> str:
    runs = study.parent / "runs"
    exit_code, out, err = call("run", study, "--runs", runs, "--serial")
    assert exit_code == code, err
    assert out == ""
    assert not runs.exists()  # nothing half-written
    for word in words:
        assert word in err
    return err


def test_several_mistakes_in_a_study_are_told_at_once_with_their_places(call: Call, folder: Path) -> None:
    study = text_yaml(folder, BASE.replace("metrics:", "metrix:") + "seed: many\nresampling: {replicates: 5}\ntest_stes: 3\n")
    err = refuse(call, study, 2, "study.yaml:8:1", "metrix", "study.yaml:10:7", "study.yaml:11:1", "study.yaml:12:1")
    assert err.count("error[P1") >= 4
    assert "did you mean" in err


def test_a_duplicate_key_is_refused(call: Call, folder: Path) -> None:
    refuse(call, text_yaml(folder, BASE + "metrics: [chrf]\n"), 2, "study.yaml:10:1", "metrics")


def test_a_wrong_type_is_refused(call: Call, folder: Path) -> None:
    refuse(call, text_yaml(folder, BASE.replace("replicates: 2000", "replicates: few")), 2, "study.yaml:9:26", "replicates")


def test_an_unknown_metric_names_the_near_one(call: Call, folder: Path) -> None:
    refuse(call, text_yaml(folder, BASE.replace("[bleu]", "[blue]")), 2, "blue", "bleu")


def test_an_unknown_analysis_is_refused_before_anything_is_computed(call: Call, folder: Path) -> None:
    refuse(call, text_yaml(folder, BASE + "analyses: [treshold]\n"), 2, "thresholds")


def test_a_missing_study_file_is_told(call: Call, tmp_path: Path) -> None:
    refuse(call, tmp_path / "nothing.yaml", 2, "nothing.yaml")


def test_a_missing_reference_is_told(call: Call, folder: Path) -> None:
    (folder / "data" / "ref.txt").unlink()
    refuse(call, text_yaml(folder, BASE), 3, "ref.txt")


def test_no_output_at_all_is_told(call: Call, folder: Path) -> None:
    refuse(call, text_yaml(folder, BASE.replace("out-{system}", "hyp-{system}")), 3, "hyp-{system}")


def test_an_empty_file_is_told(call: Call, folder: Path) -> None:
    (folder / "data" / "out-1.txt").write_bytes(b"")
    refuse(call, text_yaml(folder, BASE), 3, "out-1.txt")


def test_another_number_of_lines_is_told_with_both_numbers(call: Call, folder: Path) -> None:
    path = folder / "data" / "out-1.txt"
    lines = path.read_text().split("\n")
    path.write_text("\n".join(lines[:20] + lines[21:]))
    refuse(call, text_yaml(folder, BASE), 3, "59", "60", "out-1.txt")


def test_a_line_of_another_encoding_is_told_with_its_line(call: Call, folder: Path) -> None:
    path = folder / "data" / "out-2.txt"
    lines = path.read_bytes().split(b"\n")
    lines[16] = "große Straße".encode("latin-1")
    path.write_bytes(b"\n".join(lines))
    refuse(call, text_yaml(folder, BASE), 3, "out-2.txt:17", "UTF-8")


def test_all_bad_files_are_told_at_once(call: Call, folder: Path) -> None:
    (folder / "data" / "out-0.txt").write_bytes(b"")
    (folder / "data" / "out-2.txt").write_bytes(b"\xff\xfe bad\n" * 60)
    refuse(call, text_yaml(folder, BASE), 3, "out-0.txt", "out-2.txt")


def test_a_score_that_is_no_number_is_told_with_its_line(call: Call, tmp_path: Path) -> None:
    table = write_scores(tmp_path / "scores.csv", ["a", "b", "c"])
    rows = table.read_text().split("\n")
    rows[11] = "i10,50.1,nan,49.9"
    table.write_text("\n".join(rows))
    study = write_study(
        tmp_path / "study.yaml", test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}}, metrics=["mean"]
    )
    refuse(call, study, 3, "scores.csv:12", "nan")


def test_a_doubled_system_name_is_told(call: Call, tmp_path: Path) -> None:
    table = write_scores(tmp_path / "scores.csv", ["a", "b", "c"])
    table.write_text(table.read_text().replace("item,a,b,c", "item,a,b,a"))
    study = write_study(
        tmp_path / "study.yaml", test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}}, metrics=["mean"]
    )
    refuse(call, study, 3, "a")


def test_one_system_is_nothing_to_compare(call: Call, folder: Path) -> None:
    for number in (1, 2):
        (folder / "data" / f"out-{number}.txt").unlink()
    refuse(call, text_yaml(folder, BASE), 5, "P290")


def test_a_test_set_of_one_item_is_refused_with_the_reason(call: Call, folder: Path) -> None:
    for path in (folder / "data").iterdir():
        path.write_text(path.read_text().split("\n")[0] + "\n")
    refuse(call, text_yaml(folder, BASE), 3, "one")


def test_identical_outputs_have_p_one_and_are_named(call: Call, folder: Path) -> None:
    (folder / "data" / "out-2.txt").write_bytes((folder / "data" / "out-1.txt").read_bytes())
    code, out, err = call("run", text_yaml(folder, BASE), "--runs", folder / "runs", "--serial")
    assert code == 0, err
    import json

    report = json.loads((Path(out.strip()) / "report" / "report.json").read_text())
    (pair,) = [p for p in report["pairs"] if {p["system_a"], p["system_b"]} == {"1", "2"}]
    assert pair["p"] == pair["p_raw"]["one_sided"] == 1.0
    assert pair["delta"] == 0.0
    assert "identical" in pair["note"]
    assert next(row for row in report["trust"] if row["check"] == "Identical outputs")["detail"].startswith("1 = 2. p = 1; ")


def test_unknown_commands_and_options_exit_with_two(call: Call) -> None:
    assert call("frobnicate")[0] == 2
    assert call("run", "--no-such-option")[0] == 2


def test_no_such_run_exits_with_sixty_six(call: Call, tmp_path: Path) -> None:
    for command in ("status", "logs", "cancel", "resume", "report"):
        code, _, err = call(command, "nothing", "--runs", tmp_path)
        assert code == 66, command
        assert "P501" in err


def test_our_own_fault_exits_with_seventy_never_one(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pipeline.study.load

    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("for the test")

    monkeypatch.setattr(pipeline.study.load, "load_study", broken)
    code, _, err = call("run", text_yaml(folder, BASE), "--runs", folder / "runs")
    assert code == 70
    assert "ZeroDivisionError" in err
    assert "Traceback" not in err


def test_a_run_that_another_process_writes_is_locked(folder: Path) -> None:
    study = text_study(folder / "s")
    first = start_cli("run", study, "--runs", folder / "runs", "--serial", "-b", 3_000_000, "--block-cells", 4)
    try:
        wait_for_ledger(folder / "runs")
        second = run_cli("run", study, "--runs", folder / "runs", "--serial", "-b", 3_000_000)
        assert second.returncode == 74
        assert str(first.pid) in second.stderr
        assert "pipeline status" in second.stderr
    finally:
        first.terminate()
        first.communicate(timeout=60)
    assert first.returncode == 75  # interrupted, resumable


def wait_for_ledger(runs: Path) -> Path:
    import time

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [path.parent for path in runs.glob("*/ledger.jsonl") if any(e["event"] == "done" for e in ledger(path.parent))]
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError("no run started within 60 s")


def test_a_full_disk_stops_the_run_and_loses_nothing(folder: Path, small_disk: Path) -> None:
    study = text_study(folder / "s", ("a", "b", "c", "d"))
    options = ("--runs", small_disk, "--serial", "--block-cells", 4)
    full = run_cli("run", study, *options)
    assert full.returncode == 73, full.stderr
    assert "disk is full" in full.stderr
    assert "--runs" in full.stderr
    (directory,) = (path for path in small_disk.iterdir() if (path / "plan.json").exists())
    before = times_done(directory)
    assert before  # something was done and is kept
    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    resumed = run_cli("resume", "--runs", small_disk, "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert set(times_done(directory).values()) == {1}
    assert not [path for path in small_disk.rglob("*.tmp-*")]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with one that is done, in blocks of one cell."""
    folder = tmp_path_factory.mktemp("sound")
    study = text_study(folder / "s", ("a", "b", "c"))
    done = run_cli("run", study, "--runs", folder / "runs", "--serial", "--block-cells", 1)
    assert done.returncode == 0, done.stderr
    return folder / "runs"


@pytest.fixture
def finished(sound: Path, folder: Path) -> Path:
    """The run in a copy of its own."""
    shutil.copytree(sound, folder / "runs")
    (directory,) = (path.parent for path in (folder / "runs").glob("*/plan.json"))
    return directory


@pytest.mark.slow
def test_a_damaged_chunk_is_noticed_and_built_again_from_the_store(finished: Path, folder: Path) -> None:
    directory = finished
    (group,) = (path for path in (directory / "cubes.zarr").iterdir() if path.is_dir())
    chunk = group / "p_value" / "c.0.0.0.0.0"
    sound = chunk.read_bytes()
    chunk.write_bytes(sound[: len(sound) // 2] + bytes(8) + sound[len(sound) // 2 + 8 :])
    report = run_cli("report", directory.name, "--runs", folder / "runs")
    assert report.returncode == 73, report.stderr
    assert "p_value" in report.stderr
    assert "pipeline resume" in report.stderr
    resumed = run_cli("resume", directory.name, "--runs", folder / "runs", "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert chunk.read_bytes() == sound
    again = [e["receipt"]["kind"] for e in ledger(directory) if e["event"] == "done" and e["fence"] == 2]
    assert sorted(set(again)) == ["collect", "report"]


def test_a_damaged_stored_result_is_computed_again_and_only_that(finished: Path, folder: Path) -> None:
    directory = finished
    receipts = [e["receipt"] for e in ledger(directory) if e["event"] == "done" and e["receipt"]["kind"] == "resample"]
    path = folder / "runs" / ".store" / receipts[0]["file"]
    sound = path.read_bytes()
    path.write_bytes(sound[:-20] + bytes(20))
    resumed = run_cli("resume", directory.name, "--runs", folder / "runs", "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert path.read_bytes() == sound
    again = [e["receipt"]["key"] for e in ledger(directory) if e["event"] == "done" and e["fence"] == 2]
    assert receipts[0]["key"] in again
    assert not {r["key"] for r in receipts[1:]} & set(again)


def test_a_truncated_ledger_line_is_dropped_and_its_task_done_again(finished: Path, folder: Path) -> None:
    directory = finished
    path = directory / "ledger.jsonl"
    lines = path.read_bytes().split(b"\n")
    place = next(i for i, line in enumerate(lines) if b'"resample"' in line)
    torn = ledger(directory)[place]["receipt"]["key"]
    path.write_bytes(b"\n".join(lines[: place + 1])[:-15])
    resumed = run_cli("resume", directory.name, "--runs", folder / "runs", "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert times_done(directory)[torn] == 1
    assert set(times_done(directory).values()) == {1}


def test_a_ledger_damaged_in_the_middle_is_refused_with_its_line(finished: Path, folder: Path) -> None:
    directory = finished
    path = directory / "ledger.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2][:30] + b"X" + lines[2][31:]
    path.write_bytes(b"\n".join(lines))
    resumed = run_cli("resume", directory.name, "--runs", folder / "runs", "--serial")
    assert resumed.returncode == 73
    assert "ledger.jsonl" in resumed.stderr
    assert "line 3" in resumed.stderr or ":3" in resumed.stderr


def test_a_folder_that_cannot_be_written_is_told(folder: Path) -> None:
    blocked = folder / "blocked"
    blocked.write_text("a file stands where a folder should be")
    done = run_cli("run", text_yaml(folder, BASE), "--runs", blocked / "runs", "--serial")
    assert done.returncode == 73, done.stderr
    assert os.fspath(blocked) in done.stderr
