"""What is found wrong with a study after it was read is told with the line of the key that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import DataError, PipelineError, Problem, StudyError
from pipeline.study.load import LoadedStudy, load_study, study_from_value
from pipeline.study.locate import locating, placed
from pipeline.study.marks import dotted

TEXT = """schema: 1
study: s
test_sets:
  news 1.2:
    format: scores
    outputs: scores.csv
metrics:
- mean
- {name: cost, metric: mean}
resampling: {unit: domain}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedStudy:
    (tmp_path / "study.yaml").write_text(TEXT)
    return load_study(tmp_path / "study.yaml", ["resampling.alpha=0.1"])


def located(loaded: LoadedStudy, where: str | None) -> str | None:
    with pytest.raises(DataError) as caught, locating(loaded):
        raise DataError.of("P223", "no column", where=where)
    return caught.value.problems[0].where


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("metrics", 1), "9:3"),
        (("metrics", 1, "metric"), "9:24"),
        (("metrics", 0, "beta"), "8:3"),  # what it has not stands where the whole does
        (("test_sets", "news 1.2", "format"), "5:13"),
        (("resampling", "unit"), "10:20"),
    ],
)
def test_a_key_becomes_its_line(loaded: LoadedStudy, path: tuple[str | int, ...], place: str) -> None:
    assert located(loaded, dotted(path)) == f"{loaded.path}:{place}"


def test_a_value_of_the_command_line_is_told_as_one(loaded: LoadedStudy) -> None:
    assert located(loaded, "resampling.alpha") == "--set resampling.alpha=0.1"


@pytest.mark.parametrize(
    "where",
    [
        None,
        "",
        "scores.csv",
        "scores.csv:7",
        "out/metrics.csv",
        "metrics.csv:3",
        "metrics/x",
        "items",
        "systems.csv",
        "resampling.csv",
        "study.yaml",
    ],
)
def test_files_stay_what_they_are(loaded: LoadedStudy, where: str | None) -> None:
    assert located(loaded, where) == where


def test_a_study_that_is_in_no_file_has_no_lines(tmp_path: Path) -> None:
    value = {"schema": 1, "study": "s", "test_sets": {"t": {"format": "scores", "outputs": "x.csv"}}, "metrics": ["mean"]}
    assert located(study_from_value(value, base=tmp_path), "metrics[0]") == "metrics[0]"


def test_a_place_is_given_to_what_has_none_and_the_kind_stays() -> None:
    with pytest.raises(StudyError) as caught, placed("metrics[0]"):
        raise StudyError(Problem("P150", "a"), Problem("P151", "b", "elsewhere"))
    assert [problem.where for problem in caught.value.problems] == ["metrics[0]", "elsewhere"]
    with placed("metrics[0]"):
        pass


def test_what_cannot_be_located_is_raised_as_it_was(loaded: LoadedStudy) -> None:
    given = PipelineError.of("P999", "x")
    with pytest.raises(PipelineError) as caught, locating(loaded):
        raise given
    assert caught.value is given
