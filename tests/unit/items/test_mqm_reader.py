"""Ratings by MQM are weighted and averaged as WMT does it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.studies import run_cli

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.items.readers.mqm import MqmReader
from pipeline.items.recognise import recognise_file
from pipeline.testing import ReaderContract, ReaderExample

HEAD = "system\tdoc\tdoc_seg_id\tglobal_seg_id\trater\tsource\ttarget\tcategory\tseverity\tmetadata\n"


def row(system: str, segment: int, category: str, severity: str, rater: str = "r1", document: str = "log") -> str:
    return f"{system}\t{document}\t1\t{segment}\t{rater}\tFog came\tNebel <v>kam</v>\t{category}\t{severity}\t{{}}\n"


def read(folder: Path, *rows: str, head: str = HEAD, **options: object) -> dict[str, Items]:
    (folder / "ratings.tsv").write_text(head + "".join(rows), encoding="utf-8")
    return load_reader({"name": "mqm", **options}).read_outputs(folder / "ratings.tsv", system=None, options={})


class TestMqm(ReaderContract):
    def example(self) -> ReaderExample:
        rows = (
            row("north", 1, "Fluency/Grammar", "Major") + row("south", 1, "No-error", "No-error"),
            row("north", 2, "Style/Awkward", "Minor") + row("south", 2, "Fluency/Punctuation", "minor"),
        )

        def join(pieces: Sequence[bytes]) -> bytes:
            return HEAD.encode() + b"".join(pieces)

        pieces = tuple(piece.encode() for piece in rows)
        return ReaderExample(MqmReader, pieces, join, system=None, file="ratings.tsv", writes=False)


def test_a_penalty_is_the_sum_of_weights_and_the_mean_over_raters(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        row("north", 7, "Accuracy/Mistranslation", "Major"),
        row("north", 7, "Fluency/Punctuation", "Minor"),
        row("north", 7, "no-error", "no-error", rater="r2"),
        row("north", 7, "Fluency/Punctuation", "Major", rater="r3"),
        row("south", 9, "Non-translation!", "Major"),
        row("south", 7, "Style/Awkward", "Neutral"),
        row("north", 9, "Style/Awkward", "minor", rater="r1"),
        row("north", 9, "No-error", "No-error", rater="r4"),
    )
    assert {name: (items.ids, items.columns["score"]) for name, items in found.items()} == {
        "north": (("7", "9"), ("3.366667", "0.5")),  # (5.1 + 0 + 5) / 3
        "south": (("7", "9"), ("0", "25")),
    }
    assert found["north"].columns["document"] == ("log", "log")
    assert found["south"].lines == (7, 6)
    assert found["north"].directions == {"score": False}


def test_weights_may_be_others(tmp_path: Path) -> None:
    rows = (row("north", 1, "Other", "Critical"), row("north", 2, "Other", "Major"))
    assert read(tmp_path, *rows, weights={"critical": 10, "Major": 2.5})["north"].columns["score"] == ("10", "2.5")
    with pytest.raises(DataError) as caught:
        read(tmp_path, *rows)
    (problem,) = caught.value.problems
    assert (problem.code, str(problem.where).rpartition("/")[2]) == ("P264", "ratings.tsv:2")
    assert "weights: {critical: 1}" in str(problem.help)


@pytest.mark.parametrize("weights", [{"minor": "much"}, {"minor": True}, 5])
def test_a_weight_is_a_number(weights: object) -> None:
    with pytest.raises(ValueError, match="option 'weights'"):
        MqmReader(weights=weights)


def test_what_is_no_table_of_ratings_is_refused(tmp_path: Path) -> None:
    def code(*rows: str, head: str = HEAD) -> str:
        with pytest.raises(DataError) as caught:
            read(tmp_path, *rows, head=head)
        return caught.value.problems[0].code

    assert code(row("north", 1, "Other", "Minor"), head=HEAD.replace("severity", "weight")) == "P211"
    assert code(row("north", 1, "Other", "Minor"), row("north", 1, "Other", "Minor", document="map")) == "P222"
    assert code("north\tlog\n") == "P212"


def test_compare_takes_less_as_better_and_draws_documents(tmp_path: Path) -> None:
    rows = [
        row(system, k, "Other", severity, document=f"log{k % 20}")
        for k in range(40)
        for system, severity in (("north", "Minor" if k % 4 else "Major"), ("south", "Minor" if k % 4 == 1 else "no-error"))
    ]
    (tmp_path / "ratings.tsv").write_text(HEAD + "".join(rows), encoding="utf-8")
    assert recognise_file(tmp_path / "ratings.tsv")[0].name == "mqm"
    done = run_cli("compare", "ratings.tsv", "-b", 500, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "south is better than north by 1.75" in done.stdout
    assert "20 documents" in done.stdout
