"""What reading costs is measured on files that are read right, and shown beside what it may cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks import reading
from benchmarks.tables import render_all

from pipeline.items.readers import load_reader


def record(**figures: float) -> dict[str, Any]:
    shown = {name: {"median": value, "min": value, "max": value} for name, value in figures.items()}
    targets = {name: {"at_most": limit, "met": figures[name] <= limit} for name, limit in reading.LIMITS.items()}
    return {"kind": "reading", "repeat": 1, **shown, "targets": targets}


def test_figures_stand_beside_their_targets() -> None:
    made = record(bleu_cpu_s=3.0, fresh_cpu_s=6.0, ratio_to_fresh=0.5, letters_cpu_s=1.5, conllu_cpu_s=0.75)
    table = render_all([{**made, "mode": "chosen", "processor": "x", "cores": 2, "versions": {}}])["reading"].splitlines()
    assert table[2:] == [
        "| 19 systems of 1000 segments, BLEU | 3.00; a new sacreBLEU object for each: 6.00; ratio 0.50, ≤ 0.6 |",
        "| 28 strings of 12 002 answers, accuracy: surveyed, read and counted | **1.50**, not ≤ 1: +50% |",
        "| one run of 2000 parsed sentences, UAS and LAS, and its gold | 0.75, ≤ 2 |",
    ]


def test_every_side_reads_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SYSTEMS", 2), ("SEGMENTS", 20), ("MODELS", 3), ("QUESTIONS", 400), ("SENTENCES", 30)):
        monkeypatch.setattr(reading, name, value)
    reading.write_inputs(tmp_path)
    for side in reading.SIDES.values():
        side(tmp_path)
    assert len((tmp_path / "items.tsv").read_text().splitlines()) == 401
    gold = load_reader("conllu").read_gold([tmp_path / "gold.conllu"], {})
    assert gold is not None
    parsed = load_reader("conllu").read_outputs(tmp_path / "parsed.conllu", system="x", options={})["x"]
    words = [sum(map(len, items.columns["word"])) for items in (gold, parsed)]
    assert words[1] - words[0] == 3  # three of thirty sentences have a word in two
