"""What is in the ledger was done, and nothing that was done is lost from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import StoreError
from pipeline.store.ledger import Ledger, first_entry, iterate_ledger, read_ledger

ENTRIES = [{"task": f"t{n}", "name": "<日 & \n>", "files": [n, None]} for n in range(5)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Ledger(tmp_path / "ledger.jsonl", fence=3) as ledger:
        for entry in ENTRIES:
            ledger.append(entry)
    return tmp_path / "ledger.jsonl"


def test_entries_come_back_in_order_with_the_fence(path: Path) -> None:
    entries, dropped = read_ledger(path)
    assert list(entries) == [{**entry, "fence": 3} for entry in ENTRIES]
    assert dropped == 0


def test_each_line_is_json_that_other_tools_read(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert [json.loads(line)["task"] for line in lines] == [entry["task"] for entry in ENTRIES]


def test_no_ledger_is_an_empty_one(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "none") == ((), 0)


def test_wherever_the_last_line_is_torn_only_it_is_lost_and_appending_goes_on(path: Path) -> None:
    whole = path.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    for cut in range(start + 1, len(whole)):
        path.write_bytes(whole[:cut])
        entries, dropped = read_ledger(path)
        assert (len(entries), dropped) == (4, 1)
        with Ledger(path, fence=4) as ledger:
            assert ledger.torn == 1
            ledger.append(ENTRIES[4])
        entries, dropped = read_ledger(path)
        assert dropped == 0
        assert entries[4] == {**ENTRIES[4], "fence": 4}


def test_a_last_line_of_zeros_after_a_power_cut_is_dropped(path: Path) -> None:
    whole = path.read_bytes()
    for rubbish in (bytes(60), bytes(60) + b"\n"):
        path.write_bytes(whole + rubbish)
        assert read_ledger(path)[1] == 1
        assert len(read_ledger(path)[0]) == 5


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"t2", b"t7")
    path.write_bytes(b"".join(lines))
    for open_it in (read_ledger, Ledger):
        with pytest.raises(StoreError) as raised:
            open_it(path)
        assert raised.value.problems[0].code == "P706"
        assert raised.value.problems[0].where == f"{path}:3"
    assert path.read_bytes() == b"".join(lines)


def test_a_full_disk_leaves_the_ledger_as_it_was(small_disk: Path) -> None:
    path = small_disk / "ledger.jsonl"
    filler = small_disk / "filler"
    filler.write_bytes(bytes(2**19))

    def fill(ledger: Ledger) -> None:
        for n in range(10_000):
            ledger.append({"n": n, "pad": "x" * 5000})

    with Ledger(path) as ledger:
        with pytest.raises(StoreError, match="P701"):
            fill(ledger)
        before, dropped = read_ledger(path)
        assert dropped == 0
        assert len(before) > 50
        filler.unlink()
        ledger.append({"n": "after"})
    after, dropped = read_ledger(path)
    assert after[:-1] == before
    assert (after[-1]["n"], dropped) == ("after", 0)


def test_keys_of_the_ledger_itself_are_refused(path: Path) -> None:
    with Ledger(path) as ledger, pytest.raises(ValueError, match="'fence'"):
        ledger.append({"fence": 1})


def test_the_first_entry_of_a_kind_is_what_was_written_or_is_not_given(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    assert first_entry(path, "started") is None
    entries = [{"event": "done", "n": 1}, {"event": "started", "versions": {"numpy": "2.1"}}, {"event": "started", "versions": {}}]
    with Ledger(path) as ledger:
        for entry in entries:
            ledger.append(entry)
    assert first_entry(path, "started") == {**entries[1], "fence": 0}
    assert first_entry(path, "dropped") is None
    whole = path.read_bytes()
    for place in range(whole.index(b"\n") + 1, whole.index(b"\n", whole.index(b"2.1"))):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert first_entry(path, "started") == {**entries[2], "fence": 0}, place


def test_a_ledger_is_read_no_further_than_asked(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"damaged\n", *lines[3:]]))
    entries = iterate_ledger(path)
    assert [next(entries)["task"], next(entries)["task"]] == ["t0", "t1"]
    with pytest.raises(StoreError, match="P706"):
        list(entries)
