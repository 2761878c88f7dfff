"""Parquet, Arrow and Feather files are tables of strings, written as their types write them."""

from __future__ import annotations

import importlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from support.listening import listen

from pipeline.errors import DataError
from pipeline.items.align import survey_test_set
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.readers._arrow import is_columnar
from pipeline.items.recognise import recognise_file
from pipeline.metrics import load_metric
from pipeline.study.grouping import with_asked_columns
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

pa: Any = pytest.importorskip("pyarrow", reason="Parquet and Arrow need pyarrow: pip install 'pipeline[parquet]'")
feather: Any = importlib.import_module("pyarrow.feather")
parquet: Any = importlib.import_module("pyarrow.parquet")


def write(path: Path, table: Any) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".feather":
        feather.write_feather(table, str(path))
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    return path


WIDE = {
    "item": pa.array([7, 3, 12], pa.int64()),
    "north": pa.array([0.1, 0.25, 1e-7], pa.float32()),
    "NA": pa.array([0.1, 1 / 3, 2.0], pa.float64()),
    "right": pa.array([True, False, True]),
    "price": pa.array([Decimal("1.50"), Decimal("-0.25"), Decimal("10.00")]),
    "half": pa.array([0.1, 2.0, 3.0], pa.float32()).cast(pa.float16()),
    "words": pa.array(["1", "02", "3e1"]).dictionary_encode(),
}


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "stream"])
def test_numbers_have_the_digits_of_their_type_in_every_kind_of_file(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"wide.{suffix}", pa.table(WIDE))
    reader = listen(load_reader("scores"))
    found = reader.read_outputs(path, system=None, options={})
    assert {name: items.columns["score"] for name, items in found.items()} == {
        "north": ("0.1", "0.25", "1e-07"),
        "NA": ("0.1", "0.3333333333333333", "2.0"),
        "right": ("1", "0", "1"),
        "price": ("1.50", "-0.25", "10.00"),
        "half": ("0.1", "2.0", "3.0"),
        "words": ("1", "02", "3e1"),
    }
    assert (found["NA"].ids, found["NA"].lines, found["NA"].numbered) == (("7", "3", "12"), (1, 2, 3), False)
    assert reader.warnings == []


def test_a_long_table_is_surveyed_and_scored(tmp_path: Path) -> None:
    table = pa.table(
        {"system": ["a", "b", "b", "a"], "item": ["x", "y", "x", "y"], "f1": pa.array([0.1, 0.2, 0.4, 0.8], pa.float32())}
    )
    write(tmp_path / "long.parquet", table)
    spec = TestSet(format="scores", outputs="long.parquet")
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    metric = load_metric("mean", {"column": "f1"})
    counted = {o.system: metric.extract(None, load_output(spec, o, frame=found.frame)) for o in found.outputs}
    assert {name: (s.values[:, 0].tolist(), s.decimals) for name, s in counted.items()} == {
        "a": ([1, 8], (1, 0)),
        "b": ([4, 2], (1, 0)),
    }


def test_labels_and_their_gold_may_be_parquet(tmp_path: Path) -> None:
    write(tmp_path / "gold.parquet", pa.table({"id": [1, 2], "label": ["x", "y"]}))
    write(tmp_path / "north.parquet", pa.table({"id": [2, 1], "label": ["y", "y"]}))
    write(tmp_path / "south.parquet", pa.table({"id": [2, 1], "label": pa.array([None, "x"])}))
    spec = TestSet(format="labels", gold="gold.parquet", outputs={"north": "north.parquet", "south": "south.parquet"})
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    read = {o.system: load_output(spec, o, frame=found.frame, base=tmp_path).columns["label"] for o in found.outputs}
    assert read == {"north": ("y", "y"), "south": ("x", "")}


