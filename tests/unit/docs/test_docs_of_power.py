"""What docs/power.md shows of a comparison is what it says.

``PYTHONPATH=tests python tests/unit/docs/test_docs_of_power.py`` writes it anew.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np

from pipeline import api

PAGE = Path(__file__).resolve().parents[3] / "docs" / "power.md"
SHOWN = re.compile(r"(```text\n)(.*?)(```)", re.DOTALL)
ITEMS, DOCUMENTS = 500, 50


def compare(folder: Path) -> tuple[str, float, int]:
    """Two sentences on two systems whose difference is one of documents, the gain that they name, and the documents."""
    rng = np.random.default_rng(5)
    document = np.repeat(np.arange(DOCUMENTS), ITEMS // DOCUMENTS)
    effect = rng.normal(size=DOCUMENTS)
    gain = (effect - effect.mean() + 0.15)[document] + rng.normal(size=ITEMS)
    old = 50 + 5 * rng.normal(size=ITEMS)
    rows = [f"i{k},{a:.2f},{a + g:.2f}" for k, (a, g) in enumerate(zip(old, gain, strict=True))]
    (folder / "scores.csv").write_text("\n".join(["item,old,new", *rows]) + "\n")
    (folder / "documents.txt").write_text("".join(f"d{d}\n" for d in document))
    found = api.compare({"*": str(folder / "scores.csv")}, format="scores", documents=str(folder / "documents.txt"))
    effects = found["pairs"][0]["minimum_detectable_effect"]
    sentences = found["verdict"][0]["sentences"][:2]
    return "".join(f"{sentence}\n" for sentence in sentences), effects["gain"], effects["units_needed"]


def test_the_page_shows_what_a_comparison_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    told, gain, units = compare(tmp_path)
    assert SHOWN.search(text)[2] == told
    assert f"a true gain of {gain:.2f} would be called better in four of five" in text
    assert f"{units} such documents would find it as often" in text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        told, *_ = compare(Path(made))
    PAGE.write_text(SHOWN.sub(lambda match: match[1] + told + match[3], PAGE.read_text("utf-8"), count=1), "utf-8")
