"""Kernels are loaded from places that nobody else may write, and from nowhere else: what is loaded is run."""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.compiled import kernel
from pipeline.compiled.private import forget_folders, make_private_folder, open_private, replacing_private

OTHER = 65534


@pytest.fixture(autouse=True)
def own_umask() -> Iterator[None]:
    """Most people's: what is made without another word may be read by everybody."""
    before = os.umask(0o022)
    forget_folders()
    yield
    forget_folders()
    os.umask(before)


class Hostile:
    """Runs a command when it is loaded."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


def triple(x: int) -> int:
    return x * 3


def plant(kept: Path) -> tuple[Any, Path, Path]:
    """Keep a kernel, put something hostile with a sound seal in its place, and give a kernel that would load it."""
    assert kernel(triple)(2) == 6
    (file,) = kept.rglob("*.nbc")
    mark = kept.parent / "mark"
    fresh: Any = kernel(triple)
    body = fresh._cache._files._stamp + pickle.dumps(Hostile(f"touch {mark}"))
    file.write_bytes(hashlib.sha256(body).digest() + body)
    return fresh, file, mark


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_hostile_file_would_be_run_where_only_this_user_could_have_written_it(kept: Path) -> None:
    fresh, _, mark = plant(kept)
    with pytest.warns(RuntimeWarning, match="cannot be loaded"):  # it is no code
        assert fresh(2) == 6
    assert mark.exists()  # else the tests below would show nothing


OPENED: dict[str, Callable[[Path], None]] = {
    "the file": lambda file: file.chmod(0o666),
    "the file, for a group": lambda file: file.chmod(0o620),
    "its folder": lambda file: file.parent.chmod(0o777),
    "its folder, sticky": lambda file: file.parent.chmod(0o1777),
    "a folder above": lambda file: file.parent.parent.chmod(0o777),
}


@pytest.mark.parametrize("opened", OPENED)
def test_nothing_is_loaded_from_what_others_may_write(kept: Path, opened: str) -> None:
    fresh, file, mark = plant(kept)
    OPENED[opened](file)
    forget_folders()
    with pytest.warns(RuntimeWarning, match="cannot be (loaded|kept)"):
        assert fresh(2) == 6
    assert not mark.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give a file to another user")
@pytest.mark.parametrize("place", ["file", "folder", "above"])
def test_nothing_is_loaded_from_what_another_user_owns(kept: Path, place: str) -> None:
    fresh, file, mark = plant(kept)
    os.chown({"file": file, "folder": file.parent, "above": file.parent.parent}[place], OTHER, OTHER)
    forget_folders()
    with pytest.warns(RuntimeWarning, match="cannot be (loaded|kept)"):
        assert fresh(2) == 6
    assert not mark.exists()


def test_a_link_is_not_followed(kept: Path, tmp_path: Path) -> None:
    fresh, file, mark = plant(kept)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match="cannot be (loaded|kept)"):
        assert fresh(2) == 6
    assert not mark.exists()


def test_what_is_kept_is_for_its_owner_alone(kept: Path) -> None:
    assert kernel(triple)(2) == 6
    (file,) = kept.rglob("*.nbc")
    assert [mode(file), mode(file.parent)] == [0o600, 0o700]


def test_what_a_killed_writer_left_of_a_kernel_goes_and_what_is_being_written_stays(kept: Path) -> None:
    path = Path(make_private_folder(str(kept))) / "a[b].nbc"
    left, being, other = (
        path.with_name(f"{name}.tmp.{digits}") for name, digits in ((path.name, "0a"), (path.name, "0b"), ("c", "0a"))
    )
    for file in (left, being, other):
        file.write_bytes(b"half")
    for file in (left, other):
        os.utime(file, (0, 0))
    with replacing_private(str(path)) as whole:
        whole.write(b"whole")
    assert [path.read_bytes(), left.exists(), being.exists(), other.exists()] == [b"whole", False, True, True]


def test_a_folder_that_everybody_may_write_has_one_within_for_each_user(kept: Path) -> None:
    kept.chmod(0o1777)
    assert kernel(triple)(2) == 6
    (file,) = kept.rglob("*.nbc")
    own = kept / f"user-{os.getuid()}"
    assert file.is_relative_to(own)
    assert mode(own) == 0o700
    again: Any = kernel(triple)
    assert again(2) == 6
    assert sum(again.stats.cache_hits.values()) == 1


def test_where_no_folder_is_private_nothing_is_kept_and_a_warning_says_so(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import CacheImpl

    kept.chmod(0o777)  # without the sticky bit whoever likes may put another folder in the place of ours
    monkeypatch.setattr(CacheImpl, "_locator_classes", CacheImpl._locator_classes[:1])  # the others are package and home
    with pytest.warns(RuntimeWarning, match="private folder"):
        assert kernel(triple)(2) == 6
    assert not list(kept.rglob("*.nbc"))


def test_a_place_that_is_not_looked_at_by_its_class_is_looked_at_all_the_same(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (kept / "open").mkdir()
    (kept / "open").chmod(0o777)
    monkeypatch.setattr("pipeline.compiled.disk_cache._in_private", lambda place: place)  # as if named in Numba's environment
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(kept / "open"))
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert kernel(triple)(2) == 6
    assert not list(kept.rglob("*.nbc"))


def test_a_pipe_is_no_file_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PermissionError), open_private(str(tmp_path / "pipe")):
        pass


def test_a_file_whose_writing_fails_is_not_there(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing_private(str(tmp_path / "file")) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_all_folders_that_are_made_are_private(tmp_path: Path) -> None:
    made = Path(make_private_folder(str(tmp_path / "one" / "two" / "three")))
    assert [mode(made), mode(made.parent), mode(made.parent.parent)] == [0o700] * 3


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give a folder to another user")
def test_another_user_who_makes_our_folder_first_gains_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import CacheImpl

    kept.chmod(0o1777)
    theirs = kept / f"user-{os.getuid()}"
    theirs.mkdir()
    theirs.chmod(0o777)
    os.chown(theirs, OTHER, OTHER)
    monkeypatch.setattr(CacheImpl, "_locator_classes", CacheImpl._locator_classes[:1])
    with pytest.warns(RuntimeWarning, match="private folder"):
        assert kernel(triple)(2) == 6
    assert not list(kept.rglob("*.nbc"))
