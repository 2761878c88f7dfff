"""Write a cube, block by block, by one writer; it is whole or absent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.cubes.arrays import create_array, create_filled, create_group, known_of_systems, path_of
from pipeline.cubes.checked import seal
from pipeline.cubes.declarations import INFLUENCE, UNIT_EFFECTS
from pipeline.cubes.held import HeldGroup, is_held
from pipeline.cubes.layout import CubeLayout, cube_name
from pipeline.cubes.variables import CHUNKS, COORDINATES, COUNTS, STATISTICS, SUMS, TABLE, VARIABLES
from pipeline.cubes.zarr_files import WholeArray
from pipeline.store.addresses import digest
from pipeline.store.files import make_directory, make_tree_private, store_error, temporary_name, write_json
from pipeline.store.syncing import sync_directory

__all__ = ["CubeWriter", "Pieces"]


class Pieces(Protocol):
    """Encoded chunks of a cube by their paths, as `pipeline.cubes.pieces` has them."""

    @property
    def chunks(self) -> Mapping[str, NDArray[np.uint8]]:
        """Bytes by path."""
        ...

    def decode(self, layout: CubeLayout, paths: Iterable[str]) -> Iterator[tuple[str, tuple[slice, ...], NDArray[Any]]]:
        """Yield the values of some chunks, with the variable and the region they belong to."""
        ...


class CubeWriter:
    """Write the cube of one test set below a ``cubes.zarr`` directory.

    The cube is written under a temporary name and gets its own, replacing an older one, when the ``with`` block ends well; if the
    block fails nothing is left. Blocks may come in any order; those that cover whole chunks (`CHUNKS`) are written fastest. Memory
    is that of one block. The files depend on the content alone. If `hold_cubes` holds the directory, the cube is made in memory,
    without files.

    Parameters
    ----------
    directory : Path
        The run's ``cubes.zarr``.
    layout : CubeLayout
        What the cube will hold.
    """

    def __init__(self, directory: Path | str, layout: CubeLayout) -> None:
        self.layout = layout
        self.path = Path(directory) / cube_name(layout.test_set)
        self._temporary = Path(directory) / temporary_name()

    def __enter__(self) -> Self:
        try:
            if not is_held(self.path.parent):
                make_directory(self.path.parent)
            self._create()
        except BaseException as error:
            self._abandon(error)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            try:
                self._finish()
            except BaseException as failure:
                self._abandon(failure)
                raise
        else:
            self._abandon(error)

    def write_columns(self, metric: str, size: str, values: Mapping[str, ArrayLike], *, first_pair: int | None = None) -> None:
        """Write variables (system,) or (pair,) by their names: for all, or for the pairs from ``first_pair`` on."""
        at = self.layout.positions(metric=metric, test_size=size)
        for name, value in values.items():
            self._put(name, at, value, () if first_pair is None else (first_pair,))

    def write_unit_effects(
        self,
        metric: str,
        size: str,
        *,
        correlation: ArrayLike,
        design_effect: ArrayLike,
        reason: ArrayLike,
        first_pair: int | None = None,
    ) -> None:
        """Write the effect of units on each (pair,)."""
        names = (variable.name for variable in UNIT_EFFECTS)
        values = dict(zip(names, (correlation, design_effect, reason), strict=True))
        self.write_columns(metric, size, values, first_pair=first_pair)

    def write_influence(
        self,
        metric: str,
        size: str,
        *,
        share: ArrayLike,
        unit: ArrayLike,
        without: ArrayLike,
        win: ArrayLike,
        first_pair: int | None = None,
    ) -> None:
        """Write the influence of single units on each (pair,)."""
        values = dict(zip((variable.name for variable in INFLUENCE), (share, unit, without, win), strict=True))
        self.write_columns(metric, size, values, first_pair=first_pair)

    def write_cells(
        self,
        metric: str,
        size: str,
        first_cell: int,
        *,
        counts: NDArray[Any],
        empty: NDArray[Any],
        sums: NDArray[Any],
        first_pair: int = 0,
        procedure: str | None = None,
    ) -> None:
        """Write cells of pairs: ``counts`` (pair, cell, 8), ``empty`` (pair, cell), ``sums`` (pair, cell, 3)."""
        at = (*self._procedure(procedure), *self.layout.positions(metric=metric, test_size=size))
        columns = [*zip(COUNTS, np.moveaxis(counts, -1, 0), strict=True), *zip(SUMS, np.moveaxis(sums, -1, 0), strict=True)]
        for variable, values in [*columns, (VARIABLES["count_empty"], empty)]:
            self._put(variable.name, at, values, (first_pair, first_cell))

    def write_histogram(
        self, metric: str, size: str, values: ArrayLike, *, first_pair: int = 0, procedure: str | None = None
    ) -> None:
        """Write histograms (pair, bin), summed over the cells."""
        at = (*self._procedure(procedure), *self.layout.positions(metric=metric, test_size=size))
        self._put("histogram", at, values, (first_pair, 0))

    def write_scores(self, metric: str, size: str, first_replicate: int, values: ArrayLike, *, first_system: int = 0) -> None:
        """Write scores (system, replicate) of kept replicates."""
        self._put("score", self.layout.positions(metric=metric, test_size=size), values, (first_system, first_replicate))

    @property
    def takes_packed_scores(self) -> bool:
        """Say whether scores may be written as they are packed; in memory nothing is packed."""
        return not isinstance(self._group, HeldGroup)

    def write_packed_scores(
        self, metric: str, size: str, first_replicate: int, packed: Sequence[bytes | memoryview], *, first_system: int = 0
    ) -> None:
        """Write the scores of kept replicates in whole chunks, packed by `pipeline.store.packing`: a piece for each system.

        A chunk has `CHUNKS` systems and `CHUNKS` replicates, or as many as are left.
        """
        step = CHUNKS["system"]
        at = self.layout.positions(metric=metric, test_size=size)
        for first in range(0, len(packed), step):
            self._array("score").adopt((*at, first_system + first, first_replicate), packed[first : first + step])

    def write_table(
        self,
        metric: str,
        size: str,
        values: Mapping[str, NDArray[Any]],
        *,
        pairs: slice = slice(None),
        procedure: str | None = None,
    ) -> None:
        """Write results derived from the counts of some pairs, by name of the variable.

        ``bias``, ``p``, ``p_adjusted`` and others are (pair,), ``p_by_adjustment`` (convention, adjustment, pair), ``interval``
        (method, pair, 2), ``interval_reason`` (method, pair), the others (convention, pair).
        """
        test: dict[str, Any] = dict(zip(("metric", "test_size"), self.layout.positions(metric=metric, test_size=size), strict=True))
        test |= {"procedure": self._procedure(procedure)[0], "pair": pairs}
        for name, value in values.items():
            if VARIABLES.get(name) not in TABLE:
                raise ValueError(f"no variable {name!r} in the table; there are {', '.join(v.name for v in TABLE)}")
            region = tuple(test.get(dimension, slice(None)) for dimension in VARIABLES[name].dims)
            self._assign(name, region, value)

    def adopt(self, pieces: Pieces) -> None:
        """Take over the chunks that another process has made of a cube with the same layout."""
        held = []
        for path, content in pieces.chunks.items():
            if isinstance(self._group, HeldGroup) or isinstance(self._array(path.partition("/")[0]), WholeArray):
                held.append(path)
            else:
                self._group.files.write(path, content.data)
        for name, region, values in pieces.decode(self.layout, held):
            self._array(name)[region] = values

    def read(self, name: str, metric: str, size: str, *, procedure: str | None = None) -> NDArray[Any]:
        """Return what has been written to a variable for one metric and test size."""
        at: dict[str, Any] = dict(zip(("metric", "test_size"), self.layout.positions(metric=metric, test_size=size), strict=True))
        at["procedure"] = self._procedure(procedure)[0]
        return np.asarray(self._array(name)[tuple(at.get(dimension, slice(None)) for dimension in VARIABLES[name].dims)])

    def write_statistics(
        self,
        metric: str,
        values: NDArray[np.int64],
        *,
        ids: Sequence[str],
        units: Sequence[int],
        statistics: Sequence[str],
        decimals: Sequence[int],
        groups: Mapping[str, Sequence[int]] | None = None,
        first_system: int = 0,
    ) -> None:
        """Write the statistics (system, item, statistic) of some systems, into the metric's own group; ``units`` of the items.

        ``groups`` are what else is known about items: the ``stratum`` of their units, and their ``document``.
        """
        self.layout.positions(metric=metric)
        path = f"statistics/{digest(metric)[:16]}"
        sizes = (len(self.layout.systems), len(ids), len(statistics))
        if path not in self._group:
            coordinates: dict[str, list[Any]] = {
                "system": list(self.layout.systems),
                "item": list(ids),
                "unit": [int(unit) for unit in units],
                **{name: [int(group) for group in of_item] for name, of_item in (groups or {}).items()},
                "statistic": list(statistics),
                "decimals": [int(places) for places in decimals],
            }
            extra = " ".join(["decimals", *sorted(groups or {}), "unit"])
            attributes = {"test_set": self.layout.test_set, "metric": metric, "coordinates": extra}
            group = self._group.create_group(path, attributes={**attributes, "variables": sorted([*coordinates, "statistics"])})
            for name, given in coordinates.items():
                create_filled(group, COORDINATES[name], given)
            create_array(group, STATISTICS, sizes)
        region = (slice(first_system, first_system + len(values)), slice(None), slice(None))
        self._assign(f"{path}/statistics", region, values)

    def _create(self) -> None:
        layout = self.layout
        coordinates = [(COORDINATES[name], values) for name, values in layout.coordinate_values().items()]
        coordinates += [known_of_systems(name, values) for name, values in layout.coordinates.items()]
        variables = [variable for variable in VARIABLES.values() if layout.holds(variable)]
        extra = [path_of(variable.name) for variable, _ in coordinates if (variable.name,) != variable.dims]
        attributes = {
            **layout.attributes(),
            "coordinates": " ".join(sorted(extra)),
            "variables": sorted(path_of(variable.name) for variable in [*variables, *(v for v, _ in coordinates)]),
        }
        self._group = create_group(self._temporary, attributes)
        for variable, values in coordinates:
            create_filled(self._group, variable, values)
        for variable in variables:
            create_array(self._group, variable, layout.shape(variable))

    def _finish(self) -> None:
        if isinstance(self._group, HeldGroup):
            self._group.hold(self.path.parent, self.layout.test_set)
            return
        seal(self._group)
        make_tree_private(self._temporary, like=self.path)
        root = self.path.parent / "zarr.json"
        if not root.exists():
            write_json(root, {"zarr_format": 3, "node_type": "group", "attributes": {}})
        # Chunks are not synced one by one: a cube can be built again, and its checksums tell whether it must be.
        old = self.path.parent / temporary_name()
        if self.path.exists():
            os.rename(self.path, old)
        os.rename(self._temporary, self.path)
        sync_directory(self.path.parent)
        shutil.rmtree(old, ignore_errors=True)

    def _abandon(self, error: BaseException) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)
        if isinstance(error, OSError):
            raise store_error(error, self.path) from error

    def _procedure(self, name: str | None) -> tuple[int, ...]:
        return self.layout.positions(procedure=name or self.layout.procedures[0])

    def _put(self, name: str, at: tuple[int, ...], values: ArrayLike, first: tuple[int, ...] = ()) -> None:
        block = np.asarray(values)
        starts = first or (0,) * block.ndim
        stops = [start + length for start, length in zip(starts, block.shape, strict=True)]
        lengths = self.layout.shape(VARIABLES[name])[len(at) :]
        if len(lengths) != block.ndim or any(stop > length for stop, length in zip(stops, lengths, strict=True)):
            raise ValueError(f"{name}: a block of shape {block.shape} at {starts} does not fit into {lengths}")
        if not first and block.shape != lengths:
            raise ValueError(f"{name}: shape {block.shape}, expected {lengths}")
        self._assign(name, (*at, *map(slice, starts, stops)), block)

    def _assign(self, name: str, region: tuple[Any, ...], block: NDArray[Any]) -> None:
        array: Any = self._array(name)
        target = tuple(len(range(*part.indices(n))) for part, n in zip(region, array.shape, strict=True) if isinstance(part, slice))
        if block.shape != target:
            raise ValueError(f"{name}: shape {block.shape}, expected {target}")
        if not np.can_cast(block.dtype, array.dtype, "same_kind"):
            raise ValueError(f"{name}: dtype {block.dtype}, expected {array.dtype}")
        array[region] = block

    def _array(self, name: str) -> Any:
        return self._group[name]
