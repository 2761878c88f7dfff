"""Cubes: what is written is what is read, whole or absent, and damage is never data."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from zarr.core.sync import sync

from pipeline.cubes import layout as layout_module
from pipeline.cubes import variables
from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout, MetricInfo, cube_name
from pipeline.cubes.reading import digest_cubes, open_cubes, open_statistics, verify_cubes
from pipeline.cubes.stored import read_cubes
from pipeline.errors import StoreError

ODD = ['<a&b>/"q"\'', "机器翻译", "with space ", "😀", "nan", "NA", "1.0", "../up", "None"]
ALL = (
    "p_value",
    "log10_p",
    "p_error",
    "method",
    "stable",
    "bias",
    "p",
    "p_adjusted",
    "p_by_adjustment",
    "max_t_largest",
    "interval",
    "interval_reason",
)


def make_layout(test_set: str = "news/<1>", systems: list[str] = ODD, **changes: object) -> CubeLayout:
    count = len(systems)
    values: dict = {
        "study": "a study",
        "test_set": test_set,
        "metrics": [MetricInfo("bleu", "bleu|v1"), MetricInfo("ter", "ter|v1", higher_is_better=False)],
        "test_sizes": [("100", 100), ("full", 997)],
        "systems": systems,
        "pairs": np.array([(i, j) for i in range(count) for j in range(i + 1, count)]),
        "replicates": 70 * 2**14 - 5,
        "kept": 2**14 + 9,
        "again": 99,
        "bins": 96,
        "procedures": ("paired-bootstrap",),
        "conventions": ("one-sided", "two-sided"),
        "adjustments": ("holm",),
        "intervals": ("percentile", "bca", "basic"),
        "presets": ("koehn-2004",),
        "coordinates": {"model": ["m"] * count, "replica": range(count), "fraction": [0.5, None] + [1.0] * (count - 2)},
    }
    return CubeLayout(**{**values, **changes})


def make_content(layout: CubeLayout) -> dict:
    rng = np.random.default_rng(7)
    pairs, systems, sizes = len(layout.pairs), len(layout.systems), layout.sizes
    return {
        (metric.name, size): {
            "counts": rng.integers(0, 2**14, (pairs, sizes["cell"], 8)),
            "empty": rng.integers(0, 9, (pairs, sizes["cell"])),
            "sums": rng.normal(size=(pairs, sizes["cell"], 3)),
            "histogram": rng.integers(0, 999, (pairs, layout.bins)),
            "score": rng.normal(size=(systems, sizes["replicate"])),
            "table": {
                **{name: rng.random((2, pairs)) for name in ("p_value", "log10_p", "p_error")},
                "method": rng.integers(0, 3, (2, pairs)),
                "stable": rng.random((2, pairs)) < 0.5,
                "bias": rng.random(pairs),
                "p": rng.random(pairs),
                "p_adjusted": rng.random(pairs),
                "max_t_largest": rng.random(99),
                "p_by_adjustment": rng.random((2, 1, pairs)),
                "interval": rng.normal(size=(3, pairs, 2)),
                "interval_reason": rng.integers(0, 8, (3, pairs)),
            },
            "tool": {"tool_p": rng.random((1, pairs)), "tool_reason": rng.integers(0, 6, (1, pairs))},
            "observed": {
                "observed_score": rng.normal(size=systems),
                "observed_delta": rng.normal(size=pairs),
                "se": rng.random(pairs),
                "discordant": rng.integers(0, 99, pairs),
                "identical": rng.random(pairs) < 0.5,
            },
        }
        for metric in layout.metrics
        for size, _ in layout.test_sizes
    }


def write(directory: Path, layout: CubeLayout, *, step: int = 64, backwards: bool = False) -> dict:
    content = make_content(layout)
    with CubeWriter(directory, layout) as cube:
        for (metric, size), part in content.items():
            cells = range(0, layout.sizes["cell"], step)
            for first in reversed(cells) if backwards else cells:
                block = slice(first, first + step)
                cube.write_cells(
                    metric, size, first, counts=part["counts"][:, block], empty=part["empty"][:, block], sums=part["sums"][:, block]
                )
            cube.write_histogram(metric, size, part["histogram"])
            for first in range(0, layout.sizes["replicate"], 2**14):
                cube.write_scores(metric, size, first, part["score"][:, first : first + 2**14])
            cube.write_columns(metric, size, part["observed"])
            cube.write_table(metric, size, part["table"])
            if size == "full":  # the only size that has them
                cube.write_table(metric, size, part["tool"])
    return content


def files(directory: Path) -> dict[str, bytes]:
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unharmed") / "cubes.zarr"
    write(path, make_layout(systems=ODD[:4]))
    return path


@pytest.fixture
def written(tmp_path: Path, unharmed: Path) -> Path:
    return shutil.copytree(unharmed, tmp_path / "cubes.zarr")


def test_every_number_comes_back_under_its_labels(tmp_path: Path) -> None:
    layout = make_layout()
    content = write(tmp_path, layout)
    cube = open_cubes(tmp_path)["news/<1>"]
    assert set(variables.VARIABLES) <= set(cube.data_vars)
    for (metric, size), part in content.items():
        at = cube.sel(metric=metric, test_size=size)
        test = at.sel(procedure="paired-bootstrap")
        for k, declared in enumerate(variables.COUNTS):
            assert (test[declared.name].values == part["counts"][:, :, k]).all()
        for k, declared in enumerate(variables.SUMS):
            assert (test[declared.name].values == part["sums"][:, :, k]).all()
        assert (test["count_empty"].values == part["empty"]).all()
        assert (test["histogram"].values == part["histogram"]).all()
        assert (at["score"].values == part["score"]).all()
        for name, values in part["observed"].items():
            assert (at[name].values == values).all()
        for name in ALL:
            assert (test[name].values == part["table"][name]).all()
        if size == "full":
            for name in ("tool_p", "tool_reason"):
                assert (test[name].sel(preset="koehn-2004").values == part["tool"][name][0]).all()
    assert cube["identical"].dtype == bool
    assert cube["count_at_zero"].dtype == np.int32


def test_names_of_any_kind_come_back_as_they_were(tmp_path: Path) -> None:
    write(tmp_path, make_layout(test_set=ODD[0]))
    cube = open_cubes(tmp_path)[ODD[0]]
    assert cube["system"].values.tolist() == ODD
    assert all(type(name) is str for name in cube["system"].values)
    assert cube["system_a"].values.tolist()[:2] == [ODD[0], ODD[0]]
    assert cube["system_b"].values.tolist()[:2] == [ODD[1], ODD[2]]
    by_name = cube["observed_score"].sel(system="nan", metric="bleu", test_size="full")
    assert float(by_name) == float(cube["observed_score"][0, 1, 4])
    assert all(part.isascii() for path in files(tmp_path) for part in path.split("/"))


def test_what_is_known_of_systems_keeps_its_type(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    known = {"LM size/kB": ["x", None, "z"], "replica": [1, 2, 3], "fraction": [0.5, None, 1.0], "score": ["u", "v", "w"]}
    write(tmp_path, make_layout(systems=names, coordinates=known | {"statistics": ["all", None, "none"]}))
    cube = open_cubes(tmp_path)["news/<1>"]
    assert cube["LM size/kB"].values.tolist() == ["x", "", "z"]
    assert cube["replica"].values.tolist() == [1, 2, 3]
    assert cube["fraction"].values[[0, 2]].tolist() == [0.5, 1.0]
    assert np.isnan(cube["fraction"].values[1])
    assert cube["table_score"].values.tolist() == ["u", "v", "w"]
    assert cube["table_statistics"].values.tolist() == ["all", "", "none"]
    assert cube["n_units"].values.tolist() == [100, 997]
    assert {"LM size/kB", "replica", "system_a", "a", "n_units"} <= set(cube.coords)


def test_attributes_say_what_was_asked(written: Path) -> None:
    cube = open_cubes(written)["news/<1>"]
    assert cube.attrs["higher_is_better"] == {"bleu": True, "ter": False}
    assert cube.attrs["metric_signatures"] == {"bleu": "bleu|v1", "ter": "ter|v1"}
    assert (cube.attrs["study"], cube.attrs["replicates"], cube.attrs["kept"]) == ("a study", 70 * 2**14 - 5, 2**14 + 9)
    for name in variables.VARIABLES:
        assert cube[name].attrs["units"]
        assert cube[name].attrs["description"]


def test_bytes_do_not_know_the_blocks_or_their_order(tmp_path: Path) -> None:
    layout = make_layout(systems=ODD[:3])
    write(tmp_path / "one", layout)
    write(tmp_path / "two", layout, step=13, backwards=True)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert digest_cubes(tmp_path / "one") == digest_cubes(tmp_path / "two")


def test_another_number_gives_another_digest(tmp_path: Path, written: Path) -> None:
    layout = make_layout(systems=ODD[:4])
    with CubeWriter(tmp_path / "other", layout):
        pass
    assert digest_cubes(written) != digest_cubes(tmp_path / "other")
    assert digest_cubes(written) == digest_cubes(written)


def test_nothing_written_reads_as_missing_not_as_zero(tmp_path: Path) -> None:
    layout = make_layout(systems=["a", "b"])
    with CubeWriter(tmp_path, layout):
        pass
    cube = open_cubes(tmp_path)["news/<1>"]
    assert np.isnan(cube["p_value"].values).all()
    assert (cube["count_at_zero"].values == -1).all()
    assert verify_cubes(tmp_path) == []


def test_a_failed_writer_leaves_nothing_and_keeps_the_old_cube(written: Path) -> None:
    before = files(written)

    def die_in_the_middle() -> None:
        with CubeWriter(written, make_layout(systems=["other", "names"])) as cube:
            cube.write_scores("bleu", "full", 0, np.zeros((2, 9)))
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        die_in_the_middle()
    assert files(written) == before
    assert [path.name for path in written.iterdir() if path.is_dir()] == [cube_name("news/<1>")]


def test_a_new_cube_takes_the_place_of_the_old_one(written: Path) -> None:
    write(written, make_layout(systems=["x", "y"]))
    assert open_cubes(written)["news/<1>"]["system"].values.tolist() == ["x", "y"]
    assert sorted(path.name for path in written.iterdir()) == sorted([cube_name("news/<1>"), "zarr.json"])


def chunk_of(directory: Path, variable: str) -> Path:
    return min((directory / cube_name("news/<1>") / variable).glob("c.*"))


def test_a_small_variable_is_one_file_and_a_large_one_is_in_pieces_of_one_writer_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files and folders are most of what the cube of a small test set takes."""
    names = ("p_value", "p_by_adjustment", "interval", "observed_score", "convention", "system")
    found = []
    for small in (layout_module.SMALL_BYTES, 0):
        monkeypatch.setattr(layout_module, "SMALL_BYTES", small)
        group = tmp_path / str(small) / cube_name("news/<1>")
        write(group.parent, make_layout(systems=[str(number) for number in range(20)]))
        found.append({name: len(list((group / name).glob("c.*"))) for name in names})
        assert [path for path in group.glob("*/*") if path.is_dir() and path.parent.name != "statistics"] == []
    tests = 2 * 2  # metrics and test sizes, by one procedure
    assert found[0] == dict.fromkeys(names, 1)
    in_pieces = {"p_value": tests, "p_by_adjustment": tests, "interval": tests, "observed_score": 2 * tests}
    assert found[1] == {**in_pieces, "convention": 1, "system": 2}
    digests = {digest_cubes(tmp_path / str(small)) for small in (2**18, 0)}
    assert len(digests) == 1
    for read in (open_cubes, read_cubes):
        whole, pieces = (read(tmp_path / str(small))["news/<1>"] for small in (2**18, 0))
        assert all(whole[name].values.tolist() == pieces[name].values.tolist() for name in ("p_value", "interval", "system"))


