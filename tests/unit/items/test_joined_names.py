"""Names with zero-width joiners, as Persian, Hindi and joined pictures have them: taken where they join, and never two alike."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline
from pipeline.errors import DataError, PipelineError
from pipeline.study.load import load_study
from pipeline.study.yaml_values import format_yaml
from pipeline.survey.survey import survey_loaded

PERSIAN, HINDI, PICTURE = "می\u200cرود", "क्\u200dष", "👩\u200d💻"
NO_NAMES = ("a\u200cb", "\u200cمی", "می\u200d", "می\u200c\u200cرود", "می\u200c رود", "می\u202eرود", "\u200c", "a\u200b\u0645")


def check(folder: Path, names: list[str], test_sets: tuple[str, ...] = ("t",)) -> list[str]:
    """Return the systems of a study whose outputs have these names."""
    files = {}
    for place, name in enumerate(names):
        (folder / f"{place}.csv").write_text("item,score\n" + "".join(f"{k},{(k * (place + 2)) % 5}\n" for k in range(8)))
        files[name] = f"{place}.csv"
    study = {"schema": 1, "study": "s", "test_sets": {t: {"format": "scores", "outputs": files} for t in test_sets}}
    (folder / "study.yaml").write_text(format_yaml(study | {"metrics": ["mean"]}), "utf-8")
    (found, *_) = survey_loaded(load_study(folder / "study.yaml")).inputs.test_sets
    return [output.system for output in found.outputs]


def test_what_joins_letters_or_pictures_is_part_of_a_name(tmp_path: Path) -> None:
    names = [PERSIAN, HINDI, PICTURE, "GPT\u200cها"]
    assert check(tmp_path, names, test_sets=("اخبار\u200cها",)) == names
    scores = {name: [(k * (place + 2)) % 5 for k in range(30)] for place, name in enumerate(names)}
    found = pipeline.compare(scores, replicates=200)
    assert set(found.systems["name"]) == set(names)
    assert all(name in text for name in names for text in (str(found), found.to_markdown(), found.to_latex()))


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_what_joins_nothing_that_shows_it_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        check(tmp_path, ["x", name])
    (problem,) = caught.value.problems
    assert (problem.code, repr(name) in problem.message) == ("P221", True)
    with pytest.raises(PipelineError, match="test set name"):
        check(tmp_path, ["x", "y"], test_sets=(name,))


def test_two_names_that_look_alike_are_refused_wherever_they_are(tmp_path: Path) -> None:
    alike = [PERSIAN, PERSIAN.replace("\u200c", ""), PERSIAN.replace("\u200c", "\u200d")]
    with pytest.raises(DataError) as caught:
        check(tmp_path, ["x", *alike, HINDI])
    (problem,) = caught.value.problems
    assert problem.code == "P221"
    assert [ascii(name) in problem.message for name in ["x", *alike, HINDI]] == [False, True, True, True, False]
    with pytest.raises(PipelineError, match="differ only in characters that do not print"):
        check(tmp_path, ["x", "y"], test_sets=tuple(alike[:2]))


def test_names_that_look_alike_are_refused_in_different_test_sets_too(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / f"{name}.csv").write_text("item,score\n1,2\n2,3\n3,1\n")
    sets = [{"format": "scores", "outputs": {"x": "x.csv", name: "y.csv"}} for name in (PERSIAN, PERSIAN.replace("\u200c", ""))]
    study = {"schema": 1, "study": "s", "test_sets": dict(zip("ab", sets, strict=True)), "metrics": ["mean"]}
    (tmp_path / "study.yaml").write_text(format_yaml(study), "utf-8")
    with pytest.raises(DataError, match="differ only in characters that do not print"):
        survey_loaded(load_study(tmp_path / "study.yaml"))
