"""A report has the test sets in the order of its study, wherever it lists them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from support.studies import run_cli, write_study

NAMES = ("web", "news", "mail")
"""Against the order of the alphabet."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("order")
    for place, name in enumerate(NAMES):
        rows = [f"q{k},{k % 2},{int(k % 5 > place)},{int(k % 3 > 0)}" for k in range(60)]
        (folder / f"{name}.csv").write_text("\n".join(["item,zeta,alpha,mid", *rows]) + "\n", encoding="utf-8")
    study = write_study(
        folder / "study.yaml",
        test_sets={name: {"format": "scores", "outputs": f"{name}.csv"} for name in NAMES},
        metrics=["mean"],
        analyses=["size-curve", "suite"],
        resampling={"replicates": 200},
        report={"formats": ["html", "markdown"], "null_laboratory": False},
    )
    done = run_cli("run", study, "--runs", folder / "runs", "--serial")
    assert done.returncode == 0, done.stderr
    (root,) = (path for path in (folder / "runs").iterdir() if (path / "report").is_dir())
    return done.stderr, root / "report"


def order_in(text: str) -> tuple[str, ...]:
    """The names in the order of their verdicts."""
    found = {name: text.index(f"{name} · mean") for name in NAMES}
    return tuple(sorted(found, key=lambda name: found[name]))


def test_tables_have_test_sets_in_the_order_of_the_study(finished: tuple[str, Path]) -> None:
    _, report = finished
    for path in (report / "tables").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        named = tuple(dict.fromkeys(row["test_set"] for row in rows if row.get("test_set") in NAMES))
        assert named in ((), NAMES), path.name


def test_the_document_has_test_sets_in_the_order_of_the_study(finished: tuple[str, Path]) -> None:
    document = json.loads((finished[1] / "report.json").read_text(encoding="utf-8"))
    assert tuple(row["name"] for row in document["test_sets"]) == NAMES
    for key in ("signature", "systems", "leaderboard", "pair_counts", "pairs", "clusters", "alignment", "verdict"):
        assert tuple(dict.fromkeys(row["test_set"] for row in document[key])) == NAMES, key


def test_page_markdown_and_terminal_have_test_sets_in_the_order_of_the_study(finished: tuple[str, Path]) -> None:
    told, report = finished
    page = (report / "index.html").read_text(encoding="utf-8")
    assert order_in(told) == order_in(page) == order_in((report / "report.md").read_text(encoding="utf-8")) == NAMES
