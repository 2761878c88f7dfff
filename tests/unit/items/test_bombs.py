"""Inputs that are small on disk and endless in memory, or no files at all: each is refused at once, in little memory."""

from __future__ import annotations

import bz2
import gzip
import importlib
import json
import lzma
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from pipeline import inputs
from pipeline.errors import DataError
from pipeline.items.readers import _streams, load_reader
from pipeline.items.readers._arrow import is_columnar, read_columnar
from pipeline.items.readers._files import read_head, read_lines, read_text
from pipeline.items.readers._json import read_json, read_json_lines
from pipeline.items.readers._zip import looks_like_zip, open_zip

zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
MIB = 1 << 20
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Limits that are reached with some megabytes; a refusal that takes more than 40 MiB of Python's own memory is a failure."""
    monkeypatch.delenv(inputs.VARIABLE, raising=False)
    monkeypatch.setattr(inputs, "LARGEST", 16 * MIB)
    monkeypatch.setattr(inputs, "FREE", 2 * MIB)
    monkeypatch.setattr(_streams, "CHUNK", MIB)
    tracemalloc.start()
    yield
    tracemalloc.stop()


def refusal(read: Callable[[Path], object], path: Path, code: str, most: int = 40 * MIB) -> str:
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    with pytest.raises(DataError) as caught:
        read(path)
    assert tracemalloc.get_traced_memory()[1] - before < most  # nothing where it is not traced
    (problem,) = caught.value.problems
    assert problem.code == code
    assert str(problem.where).startswith(str(path))
    assert problem.help
    return problem.message


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def parts_of(compress: Callable[[bytes], bytes], megabytes: int) -> bytes:
    """A compressed file of several parts, one behind the other, each of which is harmless."""
    return compress(b"0" * 199 + b"\n" + b"0" * (MIB - 200)) * megabytes


# Compressed files


@pytest.mark.parametrize("read", [read_lines, read_text], ids=["lines", "text"])
@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.usefixtures("small")
def test_a_bomb_of_any_compression_is_refused(tmp_path: Path, kind: str, read: Callable[[Path], object]) -> None:
    path = write(tmp_path / "bomb", parts_of(COMPRESSORS[kind], 40))
    assert "more than 200 times its size on disk" in refusal(read, path, "P287")


@pytest.mark.usefixtures("small")
def test_what_compresses_well_and_is_small_or_compresses_little_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "zeros", gzip.compress(b"0" * MIB))
    assert read_text(path)[0] == "0" * MIB
    path = write(tmp_path / "noise", gzip.compress(os.urandom(MIB).hex().encode() + b"0" * MIB))
    assert len(read_text(path)[0]) == 3 * MIB


@pytest.mark.usefixtures("small")
def test_the_environment_raises_the_limit_and_asks_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "zeros", parts_of(gzip.compress, 6))
    refusal(read_text, path, "P287")
    monkeypatch.setenv(inputs.VARIABLE, "8 MiB")
    assert len(read_text(path)[0]) == 6 * MIB
    monkeypatch.setenv(inputs.VARIABLE, "5MiB")
    assert "more than 5 MiB of memory" in refusal(read_text, path, "P286")


@pytest.mark.parametrize("size", ["much", "0", "-3", "1e400 GB", "9" * 400])
def test_a_limit_that_is_no_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.setenv(inputs.VARIABLE, size)
    with pytest.raises(DataError, match="P289"):
        read_text(write(tmp_path / "a", b"text"))


def test_the_head_of_a_bomb_is_all_that_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "bomb", parts_of(gzip.compress, 400))
    tracemalloc.start()
    assert read_head(path, 100) == (b"0" * 100, False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * MIB


def test_a_window_of_gigabytes_is_refused(tmp_path: Path) -> None:
    # libzstd: a header that asks for 1 GiB, and one block as it is.
    block = struct.pack("<I", 5 << 3 | 1)[:3] + b"12345"
    path = write(tmp_path / "a.zst", b"\x28\xb5\x2f\xfd\x00" + bytes([20 << 3]) + block)
    assert "takes more than 256 MiB of memory" in refusal(read_text, path, "P288")
    # xz: the header of the only block with another window, and its checksum.
    data = bytearray(lzma.compress(b"text", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16}]))
    size = (data[12] + 1) * 4
    assert data[14:16] == b"\x21\x01"
    data[16] = 38  # 2 GiB
    data[12 + size - 4 : 12 + size] = struct.pack("<I", zlib.crc32(data[12 : 12 + size - 4]))
    refusal(read_text, write(tmp_path / "a.xz", bytes(data)), "P288")
    # A second stream is no padding, although what cannot be read behind the first one is taken for it.
    refusal(read_text, write(tmp_path / "b.xz", lzma.compress(b"text") + bytes(data)), "P288")


