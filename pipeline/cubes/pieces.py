"""Parts of a cube that other processes make: the same chunks, encoded, to be put into the cube as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.arrays import create_array
from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout
from pipeline.cubes.variables import VARIABLES

__all__ = ["EncodedPieces", "PieceWriter"]


class PieceWriter(CubeWriter):
    """Write some of a cube's chunks into memory, in place of a cube.

    What is written must cover whole chunks: a chunk has one writer. `chunks` gives them as the files of the cube will hold
    them, for `pipeline.cubes.cube.CubeWriter.adopt`.

    Parameters
    ----------
    layout : CubeLayout
        Of the whole cube.
    """

    def __init__(self, layout: CubeLayout) -> None:
        super().__init__(Path(), layout)

    def __enter__(self) -> Self:
        import zarr  # only now: cubes in memory do without
        from zarr.storage import MemoryStore

        self._store = MemoryStore()
        self._group = zarr.create_group(self._store, zarr_format=3)
        return self

    def __exit__(self, *_: object) -> None:
        return

    def chunks(self) -> dict[str, NDArray[np.uint8]]:
        """Return the bytes of each chunk by its path in the cube, sorted."""
        held = self._store._store_dict
        return {key: np.frombuffer(held[key].to_bytes(), np.uint8) for key in sorted(held) if "/c" in key}

    def decode(self, chunks: Mapping[str, NDArray[np.uint8]]) -> Iterator[tuple[str, tuple[slice, ...], NDArray[Any]]]:
        """Yield the values of encoded chunks, with the variable and the region they belong to."""
        from zarr.core.buffer import default_buffer_prototype

        make = default_buffer_prototype().buffer.from_bytes
        for path, content in chunks.items():
            self._store._store_dict[path] = make(content.tobytes())
            name, _, *places = path.split("/")
            array = self._array(name)
            starts = [int(place) * length for place, length in zip(places, array.chunks, strict=True)]
            ends = [min(start + length, n) for start, length, n in zip(starts, array.chunks, array.shape, strict=True)]
            region = tuple(map(slice, starts, ends))
            yield name, region, np.asarray(array[region])

    def _array(self, name: str) -> Any:
        if name not in self._group:
            create_array(self._group, VARIABLES[name], self.layout.shape(VARIABLES[name]))
        return self._group[name]


@dataclass(frozen=True, eq=False)
class EncodedPieces:
    """What `PieceWriter.chunks` gave, read back."""

    chunks: Mapping[str, NDArray[np.uint8]]

    def decode(self, layout: CubeLayout) -> Iterator[tuple[str, tuple[slice, ...], NDArray[Any]]]:
        """Yield the values of each chunk, with the variable and the region they belong to."""
        with PieceWriter(layout) as piece:
            yield from piece.decode(self.chunks)
