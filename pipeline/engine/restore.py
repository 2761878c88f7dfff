"""Restore lost files of a run, its plan and its frames, from the study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.errors import PipelineError, StoreError
from pipeline.record.manifest import Manifest, read_manifest
from pipeline.store.files import write_json
from pipeline.store.runs import RunDirectory
from pipeline.store.seals import read_sealed, write_sealed
from pipeline.study.load import LoadedStudy, load_study
from pipeline.survey.survey import frames_are_sound, survey_study

__all__ = ["restore_frames", "restore_plan", "write_origin"]


def write_origin(run: RunDirectory, loaded: LoadedStudy) -> None:
    """Store beside `study.yaml` what it does not contain: the folder where its paths start, and the command line."""
    origin = {"base": str(loaded.base), "overrides": list(loaded.overrides), "command": loaded.command}
    write_sealed(run.origin, {"schema_version": 1, **origin})


def restore_plan(run: RunDirectory) -> bool:
    """Make `plan.json` again from the run's `study.yaml` where it cannot be read, and say whether that was needed.

    Raises
    ------
    StoreError
        P714 it cannot be made again: `study.yaml` is damaged too, or what it asks today is another run.
    """
    try:
        read_manifest(run)
    except StoreError as error:
        damage = error
    else:
        return False
    base, overrides = _read_origin(run)
    try:
        loaded = replace(load_study(run.study, overrides), base=base)
        survey = survey_study(loaded.study, base)
    except PipelineError as error:
        raise _lost(run, error.problems[0].message) from damage
    manifest = Manifest(survey.study, survey.inputs, overrides)
    if manifest.run_id != run.id:
        raise _lost(run, "it now describes another run: options were given, or files have changed")
    survey.store_frames(run.store)
    write_json(run.plan, manifest.to_json())
    return True


def restore_frames(run: RunDirectory) -> None:
    """Write the frames again that the store has lost or that are damaged, from the study's files."""
    manifest = read_manifest(run)
    if frames_are_sound(manifest.inputs, run.store):
        return
    survey_study(manifest.study, Path(manifest.inputs.base)).store_frames(run.store)


def _read_origin(run: RunDirectory) -> tuple[Path, tuple[str, ...]]:
    """Return the folder where the study's paths start and what the command line changed, as far as that can be read."""
    try:
        origin = read_sealed(run.origin)
        base, overrides = origin["base"], tuple(origin["overrides"])
    except (StoreError, TypeError, KeyError):
        return run.root, ()  # paths may be absolute, and the run's id tells whether this is what was asked
    if not all(isinstance(text, str) for text in (base, *overrides)):
        return run.root, ()
    return Path(base), overrides


def _lost(run: RunDirectory, why: str) -> StoreError:
    error = StoreError.of(
        "P714",
        f"plan.json cannot be read, and study.yaml does not give it again: {why}",
        where=str(run.plan),
        help=f"`pipeline run STUDY --runs {run.root.parent}` with its study and options; all that is stored is used again",
    )
    assert isinstance(error, StoreError)
    return error
