"""Runs are sent to object stores and fetched from them; what such a store says is told in its own words."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import obstore
import obstore.store
import pytest
from support.following_advice import template
from support.studies import run_cli

from pipeline.errors import DataError, StoreError
from pipeline.store.archive import fetch_run, pack_run, send_run
from pipeline.store.objects import fetch_object, is_object, send_file
from pipeline.store.runs import RunDirectory

CONTENT = {"plan.json": b"{}", "report/report.json": b"{}" * 100, "cubes.zarr/news/p/c.0.0": bytes(range(256))}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An object store in memory that stands for any bucket; objects are asked for by their whole address."""
    memory = obstore.store.MemoryStore()
    put, get = obstore.put, obstore.get
    monkeypatch.setattr(obstore.store, "from_url", lambda url: url.removesuffix("/"))
    monkeypatch.setattr(obstore, "put", lambda url, name, file: put(memory, f"{url.partition('://')[2]}/{name}", file))
    monkeypatch.setattr(obstore, "get", lambda url, name: get(memory, f"{url.partition('://')[2]}/{name}"))
    return memory


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    for name, content in CONTENT.items():
        path = tmp_path / "runs" / "small-0123" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return RunDirectory(tmp_path / "runs" / "small-0123")


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        ("s3://bucket/run.zip", True),
        ("gs://bucket/a/b", True),
        ("az://account/box/run.zip", True),
        ("s3://bucket", False),
        ("run.zip", False),
        ("http://host/run.zip", False),
        ("file:///etc/passwd", False),
    ],
)
def test_only_addresses_of_object_stores_are_taken_for_such(place: str, answer: bool) -> None:
    assert is_object(place) is answer


def test_a_packed_run_comes_back_as_it_went(bucket: Any, run: RunDirectory, tmp_path: Path) -> None:
    size = send_run(run, "s3://bucket/runs/first.zip")
    assert pack_run(run, tmp_path / "run.zip") == size
    assert bytes(obstore.get("s3://bucket/runs", "first.zip").bytes()) == (tmp_path / "run.zip").read_bytes()
    fetched = fetch_run("s3://bucket/runs/first.zip", tmp_path / "imported")
    assert fetched.root == tmp_path / "imported" / "small-0123"
    assert {p.relative_to(fetched.root).as_posix(): p.read_bytes() for p in fetched.root.rglob("*") if p.is_file()} == CONTENT


def test_a_run_that_is_not_packed_has_its_files_below_its_name(bucket: Any, run: RunDirectory) -> None:
    assert send_run(run, "s3://bucket/runs/") == sum(map(len, CONTENT.values()))
    sent = [each["path"] for page in obstore.list(bucket) for each in page]
    assert sorted(sent) == sorted(f"bucket/runs/small-0123/{name}" for name in CONTENT)
    assert bytes(obstore.get("s3://bucket/runs", "small-0123/plan.json").bytes()) == b"{}"


def test_what_is_too_large_or_not_there_is_told_and_nothing_is_left(bucket: Any, run: RunDirectory, tmp_path: Path) -> None:
    size = send_run(run, "s3://bucket/first.zip")
    for most in (size, size - 1):
        path = tmp_path / f"{most}.zip"
        if most == size:
            fetch_object("s3://bucket/first.zip", path, most=most)
            assert zipfile.is_zipfile(path)
        else:
            with pytest.raises(DataError, match="P732"):
                fetch_object("s3://bucket/first.zip", path, most=most)
            assert not path.exists()
    with pytest.raises(DataError, match="P201"):
        fetch_run("s3://bucket/second.zip", tmp_path / "imported")
    assert not (tmp_path / "imported").exists()


def test_what_is_advised_about_an_archive_in_a_store_brings_it(bucket: Any, run: RunDirectory, tmp_path: Path) -> None:
    send_run(run, "s3://bucket/first.zip")

    def typed(words: str) -> str:
        done = run_cli("import", *words.split(), "--output", "imported", cwd=tmp_path)
        return "" if done.returncode == 0 else done.stderr.rpartition("= help: ")[2].strip()

    said = typed("s3://bucket/first.zip --max-size 100")
    assert template("--max-size says how large a run may be").fullmatch(said), said
    assert typed("s3://bucket/frist.zip") == "check the address"
    assert typed(f"s3://bucket/first.zip {said.split(' ')[0]} 10MB") == ""


def test_a_store_that_is_not_there_is_told_in_its_own_words(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    # Plain HTTP is refused before anything is sent: no test waits for a network.
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StoreError, match="P736") as error:
        send_file(run.root / "plan.json", "s3://bucket/plan.json")
    assert "http://127.0.0.1:9/bucket/plan.json" in error.value.problems[0].message
    assert error.value.problems[0].where == "s3://bucket/plan.json".rpartition("/")[0]


def test_without_the_package_the_message_names_it(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(StoreError, match="P735") as error:
        send_file(run.root / "plan.json", "s3://bucket/plan.json")
    assert str(error.value.problems[0].help).endswith("or use files: export to one, name inputs that are files")
    assert pack_run(run, run.root.parent / "run.zip")
