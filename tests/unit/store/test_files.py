"""Files are whole or absent, and what hinders them is said."""

from __future__ import annotations

import errno
import getpass
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import StoreError
from pipeline.store import container, files
from pipeline.store.array_files import check_arrays, map_arrays, read_arrays, write_arrays
from pipeline.store.files import (
    make_directory,
    make_tree_private,
    read_json,
    replacing,
    store_error,
    sweep_temporaries,
    temporary_name,
    write_bytes,
    write_json,
)
from pipeline.store.outputs import write_output

ARRAYS = {
    "counts": np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    "sums": np.array([[np.nan, -0.0, 1e-300]]),
    "flags": np.array([True, False]),
    "names": np.array(["a", "日本", ""]),
    "one": np.array(7),
    "none": np.zeros((0, 5)),
}


def test_what_a_user_asks_for_goes_through_links_and_into_pipes(tmp_path: Path) -> None:
    link, pipe = tmp_path / "latest.json", tmp_path / "pipe"
    link.symlink_to("first.json")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (link, pipe, tmp_path / "plain"):
        write_output(path, b"found")
    assert os.read(reader, 99) == b"found"
    os.close(reader)
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)  # as /dev/null stays a device, and is no file of ours from then on
    assert link.is_symlink()
    assert [(tmp_path / name).read_bytes() for name in ("first.json", "plain")] == [b"found"] * 2


def test_a_write_that_dies_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"done": 1})

    def die_in_the_middle() -> None:
        with replacing(path) as file:
            file.write(b'{"done": ')
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        die_in_the_middle()
    assert read_json(path) == {"done": 1}
    assert os.listdir(tmp_path) == ["state.json"]