def test_streams_of_xz_one_behind_the_other_are_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xz", lzma.compress(b"some ") + lzma.compress(b"text") + b"\0" * 8)
    assert read_text(path)[0] == "some text"


_CHILD = """
import resource, sys
from pathlib import Path
from pipeline.errors import DataError
from pipeline.items.readers import load_reader
limit = 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    load_reader("text").read_outputs(Path(sys.argv[1]), system="s", options={})
except DataError as error:
    # Not getrusage, which goes on from what the parent took.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(error.problems[0].code, int(peak.split()[1]) // 1024)
"""


def test_a_gzip_of_a_megabyte_takes_no_gigabyte(tmp_path: Path) -> None:
    part = gzip.compress((b"0" * 32767 + b"\n") * (64 * MIB >> 15))
    path = write(tmp_path / "bomb.txt.gz", part * 16)
    assert path.stat().st_size < 1.3e6  # and 1.07 GB of text
    done = subprocess.run([sys.executable, "-c", _CHILD, str(path)], capture_output=True, text=True, check=True)
    code, megabytes = done.stdout.split()
    assert code == "P287"
    # 200 times what is stored, and the process itself.
    assert int(megabytes) < 200 * path.stat().st_size / MIB * 1.1 + 200


# Files of much that is little


@pytest.mark.parametrize("line", [b"\n", b"0\n", b",,,,,,,\n", b"\t\t\t\t\n"], ids=["empty", "short", "commas", "tabs"])
@pytest.mark.usefixtures("small")
def test_lines_and_fields_count_as_what_they_take(tmp_path: Path, line: bytes) -> None:
    path = write(tmp_path / "a", line * (MIB // len(line)))
    assert "lines and fields" in refusal(read_lines, path, "P286")


@pytest.mark.usefixtures("small")
def test_words_count_where_a_reader_makes_values_of_them(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b"a/B " * (MIB // 4))
    assert len(read_lines(path).values) == 1
    refusal(lambda file: load_reader("tagged").read_outputs(file, system="s", options={}), path, "P286")


@pytest.mark.usefixtures("small")
def test_a_plain_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs.Meter, "take", lambda self, data: pytest.fail("it is read"))
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, 1 << 40)
    for read in (read_lines, read_text, read_columnar):
        assert "1 TiB" in refusal(read, path, "P286")


def test_a_line_without_end_is_refused_before_all_of_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.items.readers import _files

    monkeypatch.setattr(_files, "LONGEST_LINE", MIB)
    path = tmp_path / "sparse"
    path.write_bytes(b"one\ntwo\n")
    os.truncate(path, 1 << 30)
    tracemalloc.start()
    assert "line 3 has more than 1,048,576 characters" in refusal(read_lines, path, "P265")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * MIB


@pytest.mark.parametrize("text", ["[" + "{}," * 150_000 + "{}]", '{"a": [' + "[]," * 150_000 + "[]]}"], ids=["list", "object"])
@pytest.mark.usefixtures("small")
def test_values_of_json_count_as_what_they_take(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "a.json", text.encode())
    refusal(read_json, path, "P286")
    refusal(read_json_lines, path, "P286")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "9" * 6000], ids=["lists", "objects", "number"])
def test_deep_json_and_endless_numbers_are_no_json(tmp_path: Path, text: str) -> None:
    refusal(read_json, write(tmp_path / "a.json", text.encode()), "P257")
    refusal(read_json_lines, write(tmp_path / "a.jsonl", text.encode()), "P257")


# Zips


def read_member(path: Path) -> bytes:
    with open_zip(path) as archive:
        return archive.read("a.json")


def zip_of(path: Path, data: bytes, compression: int) -> Path:
    with zipfile.ZipFile(path, "w", compression=compression) as archive:
        archive.writestr("a.json", data)
    return path


_METHODS = {"deflate": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("honest", [True, False], ids=["honest", "lying"])
@pytest.mark.usefixtures("small")
def test_a_member_of_a_zip_that_is_a_bomb_is_refused(tmp_path: Path, method: str, honest: bool) -> None:
    path = zip_of(tmp_path / "a.eval", b"0" * 40 * MIB, _METHODS[method])
    if honest:
        assert "40 MiB" in refusal(read_member, path, "P286")
        return
    data = path.read_bytes()
    size = struct.pack("<I", 40 * MIB)
    assert data.count(size) == 2
    path.write_bytes(data.replace(size, struct.pack("<I", 40)))
    # Of LZMA zipfile decompresses 4 KiB at a time, all at once.
    refusal(read_member, path, "P287" if method == "bzip2" else "P258", most=120 * MIB if method == "lzma" else 40 * MIB)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, *_METHODS.values()])
