"""What docstrings, comments and messages of the code say of the documentation is there: pages, and sections of pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("pipeline", "scripts", "tests", "workflows")
KINDS = {"", ".py", ".yaml", ".j2", ".html", ".toml", ".json"}
NAMED = re.compile(r"\bdocs/((?:[\w-]+/)*[\w-]+\.md)(?:#([\w-]+))?")
EMPTY = "docs/" + "nowhere.md#here"


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def broken(text: str) -> set[str]:
    """Return the pages and sections that a text names and that are not there."""
    found = set()
    for name, anchor in NAMED.findall(text):
        page = ROOT / "docs" / name
        if not page.is_file() or (anchor and anchor not in anchors(page)):
            found.add(f"docs/{name}#{anchor}")
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_pages_that_the_code_names_are_there(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*")):
        if path.is_file() and path.suffix in KINDS and "__pycache__" not in path.parts:
            assert not broken(path.read_text(encoding="utf-8", errors="ignore")), path


def test_a_page_or_a_section_that_is_not_there_is_found() -> None:
    assert broken(EMPTY) == {EMPTY}
    assert broken("see docs/" + "procedures.md#nothing-here") == {"docs/" + "procedures.md#nothing-here"}
    assert broken("see docs/procedures.md#many-pairs and docs/procedures/mcnemar.md.") == set()


def test_no_heading_of_a_section_stands_in_running_text() -> None:
    """A docstring that is filled as one paragraph has no sections any more, and its examples are still run."""
    heading = re.compile(r"\b(Parameters|Returns|Yields|Raises|Warns|Notes|Examples) -{3,}")
    found = [path for path in (ROOT / "pipeline").rglob("*.py") if heading.search(path.read_text("utf-8"))]
    assert found == []
