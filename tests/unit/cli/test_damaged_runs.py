"""Whatever happens to a file of a run, every command works or says what to do, and doing that to the letter works."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.studies import files_of, write_scores, write_study

from pipeline.engine.watching.watch import await_end

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
    "other number": lambda data: re.sub(rb"([0-9])(?=[,\n ])", lambda found: b"%d" % (9 - int(found[1])), data, count=1),
    "wrong values": lambda data: re.sub(rb'": *("[^"]*"|[0-9.]+)', b'": [null]', data),
}
FILES = (
    "plan.json",
    "launch.json",
    "origin.json",
    "study.yaml",
    "state.json",
    "events.jsonl",
    "ledger.jsonl",
    "lease.*",
    "report/report.json",
    "cubes.zarr/*/zarr.json",
    "cubes.zarr/*/observed_delta/c.*",
)
READ_BY_REPORT = {"plan.json", "ledger.jsonl", *FILES[-2:]}


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
def run(sound: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The run, whose folder of runs is the default; its files and report are put back, its cubes are as resume left them."""
    monkeypatch.chdir(sound)
    monkeypatch.delenv("PIPELINE_RUNS", raising=False)
    (run,) = (sound / "runs").glob("small-*")
    kept = {path: path.read_bytes() for path in (*run.iterdir(), run / "report" / "report.json") if path.is_file()}
    yield run
    for path in run.iterdir():
        if path.is_file():
            path.unlink()
    for path, content in kept.items():
        path.write_bytes(content)


def damage(path: Path, content: bytes, how: str) -> None:
    """Put this in place of a file that had this content, or nothing."""
    path.unlink(missing_ok=True)
    after = DAMAGE[how](content)
    if after is not None:
        path.write_bytes(after)


def follow(message: str, call: Call, run: Path) -> None:
    """Do what an error says, to the letter."""
    for path in re.findall(r"--> (\S*ledger\.jsonl)\n.*delete this file", message):
        Path(path).unlink()
    for path, line in sorted(re.findall(r"(/\S*ledger\.jsonl):(\d+)", message), key=lambda found: -int(found[1])):
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


WATCH = (("status",), ("logs",), ("list",), ("cancel",))
REPORT = ("report",)  # seconds of figures: only where it reads the file
RUN = ("run", "study.yaml", "--serial", "-q", "--set", "resampling.replicates=400")
RESUME = ("resume", "--serial", "-q")


@pytest.mark.parametrize("how", [pytest.param(how, marks=() if how == "wrong values" else pytest.mark.slow) for how in DAMAGE])
@pytest.mark.parametrize("name", FILES)
def test_no_damage_to_a_file_of_a_run_is_a_dead_end(
    run: Path, call: Call, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A damaged lease may be that of a process that is about to end: it would be waited for.
    monkeypatch.setitem(await_end.__kwdefaults__ or {}, "seconds", 0.2)
    cubes, report = files_of(run / "cubes.zarr"), json.loads((run / "report" / "report.json").read_text())
    path = next(path for path in sorted(run.glob(name)) if path.is_file())
    content = path.read_bytes()
    for commands in ((*WATCH, *([REPORT] if name in READ_BY_REPORT else []), RESUME), (RUN, RESUME)):
        path = next((path for path in sorted(run.glob(name)) if path.is_file()), path)  # a lease has another number now
        damage(path, content, how)
        for command in commands:
            code, printed = call(*command)
            for _ in range(3):
                assert "P999" not in printed, (command, printed)
                if code == 0:
                    break
                follow(printed, call, run)
                code, printed = call(*command)
            assert code == 0, (command, printed)
        assert files_of(run / "cubes.zarr") == cubes  # resume reads every byte
        again = json.loads((run / "report" / "report.json").read_text())
        assert {**again, "provenance": None} == {**report, "provenance": None}


@pytest.mark.parametrize("name", ["report.json", "tables/pairs.csv"])
def test_a_number_of_a_report_that_is_another_now_is_found_and_put_right(run: Path, call: Call, name: str) -> None:
    path = run / "report" / name
    content = path.read_bytes()
    path.write_bytes(DAMAGE["other number"](content) or b"")
    assert path.read_bytes() != content
    assert call(*RESUME)[0] == 0
    assert path.read_bytes() == content
