"""No bit that flips in a file around the results changes what it is believed to say: it is as it was, or it cannot be read."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pipeline.engine.launch import Launch, read_launch
from pipeline.engine.restore import _read_origin
from pipeline.engine.watching.state import RunState
from pipeline.errors import StoreError
from pipeline.record.history import History
from pipeline.store.runs import RunDirectory
from pipeline.store.seals import LIST, damaged_file_of, read_list, read_listed_json, read_sealed, write_list, write_sealed

WHOLE = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
"""SHA-256 of hello."""


def flipped(path: Path) -> Iterator[None]:
    """Flip a bit of every byte of a file in turn, one at a time."""
    content = path.read_bytes()
    for place, byte in enumerate(content):
        path.write_bytes(content[:place] + bytes([byte ^ (1 << place % 8)]) + content[place + 1 :])
        yield
    path.write_bytes(content)


def write_launch(run: RunDirectory) -> None:
    write_sealed(run.launch, asdict(Launch("cluster/slurm.yaml", 12, 3)))


def write_state(run: RunDirectory) -> None:
    state = RunState(run, study="small", fence=4)
    state.count({"resample": 7}, {"report": 1}, 12.5)
    state.end("INCOMPLETE", 4, "1 task failed: “né”")


def write_origin(run: RunDirectory) -> None:
    write_sealed(run.origin, {"schema_version": 1, "base": "/data/news", "overrides": ["seed=4"]})


def read_state(run: RunDirectory) -> dict[str, Any] | None:
    facts = run.read_state()
    return None if facts["state"] == "UNKNOWN" else facts


def read_origin(run: RunDirectory) -> object:
    found = _read_origin(run)
    return None if found == (run.root, ()) else found


def attempt(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except StoreError:
        return None


KINDS: dict[str, tuple[Callable[[RunDirectory], None], Callable[[RunDirectory], object]]] = {
    "launch.json": (write_launch, read_launch),
    "state.json": (write_state, read_state),
    "origin.json": (write_origin, read_origin),
}


@pytest.mark.parametrize("name", KINDS)
def test_of_no_bit_that_flips_in_a_file_of_a_run_something_else_is_believed(tmp_path: Path, name: str) -> None:
    run = RunDirectory(tmp_path)
    write, read = KINDS[name]
    write(run)
    sound = read(run)
    assert sound is not None
    # The name of the checksum may be hit itself: then there is none, and the rest is sound.
    believed = [found for _ in flipped(tmp_path / name) if (found := read(run)) is not None]
    assert [found for found in believed if found != sound and not is_sound_but_for_its_seal(found, sound)] == []


def is_sound_but_for_its_seal(found: object, sound: object) -> bool:
    return isinstance(found, dict) and isinstance(sound, dict) and sound.items() <= found.items()


def test_of_no_bit_that_flips_in_a_history_something_else_is_believed(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.note_answers("run-1", {"a": "worse"})
    history.miss("2026-11-27", exit_code=3, why="no data")
    notes = [{"a": "worse"}]
    assert history.note_answers("run-2", {"a": "equal"}) == notes
    notes.append({"a": "equal"})
    path = tmp_path / "gate" / "answers.json"
    content = path.read_bytes()
    places = [content.index(b"worse") + 1, content.index(b"equal"), content.index(b"run-1") + 4]
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert attempt(lambda: history.note_answers("run-3", {})) is None
    path.write_bytes(content)
    assert history.note_answers("run-3", {}) == notes
    missed = history.missed()
    believed = [found for _ in flipped(tmp_path / "missed" / "2026-11-27.json") if (found := attempt(history.missed)) is not None]
    slot = missed["2026-11-27"]
    assert [found for found in believed if not is_sound_but_for_its_seal(found["2026-11-27"], slot)] == []


def test_what_an_earlier_version_wrote_without_a_checksum_is_read(tmp_path: Path) -> None:
    (tmp_path / "gate").mkdir()
    (tmp_path / "gate" / "answers.json").write_text(json.dumps([{"run": "run-1", "answers": {"a": "worse"}}]))
    assert History(tmp_path).note_answers("run-2", {}) == [{"a": "worse"}]
    (tmp_path / "launch.json").write_text('{"cluster": "local", "workers": 3, "block_cells": null}')
    assert read_launch(RunDirectory(tmp_path)) == Launch("local", 3)


def test_a_seal_is_of_the_values_and_not_of_their_places(tmp_path: Path) -> None:
    value = {"b": [1, 2.0, None], "a": {"é": "\udc80"}}
    write_sealed(tmp_path / "one.json", value)
    assert read_sealed(tmp_path / "one.json") == value
    (tmp_path / "one.json").write_text(json.dumps(json.loads((tmp_path / "one.json").read_text()), sort_keys=True))
    assert read_sealed(tmp_path / "one.json") == value


def test_a_list_names_what_is_gone_or_other_and_an_older_one_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a  b.csv").write_text("hello")
    write_list(tmp_path, {"tables/a  b.csv": WHOLE})
    assert read_list(tmp_path) == {"tables/a  b.csv": WHOLE}
    assert damaged_file_of(tmp_path, verify=True) == ""
    (tmp_path / "tables" / "a  b.csv").write_text("hellp")
    assert damaged_file_of(tmp_path, verify=False) == ""
    assert damaged_file_of(tmp_path, verify=True) == "tables/a  b.csv"
    (tmp_path / LIST).write_text("tables/a  b.csv\nindex.html\n")
    assert damaged_file_of(tmp_path, verify=True) == "index.html"
    (tmp_path / LIST).write_bytes(bytes(80))
    assert read_list(tmp_path) == {}
    assert [damaged_file_of(tmp_path, verify=verify) for verify in (False, True)] == ["", LIST]


def test_a_listed_document_is_held_to_its_digest_and_one_without_a_list_is_read(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[1]")
    assert read_listed_json(tmp_path / "report.json") == [1]
    write_list(tmp_path, {"report.json": WHOLE})
    with pytest.raises(StoreError, match="not what was written"):
        read_listed_json(tmp_path / "report.json")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
def test_the_list_is_one_that_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello")
    write_list(tmp_path, {"a": WHOLE})
    assert subprocess.run(["sha256sum", "--check", "--strict", LIST], cwd=tmp_path, capture_output=True).returncode == 0
