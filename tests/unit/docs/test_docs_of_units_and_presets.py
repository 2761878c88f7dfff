"""The pages on units and presets show what is printed and computed.

``python tests/unit/docs/test_docs_of_units_and_presets.py`` writes the tables of docs/presets.md anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.inference.convention_levels import folded_p, gaussian_rejection, null_p, null_rejection
from pipeline.interfaces import Preset
from pipeline.presets.registry import PRESETS

DOCS = Path(__file__).resolve().parents[3] / "docs"
MARKED = re.compile(r"(<!-- presets: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
CASES = [(1, 100), (2, 100), (3, 100), (5, 100), (10, 100), (20, 100), (100, 100), (20, 20), (300, 1000)]
COLUMNS = {
    "`one-sided`": "one-sided",
    "`two-sided`": "two-sided",
    "`below-zero`": "below-zero",
    "fold, ≥": "riezler-maxwell",
    "fold, >": "riezler-maxwell, strict",
    "swaps, ≥": "approximate-randomization",
    "swaps, >": "approximate-randomization, strict",
}


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = (head, ["---"] * len(head), *rows)
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in cells)


def describe(preset: Preset) -> tuple[str, ...]:
    rules = "; ".join(
        f"{rule.procedure}, {rule.convention}" + (f" (of the analysis {rule.analysis})" if rule.analysis else "")
        for rule in preset.rules
    )
    identical = "; ".join(rule.identical for rule in preset.rules)
    return f"`{preset.name}`", rules, f"{preset.replicates:,}", preset.null, preset.prints, identical, preset.misleads


def table() -> str:
    head = ("name", "procedure, convention", "b", "null", "prints", "identical", "where it misleads")
    return markdown(head, [describe(preset) for preset in map(PRESETS.__getitem__, PRESETS.own())])


def levels() -> str:
    rows = [
        (str(m), str(n), *(f"{100 * null_rejection(name, discordant=m, units=n):.1f}" for name in COLUMNS.values()))
        for m, n in CASES
    ]
    return markdown(("m", "n", *COLUMNS), rows)


def fold() -> str:
    rows = [(f"{level:g}", f"{gaussian_rejection(level):.4f}") for level in (0.001, 0.01, 0.05, 0.10, 0.20)]
    return markdown(("α", "rejected"), rows)


TABLES = {"table": table, "levels": levels, "fold": fold}


def filled(page: str) -> str:
    return MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", page)


def test_the_tables_of_presets_are_computed() -> None:
    page = (DOCS / "presets.md").read_text(encoding="utf-8")
    assert {found[1] for found in MARKED.findall(page)} == set(TABLES)
    assert page == filled(page)


@pytest.mark.parametrize("name", ["units", "presets"])
@pytest.mark.slow
def test_the_examples_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    code, printed = (re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL) for kind in ("python", "text"))
    assert code
    for example, shown in zip(code, printed, strict=True):
        done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert done.stdout == shown


def test_the_figures_in_the_words_are_the_computed_ones() -> None:
    page = (DOCS / "presets.md").read_text(encoding="utf-8")
    assert f"p(0) = {folded_p(0):.3f}".replace("0.", ".") in page
    tied, strict = (null_p(f"riezler-maxwell{kind}", wins=1, losses=0, units=100) for kind in ("", ", strict"))
    assert f"p is {tied:.3f} where ties count and {strict:.3f}".replace("0.", ".") in page


if __name__ == "__main__":
    there = DOCS / "presets.md"
    there.write_text(filled(there.read_text(encoding="utf-8")), encoding="utf-8")
