"""Whatever happens to a file of a run, every command works or says what to do, and doing that to the letter works."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from studies import files_of, write_scores, write_study

from pipeline.cli.main import main

Call = Callable[..., tuple[int, str]]


def _flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda data: None,
    "empty": lambda data: b"",
    "truncated": lambda data: data[: 2 * len(data) // 3],
    "flipped": _flip,
    "no JSON": lambda data: b"\xff\xfe not JSON\n\n",
    "zeros": lambda data: bytes(len(data)),
    "wrong type": lambda data: b"[]\n[3]\n" if b"}\n{" in data else b"[3]\n",
    "wrong values": lambda data: re.sub(rb'": *("[^"]*"|[0-9.]+)', b'": [null]', data),
}
FILES = (
    "plan.json",
    "launch.json",
    "versions.json",
    "origin.json",
    "study.yaml",
    "state.json",
    "events.jsonl",
    "ledger.jsonl",
    "lease.1",
    "report/report.json",
    "cubes.zarr/*/zarr.json",
    "cubes.zarr/*/point_score/c/**/0",
)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Give the command line, called in this process as a user calls it: its exit code and all that it prints."""

    def called(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["pipeline", *map(str, arguments)])
        monkeypatch.setattr("pipeline.cli.group.cli.main", lambda **options: original(sys.argv[1:], **options))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out + printed.err

    from pipeline.cli.group import cli

    original = cli.main
    return called


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study and its run, complete."""
    from pipeline.api import run

    folder = tmp_path_factory.mktemp("sound")
    write_scores(folder / "scores.csv", ["a", "b"], items=12)
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    few = {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]}
    study = {"test_sets": test_sets, "metrics": ["mean"], "resampling": few, "analyses": ["thresholds"]}
    write_study(folder / "study.yaml", **study, report={"formats": ["json"]})
    run(folder / "study.yaml", runs=folder / "runs", serial=True, overrides=["resampling.replicates=400"])
    return folder


@pytest.fixture
def folder(sound: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The study and its run, in the current folder; the run is as it was again afterwards."""
    monkeypatch.chdir(sound)
    monkeypatch.delenv("PIPELINE_RUNS", raising=False)
    shutil.copytree(sound / "runs", sound / "spare")
    yield sound
    shutil.rmtree(sound / "runs")
    (sound / "spare").rename(sound / "runs")


def damage(run: Path, name: str, how: str) -> bool:
    """Do this to a file of a run, and say whether it is another one now."""
    (path,) = sorted(found for found in run.glob(name) if found.is_file())[:1]
    before = path.read_bytes()
    after = DAMAGE[how](before)
    path.unlink()
    if after is not None:
        path.write_bytes(after)
    return before != after


def follow(message: str, call: Call, run: Path) -> None:
    """Do what an error says, to the letter."""
    for path, line in sorted(re.findall(r"--> (\S*ledger\.jsonl):(\d+)", message), key=lambda found: -int(found[1])):
        assert "delete" in message
        lines = Path(path).read_bytes().split(b"\n")
        del lines[int(line) - 1]
        Path(path).write_bytes(b"\n".join(lines))
    if "wait" in message:
        os.utime(next(run.glob("lease.*")), (time.time() - 61,) * 2)
    for command in re.findall(r"`pipeline ([^`]+)`", message):
        asked = shlex.split(command.replace("RUN", run.name).replace("STUDY", "study.yaml"))
        more = ["--set", "resampling.replicates=400"] if asked[0] == "run" else []
        code, printed = call(*asked, *more, *(["--serial"] if asked[0] in {"run", "resume"} else []))
        assert code == 0, (command, printed)


COMMANDS = {
    "status": ("status",),
    "logs": ("logs",),
    "list": ("list",),
    "cancel": ("cancel",),
    "report": ("report",),
    "run": ("run", "study.yaml", "--serial", "-q", "--set", "resampling.replicates=400"),
    "resume": ("resume", "--serial", "-q"),
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("name", FILES)
def test_no_damage_to_a_file_of_a_run_is_a_dead_end(folder: Path, call: Call, name: str, how: str) -> None:
    (run,) = (folder / "runs").glob("small-*")
    cubes = files_of(run / "cubes.zarr")
    damage(run, name, how)
    for command in COMMANDS:
        if command in {"run", "resume"}:  # both meet the damage themselves
            shutil.rmtree(folder / "runs")
            shutil.copytree(folder / "spare", folder / "runs")
            damage(run, name, how)
        code, printed = call(*COMMANDS[command])
        for _ in range(3):
            assert "P999" not in printed, (command, printed)
            if code == 0:
                break
            follow(printed, call, run)
            code, printed = call(*COMMANDS[command])
        assert code == 0, (command, printed)
    assert files_of(run / "cubes.zarr") == cubes  # what resume, the last one, leaves: it reads every byte
    assert json.loads((run / "report" / "report.json").read_text())["run_id"] == run.name
