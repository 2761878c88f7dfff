"""The pages for users of other tools: their commands and ours print what is shown, and numbers that should agree do.

``PYTHONPATH=tests python tests/unit/docs/test_docs_of_tools.py`` writes what the sessions print into the pages.
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
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "tools").glob("*.md"))}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures and the disk take most of the time of a run, and no page shows a figure."""
    monkeypatch.setattr("pipeline.engine.coordinator.machine_factor", lambda: 100.0)
    monkeypatch.setattr("pipeline.report.drawing.figures.draw_all", lambda report, document: [])
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)


def sessions(text: str) -> str:
    return "".join(block[3] for block in FENCED.finditer(text) if block[2] == "console")


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_sessions_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    found = list(run_sessions(PAGES[name].read_text(encoding="utf-8"), tmp_path))
    assert found
    for block, printed in found:
        assert printed == block[3]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_p_value_in_the_text_is_one_that_the_sessions_show(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    assert set(re.findall(r"\d\.\d{4}|\d\.\de-\d+", FENCED.sub("", text))) <= set(
        re.findall(r"\d\.\d{4}\b|\d\.\de-\d+", sessions(text))
    )


def test_the_column_of_the_preset_is_what_sacrebleu_prints() -> None:
    text = sessions(PAGES["sacrebleu"].read_text(encoding="utf-8"))
    (theirs,) = re.findall(r"\(p = (\d\.\d{4})\)", text)
    (ours,) = re.findall(r"^new +base .*  better +(\d\.\d{4})$", text, re.MULTILINE)
    assert theirs == ours


@pytest.mark.parametrize(("theirs", "ours"), [("ttest_rel", "paired-t"), ("wilcoxon", "wilcoxon"), ("binomtest", "sign")])
def test_a_closed_test_gives_the_p_of_scipy(theirs: str, ours: str) -> None:
    called, asked = (dict(re.findall(r"^([\w-]+) +(\d\.\d+)$", part, re.MULTILINE)) for part in
                     sessions(PAGES["scipy"].read_text(encoding="utf-8")).split("$ cat ours.txt"))  # fmt: skip
    assert called[theirs] == asked[ours]


def test_every_page_is_listed() -> None:
    index = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[[^]]*\]\(tools/([\w-]+)\.md\)", index, re.MULTILINE)) == sorted(PAGES)


if __name__ == "__main__":
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for name in sys.argv[1:] or PAGES:
        with tempfile.TemporaryDirectory() as made:
            PAGES[name].write_text(written_anew(PAGES[name].read_text("utf-8"), Path(made)), "utf-8")
