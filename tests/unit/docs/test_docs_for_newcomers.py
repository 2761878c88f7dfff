"""The tutorial and the how-to guide print what they show, and say in words what their sessions show in numbers.

``PYTHONPATH=tests python tests/unit/docs/test_docs_for_newcomers.py`` writes what the sessions print into the pages.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from support.page_sessions import FENCED, run_sessions, written_anew

ROOT = Path(__file__).resolve().parents[3]
PAGES = {name: ROOT / "docs" / f"{name}.md" for name in ("tutorial", "howto")}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the time of a run goes into figures and the disk; no figure is printed, and nobody pulls the plug.

    All runs stay in the process of the test, as where workers take long to start. They would give the same bits.
    """
    monkeypatch.setattr("pipeline.engine.coordinator.is_small", lambda *_, **__: True)
    monkeypatch.setattr("pipeline.engine.coordinator.machine_factor", lambda: 100.0)  # so that none is handed over
    monkeypatch.setattr("pipeline.report.drawing.figures.draw_all", lambda report, document: [])
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_sessions_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    sessions = list(run_sessions(PAGES[name].read_text(encoding="utf-8"), tmp_path))
    assert len(sessions) > 5
    for block, shown in sessions:
        assert shown == block[3]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_number_in_the_text_of_a_page_is_one_that_its_sessions_show(name: str) -> None:
    """Scores, gains and p-values only: numbers with three decimals or more."""
    text = PAGES[name].read_text(encoding="utf-8")
    shown = set(re.findall(r"\d+\.\d{3,}", "".join(block[3] for block in FENCED.finditer(text))))
    assert set(re.findall(r"\d+\.\d{3,}", FENCED.sub("", text))) <= shown


def test_the_sentence_for_a_paper_has_the_numbers_of_the_comparison() -> None:
    text = PAGES["tutorial"].read_text(encoding="utf-8")
    (row,) = set(re.findall(r"^large +new +(\S+) +\[(\S+), (\S+)\] +\S+ +(\S+) +better$", text, re.MULTILINE))
    gain, low, high = (f"{100 * float(number):.1f}" for number in row[:3])
    (score,) = set(re.findall(r"^ +1 +large +(\S+) ", text, re.MULTILINE))
    assert f"`large` answers {100 * float(score):.1f} % correctly, {gain} points more than `new`" in text
    assert f"(95 % interval {low} to {high}, p = {row[3]}, corrected for three comparisons)" in text


def test_the_readme_sends_a_newcomer_to_both_pages_within_the_first_screen() -> None:
    head = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30]
    assert [name for name in PAGES if f"](docs/{name}.md)" not in "\n".join(head)] == []


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        with tempfile.TemporaryDirectory() as made:
            PAGES[name].write_text(written_anew(PAGES[name].read_text("utf-8"), Path(made)), "utf-8")
