"""Bundles: the same bytes for the same content, whole or refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pipeline.errors import StoreError
from pipeline.store.addresses import digest_file
from pipeline.store.bundle import pack_bundle, read_bundle, write_bundle

MEMBERS = {"b" * 32: b"two\n" * 500, "a" * 32: b"", "日本": bytes(range(256))}


def test_members_come_back_as_they_were(tmp_path: Path) -> None:
    checksum = write_bundle(tmp_path / "deep" / "x.zip", MEMBERS)
    assert checksum == digest_file(tmp_path / "deep" / "x.zip")
    assert {name: read_bundle(tmp_path / "deep" / "x.zip", name) for name in MEMBERS} == MEMBERS
    assert read_bundle(tmp_path / "deep" / "x.zip", "c") is None


def test_neither_time_nor_order_shows_in_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pack_bundle(MEMBERS)
    monkeypatch.setattr("time.time", lambda: 4e9)
    monkeypatch.setattr("time.localtime", lambda *_: (2099, 1, 1, 0, 0, 0, 0, 1, 0))
    monkeypatch.setattr("sys.platform", "win32")
    assert pack_bundle(dict(reversed(MEMBERS.items()))) == before


def test_any_program_can_open_one(tmp_path: Path) -> None:
    write_bundle(tmp_path / "x.zip", MEMBERS)
    with zipfile.ZipFile(tmp_path / "x.zip") as opened:
        assert opened.testzip() is None
        assert opened.namelist() == sorted(MEMBERS)


def test_a_bundle_that_is_cut_or_changed_is_refused_wherever(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    whole = pack_bundle({"name": b"some outputs\n" * 30})
    codes = set()
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]):
            path.write_bytes(damaged)
            try:
                assert read_bundle(path, "name") in (b"some outputs\n" * 30, None)  # a time stamp, or the name itself
            except StoreError as error:
                codes.add(error.problems[0].code)
    assert codes == {"P705"}


def test_a_bundle_that_is_gone_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        read_bundle(tmp_path / "x.zip", "name")
    assert caught.value.problems[0].code == "P704"
    assert "resume" in str(caught.value.problems[0].help)
