"""What a file publishes of its items is computed again, shown beside, and told where it is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.interfaces import Items
from pipeline.items.align import alignment_table, survey_test_set
from pipeline.report.alignment import format_alignment, spread_published
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet


class Publishing:
    """Reads a number a line, and what the first line says is their mean."""

    name, targets, compares_with, usual_metric, blank = "publishing", (), "nothing", "mean", "0"

    def read_gold(self, paths, options):
        """Return none."""

    def write(self, path, columns, ids):
        """Write nothing: there are no trainings."""

    def read_outputs(self, path, *, system, options):
        """Return the numbers and what is published of them."""
        published, *values = Path(path).read_text().split()
        said = {} if published == "-" else {"acc": float(published)}
        ids = tuple(map(str, range(len(values))))
        return {system: Items(ids, {"acc": tuple(values)}, str(path), tuple(range(2, 2 + len(values))), False, published=said)}


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.items.readers.registry.import_plugin", lambda family, name: Publishing)

    def made(**files):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return survey_test_set("t", TestSet(format="publishing", outputs="{system}"), base=tmp_path, systems=Systems(), unit="item")

    return made


def test_published_and_computed_stand_side_by_side(survey):
    found = survey(north="0.75 1 1 0 1", south="- 1 0 0 0")
    rows = alignment_table(found)
    assert [dict(row.published) for row in rows] == [{"acc": (0.75, 0.75)}, {}]
    assert not [warning for warning in found.warnings if "publish" in warning]
    table = format_alignment("t", 4, 4, [row._asdict() for row in rows])
    assert "acc published  acc here  acc difference" in table
    assert [line.split()[-3:] for line in table.splitlines()[2:4]] == [["0.7500", "0.7500", "0.0000"], ["–", "–", "–"]]


def test_a_mean_that_is_not_that_of_the_items_is_told_with_the_worst_system(survey):
    found = survey(east="0.50 1 0 0 1", north="0.80 1 1 0 1", south="0.26 1 0 0 0")
    (told,) = [warning for warning in found.warnings if "publish" in warning]
    assert told == "what files publish as acc is not what their items give: for 'north' 0.8 is published, its items have 0.75"


def test_nothing_published_adds_no_column(survey):
    rows = [row._asdict() for row in alignment_table(survey(north="- 1 0", south="- 0 1"))]
    assert list(spread_published(rows)[0]) == ["system", "items", "common", "missing", "duplicates", "identical_to"]
