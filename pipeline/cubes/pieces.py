"""Parts of a cube that other processes make: its chunks, encoded, to be put into the cube as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.arrays import create_array
from pipeline.cubes.chunk_files import FilesInMemory
from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout
from pipeline.cubes.variables import VARIABLES
from pipeline.cubes.zarr_files import ZarrGroup, is_chunk
from pipeline.dataclass import dataclass

__all__ = ["EncodedPieces", "PieceWriter"]


class PieceWriter(CubeWriter):
    """Write some of a cube's chunks into memory, instead of into a cube.

    What is written must cover whole chunks: a chunk has one writer. `chunks` returns them as they will be in the files of the cube,
    for `pipeline.cubes.cube.CubeWriter.adopt`.

    Parameters
    ----------
    layout : CubeLayout
        Of the whole cube.
    """

    def __init__(self, layout: CubeLayout) -> None:
        super().__init__(Path(), layout)

    def __enter__(self) -> Self:
        self._files = FilesInMemory()
        self._group = ZarrGroup(self._files, {})
        return self

    def __exit__(self, *_: object) -> None:
        return

    def chunks(self) -> dict[str, NDArray[np.uint8]]:
        """Return the bytes of each chunk by its path in the cube, sorted."""
        return {path: np.frombuffer(self._files[path], np.uint8) for path in sorted(self._files) if is_chunk(path)}

    def decode(self, chunks: Mapping[str, NDArray[np.uint8]]) -> Iterator[tuple[str, tuple[slice, ...], NDArray[Any]]]:
        """Yield the values of encoded chunks, with the variable and the region they belong to."""
        for path, content in chunks.items():
            self._files[path] = content.tobytes()
            name, _, _ = path.partition("/")
            array = self._array(name)
            region = array.place_of(path)
            yield name, region, array[region]

    def _array(self, name: str) -> Any:
        if name not in self._group:
            create_array(self._group, VARIABLES[name], self.layout.shape(VARIABLES[name]), in_pieces=True)
        return self._group[name]


@dataclass(frozen=True, eq=False)
class EncodedPieces:
    """The chunks that `PieceWriter.chunks` returned, read back."""

    chunks: Mapping[str, NDArray[np.uint8]]

    def decode(self, layout: CubeLayout, paths: Iterable[str]) -> Iterator[tuple[str, tuple[slice, ...], NDArray[Any]]]:
        """Yield the values of some chunks, with the variable and the region they belong to."""
        with PieceWriter(layout) as piece:
            yield from piece.decode({path: self.chunks[path] for path in paths})
