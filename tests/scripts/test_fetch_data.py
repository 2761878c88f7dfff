"""Data sets are fetched once, verified by their content, from a folder or over the network, and what lacks is said."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "fetch_data"
PLAIN, PACKED = b"one\ntwo\n", b"drei\n" * 100


def load() -> Any:
    loader = SourceFileLoader("fetch_data", str(SCRIPT))
    spec = spec_from_loader("fetch_data", loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


@pytest.fixture
def published(tmp_path: Path) -> Iterator[str]:
    """A folder of files on loopback."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "plain.txt").write_bytes(PLAIN)
    (folder / "packed.txt").write_bytes(PACKED)
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def manifest(tmp_path: Path, published: str) -> dict[str, Any]:
    files = {name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)} for name, content in
             (("plain.txt", PLAIN), ("sub/packed.txt.gz", PACKED), ("made.tsv", b"a\tb\n"))}  # fmt: skip
    files["plain.txt"]["url"] = f"{published}/plain.txt"
    files["sub/packed.txt.gz"]["url"] = f"{published}/packed.txt"
    return {
        "sets": {"toy": {"title": "A toy", "upstream": "here", "licence": "free", "made": "made.tsv by joining", "files": files}}
    }


@pytest.fixture
def run(tmp_path: Path, manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> tuple[int, str]:
        module = load()
        (tmp_path / "sets.json").write_text(json.dumps(manifest))
        monkeypatch.setattr(module, "SETS", tmp_path / "sets.json")
        monkeypatch.setattr(module, "PAUSE", 0.0)
        monkeypatch.setattr(sys, "argv", ["fetch_data", "--to", str(tmp_path / "data"), *words])
        code = module.main()
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return call


def copy_of(folder: Path) -> Path:
    """Somebody's copy, compressed by another program than ours."""
    (folder / "toy" / "sub").mkdir(parents=True)
    (folder / "toy" / "plain.txt").write_bytes(PLAIN)
    (folder / "toy" / "made.tsv").write_bytes(b"a\tb\n")
    (folder / "toy" / "sub" / "packed.txt.gz").write_bytes(gzip.compress(PACKED, compresslevel=1, mtime=99))
    return folder


def test_a_copy_is_taken_whole_with_its_licence_told(run: Any, tmp_path: Path) -> None:
    code, told = run("toy", "--from", str(copy_of(tmp_path / "copy")))
    assert code == 0
    assert "licence: free" in told
    assert "3 of 3 files" in told
    assert gzip.decompress((tmp_path / "data" / "toy" / "sub" / "packed.txt.gz").read_bytes()) == PACKED


def test_what_is_published_is_fetched_and_packed_and_the_rest_is_said(run: Any, tmp_path: Path) -> None:
    code, told = run("--all")
    assert code == 4
    assert (tmp_path / "data" / "toy" / "plain.txt").read_bytes() == PLAIN
    assert gzip.decompress((tmp_path / "data" / "toy" / "sub" / "packed.txt.gz").read_bytes()) == PACKED
    assert "not published in this form: made.tsv" in told
    assert "made.tsv by joining" in told
    assert "--from" in told
    code, told = run("toy", "--from", str(copy_of(tmp_path / "copy")))  # goes on where it stopped
    assert (code, "3 of 3 files" in told) == (0, True)


def test_a_file_that_is_right_is_not_fetched_again_and_a_damaged_one_is(run: Any, tmp_path: Path, manifest: dict[str, Any]) -> None:
    run("toy")
    there = tmp_path / "data" / "toy"
    manifest["sets"]["toy"]["files"]["plain.txt"]["url"] = "http://127.0.0.1:9/none"
    _, told = run("toy")
    assert "error" not in told
    (there / "sub" / "packed.txt.gz").write_bytes((there / "sub" / "packed.txt.gz").read_bytes()[:20])
    run("toy")
    assert gzip.decompress((there / "sub" / "packed.txt.gz").read_bytes()) == PACKED


def test_a_file_of_another_content_is_refused_and_nothing_is_left_behind(run: Any, tmp_path: Path) -> None:
    folder = copy_of(tmp_path / "copy")
    (folder / "toy" / "plain.txt").write_bytes(b"something else")
    (folder / "toy" / "sub" / "packed.txt.gz").write_bytes(gzip.compress(PACKED * 10**5))  # far more than it should be
    code, told = run("toy", "--from", str(folder))
    assert code == 4
    assert f"plain.txt: {folder / 'toy' / 'plain.txt'} is not the file that the studies were made for" in told
    assert sorted(path.name for path in (tmp_path / "data").rglob("*") if path.is_file()) == ["made.tsv"]


def test_without_a_network_the_first_failure_is_told_once(run: Any, manifest: dict[str, Any]) -> None:
    for file in manifest["sets"]["toy"]["files"].values():
        if "url" in file:
            file["url"] = "http://127.0.0.1:9/none"
    code, told = run("toy")
    assert code == 4
    assert told.count("the network cannot be reached") == 1
    assert "run the same command again" in told
    assert "0 of 3 files are in" in told
    assert "made.tsv by joining" in told  # which no network would bring


class Cutting(BaseHTTPRequestHandler):
    """Promises the whole file and gives its beginning, ``cuts`` times; then all of it."""

    cuts = 0

    def do_GET(self) -> None:
        content = PLAIN if self.path == "/plain.txt" else PACKED
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        cut = self.path == "/plain.txt" and Cutting.cuts > 0
        Cutting.cuts -= cut
        self.wfile.write(content[:3] if cut else content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def cutting(manifest: dict[str, Any]) -> Iterator[type[Cutting]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Cutting) as server:
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True)
        thread.start()
        for name, file in manifest["sets"]["toy"]["files"].items():
            if "url" in file:
                file["url"] = f"http://127.0.0.1:{server.server_port}/{'plain' if name == 'plain.txt' else 'packed'}.txt"
        yield Cutting
        server.shutdown()
        thread.join()


def test_a_connection_that_is_cut_is_tried_again_and_told_while_the_other_files_come(
    run: Any, tmp_path: Path, cutting: type[Cutting]
) -> None:
    cutting.cuts = 3
    code, told = run("toy")
    assert code == 4
    assert "plain.txt: the answer is cut or is no HTTP: IncompleteRead(3 bytes read, 5 more expected)" in told
    assert "1 of 3 files are in" in told
    assert gzip.decompress((tmp_path / "data" / "toy" / "sub" / "packed.txt.gz").read_bytes()) == PACKED
    cutting.cuts = 2
    assert "2 of 3 files are in" in run("toy")[1]
    assert (tmp_path / "data" / "toy" / "plain.txt").read_bytes() == PLAIN


def test_an_answer_that_is_no_http_is_told(run: Any, manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cutting, "do_GET", lambda handler: handler.wfile.write(b"SSH-2.0\r\n\r\n"))
    with ThreadingHTTPServer(("127.0.0.1", 0), Cutting) as server:
        threading.Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True).start()
        manifest["sets"]["toy"]["files"]["plain.txt"]["url"] = f"http://127.0.0.1:{server.server_port}/"
        code, told = run("toy")
        server.shutdown()
    assert (code, "plain.txt: the answer is cut or is no HTTP: SSH-2.0" in told) == (4, True)