def test_members_of_every_compression_are_read(tmp_path: Path, method: int) -> None:
    path = zip_of(tmp_path / "a.eval", b'{"a": 1}' * 1000, method)
    assert read_member(path) == b'{"a": 1}' * 1000
    data = bytearray(path.read_bytes())
    data[40 + path.stat().st_size // 8] ^= 255
    refusal(read_member, write(path, bytes(data)), "P258")


def test_a_window_of_gigabytes_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.eval", b"0" * 100, zipfile.ZIP_LZMA)
    data = bytearray(path.read_bytes())
    at = 30 + len("a.json") + 5
    data[at : at + 4] = struct.pack("<I", 3 << 30)
    refusal(read_member, write(path, bytes(data)), "P288")


@pytest.mark.usefixtures("small")
def test_members_that_lie_on_top_of_each_other_are_counted_together(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.eval", b"0" * MIB, zipfile.ZIP_DEFLATED)

    def read_often(file: Path) -> None:
        with open_zip(file) as archive:
            for _ in range(20):
                archive.read("a.json")

    assert "the members of the zip hold more than" in refusal(read_often, path, "P287")


# Tables in columns


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "stream"])
@pytest.mark.usefixtures("small")
def test_a_table_in_columns_that_is_a_bomb_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    table = pa.table({"item": pa.array(["0" * 1000] * 20_000), "north": pa.array([0.5] * 20_000)})
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "feather":
        feather.write_feather(table, path, compression="zstd")
    else:
        open_it = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with open_it(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(table)
    assert path.stat().st_size < MIB
    before = pa.total_allocated_bytes()
    del table
    refusal(read_columnar, path, "P286")
    assert pa.total_allocated_bytes() <= before


@pytest.mark.usefixtures("small")
def test_rows_of_a_table_in_columns_count_also_where_they_take_no_room(tmp_path: Path) -> None:
    table = pa.table({"item": pa.array([1] * 200_000, pa.int8()), "north": pa.nulls(200_000)})
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    refusal(read_columnar, tmp_path / "a.parquet", "P286")
    refusal(read_columnar, tmp_path / "a.feather", "P286")


def test_a_dictionary_gives_its_texts_and_not_their_copies(tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0] * 2000, pa.int32()), pa.array(["north", "s" * 100_000]))
    feather.write_feather(pa.table({"system": words}), tmp_path / "a.feather")
    tracemalloc.start()
    column = read_columnar(tmp_path / "a.feather").column("system")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert column[:4] == ("north", "s" * 100_000, "", "north")
    assert peak < 20 * MIB  # the texts of all rows have 200 MB


# What is no file


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[dict[str, Path]]:
    os.mkfifo(tmp_path / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    (tmp_path / "link").symlink_to("/dev/zero")
    signal.alarm(20)  # opening a pipe waits for somebody to write
    paths = {name: tmp_path / name for name in ("pipe", "socket", "link")}
    yield {**paths, "device": Path("/dev/zero"), "stream": Path("/dev/stdin"), "own": Path("/proc/self/fd/0")}
    signal.alarm(0)
    server.close()


def test_pipes_sockets_devices_and_streams_are_refused_at_once(odd: dict[str, Path]) -> None:
    kinds = {"pipe": "a pipe", "socket": "a socket", "link": "a device", "device": "a device", "stream": "an open stream"}
    for name, path in odd.items():
        words = kinds.get(name, "an open stream")
        for read in (read_lines, read_text, lambda file: read_head(file, 10), read_columnar, read_member):
            named = path.name if words != "an open stream" else path
            assert f"{named} cannot be read: it is {words}, not a regular file" == refusal(read, path, "P285")
        assert not is_columnar(path)
        assert not looks_like_zip(path)


def test_every_reader_refuses_a_pipe(odd: dict[str, Path]) -> None:
    from pipeline.plugins import list_plugins

    options = {"json-lines": {"item": "id", "score": "score"}}
    for name in list_plugins("readers"):
        if name != "bitext":
            with pytest.raises(DataError) as caught:
                load_reader({"name": name, **options.get(name, {})}).read_outputs(odd["pipe"], system="s", options={})
            assert {problem.code for problem in caught.value.problems} == {"P285"}, name


def test_a_link_to_a_file_is_read_and_a_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(write(tmp_path / "a.json", json.dumps([1]).encode()))
    assert read_json(tmp_path / "link")[0] == [1]
    assert "it is a directory" in refusal(read_lines, tmp_path, "P202")


def test_a_file_of_streams_without_content_is_refused_before_all_are_read(tmp_path: Path) -> None:
    """Each costs a copy of what is behind it: four megabytes took three seconds, a hundred would take minutes."""
    path = write(tmp_path / "a.xz", lzma.compress(b"") * 200_000)
    begun = time.process_time()
    refusal(read_text, path, "P206")
    assert time.process_time() - begun < 1
