"""A line of 200 MB: refused with its place by whatever reads lines, in the memory of a few copies of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.items.readers import _files, load_reader

LONG = 200_000_000
FORMATS = {
    "text": {},
    "labels": {},
    "scores": {},
    "columns": {},
    "tagged": {},
    "conllu": {},
    "links": {},
    "brackets": {},
    "trn": {},
    "trec": {},
    "json-lines": {"item": "id", "score": "score"},
    "lm-eval": {},
}


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "output"
    with path.open("wb") as file:
        file.write(b"short\n")
        for _ in range(LONG // 1_000_000):
            file.write(b"a" * 1_000_000)
        file.write(b"\n")
    return path


def refusal(name: str, path: Path) -> tuple[str, str, str | None]:
    with pytest.raises(DataError) as caught:
        load_reader({"name": name, **FORMATS[name]}).read_outputs(path, system="s", options={})
    (problem,) = caught.value.problems
    return problem.code, problem.message, problem.where


def test_a_line_of_200_megabytes_is_refused_with_its_number(long_file: Path) -> None:
    message = "line 2 has more than 50,000,000 characters, the most that is read"
    assert refusal("text", long_file) == ("P265", message, f"{long_file}:2")


@pytest.mark.parametrize("name", FORMATS)
def test_no_reader_of_lines_reads_one_that_is_too_long(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "LONGEST_LINE", 20)
    (tmp_path / "f").write_text("\n\n" + "a" * 21 + "\n", encoding="utf-8")
    assert refusal(name, tmp_path / "f")[::2] == ("P265", f"{tmp_path / 'f'}:3")