def test_no_more_is_read_than_a_file_should_have(run: Any, published: str, tmp_path: Path) -> None:
    (tmp_path / "published" / "large.txt").write_bytes(b"x" * 10**6)
    assert len(load().download(f"{published}/large.txt", 100)) == 101


def test_a_bomb_is_left_at_the_first_part_beyond_its_size() -> None:
    parts: list[bytes] = []
    with pytest.raises(OSError, match="more than it should be"):
        parts.extend(load().unpack(gzip.compress(bytes(5 << 20), compresslevel=1), 100))
    assert parts == []


def test_a_folder_that_takes_no_files_is_told_once_and_ends_it(run: Any, tmp_path: Path, manifest: dict[str, Any]) -> None:
    manifest["sets"]["other"] = manifest["sets"]["toy"]
    copy = copy_of(tmp_path / "copy")
    (copy / "other").symlink_to(copy / "toy")
    (tmp_path / "data" / "toy" / "sub" / "packed.txt.gz").mkdir(parents=True)  # a folder where a file should be
    code, told = run("toy", "other", "--from", str(copy))
    assert code == 4
    assert "1 of 3 files are in" in told
    assert told.count("packed.txt.gz cannot be written: Is a directory") == 1
    assert "incomplete: toy, other; run the same command again" in told
    assert not (tmp_path / "data" / "other").exists()
    assert {path.name for path in (tmp_path / "data").rglob("*") if path.is_file()} == {"plain.txt"}
    code, told = run("toy", "--from", str(copy), "--to", str(tmp_path / "data" / "toy" / "plain.txt" / "x"))
    assert (code, "cannot be written: Not a directory" in told) == (4, True)


