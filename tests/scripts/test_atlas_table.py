"""The atlas is written anew for the studies that are run, and is left alone where one of them fails."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import atlas_table
import pytest

from pipeline.power_analysis.atlas import Kin, load_atlas, to_json


def kin(task: str, items: int = 1) -> Kin:
    return Kin(task, "bleu", "all", items, 20, (1.0,) * 9)


@pytest.fixture
def atlas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An atlas of three studies, of which one has a second test set."""
    monkeypatch.setattr(atlas_table, "STUDIES", ("a", "a2", "b"))
    monkeypatch.setattr(atlas_table, "ATLAS", tmp_path / "atlas.json")
    monkeypatch.setattr(atlas_table, "load_atlas", lambda: [kin("a"), kin("a-law"), kin("a2"), kin("b")])
    (tmp_path / "atlas.json").write_text("as it was")
    return tmp_path / "atlas.json"


def tasks(path: Path) -> list[tuple[str, int]]:
    return [(entry["task"], entry["items"]) for entry in json.loads(path.read_text())["entries"]]


def test_entries_of_studies_that_are_not_named_stay(atlas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlas_table, "measure", lambda name, runs: [kin(name, 2)])
    monkeypatch.setattr("sys.argv", ["atlas", "a2"])
    atlas_table.main()
    assert tasks(atlas) == [("a", 1), ("a-law", 1), ("a2", 2), ("b", 1)]
    monkeypatch.setattr("sys.argv", ["atlas", "b", "a"])
    atlas_table.main()
    assert tasks(atlas) == [("a", 2), ("a2", 1), ("b", 2)]
    monkeypatch.setattr("sys.argv", ["atlas"])
    atlas_table.main()
    assert tasks(atlas) == [("a", 2), ("a2", 2), ("b", 2)]


def test_a_study_that_fails_leaves_the_atlas_and_is_told(atlas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 3, "", "error[P201]: there is no file")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setattr("sys.argv", ["atlas", "b"])
    with pytest.raises(SystemExit, match=r"b: exit 3; the atlas is as it was\nerror\[P201\]"):
        atlas_table.main()
    assert atlas.read_text() == "as it was"


def test_a_study_that_nobody_knows_is_told_with_those_there_are(
    atlas: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["atlas", "c"])
    with pytest.raises(SystemExit, match="2"):
        atlas_table.main()
    assert "no study of the atlas is called c; there are a, a2, b" in capsys.readouterr().err


def test_the_atlas_of_the_package_has_entries_of_the_studies_and_no_others() -> None:
    entries = load_atlas()
    assert atlas_table.join(entries, {}) == list(entries)
    assert to_json(entries, what=atlas_table.SAID, made_by="scripts/atlas") == atlas_table.ATLAS.read_text("utf-8")