def test_a_process_killed_in_the_middle_leaves_the_old_file_and_rubbish_that_is_swept(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.json"
    write_json(path, [1])
    program = f"""
import os, signal
from pipeline.store.files import replacing
with replacing({str(path)!r}) as file:
    file.write(b"[2")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert read_json(path) == [1]
    assert len(os.listdir(path.parent)) == 2
    assert sweep_temporaries(tmp_path) == 1
    assert os.listdir(path.parent) == ["state.json"]


def test_what_a_living_process_writes_is_not_swept(tmp_path: Path) -> None:
    with replacing(tmp_path / "file") as file:
        file.write(b"x")
        assert sweep_temporaries(tmp_path) == 0
    assert (tmp_path / "file").read_bytes() == b"x"


def test_old_rubbish_of_other_hosts_is_swept(tmp_path: Path) -> None:
    left = tmp_path / ".tmp-00000000-17-0123456789abcdef"
    left.write_bytes(b"")
    assert sweep_temporaries(tmp_path) == 0
    os.utime(left, (1, 1))
    assert sweep_temporaries(tmp_path) == 1


def test_a_whole_store_is_swept_of_files_and_folders_of_the_dead(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    rubbish = temporary_name().replace(f"-{os.getpid()}-", f"-{process.pid}-")
    (tmp_path / "cells" / "ab").mkdir(parents=True)
    (tmp_path / "cells" / "ab" / rubbish).write_bytes(b"x")
    (tmp_path / f"cubes.zarr{rubbish}" / "group").mkdir(parents=True)
    (tmp_path / "cells" / "ab" / "kept.tmp-x").write_bytes(b"x")
    assert sweep_temporaries(tmp_path) == 2
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["kept.tmp-x"]
    assert not (tmp_path / f"cubes.zarr{rubbish}").exists()


def test_a_process_number_of_another_container_tells_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = temporary_name()
    monkeypatch.setattr(files, "machine_name", lambda: "another space of process numbers")
    files._host.cache_clear()
    try:
        there = temporary_name().replace(f"-{os.getpid()}-", "-999999999-")
    finally:
        monkeypatch.undo()
        files._host.cache_clear()
    assert there[:13] != here[:13]
    (tmp_path / there).write_bytes(b"x")  # nobody has that number here; there somebody may write
    assert sweep_temporaries(tmp_path) == 0


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    checksum = write_arrays(tmp_path / "a", ARRAYS)
    for read in (read_arrays(tmp_path / "a"), read_arrays(tmp_path / "a", checksum), map_arrays(tmp_path / "a").whole()):
        assert set(read) == set(ARRAYS)
        for name, array in ARRAYS.items():
            assert read[name].dtype == array.dtype
            assert read[name].shape == array.shape
            assert read[name].tobytes() == array.tobytes()


def test_bytes_depend_on_content_alone(tmp_path: Path) -> None:
    one = write_arrays(tmp_path / "one", ARRAYS)
    turned = {name: ARRAYS[name].copy(order="F") for name in reversed(ARRAYS)}
    turned["counts"] = turned["counts"].astype(">i4")
    assert write_arrays(tmp_path / "two", turned) == one
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert one == "7eb5e9225770cc57f37673e3724f9537cba8d7afa045d29d4968ff910bb52f4c"  # on every machine


def test_read_arrays_cannot_be_changed_by_accident(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a", ARRAYS)
    with pytest.raises(ValueError, match="read-only"):
        read_arrays(tmp_path / "a")["counts"][0] = 1


def test_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'x' has dtype object"):
        write_arrays(tmp_path / "a", {"x": np.array([{}], dtype=object)})
    assert os.listdir(tmp_path) == []


def test_every_single_harmed_byte_of_the_arrays_is_noticed(tmp_path: Path) -> None:
    checksum = write_arrays(tmp_path / "a", {"x": np.arange(5), "y": np.arange(3.0)})
    whole = (tmp_path / "a").read_bytes()
    unused = 0
    for position in range(len(whole)):
        (tmp_path / "a").write_bytes(whole[:position] + bytes([whole[position] ^ 4]) + whole[position + 1 :])
        for read in (read_arrays, check_arrays):
            with pytest.raises(StoreError, match="P705"):
                read(tmp_path / "a", checksum)
        try:
            read_arrays(tmp_path / "a")
            unused += 1
        except StoreError:
            continue
    assert unused < 128  # the gaps that align the buffers, which nothing reads


def test_arrays_are_checked_without_unpacking_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checksum = write_arrays(tmp_path / "a", {"x": np.zeros((4000, 4), np.int64)})

    def unpack(*_: object, **__: object) -> None:
        raise AssertionError("unpacked")

    monkeypatch.setattr(container, "unpack_rows", unpack)
    check_arrays(tmp_path / "a", checksum)
    with pytest.raises(AssertionError, match="unpacked"):
        read_arrays(tmp_path / "a", checksum)
    with pytest.raises(StoreError, match="P704"):
        check_arrays(tmp_path / "absent", checksum)


@pytest.mark.parametrize("length", [0, 5, 40, 100, -1])
@pytest.mark.parametrize("read", [read_arrays, map_arrays])
def test_a_cut_file_is_damaged_not_short(tmp_path: Path, length: int, read: Callable[[Path], object]) -> None:
    write_arrays(tmp_path / "a", ARRAYS)
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole[:length])
    with pytest.raises(StoreError, match="P705") as raised:
        read(tmp_path / "a")
    assert "pipeline resume" in str(raised.value.problems[0].help)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    for read in (read_arrays, read_json):
        with pytest.raises(StoreError, match="P704"):
            read(tmp_path / "absent")
    (tmp_path / "broken.json").write_text('{"a": ')
    with pytest.raises(StoreError, match="P705"):
        read_json(tmp_path / "broken.json")


def test_a_full_disk_is_named_with_its_free_bytes_and_nothing_is_left(small_disk: Path) -> None:
    write_json(small_disk / "state.json", {"done": 1})
    with pytest.raises(StoreError) as raised:
        write_arrays(small_disk / "big", {"x": np.random.default_rng(1).random(2**18)})
    problem = raised.value.problems[0]
    assert problem.code == "P701"
    assert "bytes are free" in problem.message
    assert problem.where == str(small_disk / "big")
    assert raised.value.exit_code == 73
    assert os.listdir(small_disk) == ["state.json"]
    assert read_json(small_disk / "state.json") == {"done": 1}


def test_a_quota_and_a_read_only_place_are_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for number, code, words in [
        (errno.EDQUOT, "P701", "quota"),
        (errno.EROFS, "P702", "read-only"),
        (errno.EACCES, "P702", "permission"),
        (errno.EIO, "P703", "failed"),
    ]:

        def refuse(source: object, target: object, number: int = number) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(files.os, "replace", refuse)
        with pytest.raises(StoreError, match=f"{code}.*{words}"):
            write_bytes(tmp_path / "file", b"x")
        assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_a_folder_of_another_user_is_told_by_whose_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refused = PermissionError(errno.EACCES, "Permission denied")
    assert store_error(refused, tmp_path / "runs" / "plan.json").problems[0].message == "cannot write: no permission"
    monkeypatch.setattr(os, "geteuid", lambda: 987_654_321)
    owner = getpass.getuser()
    for path in (tmp_path, tmp_path / "runs" / "plan.json"):  # what is not there belongs to whoever owns the folder around it
        (problem,) = store_error(refused, path).problems
        assert (problem.code, problem.where) == ("P702", str(path))
        assert problem.message == f"no permission: this belongs to {owner}"
        assert problem.help == "name a folder of your own with --runs"
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])  # KeyError, as of a user without a name
    assert store_error(refused, tmp_path).problems[0].message == f"no permission: this belongs to user {os.getuid()}"


def test_json_keeps_names_readable(tmp_path: Path) -> None:
    write_json(tmp_path / "a", {"name": "日本 <&>", "file": "bad\udcff"})
    assert "日本 <&>" in (tmp_path / "a").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "a").read_bytes())["file"] == "bad\udcff"


def modes(*paths: Path) -> list[int]:
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_what_is_written_can_be_read_by_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.json"
    write_json(path, 1)
    assert modes(path, path.parent, path.parent.parent) == [0o600, 0o700, 0o700]
    assert modes(make_directory(tmp_path / "d" / "e"), tmp_path / "d") == [0o700, 0o700]


def test_what_a_user_asks_for_by_name_has_the_mode_that_the_umask_gives(tmp_path: Path, umask: int) -> None:
    write_output(path := tmp_path / "page.html", b"1")
    assert modes(path) == [0o666 & ~umask]
    for mode in (0o640, 0o600):
        path.chmod(mode)
        write_output(path, b"2")
        assert modes(path) == [mode]
    write_output(below := tmp_path / "a" / "b" / "page.html", b"3")
    assert modes(below, below.parent, below.parent.parent) == [0o666 & ~umask, 0o777 & ~umask, 0o777 & ~umask]


@pytest.mark.usefixtures("umask")
def test_what_was_opened_on_purpose_stays_open_where_it_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a" / "c.json"
    write_json(path, 1)
    path.chmod(0o640)
    path.parent.chmod(0o750)
    write_json(path, 2)
    make_directory(path.parent)
    write_json(path.parent / "new.json", 3)
    assert modes(path, path.parent, path.parent / "new.json") == [0o640, 0o750, 0o600]


def test_a_link_in_the_place_of_a_file_gives_it_no_rights(tmp_path: Path) -> None:
    (tmp_path / "open").touch()
    (tmp_path / "open").chmod(0o666)
    (tmp_path / "file").symlink_to(tmp_path / "open")
    write_bytes(tmp_path / "file", b"1")
    assert modes(tmp_path / "file") == [0o600]
    assert not (tmp_path / "file").is_symlink()


def test_a_tree_of_another_package_is_made_private_or_like_what_it_replaces(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        (tmp_path / "new" / "c").mkdir(parents=True)
        (tmp_path / "new" / "c" / "0").touch()
    finally:
        os.umask(before)
    tree = [tmp_path / "new", tmp_path / "new" / "c", tmp_path / "new" / "c" / "0"]
    make_tree_private(tmp_path / "new", like=tmp_path / "old")
    assert modes(*tree) == [0o700, 0o700, 0o600]
    (tmp_path / "old").mkdir()
    (tmp_path / "old").chmod(0o750)
    make_tree_private(tmp_path / "new", like=tmp_path / "old")
    assert modes(*tree) == [0o750, 0o750, 0o640]


def test_names_that_somebody_made_up_stop_no_sweep(tmp_path: Path) -> None:
    """Everybody may write to the folder for temporary files, and no process has such a number."""
    made_up = tmp_path / f"pipeline-x.tmp-{files._host()}-99999999999999999999-0123456789abcdef"
    ours, gone = tmp_path / files.temporary_name(), tmp_path / f".tmp-{files._host()}-4194305-0123456789abcdef"
    for path in (made_up, ours, gone):
        path.touch()
    os.utime(ours, (1, 1))  # however old: this process is at work
    assert files.sweep_temporaries(tmp_path) == 1
    assert (made_up.exists(), ours.exists(), gone.exists()) == (True, True, False)