@pytest.mark.parametrize("harm", ["flip", "cut", "swap", "remove"])
def test_a_harmed_chunk_is_an_error_that_names_it(written: Path, harm: str) -> None:
    chunk = chunk_of(written, "count_at_delta")
    data = chunk.read_bytes()
    if harm == "remove":
        chunk.unlink()
    elif harm == "swap":  # sound in itself, but another chunk
        chunk.write_bytes(chunk_of(written, "count_below_delta").read_bytes())
    else:
        chunk.write_bytes(data[:-3] if harm == "cut" else data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    cube = open_cubes(written)["news/<1>"]
    assert (cube["count_below_delta"].values >= 0).all()
    with pytest.raises(StoreError) as raised:
        cube["count_at_delta"].load()
    problem = raised.value.problems[0]
    assert problem.code == "P707"
    assert "chunk 0.0.0.0.0 of the variable 'count_at_delta'" in problem.message
    assert "'news/<1>'" in problem.message
    assert "pipeline resume" in str(problem.help)
    assert [found.message for found in verify_cubes(written)] == [problem.message]


def test_scores_of_one_system_are_read_from_a_part_of_a_file_and_the_whole_is_held_to_its_checksum(written: Path) -> None:
    scores = open_cubes(written)["news/<1>"]["score"]
    first = {"metric": "bleu", "test_size": "full", "system": ODD[0]}
    expected = make_content(make_layout(systems=ODD[:4]))["bleu", "full"]["score"][0]
    np.testing.assert_array_equal(scores.sel(first).values, expected)
    chunk = written / cube_name("news/<1>") / "score" / "c.0.1.0.0"
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1  # of another system
    chunk.write_bytes(bytes(data))
    for read in (open_cubes, read_cubes):
        with pytest.raises(StoreError, match="P707"):
            read(written)["news/<1>"]["score"].sel(first).values.sum()


def test_what_a_disk_lost_while_a_cube_was_written_is_noticed(tmp_path: Path) -> None:
    """Checksums are of what was to be written, not of what is found there at the end."""
    with CubeWriter(tmp_path, make_layout()) as cube:
        cube.write_scores("bleu", "full", 0, np.ones((2, 9)))
        (chunk,) = tmp_path.glob("*/score/c.*")
        chunk.write_bytes(chunk.read_bytes()[:-1])
    assert [problem.code for problem in verify_cubes(tmp_path)] == ["P707"]


@pytest.mark.parametrize("part", ["checksums.json", "zarr.json", "c"])
def test_a_folder_in_place_of_a_file_is_one_that_is_missing(written: Path, part: str) -> None:
    array = written / cube_name("news/<1>") / "count_at_delta"
    harmed = chunk_of(written, "count_at_delta") if part == "c" else array / part
    harmed.unlink()
    harmed.mkdir()
    assert ("P707", str(harmed)) in [(problem.code, problem.where) for problem in verify_cubes(written)]


def test_a_removed_variable_and_a_broken_description_are_errors(written: Path) -> None:
    group = written / cube_name("news/<1>")
    shutil.rmtree(group / "se")
    with pytest.raises(StoreError, match="P708: the variable 'se' is missing"):
        open_cubes(written)
    (group / "zarr.json").write_text("{")
    with pytest.raises(StoreError, match="P708"):
        open_cubes(written)
    assert verify_cubes(written)[0].code == "P708"


def test_an_attribute_that_is_another_is_noticed_when_the_cube_is_opened(written: Path) -> None:
    description = written / cube_name("news/<1>") / "zarr.json"
    changed = json.loads(description.read_text())
    changed["attributes"]["alpha"] = 0.04
    description.write_text(json.dumps(changed))
    with pytest.raises(StoreError, match="P708"):
        open_cubes(written)
    assert [problem.code for problem in verify_cubes(written)] == ["P708"]


def test_a_harmed_coordinate_is_noticed_when_the_cube_is_opened(written: Path) -> None:
    chunk = chunk_of(written, "system")
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(StoreError, match="P707"):
        open_cubes(written)


@pytest.mark.parametrize("hostile", [b"{", b"\xff", b"", b"[]", b'{"node_type": "array"}', b"[" * 100_000, "codec"])
@pytest.mark.parametrize("sealed", [False, True])
def test_hostile_descriptions_are_one_error_each_and_zarr_has_nothing_to_add(
    written: Path, caplog: pytest.LogCaptureFixture, hostile: bytes | str, sealed: bool
) -> None:
    for array in ("se", "count_at_delta", "bias"):
        description = written / cube_name("news/<1>") / array / "zarr.json"
        evil = hostile if isinstance(hostile, bytes) else description.read_bytes().replace(b'"bytes"', b'"evil"')
        description.write_bytes(evil)
        if sealed:  # whoever made the description has made the checksum too
            seal = description.with_name("checksums.json")
            seal.write_text(json.dumps(json.loads(seal.read_bytes()) | {"zarr.json": zlib.crc32(evil)}))
    with pytest.raises(StoreError, match="P708" if sealed else "P707"):
        open_cubes(written)
    # What Zarr has left undone ends in its thread, and tells of itself when it is collected.
    sync(asyncio.sleep(0.1))
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_no_cubes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="P708"):
        open_cubes(tmp_path / "cubes.zarr")