def test_files_have_the_mode_that_the_user_gives_new_files(run: Any, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        run("toy", "--from", str(copy_of(tmp_path / "copy")))
    finally:
        os.umask(before)
    assert (tmp_path / "data" / "toy" / "plain.txt").stat().st_mode & 0o777 == 0o640


def test_unknown_names_and_folders_are_refused_and_none_lists_what_there_is(run: Any, tmp_path: Path) -> None:
    assert run("toyy") == (2, "error: there is no data set toyy; there are toy\n")
    assert run("toy", "--from", str(tmp_path / "absent"))[0] == 2
    assert run("--from", str(tmp_path)) == (2, "error: --from needs the names of data sets, or --all\n")
    code, told = run()
    assert (code, "0 of   3 files" in told, "licence: free" in told) == (0, True, True)


def test_the_manifest_is_of_the_data_that_the_tests_know(data_dir: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--all", "--from", str(data_dir), "--to", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_study_names_the_sets_that_it_reads() -> None:
    import re

    sets = json.loads((ROOT / "workflows" / "data.json").read_text("utf-8"))["sets"]
    for path in (ROOT / "workflows").rglob("*.yaml"):
        text = path.read_text("utf-8")
        read = sorted(set(re.findall(r"\$\{PIPELINE_DATA:-[^}]*\}/([a-z0-9-]+)", text)))
        fetched = re.search(r"^fetch: \./scripts/fetch_data (.*)$", text, re.MULTILINE)
        assert (fetched[1].split() if fetched else []) == read, path.name
        assert set(read) <= set(sets)


def test_a_study_whose_data_are_not_there_says_what_brings_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.studies import run_cli

    monkeypatch.setenv("PIPELINE_DATA", "")
    folder = tmp_path / "workflows"
    folder.mkdir()
    (folder / "study.yaml").write_bytes((ROOT / "workflows" / "papers" / "15-optimizer.yaml").read_bytes())
    done = run_cli("check", folder / "study.yaml", cwd=tmp_path)
    assert done.returncode == 3
    told = "bring the data: `./scripts/fetch_data multeval`; if you have them elsewhere, set PIPELINE_DATA"
    assert done.stderr.count(told) == done.stderr.count("error[") > 1


LARGE = {"02-parsing-chinese", "04b-parsing-natural", "11-calibration-transfer", "18-leaderboards"}
"""Studies with many systems, which take ten to forty seconds to check; the others take one or two."""
PAPERS = [
    pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in LARGE else ())
    for path in sorted((ROOT / "workflows" / "papers").glob("*.yaml"))
]


@pytest.mark.data
@pytest.mark.parametrize("path", PAPERS)
def test_the_studies_of_papers_are_in_order(path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.studies import run_cli

    monkeypatch.setenv("PIPELINE_DATA", str(data_dir))
    done = run_cli("check", path)
    assert done.returncode == 0, done.stderr
