"""The changelog is read from top to bottom: nothing stands in it twice, and its parts have the usual order."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

NEWEST = (Path(__file__).resolve().parents[3] / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
ORDER = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Faster", "Security"]


def test_no_entry_says_again_what_another_one_says() -> None:
    """Two branches that reword one entry leave both of its wordings: whoever merges takes the lines of both."""
    entries = [line for line in NEWEST.splitlines() if line.startswith("- ")]
    words = {entry: set(re.findall(r"\w+", entry.lower())) for entry in entries}
    assert len(words) == len(entries)
    pairs = combinations([entry for entry in entries if len(words[entry]) > 12], 2)
    assert [pair for pair in pairs if len(words[pair[0]] & words[pair[1]]) > 0.6 * len(words[pair[0]] | words[pair[1]])] == []


def test_parts_stand_in_the_usual_order_and_each_once() -> None:
    parts = re.findall(r"^### (.+)$", NEWEST, re.MULTILINE)
    assert parts == [part for part in ORDER if part in parts]