def test_columns_group_items_and_a_misspelt_one_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    table = {"item": ["a", "b", "c"], "topic": ["x", "x", "y"], "north": [1.5, 2.0, 1.0], "south": [0.5, 2.0, 3.0]}
    write(tmp_path / "x.parquet", pa.table(table))
    for unit in ("topic", "topics"):
        spec = with_asked_columns(TestSet(format="scores", outputs="x.parquet"), Resampling(unit=unit))
        try:
            assert survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit=unit).frame.units == ("x", "y")
        except DataError as error:
            (problem,) = error.problems
            assert (unit, problem.code, problem.help) == ("topics", "P223", "did you mean 'topic'?")
        else:
            assert unit == "topic"


def test_what_is_nothing_or_no_number_is_refused_with_its_row(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", pa.table({"item": ["a", "b", "c"], "north": [0.5, None, float("nan")]}))
    with pytest.raises(DataError) as caught:
        load_reader("scores").read_outputs(path, system=None, options={})
    assert [(p.code, p.where) for p in caught.value.problems] == [("P210", f"{path}:2:north"), ("P210", f"{path}:3:north")]


def test_columns_of_lists_are_left_out_and_told_and_refused_where_there_is_nothing_else(tmp_path: Path) -> None:
    nested = {"tokens": [[1, 2], [3]], "metrics": [{"acc": 1}, {"acc": 0}], "raw": [b"x", b"y"]}
    path = write(tmp_path / "x.parquet", pa.table({"item": ["a", "b"], "north": [1, 0], **nested}))
    reader = listen(load_reader("scores"))
    assert list(reader.read_outputs(path, system=None, options={})) == ["north"]
    (told,) = reader.warnings
    assert "'tokens' (list<" in told
    assert "'metrics' (struct<" in told
    assert "'raw' (binary)" in told
    with pytest.raises(DataError, match="every column of the table holds lists") as caught:
        load_reader("scores").read_outputs(write(tmp_path / "y.parquet", pa.table(nested)), system=None, options={})
    assert caught.value.problems[0].code == "P211"


@pytest.mark.parametrize("suffix", ["parquet", "feather", "stream"])
@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_a_file_that_is_cut_off_is_damaged(tmp_path: Path, suffix: str, keep: float) -> None:
    path = write(tmp_path / f"x.{suffix}", pa.table(WIDE))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(DataError) as caught:
        load_reader("scores").read_outputs(path, system=None, options={})
    assert [(p.code, p.where) for p in caught.value.problems] == [("P206", str(path))]


def test_a_table_without_rows_and_names_that_come_twice_are_refused(tmp_path: Path) -> None:
    for table, code in (
        (pa.table({"item": pa.array([], pa.string()), "north": pa.array([], pa.int64())}), "P212"),
        (pa.table([[1], [2], [3]], names=["item", "north", "north"]), "P211"),
    ):
        with pytest.raises(DataError) as caught:
            load_reader("scores").read_outputs(write(tmp_path / "x.parquet", table), system=None, options={})
        assert caught.value.problems[0].code == code


def test_files_are_recognised_by_their_first_bytes(tmp_path: Path) -> None:
    for suffix in ("parquet", "feather", "arrow"):
        path = write(tmp_path / f"x.{suffix}", pa.table(WIDE)).rename(tmp_path / f"{suffix}.csv")
        assert recognise_file(path)[0].name == "scores"
        assert recognise_file(path, gold=True)[0].name == "labels"


def test_without_pyarrow_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "x.parquet", pa.table(WIDE))

    def refuse(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(DataError) as caught:
        load_reader("scores").read_outputs(path, system=None, options={})
    (problem,) = caught.value.problems
    assert problem.code == "P206"
    assert "pip install pyarrow" in str(problem.help)


@pytest.mark.parametrize("text", ["PAR1\nB\n", "PAR1,x\n", "ARROW1", "ARROW1 x\n", "PARTY\n", "FEA1\tx\n"])
def test_text_that_begins_like_a_table_is_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    assert not is_columnar(tmp_path / "x.txt")
    labels = load_reader("labels").read_outputs(tmp_path / "x.txt", system="x", options={})["x"].columns["label"]
    assert labels == tuple(text.splitlines())
