"""A number that is shown at several places is one number: terminal, verdict, page, figure, Markdown, LaTeX, JSON and DataFrame."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.studies import run_cli

from pipeline.report.results import Results
from pipeline.report.values import format_p

NAMES = ("zeta", "alpha", "mid", "best")


class Shown:
    """What one comparison wrote and printed, each as text."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(4)
        columns = [rng.random(150) < chance for chance in (0.35, 0.4, 0.55, 0.8)]
        rows = [",".join(["item", *NAMES]), *(f"q{k}," + ",".join(str(int(of[k])) for of in columns) for k in range(150))]
        (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        files = ("--html", "page.html", "--md", "page.md", "--latex", "page.tex", "--json=page.json")
        done = run_cli("compare", "scores.csv", "-b", "500", *files, cwd=folder)
        assert done.returncode == 0, done.stderr
        read = {ending: (folder / f"page.{ending}").read_text(encoding="utf-8") for ending in ("html", "md", "tex", "json")}
        self.document: dict[str, Any] = json.loads(read["json"])
        self.page = read["html"]
        plain = re.sub(
            r"\$([\d.]+) \\times 10\^\{(-?\d+)\}\$", lambda m: f"{m[1]}e{int(m[2]):03d}", read["tex"].replace("$-$", "-")
        )
        rows_of_page = [" ".join(re.findall(r">([^<>]+)<", row)) for row in re.findall(r"<tr>.*?</tr>", self.page, re.DOTALL)]
        self.lines = {
            "terminal": done.stdout.splitlines(),
            "Markdown": read["md"].replace("\\", "").replace("|", " ").splitlines(),
            "LaTeX": plain.replace("&", " ").splitlines(),
            "page": [unescape(row) for row in rows_of_page],
        }

    def words_of(self, where: str, *names: str, after: int = 0) -> list[str]:
        """Return the words of the one row that begins with some names, which stand behind so many words."""
        rows = [line.replace("[", "").replace("]", "").replace(",", "").split() for line in self.lines[where]]
        (found,) = [row for row in rows if tuple(row[after : after + len(names)]) == names and len(row) > len(names) + 3]
        return found


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return Shown(tmp_path_factory.mktemp("shown"))


@pytest.mark.parametrize("where", ["terminal", "Markdown", "LaTeX", "page"])
def test_pairs_have_the_gain_interval_and_p_of_the_document(shown: Shown, where: str) -> None:
    assert len(shown.document["pairs"]) == 6
    for row in shown.document["pairs"]:
        numbers = [f"{value:.3f}" for value in (row["delta"], row["interval"]["lo"], row["interval"]["hi"])]
        if where == "page":
            numbers = [number.replace("-", "\N{MINUS SIGN}") for number in numbers]  # as typeset text has it
        expected = [*numbers, format_p(row["p"]), format_p(row["p_adjusted"])]
        found = shown.words_of(where, row["system_a"], row["system_b"])
        assert found[2:7] == expected


@pytest.mark.parametrize("where", ["terminal", "Markdown", "LaTeX", "page"])
def test_systems_have_the_rank_score_and_interval_of_the_document(shown: Shown, where: str) -> None:
    for row in shown.document["leaderboard"]:
        numbers = [f"{value:.3f}" for value in (row["score"], row["interval"]["lo"], row["interval"]["hi"])]
        found = shown.words_of(where, str(row["rank"]), row["name"])
        assert found[2:5] == numbers
        assert found[5].replace("--", "–") == f"{row['rank_low']}–{row['rank_high']}"


def test_figure_and_verdict_have_the_scores_of_the_document(shown: Shown) -> None:
    words = re.findall(r"<text[^>]*>([^<]*)</text>", shown.page)
    scores = {row["name"]: f"{row['score']:.3f}" for row in shown.document["leaderboard"]}
    assert {name: words[words.index(name) + 1] for name in NAMES} == scores
    (verdict,) = shown.document["verdict"]
    assert f"best has the best score, {scores['best']}," in verdict["sentences"][0]
    for told in ("\n".join(shown.lines["terminal"]), shown.page):
        assert f"best has the best score, {scores['best']}," in unescape(re.sub(r"<[^>]+>", "", told))


def test_data_frames_have_every_number_of_the_document(shown: Shown) -> None:
    results = Results(shown.document)
    for row, (_, own) in zip(shown.document["pairs"], results.pairs.iterrows(), strict=True):
        assert [own[name] for name in ("system_a", "system_b", "delta", "p", "p_adjusted")] == [
            row[name] for name in ("system_a", "system_b", "delta", "p", "p_adjusted")
        ]
        assert (own["interval.lo"], own["interval.hi"]) == (row["interval"]["lo"], row["interval"]["hi"])
    assert results.systems["score"].tolist() == [row["score"] for row in shown.document["leaderboard"]]
    assert {row["name"]: row["scores"]["mean"] for row in shown.document["systems"]} == dict(
        zip(results.systems["name"], results.systems["score"], strict=True)
    )
