"""Packed arrays are the arrays again, whole or by any of their rows, and smaller where they can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import StoreError
from pipeline.store import packing
from pipeline.store.array_files import map_arrays, read_arrays, write_arrays
from pipeline.store.container import StoredArrays, pack
from pipeline.store.packing import pack_rows, unpack_rows
from pipeline.store.zstandard import zstd

SCORES = np.random.default_rng(1).binomial(892, 0.9, (75, 16_384)) / 892
COUNTS = np.random.default_rng(2).poisson(300, (2775, 4, 48)).astype(np.uint16)


@pytest.mark.parametrize(("array", "least"), [(SCORES, 6.0), (COUNTS, 1.5)], ids=["scores", "counts"])
def test_numbers_on_a_lattice_shrink(array: np.ndarray, least: float) -> None:
    packed = pack_rows(array)
    assert packed is not None
    assert array.nbytes > least * sum(map(len, packed.pieces))
    first = np.empty_like(array[: packed.rows])
    unpack_rows(packed.pieces[0], first, ordered=packed.ordered)
    assert first.tobytes() == array[: packed.rows].tobytes()


def test_what_is_small_or_random_stays_raw() -> None:
    assert pack_rows(np.zeros(packing._SMALL // 8 - 1)) is None
    assert pack_rows(np.zeros(packing._SMALL // 8)) is not None
    assert pack_rows(np.random.default_rng(1).integers(0, 2**64, 2**16, np.uint64)) is None
    assert pack_rows(np.full(2**16, "x")) is None


@settings(max_examples=60, deadline=None)
@given(
    shape=st.lists(st.integers(0, 9), min_size=1, max_size=3),
    dtype=st.sampled_from(["<f8", "<i2", "|u1", "|b1"]),
    limit=st.integers(1, 64),
    data=st.data(),
)
def test_any_rows_are_those_of_the_array(shape: list[int], dtype: str, limit: int, data: st.DataObject) -> None:
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    first = data.draw(st.integers(0, shape[0]))
    stop = data.draw(st.integers(first, shape[0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_SMALL", 1)
        patch.setattr(packing, "_WORTH", 1e9)
        patch.setattr(packing, "PIECE_BYTES", limit)
        stored = StoredArrays(b"".join(pack({"a": array, "b": np.arange(3)})))
    assert stored.shape("a") == array.shape
    rows = stored.rows("a", first, stop)
    assert (rows.dtype, rows.shape, rows.tobytes()) == (array.dtype, array[first:stop].shape, array[first:stop].tobytes())
    assert not rows.flags.writeable
    assert stored.whole()["a"].tobytes() == array.tobytes()


def test_a_few_rows_are_read_without_the_other_pieces(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a", {"x": SCORES})
    data = bytearray((tmp_path / "a").read_bytes())
    data[-1] ^= 1  # of the last piece
    (tmp_path / "a").write_bytes(bytes(data))
    assert map_arrays(tmp_path / "a").rows("x", 3, 5).tobytes() == SCORES[3:5].tobytes()
    with pytest.raises(StoreError, match="P705"):
        read_arrays(tmp_path / "a")


def test_files_without_packed_arrays_are_those_of_the_first_version(tmp_path: Path) -> None:
    write_arrays(tmp_path / "raw", {"x": np.arange(5)})
    write_arrays(tmp_path / "packed", {"x": np.arange(5), "y": SCORES})
    assert (tmp_path / "raw").read_bytes()[:8] == b"PIPEARR1"
    assert (tmp_path / "packed").read_bytes()[:8] == b"PIPEARR2"


def test_a_row_that_was_packed_by_itself_is_given_as_it_is() -> None:
    stored = StoredArrays(
        b"".join(pack({"cell": SCORES, "short": SCORES[:, :5000], "counts": np.zeros((4, 2**14)), "raw": SCORES[:2, :9]}))
    )
    for row in (0, 74):
        found = stored.packed_row("cell", row)
        assert found is not None
        assert zstd.decompress(found) == SCORES[row].tobytes()
    assert stored.packed_row("short", 3) is None  # with its neighbours
    assert stored.packed_row("raw", 1) is None
    differing = np.random.default_rng(3).normal(40, 1e-3, (3, 2**14))  # whose bytes are ordered
    assert StoredArrays(b"".join(pack({"x": differing}))).packed_row("x", 0) is None
