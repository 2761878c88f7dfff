"""A preset sets what a study leaves open, and what a study has otherwise is told; a misspelt one is refused at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.studies import run_cli, text_study

from pipeline.errors import StudyError
from pipeline.presets.registry import PRESETS
from pipeline.study.load import LoadedStudy, load_study, study_from_value
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Study

NAMES = PRESETS.own()

STUDY = """\
schema: 1
study: mine
preset: {preset}
test_sets:
  news: {{references: [ref.txt], outputs: "out/{{system}}.txt"}}
metrics: [bleu]
"""


def load(folder: Path, preset: str, more: str = "", *overrides: str) -> LoadedStudy:
    (folder / "study.yaml").write_text(STUDY.format(preset=preset) + more, encoding="utf-8")
    return load_study(folder / "study.yaml", overrides)


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_sets_what_its_numbers_need(name: str) -> None:
    preset = PRESETS[name]
    values = preset.values
    assert values["resampling", "replicates"] == preset.replicates
    assert set(values["resampling", "procedures"]) >= set(preset.procedures)
    # A number of models with several runs is that of an analysis, which the preset asks for with this null.
    asked = values.get(("analyses",), [])
    assert [spec["name"] for spec in asked] == [rule.analysis for rule in preset.rules if rule.analysis]
    for rule, spec in zip((rule for rule in preset.rules if rule.analysis), asked, strict=True):
        assert rule.procedure in spec["options"]["nulls"]


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_is_a_study_without_deviations(name: str, tmp_path: Path) -> None:
    loaded = load(tmp_path, name)
    assert loaded.study.resampling.replicates == PRESETS[name].replicates
    assert loaded.study.deviations == ()
    again = Study.model_validate(loaded.study.model_dump(mode="json", by_alias=True))
    assert again == loaded.study


def test_what_the_study_says_holds_and_is_told(tmp_path: Path) -> None:
    loaded = load(tmp_path, "sacrebleu-bs", "resampling:\n  replicates: 2000\n  alpha: 0.01\n", "seed=7")
    assert (loaded.study.seed, loaded.study.resampling.replicates, loaded.study.resampling.alpha) == (7, 2000, 0.01)
    assert loaded.study.resampling.intervals == ("symmetric", "percentile")
    assert loaded.study.deviations == (
        "resampling.replicates is 2000, in sacrebleu-bs 1000",
        "seed is 7, in sacrebleu-bs 12345",
    )
    origins = {key: str(loaded.document.where(key)).rpartition("/")[2] for key in (("resampling", "replicates"), ("seed",))}
    assert origins["resampling", "replicates"] == "study.yaml:8:15"
    assert loaded.document.where(("resampling", "procedures")) == "preset sacrebleu-bs"
    assert origins[("seed",)].startswith("--set seed=7")


def test_lists_are_told_in_words(tmp_path: Path) -> None:
    more = "resampling: {procedures: [paired-bootstrap, approximate-randomization]}\n"
    (told,) = load(tmp_path, "koehn-2004", more).study.deviations
    assert told == "resampling.procedures is paired-bootstrap and approximate-randomization, in koehn-2004 paired-bootstrap"


@pytest.mark.parametrize("more", ["", "resampling:\n", "resampling: {}\n"])
def test_what_is_left_empty_is_left_open(more: str, tmp_path: Path) -> None:
    assert load(tmp_path, "sacrebleu-ar", more).study.resampling.procedures == ("approximate-randomization",)


def test_without_a_preset_nothing_is_set(tmp_path: Path) -> None:
    for empty in ("", "null"):
        study = load(tmp_path, empty).study
        assert (study.preset, study.seed, study.resampling, study.deviations) == (None, 20120712, Resampling(), ())


def test_an_unknown_preset_is_refused_at_its_place_with_a_guess(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as raised:
        load(tmp_path, "sacrebleu-sb", "resampling: {replicates: none}\n")
    first, second = raised.value.problems
    assert (first.code, first.help) == ("P103", "did you mean 'sacrebleu-bs'?")
    assert (first.where or "").endswith("study.yaml:3:9")
    assert second.message.startswith("resampling.replicates: expected a whole number")


@pytest.mark.parametrize("written", ["[sacrebleu-bs]", "{a: b}", "7", "true"])
def test_a_preset_that_is_no_name_is_refused(written: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError) as raised:
        load(tmp_path, written)
    assert [problem.code for problem in raised.value.problems] == ["P103"]


@pytest.mark.parametrize("written", ["[1]", "many"])
def test_nothing_is_set_within_what_is_no_mapping(written: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError) as raised:
        load(tmp_path, "koehn-2004", f"resampling: {written}\n")
    (problem,) = raised.value.problems
    assert problem.message.startswith("resampling: expected a mapping")


def test_a_study_that_was_never_in_a_file_keeps_what_was_asked(tmp_path: Path) -> None:
    value = yaml.safe_load(STUDY.format(preset="koehn-2004"))
    before = yaml.safe_dump(value)
    loaded = study_from_value(value, base=tmp_path)
    assert loaded.study.resampling.replicates == 1000
    assert yaml.safe_dump(value) == before
    assert "1000" not in loaded.text


def test_plan_tells_what_is_not_as_the_preset_sets_it(tmp_path: Path) -> None:
    study = text_study(tmp_path, ["a", "b"], preset="koehn-2004", resampling={"replicates": 500})
    told = run_cli("plan", study, "--runs", tmp_path / "runs")
    assert told.returncode == 0, told.stderr
    assert "  preset koehn-2004\n    resampling.replicates is 500, in koehn-2004 1000\n" in told.stdout
    same = run_cli("plan", study, "-b", 1000, "--runs", tmp_path / "runs")
    assert "  preset koehn-2004, as it is\n" in same.stdout