def test_statistics_keep_items_names_and_lattice(tmp_path: Path) -> None:
    layout = make_layout(systems=["a", "b", "c"])
    values = np.random.default_rng(1).integers(-(2**50), 2**50, (3, 5, 2))
    ids = ["1", "nan", "x/y", "段", " "]
    with CubeWriter(tmp_path, layout) as cube:
        for system in range(3):
            cube.write_statistics(
                "ter",
                values[system : system + 1],
                ids=ids,
                units=(0, 0, 1, 2, 2),
                statistics=("edits", "length"),
                decimals=(0, 2),
                first_system=system,
            )
    found = open_statistics(tmp_path, "news/<1>")["ter"]
    assert (found["statistics"].values == values).all()
    assert found["item"].values.tolist() == ids
    assert found["unit"].dims == ("item",)
    assert found["unit"].values.tolist() == [0, 0, 1, 2, 2]
    assert found["decimals"].values.tolist() == [0, 2]
    assert found["statistic"].values.tolist() == ["edits", "length"]
    assert list(open_cubes(tmp_path)) == ["news/<1>"]
    assert verify_cubes(tmp_path) == []
    chunk = next(path for path in (tmp_path / cube_name("news/<1>") / "statistics").rglob("c.*.*.*"))
    chunk.unlink()
    assert len(verify_cubes(tmp_path)) == 1


