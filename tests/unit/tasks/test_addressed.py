"""What lies in frames/ is held to its name: damage is never used, and is mended by a run and by resume."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.studies import files_of, write_study

from pipeline.api import run
from pipeline.engine.coordinator import DAMAGE
from pipeline.engine.launch import Launch, execute
from pipeline.engine.restore import restore_frames
from pipeline.errors import StoreError
from pipeline.items.frame import Frame
from pipeline.items.stored import frame_key, grouping_key, load_frame, load_grouping, store_frame, store_grouping
from pipeline.store.runs import RunDirectory, Store

FRAME = Frame("t", ("a", "b", "c"), (0, 0, 1), ("d1", "d2"))


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    "wrong", [{"unit_of_item": [0, 1, 1]}, {"ids": ["a", "c", "b"]}, {"units": ["d1"]}, {"ids": None}, {"unit_of_item": [0, 0]}]
)
def test_a_damaged_frame_is_refused_and_written_again(tmp_path: Path, wrong: dict[str, object]) -> None:
    store = Store(tmp_path)
    key = store_frame(FRAME, store)
    path = store.path("frames", key, ".json")
    sound = path.read_bytes()
    change(path, **wrong)
    load_frame.cache_clear()
    with pytest.raises(StoreError) as caught:
        load_frame(store, key)
    assert caught.value.problems[0].code in DAMAGE
    assert caught.value.problems[0].where == str(path)
    assert store_frame(FRAME, store) == key == frame_key(FRAME)
    assert path.read_bytes() == sound
    assert load_frame(store, key) == FRAME


@pytest.mark.parametrize("wrong", [[0, 1, 1, 0], [0, 1], "0", None])
def test_a_damaged_grouping_is_refused_and_written_again(tmp_path: Path, wrong: object) -> None:
    store = Store(tmp_path)
    group_of = (0, 1, 1)
    store_grouping(group_of, store)
    key = grouping_key(group_of)
    path = store.path("frames", key, ".json")
    change(path, group_of=wrong)
    load_grouping.cache_clear()
    with pytest.raises(StoreError) as caught:
        load_grouping(store, key)
    assert caught.value.problems[0].code in DAMAGE
    store_grouping(group_of, store)
    assert np.array_equal(load_grouping(store, key), group_of)


def test_what_is_there_and_whole_is_not_written_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = store_frame(FRAME, store)
    before = store.path("frames", key, ".json").stat()
    store_frame(FRAME, store)
    assert store.path("frames", key, ".json").stat().st_ino == before.st_ino


def make_run(folder: Path) -> RunDirectory:
    rows = ["item,speaker,north,south", *(f"q{k},{'uvw'[k % 3]},{k % 5},{k * k % 7}" for k in range(24))]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n")
    study = write_study(
        folder / "study.yaml",
        test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        analyses=["thresholds"],
        report={"null_laboratory": False, "formats": ["json"]},
        resampling={"replicates": 500, "keep_replicates": 200, "strata": "speaker"},
    )
    return run(study, runs=folder / "runs", serial=True)


def test_resume_mends_damaged_frames_and_strata(tmp_path: Path) -> None:
    directory = make_run(tmp_path)
    cubes = files_of(directory.cubes)
    frames = files_of(directory.store.root / "frames")
    assert len(frames) == 2
    for name, content in frames.items():
        path = directory.store.root / "frames" / name
        value = json.loads(content)
        key = "group_of" if "group_of" in value else "unit_of_item"
        change(path, **{key: value[key][::-1]})
    shutil.rmtree(directory.store.root / "cells")
    shutil.rmtree(directory.cubes)
    load_frame.cache_clear()
    load_grouping.cache_clear()
    with pytest.raises(StoreError):  # without a look at everything: damaged frames are not used
        execute(directory, Launch("serial"))
    ending = execute(directory, Launch("serial"), verify=True)
    assert ending.exit_code == 0, ending
    assert files_of(directory.store.root / "frames") == frames
    assert files_of(directory.cubes) == cubes
    restore_frames(directory)
