"""A run as one file: the same bytes for the same run, and nothing that comes in such a file gets anywhere else."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest

from pipeline.errors import DataError, PipelineError, RunLocked, RunNotFound, StoreError
from pipeline.store import archive
from pipeline.store.archive import pack_run, unpack_run
from pipeline.store.lease import hold_lease
from pipeline.store.runs import RunDirectory

CONTENT = {
    "plan.json": b"{}",
    "study.yaml": b"study: small\n",
    "ledger.jsonl": b"",
    "report/report.json": b"{}" * 100,
    **{f"report/tables/{name}.csv": b"a,b\n" for name in ("pairs", "systems", "clusters", "size_curve")},
    "cubes.zarr/news/p/c.0.0": bytes(range(256)),
}


def made(folder: Path, names: Iterable[str] = CONTENT) -> RunDirectory:
    for name, content in ((name, CONTENT[name]) for name in names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return RunDirectory(folder)


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def write_zip(path: Path, members: dict[str, bytes], **changes: object) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            for key, value in changes.items():
                setattr(entry, key, value)
            file.writestr(entry, content)
    return path


HEAD = {"r/archive.json": b'{"format": "pipeline run", "schema_version": 1}', "r/plan.json": b"{}"}


def code_of(file: Path, folder: Path) -> str:
    before = {p for p in folder.parent.rglob("*")}
    with pytest.raises(PipelineError) as error:
        unpack_run(file, folder / "imported")
    left = {p for p in folder.parent.rglob("*")} - before - {folder / "imported"}
    assert left == set(), "something was unpacked"
    return error.value.problems[0].code


def test_a_run_comes_out_as_it_went_in_and_private(tmp_path: Path) -> None:
    run = made(tmp_path / "runs" / "small-0123")
    with hold_lease(run.root):
        pass  # the file of the lease stays
    for name in ("launch.json", "logs/coordinator.log", "cubes.zarr/.tmp-x/p", "report/.tmp-y"):
        (run.root / name).parent.mkdir(parents=True, exist_ok=True)
        (run.root / name).write_text("not for others")
    size = pack_run(run, tmp_path / "run.zip")
    assert size == (tmp_path / "run.zip").stat().st_size
    unpacked = unpack_run(tmp_path / "run.zip", tmp_path / "imported")
    assert unpacked.root == tmp_path / "imported" / "small-0123"
    assert files(unpacked.root) == CONTENT
    assert {stat.S_IMODE(p.stat().st_mode) for p in unpacked.root.rglob("*")} == {0o700, 0o600}


def test_the_same_run_gives_the_same_bytes_wherever_and_whenever(tmp_path: Path) -> None:
    pack_run(made(tmp_path / "a" / "run"), tmp_path / "1.zip")
    other = made(tmp_path / "b" / "run", reversed(CONTENT))
    for path in other.root.rglob("*"):
        os.utime(path, (0, 0))
        path.chmod(0o755)
    pack_run(other, tmp_path / "2.zip")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    names = zipfile.ZipFile(tmp_path / "1.zip").namelist()
    assert names[1:] == sorted(names[1:])  # and not as the file system has them


def test_a_run_that_is_written_or_has_nothing_to_read_is_not_packed(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    with hold_lease(run.root), pytest.raises(RunLocked):
        pack_run(run, tmp_path / "run.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunNotFound, match="neither cubes nor a report"):
        pack_run(RunDirectory(tmp_path / "empty"), tmp_path / "run.zip")
    assert not (tmp_path / "run.zip").exists()


def test_a_run_that_is_written_since_packing_began_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path / "small-0123")
    with ExitStack() as other:

        def begin_and_list(root: Path) -> list[str]:
            other.enter_context(hold_lease(run.root))
            return list(CONTENT)

        monkeypatch.setattr(archive, "_members", begin_and_list)
        with pytest.raises(RunLocked, match="P801"):
            pack_run(run, tmp_path / "run.zip")
    assert [part.name for part in tmp_path.iterdir()] == ["small-0123"]


@pytest.mark.parametrize(
    "name",
    [
        "r/../../planted",
        "/etc/planted",
        "r/report/../../../planted",
        "r/report/..",
        "r\\report\\x",
        "r/report/a\\..\\b",
        "r/report/C:x",
        "other/plan.json",
        "r/lease.1",
        "r/launch.json",
        "r/.store/cells/aa/x.arrays",
        "r/cubes.zarr",
        "r/report//x",
        "r/report/a\nb",
        "r/report/.tmp-1",
    ],
)
def test_a_member_that_has_no_place_in_a_run_is_refused_and_nothing_is_unpacked(tmp_path: Path, name: str) -> None:
    (tmp_path / "place").mkdir()
    assert code_of(write_zip(tmp_path / "bad.zip", HEAD | {name: b"x"}), tmp_path / "place") == "P731"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    (tmp_path / "place").mkdir()
    members = HEAD | {"r/report/x": b"/etc/passwd"}
    assert code_of(write_zip(tmp_path / "bad.zip", members, external_attr=kind << 16), tmp_path / "place") == "P731"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    write_zip(tmp_path / "bad.zip", HEAD)
    with zipfile.ZipFile(tmp_path / "bad.zip", "a") as file:
        file.writestr("r/plan.json", b"another")
    assert code_of(tmp_path / "bad.zip", tmp_path / "place") == "P731"


def test_a_bomb_is_refused_before_anything_of_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "place").mkdir()
    monkeypatch.setattr(archive, "FREE", 1 << 20)
    bomb = write_zip(tmp_path / "bomb.zip", HEAD | {"r/report/x": bytes(20_000_000)})
    assert bomb.stat().st_size < 100_000
    assert code_of(bomb, tmp_path / "place") == "P732"
    sound = write_zip(tmp_path / "large.zip", HEAD | {"r/report/x": os.urandom(10_000)})
    with pytest.raises(DataError, match="10,049 bytes"):
        unpack_run(sound, tmp_path / "imported", most=9_000)
    assert unpack_run(sound, tmp_path / "imported", most=20_000).root.is_dir()


def test_a_member_that_is_larger_than_it_says_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    file = write_zip(tmp_path / "bad.zip", HEAD | {"r/report/x": bytes(1000)})
    data = file.read_bytes()
    file.write_bytes(data.replace((1000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    assert code_of(file, tmp_path / "place") == "P730"


def test_bytes_that_are_members_several_times_are_refused(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    file = write_zip(tmp_path / "bad.zip", HEAD | {f"r/report/{n}": os.urandom(3000) for n in range(3)})
    data = bytearray(file.read_bytes())
    at = [n for n in range(len(data) - 4) if data[n : n + 4] == b"PK\x01\x02"]
    first = data[at[2] + 42 : at[2] + 46]
    for entry in at[3:]:
        data[entry + 42 : entry + 46] = first  # where the member begins
        data[entry + 20 : entry + 24] = (100_000).to_bytes(4, "little")
    file.write_bytes(data)
    assert code_of(file, tmp_path / "place") == "P732"


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all", b"PK\x03\x04" + bytes(100)])
def test_what_is_no_archive_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "x.zip").write_bytes(content)
    assert code_of(tmp_path / "x.zip", tmp_path / "place") == "P730"
    assert code_of(write_zip(tmp_path / "y.zip", {"r/plan.json": b"{}"}), tmp_path / "place") == "P730"
    assert code_of(write_zip(tmp_path / "z.zip", {**HEAD, "r/archive.json": b"[" * 900}), tmp_path / "place") == "P730"
    assert code_of(tmp_path / "nowhere.zip", tmp_path / "place") == "P201"


def test_runs_from_elsewhere_are_kept_from_those_that_were_computed_here(tmp_path: Path) -> None:
    pack_run(made(tmp_path / "runs" / "small-0123"), tmp_path / "run.zip")
    (tmp_path / "runs" / ".store").mkdir()
    with pytest.raises(StoreError, match="computed here"):
        unpack_run(tmp_path / "run.zip", tmp_path / "runs")
    unpack_run(tmp_path / "run.zip", tmp_path / "imported")
    with pytest.raises(StoreError, match="there already"):
        unpack_run(tmp_path / "run.zip", tmp_path / "imported")
