"""What the site is built from: every page is gathered and in the navigation, links hold, and what a page loads is found."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pipeline.error_codes import CODES

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts" / "documentation"))

from loaded import loaded_from_elsewhere  # noqa: E402
from pages import FENCED, LINK, gather, page_for_site  # noqa: E402


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "source"
    gather(folder)
    return folder


def test_every_link_of_a_gathered_page_leads_to_a_page_or_file_of_the_site(gathered: Path) -> None:
    links = 0
    for page in gathered.rglob("*.md"):
        for _, target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
            name = target.partition("#")[0]
            if name and not re.match(r"[a-z]+:", name):
                links += 1
                assert (page.parent / name).is_file(), f"{page.relative_to(gathered)}: {target}"
    assert links > 300


def test_every_error_code_is_an_entry_of_the_index_where_its_row_is(gathered: Path) -> None:
    text = (gathered / "errors.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| \{index\}`!(P\d{3})` \| [^|]+ \| ", text, re.MULTILINE)
    assert sorted(found) == sorted(CODES)


def test_every_page_is_in_the_navigation(gathered: Path) -> None:
    named = set()
    for page in gathered.rglob("*.md"):
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for line in filter(None, (line for line in tree.splitlines() if not line.startswith(":"))):
                name = re.sub(r"^.*<(.*)>$", r"\1", line)
                found = list(page.parent.glob(f"{name}.md"))
                assert found, line
                named.update(found)
    assert set(gathered.rglob("*.md")) - named == {gathered / "index.md"}


@pytest.mark.parametrize(
    ("written", "path", "shown"),
    [
        ("[bleu](docs/metrics/bleu.md#example)", "README.md", "[bleu](metrics/bleu.md#example)"),
        ("[codes](../../README.md#exit-codes)", "docs/metrics/bleu.md", "[codes](../overview.md#exit-codes)"),
        ("[all](metrics/)", "docs/metrics.md", "[all](metrics.md)"),
        ("[`pipeline/api.py`](../pipeline/api.py)", "docs/gate.md", "`pipeline/api.py`"),
        ("[the code](../pipeline/api.py)", "docs/gate.md", "the code (`pipeline/api.py`)"),
        ("[here](#below), [there](https://example.org/)", "docs/gate.md", "[here](#below), [there](https://example.org/)"),
        ("![a](docs/images/a.svg)", "README.md", "![a](images/a.svg)"),
        ("```text\n[bleu](docs/metrics/bleu.md)\n```", "README.md", "```text\n[bleu](docs/metrics/bleu.md)\n```"),
    ],
)
def test_a_link_is_mended_for_the_site(written: str, path: str, shown: str) -> None:
    assert page_for_site(written + "\n", path).startswith(shown + "\n")


@pytest.mark.parametrize(
    ("name", "text", "loaded"),
    [
        ("a.html", '<script src="https://example.org/a.js"></script>', True),
        ("a.html", '<link rel="stylesheet" href="//example.org/a.css">', True),
        ("a.html", "<style>@import 'https://example.org/a.css';</style>", True),
        ("a.html", '<p style="background: url(https://example.org/a.png)">', True),
        ("a.css", "@font-face { src: url(https://example.org/a.woff2) }", True),
        ("a.html", '<a href="https://example.org/">read</a> <script src="_static/a.js"></script>', False),
        ("a.css", "a { background: url(a.png) } /* https://example.org */", False),
    ],
)
def test_what_a_page_loads_from_another_host_is_found(name: str, text: str, loaded: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert bool(loaded_from_elsewhere(tmp_path)) == loaded


def test_blocks_without_a_language_are_not_coloured_as_python() -> None:
    """Most are commands, in which Sphinx would see keywords, numbers and unfinished strings."""
    settings: dict[str, object] = {}
    exec(compile((ROOT / "scripts/documentation/conf.py").read_text(encoding="utf-8"), "conf.py", "exec"), settings)
    assert settings["highlight_language"] == "none"
