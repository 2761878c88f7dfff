"""Bytecode of templates is kept where it may be, and a page is the same with and without it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment

from pipeline.report.layout.templates import make_environment

PARTS = ["history.html.j2", "report.css"]
"""The templates of the page, the second included by the first."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def translations(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The templates that are translated from now on."""
    done: list[str | None] = []
    generate = Environment._generate

    def count(self: Environment, source: object, name: str | None, *others: object, **settings: object) -> str:
        done.append(name)
        return generate(self, source, name, *others, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(Environment, "_generate", count)
    return done


def test_a_template_is_translated_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = translations(monkeypatch)
    for _ in range(2):
        page = make_environment().get_template("history.html.j2").render(study="<i>", slots=[], missed=[])
        assert "&lt;i&gt;" in page  # escaped, also by what was kept
    assert done == PARTS
    assert len(list(folder.rglob("jinja-*.cache"))) == len(PARTS)


def test_another_text_is_translated_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_environment().get_template("history.html.j2")
    (kept,) = folder.rglob("jinja-*.cache")
    kept.write_bytes(b"something else")
    done = translations(monkeypatch)
    make_environment().get_template("history.html.j2")
    assert done == ["history.html.j2"]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.99])
def test_what_was_cut_or_changed_is_translated_anew(share: float, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_environment().get_template("history.html.j2")
    (kept,) = folder.rglob("jinja-*.cache")
    whole = kept.read_bytes()
    place = int(share * len(whole))
    done = translations(monkeypatch)
    for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]):
        kept.write_bytes(damaged)
        make_environment().get_template("history.html.j2")
    assert done == ["history.html.j2"] * 2
    assert kept.read_bytes() == whole


@pytest.mark.parametrize("forbids", ["Python", "the file system"])
def test_nothing_is_kept_where_that_may_not_be(folder: Path, monkeypatch: pytest.MonkeyPatch, forbids: str) -> None:
    if forbids == "Python":
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
    else:
        (folder / "file").write_text("")
        monkeypatch.setattr(sys, "pycache_prefix", str(folder / "file"))
    done = translations(monkeypatch)
    for _ in range(2):
        assert make_environment().get_template("history.html.j2").render(study="s", slots=[], missed=[])
    assert done == PARTS * 2
    assert not list(folder.rglob("*.cache"))
