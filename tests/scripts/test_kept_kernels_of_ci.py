"""What CI carries of compiled kernels from one checkout to the next."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "kernels"
KERNEL = "pipeline/resampling/__pycache__/draws.fill.py311.0.nbc"


def checkout(folder: Path, kernels: dict[str, bytes]) -> Path:
    (folder / ".ci").mkdir(parents=True)
    (folder / "pipeline" / "resampling").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / ".ci")
    for name, code in kernels.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(code)
        path.chmod(0o600)
    return folder


def carry(what: str, folder: Path, kept: Path) -> None:
    subprocess.run([folder / ".ci" / "kernels", what], check=True, env={**os.environ, "PIPELINE_KEPT_KERNELS": str(kept)})


def kernels_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.nbc")}


def test_a_fresh_checkout_gets_the_kernels_of_the_last_one(tmp_path: Path) -> None:
    kept = tmp_path / "cache" / "kernels"
    workflow = "workflows/reference_systems/reference_systems/__pycache__/snow.train.py312.1.nbc"
    first = checkout(tmp_path / "first", {KERNEL: b"code", workflow: b"more", ".venv/lib/another.nbc": b"not ours"})
    fresh = checkout(tmp_path / "fresh", {})
    (fresh / "pipeline").chmod(0o750)
    carry("bring", fresh, kept)
    assert kernels_in(fresh) == {}, "nothing was kept"
    carry("keep", first, kept)
    carry("bring", fresh, kept)
    assert kernels_in(fresh) == {KERNEL: b"code", workflow: b"more"}
    assert (fresh / KERNEL).stat().st_mode & 0o777 == 0o600
    assert not (fresh / KERNEL).parent.stat().st_mode & 0o022
    assert (fresh / "pipeline").stat().st_mode & 0o777 == 0o750
    assert kept.stat().st_mode & 0o077 == 0, "loading a kernel runs it: nobody else may write it"


def test_kernels_that_are_gone_are_not_kept_for_ever(tmp_path: Path) -> None:
    kept = tmp_path / "kernels"
    carry("keep", checkout(tmp_path / "first", {KERNEL: b"code"}), kept)
    carry("keep", checkout(tmp_path / "second", {"pipeline/other.nbc": b"new"}), kept)
    assert kernels_in(kept) == {"pipeline/other.nbc": b"new"}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("kernels")] == ["kernels"]


def test_what_else_is_in_the_folder_stays(tmp_path: Path) -> None:
    kept = tmp_path / "shared"
    kept.mkdir(mode=0o777)
    kept.chmod(0o777)
    (kept / "notes.txt").write_text("of another program")
    was = kept.stat().st_ino
    carry("keep", checkout(tmp_path / "first", {KERNEL: b"code"}), kept)
    assert (kept / "notes.txt").read_text() == "of another program"
    assert kernels_in(kept) == {KERNEL: b"code"}
    assert kept.stat().st_ino == was, "it may be a mount"
    assert kept.stat().st_mode & 0o022 == 0
    assert sorted(path.name for path in kept.rglob("*") if path.is_file()) == sorted(["notes.txt", Path(KERNEL).name])


def test_what_another_run_is_about_to_keep_is_not_written_into(tmp_path: Path) -> None:
    kept, first = tmp_path / "kernels", checkout(tmp_path / "first", {KERNEL: b"code"})
    half = kept / f"{KERNEL}.new"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half of an")
    carry("keep", first, kept)
    assert half.read_bytes() == b"half of an"
    assert kernels_in(kept) == {KERNEL: b"code"}


@pytest.mark.parametrize("what", ["bring", "keep"])
def test_copies_that_a_killed_run_left_are_removed_and_those_of_a_running_one_stay(tmp_path: Path, what: str) -> None:
    kept, here = checkout(tmp_path / "kept", {KERNEL: b"code"}), checkout(tmp_path / "here", {KERNEL: b"code"})
    written_to = kept if what == "keep" else here
    left, new = (written_to / f"{KERNEL}.{suffix}" for suffix in ("x7Ab2c", "y8Bc3d"))
    left.write_bytes(b"half of an")
    new.write_bytes(b"half of an")
    two_hours_ago = time.time() - 7200
    os.utime(left, (two_hours_ago, two_hours_ago))
    carry(what, here, kept)
    assert (left.exists(), new.exists()) == (False, True)


def test_anything_else_is_refused() -> None:
    done = subprocess.run([SCRIPT, "drop"], capture_output=True, text=True, check=False)
    assert (done.returncode, "bring" in done.stderr) == (2, True)


@pytest.mark.parametrize("what", ["bring", "keep"])
def test_ci_carries_them(what: str) -> None:
    assert f"./.ci/kernels {what}" in (SCRIPT.parent / "run").read_text()
