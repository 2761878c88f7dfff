"""Kept models: what is read is what was written, a damaged one is gone, and no more room is taken than was given."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest

from pipeline.store.models import forget_model, has_model, keep_model, take_model
from pipeline.store.runs import Store

ROOM = 1e6


def model(folder: Path, *, size: int = 1000, seed: int = 1) -> Path:
    """Make a folder with a text, a program and an empty folder; what it holds cannot be compressed."""
    made = folder / f"model-{seed}-{size}"
    (made / "deep" / "empty").mkdir(parents=True)
    (made / "deep" / "weights").write_bytes(bytes(os.urandom(size)))
    (made / "größe\n.txt").write_text("1")
    (made / "run").write_text("#!/bin/sh\n")
    (made / "run").chmod(0o700)
    return made


def content(folder: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        str(part.relative_to(folder)): (part.read_bytes() if part.is_file() else b"", os.access(part, os.X_OK))
        for part in folder.rglob("*")
    }


def stored(store: Store, key: str) -> Path:
    return store.path("models", key, ".zip")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / ".store")


def test_a_model_comes_back_with_its_folders_and_programs(store: Store, tmp_path: Path) -> None:
    made = model(tmp_path)
    assert keep_model(store, "ab1", made, room=ROOM)
    taken = tmp_path / "taken"
    taken.mkdir()
    assert take_model(store, "ab1", taken, room=ROOM)
    assert content(taken) == content(made)
    assert stat.S_IMODE(stored(store, "ab1").stat().st_mode) == 0o600
    forget_model(store, "ab1")
    assert not has_model(store, "ab1")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert not take_model(store, "ab1", empty, room=ROOM)


def test_archives_are_stored_as_they_are_and_other_files_small(store: Store, tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    for name in ("weights.npz", "weights.txt"):
        (made / name).write_bytes(b"weight " * 10_000)
    keep_model(store, "ab1", made, room=ROOM)
    with zipfile.ZipFile(stored(store, "ab1")) as bundle:
        sizes = {entry.filename.partition("/")[2]: (entry.file_size, entry.compress_size) for entry in bundle.infolist()}
    assert sizes["weights.npz"] == (70_000, 70_000)
    assert sizes["weights.txt"][1] < 1000 < sizes["weights.txt"][0]


@pytest.mark.parametrize("place", range(0, 100, 3))
def test_a_damaged_model_is_removed_wherever_a_bit_flips(store: Store, tmp_path: Path, place: int) -> None:
    keep_model(store, "ab1", model(tmp_path), room=ROOM)
    path = stored(store, "ab1")
    data = bytearray(path.read_bytes())
    data[len(data) * place // 100] ^= 0x10
    path.write_bytes(data)
    taken = tmp_path / "taken"
    taken.mkdir()
    sound = content(model(tmp_path, seed=2)).keys()
    if take_model(store, "ab1", taken, room=ROOM):  # a bit that says nothing of the content, such as a time stamp
        assert content(taken).keys() == sound
        (weights,) = (taken / "deep").glob("weights")
        assert weights.read_bytes() == (tmp_path / "model-1-1000" / "deep" / "weights").read_bytes()
    else:
        assert not has_model(store, "ab1")
        assert not any(taken.iterdir())


def test_content_that_was_exchanged_is_found_though_the_file_is_sound(store: Store, tmp_path: Path) -> None:
    keep_model(store, "ab1", model(tmp_path), room=ROOM)
    path = stored(store, "ab1")
    with zipfile.ZipFile(path) as bundle:
        seal, members = bundle.comment, {name: bundle.read(name) for name in bundle.namelist()}
    with zipfile.ZipFile(path, "w") as bundle:
        for name, data in members.items():
            bundle.writestr(name, data.replace(b"1", b"2") if name.endswith(".txt") else data)
        bundle.comment = seal
    taken = tmp_path / "taken"
    taken.mkdir()
    assert not take_model(store, "ab1", taken, room=ROOM)
    assert not has_model(store, "ab1")
    assert not any(taken.iterdir())


@pytest.mark.parametrize("name", ["files/../../outside", "files//etc/outside", "outside", "../outside", "files/.."])
def test_nothing_is_written_outside_the_folder(store: Store, tmp_path: Path, name: str) -> None:
    path = stored(store, "ab1")
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(name, b"x")
    taken = tmp_path / "deep" / "taken"
    taken.mkdir(parents=True)
    assert not take_model(store, "ab1", taken, room=ROOM)
    assert not list(tmp_path.rglob("outside"))


def test_those_used_longest_ago_make_room(store: Store, tmp_path: Path) -> None:
    keys = ["aa1", "bb2", "cc3"]
    for age, key in enumerate(keys):
        assert keep_model(store, key, model(tmp_path, size=10_000, seed=age), room=50_000)
        os.utime(stored(store, key), (1000 + age, 1000 + age))
    taken = tmp_path / "taken"
    taken.mkdir()
    assert take_model(store, "aa1", taken, room=ROOM)  # used just now: no longer the oldest
    assert keep_model(store, "dd4", model(tmp_path, size=10_000, seed=9), room=35_000)
    assert [key for key in (*keys, "dd4") if has_model(store, key)] == ["aa1", "cc3", "dd4"]
    assert sum(path.stat().st_size for path in (store.root / "models").rglob("*.zip")) <= 35_000


def test_what_is_too_large_or_no_file_is_not_kept(store: Store, tmp_path: Path) -> None:
    assert not keep_model(store, "aa1", model(tmp_path, size=10_000), room=9_000)
    (tmp_path / "zeros").mkdir()
    (tmp_path / "zeros" / "weights").write_bytes(bytes(10_000))  # small once it is packed, but nobody could unpack it
    assert not keep_model(store, "aa1", tmp_path / "zeros", room=9_000)
    (tmp_path / "nothing").mkdir()
    assert not keep_model(store, "aa1", tmp_path / "nothing", room=ROOM)
    linked = model(tmp_path, seed=3)
    (linked / "elsewhere").symlink_to(tmp_path)
    assert not keep_model(store, "aa1", linked, room=ROOM)
    assert not has_model(store, "aa1")


def test_what_unpacks_to_more_than_there_is_room_for_is_not_unpacked(store: Store, tmp_path: Path) -> None:
    made = tmp_path / "zeros"
    made.mkdir()
    (made / "weights").write_bytes(bytes(100_000))
    assert keep_model(store, "ab1", made, room=ROOM)
    assert stored(store, "ab1").stat().st_size < 1000
    taken = tmp_path / "taken"
    taken.mkdir()
    assert not take_model(store, "ab1", taken, room=99_999)
    assert not any(taken.iterdir())


def test_a_model_that_stands_in_the_place_of_another_is_not_taken(store: Store, tmp_path: Path) -> None:
    keep_model(store, "ab1", model(tmp_path), room=ROOM)
    stored(store, "ab2").parent.mkdir(parents=True, exist_ok=True)
    stored(store, "ab2").write_bytes(stored(store, "ab1").read_bytes())
    taken = tmp_path / "taken"
    taken.mkdir()
    assert not take_model(store, "ab2", taken, room=ROOM)
    assert not any(taken.iterdir())
    assert [has_model(store, key) for key in ("ab1", "ab2")] == [True, False]


def test_a_model_compressed_in_another_way_is_damage_and_no_error(store: Store, tmp_path: Path) -> None:
    path = stored(store, "ab1")
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as bundle:
        bundle.writestr("files/weights", b"12" * 500)
    data = bytearray(path.read_bytes())
    data[52:60] = b"\xff" * 8
    path.write_bytes(data)
    taken = tmp_path / "taken"
    taken.mkdir()
    assert not take_model(store, "ab1", taken, room=ROOM)
    assert not has_model(store, "ab1")


def test_a_damaged_model_that_cannot_be_removed_is_no_error(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(store, "ab1")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no zip")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    taken = tmp_path / "taken"
    taken.mkdir()
    assert not take_model(store, "ab1", taken, room=ROOM)
