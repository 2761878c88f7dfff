"""Tables in every layout, JSON lines and mt-metrics-eval do what every reader must."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline.items.readers.json_lines import JsonLinesReader
from pipeline.items.readers.labels import LabelReader
from pipeline.items.readers.mt_metrics_eval import MtMetricsEvalReader
from pipeline.items.readers.scores import ScoreReader
from pipeline.items.readers.text import TextReader
from pipeline.testing import ReaderContract, ReaderExample


def below(header: bytes, pieces: Sequence[bytes]) -> bytes:
    return header + b"".join(pieces)


class TestLetters(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"items.tsv": b"item\tlabel\nq7\tB\nq3\tA\nq9\tD\n"}
        rows, join = (b"north\tBA-\n", b"south\tBCD\n"), partial(below, b"model\tletters\n")
        reader = partial(LabelReader, layout="letters")
        return ReaderExample(reader, rows, join, gold, None, numbered=True, recognised=False)


class TestRows(ReaderContract):
    def example(self) -> ReaderExample:
        rows, join = (b"seed 1,0.71,5e-1\n", b"NA,.5,2\n"), partial(below, b"run,tides,stars\n")
        reader = partial(ScoreReader, layout="rows")
        return ReaderExample(reader, rows, join, system=None, file="runs.csv", recognised=False)


class TestRowsOfLabels(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"gold.csv": b"id,label\nq1,yes\nq2,no\n"}
        rows, join = (b"north,yes,no\n", b'south,"n,o",yes\n'), partial(below, b"name,q2,q1\n")
        reader = partial(LabelReader, layout="rows", rename={"yes": "ja"})
        return ReaderExample(reader, rows, join, gold, None, recognised=False)


class TestParquet(ReaderContract):
    fuzz_examples = 20

    def example(self) -> ReaderExample:
        arrow: Any = pytest.importorskip("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")

        def join(pieces: Sequence[bytes]) -> bytes:
            names, scores = zip(*(piece.decode().split() for piece in pieces), strict=True)
            file = io.BytesIO()
            parquet.write_table(arrow.table({"item": names, "north": arrow.array(map(float, scores), arrow.float32())}), file)
            return file.getvalue()

        rows = (b"q1 0.1\n", b"q2 0.25\n")
        return ReaderExample(ScoreReader, rows, join, system=None, file="x.parquet", text=False, compressible=False)


class TestJsonLinesOfTexts(ReaderContract):
    def example(self) -> ReaderExample:
        reader = partial(
            JsonLinesReader, item="id", text="out.{system}.t", score="out.{system}.s", reference="ref", sentences=["<s>", "</s>"]
        )
        lines = (
            b'{"id": "a", "ref": ["<s> x y </s>", "z"], "out": {"north": {"t": "<s> x </s>", "s": {"f": 0.5, "p": true}}}}\n',
            b'{"id": 2, "ref": "w", "out": {"north": {"t": "", "s": {"f": 1e-7, "p": 3}}}}\n',
        )
        return ReaderExample(reader, lines, gold={"all.jsonl": b"".join(lines)}, system=None, writes=False, recognised=False)


class TestJsonLinesByKey(ReaderContract):
    def example(self) -> ReaderExample:
        reader = partial(JsonLinesReader, item="q", system="model", label="said", gold="right")
        lines = tuple(
            b'{"q": "%s", "model": "%s", "said": %s}\n' % row
            for row in ((b"a", b"m", b"1"), (b"b", b"m", b"null"), (b"a", b"n", b'"x"'), (b"b", b"n", b"true"))
        )
        gold = {"gold.jsonl": b'{"q": "a", "right": "x"}\n{"q": "b", "right": "1"}\n'}
        return ReaderExample(reader, lines, gold=gold, system=None, writes=False, recognised=False)


class TestMtMetricsEval(ReaderContract):
    def example(self) -> ReaderExample:
        blocks = (b"north 0.5\nnorth None\nnorth -1e-2\n", b"south\t1\nsouth\t0\nsouth\t0.25\n")
        return ReaderExample(MtMetricsEvalReader, blocks, system=None, file="en-de.Wave-refA.seg.score", writes=False)

    def place(self, folder: Path, name: str, data: bytes) -> Path:
        for part, text in (("documents/en-de.docs", b"sea log1\nsea log1\nsky log1\n"), ("scores/" + name, data)):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            (folder / part).write_bytes(text)
        return folder / "scores" / name


class TestReferencesBetweenTabs(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"refs.tsv": b"the ship left\ta ship left\nnobody saw it\n"}
        return ReaderExample(partial(TextReader, split_references=True), (b"the ship\n", b"no one\n"), gold=gold, numbered=True)
