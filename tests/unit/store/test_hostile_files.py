"""What somebody else has put into the store, with the checksums it should have, is refused and does no harm."""

from __future__ import annotations

import json
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import StoreError
from pipeline.store.array_files import map_arrays, read_arrays
from pipeline.store.zstandard import zstd

GOOD = {"name": "a", "dtype": "<f8", "shape": [1], "offset": 0, "crc32": 0}


class Bomb:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return open, (str(self.mark), "w")


def written(path: Path, head: object, body: bytes = bytes(64)) -> Path:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    begin = struct.pack("<8sII", b"PIPEARR1", len(text), zlib.crc32(text)) + text
    path.write_bytes(begin + bytes(-len(begin) % 64) + body)
    return path


@pytest.mark.parametrize(
    "head",
    [
        {"x": 1},
        [1],
        None,
        "x",
        [{"name": "a"}],
        [{**GOOD, "dtype": "O"}],
        [{**GOOD, "dtype": "V8", "shape": [8], "crc32": zlib.crc32(bytes(64))}],
        [{**GOOD, "dtype": "M8[s]", "shape": [8], "crc32": zlib.crc32(bytes(64))}],
        [{**GOOD, "dtype": "nosuch"}],
        [{**GOOD, "dtype": [["x", "O"]]}],
        [{**GOOD, "shape": ["x"]}],
        [{**GOOD, "shape": [-1]}],
        [{**GOOD, "shape": [2**62]}],
        [{**GOOD, "shape": [2**62, 2**62]}],
        [{**GOOD, "offset": -64}],
        [{**GOOD, "offset": 2**62}],
        [{**GOOD, "name": 1}],
        [{**GOOD, "rows": 1}],
        [{**GOOD, "rows": 1, "pieces": [32, 32]}],
        [{**GOOD, "shape": [], "rows": 1, "pieces": []}],
        [{**GOOD, "rows": -1, "pieces": [64]}],
        [{**GOOD, "rows": 1, "pieces": 64}],
        [{**GOOD, "rows": 1, "pieces": ["64"]}],
        [{**GOOD, "shape": [2**62], "rows": 2**62, "pieces": [64]}],
        b"[" * 100_000,
    ],
    ids=str,
)
def test_a_hostile_cell_is_a_damaged_file(tmp_path: Path, head: object) -> None:
    for read in (read_arrays, map_arrays):
        with pytest.raises(StoreError) as error:
            read(written(tmp_path / "a.arrays", head))
        assert error.value.problems[0].code == "P705"


@pytest.mark.parametrize(
    "piece",
    [bytes(64), zstd.compress(bytes(24)), zstd.compress(bytes(40)), zstd.compress(bytes(2**20)), zstd.compress(bytes(32)) + b"x"],
    ids=["no frame", "too short", "too long", "a bomb", "more behind it"],
)
def test_a_piece_that_is_not_its_rows_is_a_damaged_file(tmp_path: Path, piece: bytes) -> None:
    head = [{**GOOD, "shape": [4], "rows": 4, "pieces": [len(piece)], "crc32": zlib.crc32(piece)}]
    with pytest.raises(StoreError, match="P705"):
        read_arrays(written(tmp_path / "a.arrays", head, piece))
    piece = zstd.compress(bytes(32))
    head = [{**GOOD, "shape": [4], "rows": 4, "pieces": [len(piece)], "crc32": zlib.crc32(piece)}]
    assert read_arrays(written(tmp_path / "a.arrays", head, piece))["a"].tolist() == [0.0] * 4


def test_a_pickle_in_place_of_a_cell_is_never_loaded(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    bomb = pickle.dumps(Bomb(mark))
    (tmp_path / "a.arrays").write_bytes(bomb)
    written(tmp_path / "b.arrays", [{**GOOD, "dtype": "|O", "crc32": zlib.crc32(bomb)}], bomb)
    for name in ("a", "b"):
        with pytest.raises(StoreError):
            read_arrays(tmp_path / f"{name}.arrays")
    assert not mark.exists()
    pickle.loads(bomb).close()
    assert mark.exists()  # the test would have seen it


def test_what_is_sound_is_read(tmp_path: Path) -> None:
    sound = written(tmp_path / "a.arrays", [{**GOOD, "crc32": zlib.crc32(bytes(8))}], bytes(8))
    assert read_arrays(sound)["a"].tolist() == [0.0]