def test_blocks_that_do_not_fit_are_refused_with_both_shapes(tmp_path: Path) -> None:
    with CubeWriter(tmp_path, make_layout(systems=["a", "b"])) as cube:
        with pytest.raises(ValueError, match=r"\(2, 10\) at \(0, 16384\) does not fit into \(2, 16393\)"):
            cube.write_scores("bleu", "full", 16384, np.zeros((2, 10)))
        with pytest.raises(ValueError, match="no metric 'chrf'; there are 'bleu', 'ter'"):
            cube.write_scores("chrf", "full", 0, np.zeros((2, 10)))
        with pytest.raises(ValueError, match="dtype float64, expected int64"):
            cube.write_histogram("bleu", "full", np.zeros((1, 96)))
        with pytest.raises(ValueError, match="no variable 'q'"):
            cube.write_table("bleu", "full", {"q": np.zeros((2, 1))})


def test_a_full_disk_says_so_and_leaves_nothing(tmp_path: Path, small_disk: Path) -> None:
    layout = make_layout(systems=[str(k) for k in range(40)])
    with pytest.raises(StoreError, match="P701"):
        write(small_disk / "cubes.zarr", layout)
    assert list((small_disk / "cubes.zarr").iterdir()) == []


def test_the_order_of_counts_and_sums_is_that_of_the_kernel() -> None:
    measures = pytest.importorskip("pipeline.resampling.measures")
    assert tuple(f"count_{name}" for name in measures.COUNTS) == tuple(variable.name for variable in variables.COUNTS)
    assert tuple(f"sum_{name}" for name in measures.SUMS) == tuple(variable.name for variable in variables.SUMS)


def test_a_cube_opens_without_the_package(written: Path) -> None:
    import xarray as xr

    plain = xr.open_zarr(written / cube_name("news/<1>"), consolidated=False, chunks=None)
    assert plain["count_at_zero"].shape == open_cubes(written)["news/<1>"]["count_at_zero"].shape
    assert os.fspath(written) not in "".join(map(str, plain.attrs.values()))
