"""A table of all systems is parsed once for all of them, and looked at once for each value."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import pipeline.items.outputs
import pipeline.items.readers.scores
from pipeline.errors import DataError
from pipeline.items.align import survey_test_set
from pipeline.items.outputs import load_output
from pipeline.items.readers._tables import is_number
from pipeline.metrics import load_metric
from pipeline.study.grouping import with_asked_columns
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

SYSTEMS, ITEMS = 12, 300
SPEC = TestSet(format="scores", outputs="wide.csv")


@pytest.fixture
def scores(tmp_path: Path) -> np.ndarray:
    values = np.random.default_rng(4).integers(0, 2, (ITEMS, SYSTEMS))
    rows = ["item," + ",".join(f"m{k}" for k in range(SYSTEMS)), *(f"q{i}," + ",".join(map(str, v)) for i, v in enumerate(values))]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    return values


def test_extraction_parses_a_table_of_all_systems_once(tmp_path: Path, scores: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    found = survey_test_set("t", SPEC, base=tmp_path, systems=Systems(), unit="item")
    parsed: list[str] = []
    parse = pipeline.items.readers.scores.parse_table
    monkeypatch.setattr(pipeline.items.readers.scores, "parse_table", lambda lines: parsed.append(lines.source) or parse(lines))
    pipeline.items.outputs._read.cache_clear()
    for metric in ("mean", "mean"):
        counted = [load_metric(metric).extract(None, load_output(SPEC, o, frame=found.frame)) for o in found.outputs]
        assert np.array_equal(np.stack([c.values[:, 0] for c in counted], axis=1), scores)
    assert len(parsed) == 1


def test_a_value_is_looked_at_once_for_each_system(tmp_path: Path, scores: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(pipeline.items.readers.scores, "is_number", lambda value: asked.append(value) or is_number(value))
    survey_test_set("t", SPEC, base=tmp_path, systems=Systems(), unit="item")
    assert len(asked) == 2 * SYSTEMS


def test_a_table_that_changes_is_read_again(tmp_path: Path, scores: np.ndarray) -> None:
    found = survey_test_set("t", SPEC, base=tmp_path, systems=Systems(), unit="item")
    load_output(SPEC, found.outputs[0], frame=found.frame)
    path = tmp_path / "wide.csv"
    before = path.stat()
    lines = path.read_text().splitlines()
    lines[1] = lines[1][:-1] + "10"[int(lines[1][-1])]
    path.write_text("\n".join(lines) + "\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))  # of the same length, a moment later
    with pytest.raises(DataError, match="changed after it was surveyed"):
        load_output(SPEC, found.outputs[-1], frame=found.frame)
    path.unlink()
    with pytest.raises(DataError, match=r"there is no file wide\.csv"):
        load_output(SPEC, found.outputs[0], frame=found.frame)


def test_every_wrong_value_of_a_table_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("item,A,B\nq1,1,2\nq2,nan,2\nq3,1,x\nq4,nan,2\n")
    with pytest.raises(DataError) as caught:
        survey_test_set("t", SPEC, base=tmp_path, systems=Systems(), unit="item")
    where = [str(problem.where).removeprefix(f"{tmp_path / 'wide.csv'}:") for problem in caught.value.problems]
    assert where == ["3:A", "5:A", "4:B"]


def test_a_column_twice_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("item,A,B,A,A\nq1,1,2,3,4\nq2,1,2,3,4\n")
    with pytest.raises(DataError) as caught:
        survey_test_set("t", SPEC, base=tmp_path, systems=Systems(), unit="item")
    assert [problem.message for problem in caught.value.problems] == ["the header names a column twice: 'A'"]


@pytest.mark.parametrize(("header", "taken"), [("item,A,B,C", ("A",)), ("item,A,system,C", ())])
def test_a_group_that_holds_scores_is_noticed_in_a_wide_table(tmp_path: Path, header: str, taken: tuple[str, ...]) -> None:
    wide = "system" not in header
    rows = [f"q{i},{i % 2},{i if wide else system},{i * i}" for i in range(6) for system in ("u" if wide else "uv")]
    (tmp_path / "wide.csv").write_text("\n".join([header, *rows]) + "\n")
    spec = with_asked_columns(SPEC, Resampling(unit="A"))
    assert survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="A").taken == taken
    plain = (tmp_path / "wide.csv").read_text().replace(",0,", ",x,").replace(",1,", ",y,")
    (tmp_path / "wide.csv").write_text(plain)
    assert survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="A").taken == ()


def test_labels_are_noticed_by_the_labels_of_the_gold(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("id,gold,domain,north,south,west\ns1,n,x,n,v,v\ns2,v,x,v,v,v\ns3,n,y,n,n,v\ns4,v,y,n,v,n\n")
    given = {"format": "labels", "gold": "all.csv", "outputs": "all.csv", "columns": {"label": "gold", "item": "id"}}
    for unit, taken in (("north", ("north",)), ("domain", ())):
        spec = with_asked_columns(TestSet(**given), Resampling(unit=unit))
        assert survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit=unit).taken == taken


@pytest.mark.data
def test_right_and_wrong_of_real_models_are_read_wide(tmp_path: Path, data_dir: Path) -> None:
    from support.mmlu_data import read_mmlu

    right = read_mmlu(data_dir, models=28, items=12002)
    rows = ["item," + ",".join(f"m{k}" for k in range(28)), *(f"q{i}," + ",".join(map(str, row)) for i, row in enumerate(right))]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    found = survey_test_set("t", SPEC, base=tmp_path, systems=Systems(), unit="item")
    counted = [load_metric("mean").extract(None, load_output(SPEC, o, frame=found.frame)) for o in found.outputs]
    assert np.array_equal(np.stack([c.values[:, 0] for c in counted], axis=1), right)
