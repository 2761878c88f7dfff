"""The readers of evaluation tools' files meet the contract that plugins meet: one class a format, with a file of ours in pieces."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.items.readers.alpaca_eval import AlpacaEvalReader
from pipeline.items.readers.every_eval_ever import EveryEvalEverReader
from pipeline.items.readers.helm import HelmReader
from pipeline.items.readers.inspect_logs import InspectReader
from pipeline.items.readers.json_lines import JsonLinesReader
from pipeline.items.readers.lm_eval import LmEvalReader
from pipeline.items.readers.mt_metrics_eval import MtMetricsEvalReader
from pipeline.items.readers.swe_bench import SweBenchReader
from pipeline.items.readers.trn import TrnReader
from pipeline.plugins import list_plugins
from pipeline.testing import ReaderContract, ReaderExample


def line(**values: Any) -> bytes:
    return json.dumps(values).encode() + b"\n"


def in_a_list(pieces: Sequence[bytes]) -> bytes:
    return b"[" + b", ".join(piece.strip() for piece in pieces) + b"]"


class TestTrn(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"gold.trn": b"the { red / read } boat (sam-1)\nfog (uh) came (ann-2)\n"}
        return ReaderExample(TrnReader, (b"the red boat (sam-1)\n", b";; a remark\nfog (ann-2)\n"), gold=gold, file="north.trn")


class TestKaldiText(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"gold": b"ann-1 fog came\nsam-2 the red boat\n"}
        return ReaderExample(partial(TrnReader, layout="kaldi"), (b"ann-1 fog\n", b"sam-2\n"), gold=gold, recognised=False)


class TestJsonLines(ReaderContract):
    def example(self) -> ReaderExample:
        rows = tuple(line(id=f"a{k}", out={"north": {"f": k / 8}, "south": {"f": 1 - k / 8}}) for k in range(3))
        reader = partial(JsonLinesReader, item="id", score="out.{system}.f")
        return ReaderExample(reader, rows, system=None, file="all.jsonl", writes=False, recognised=False)


class TestJsonLinesOfTexts(ReaderContract):
    def example(self) -> ReaderExample:
        reader = partial(JsonLinesReader, item="id", text="out", reference="right")
        gold = {"gold.jsonl": line(id=1, right=["a ship", "a boat"]) + line(id="two", right=["fog", "mist"])}
        rows = (line(id=1, out="the ship\nleft"), line(id="two", out=""))
        return ReaderExample(reader, rows, gold=gold, file="north.jsonl", writes=False, recognised=False)


class TestLmEval(ReaderContract):
    def example(self) -> ReaderExample:
        rows = tuple(
            line(doc_id=k, doc={"q": f"question {k}", "topic": "tide"}, target="x", arguments={"gen_args_0": {"arg_0": f"Q{k}"}})[
                :-2
            ]
            + b", "
            + line(resps=[["x"]], filtered_resps=["x"], filter="none", metrics=["acc", "f1"], acc=float(k % 2), f1=[1, k])[1:]
            for k in range(3)
        )
        name = "samples_quiz_2026-01-02T03-04-05.678901.jsonl"
        return ReaderExample(partial(LmEvalReader, metric="acc"), rows, file=name, writes=False)


class TestMtMetricsEval(ReaderContract):
    def example(self) -> ReaderExample:
        blocks = (b"north\t0.5\nnorth\t0.25\nnorth\tNone\n", b"south\t0.125\nsouth\t-1\nsouth\t0.5\n")
        return ReaderExample(MtMetricsEvalReader, blocks, system=None, file="Wave-refA.seg.score", writes=False)


class TestAlpacaEval(ReaderContract):
    def example(self) -> ReaderExample:
        rows = tuple(
            line(
                dataset="odd",
                instruction=f"question {k}",
                output_1="plain",
                generator_1="plain",
                output_2="fine",
                generator_2="north",
                annotator="judge",
                preference=preference,
            )
            for k, preference in enumerate((1, 2, 1.5, 1.25))
        )
        return ReaderExample(AlpacaEvalReader, rows, in_a_list, file="annotations.json", writes=False)


class TestEveryEvalEver(ReaderContract):
    def example(self) -> ReaderExample:
        rows = tuple(
            line(
                schema_version="0.3.0",
                evaluation_id="quiz/made/north/1",
                model_id="made/north",
                evaluation_name="quiz",
                evaluation_result_id=None,
                sample_id=f"s{k}",
                sample_hash=f"hash {k}",
                interaction_type="single_turn",
                evaluation={"score": k / 4, "is_correct": k > 2},
                error=None,
                metadata=None,
            )
            for k in range(4)
        )
        return ReaderExample(EveryEvalEverReader, rows, file="north_samples.jsonl", writes=False)


class TestSweBench(ReaderContract):
    def example(self) -> ReaderExample:
        names = tuple(json.dumps(name).encode() for name in ("fog__horn-7", "tide__chart-12", "old-salt__knot-3"))

        def join(pieces: Sequence[bytes]) -> bytes:
            return b'{"no_generation": [], "no_logs": ["salt__mill-1"], "resolved": ' + in_a_list(pieces) + b"}"

        gold = {"all.txt": b"fog__horn-7\ntide__chart-12\nold-salt__knot-3\nsalt__mill-1\n"}
        return ReaderExample(SweBenchReader, names, join, gold=gold, file="results.json", writes=False)


class TestHelm(ReaderContract):
    def example(self) -> ReaderExample:
        rows = tuple(
            line(
                instance_id=f"id{k}",
                train_trial_index=0,
                stats=[
                    {
                        "name": {"name": "exact_match", "split": "test"},
                        "count": 1,
                        "sum": k % 2,
                        "sum_squared": 0,
                        "min": 0,
                        "max": 1,
                        "mean": k % 2,
                    }
                ],
            )
            for k in range(4)
        )
        reader = partial(HelmReader, metric="exact_match")
        return ReaderExample(reader, rows, in_a_list, file="per_instance_stats.json", writes=False)


def sample(k: int) -> bytes:
    score = {"match": {"value": "CIP"[k % 3]}}
    return line(id=k, epoch=1, input=f"question {k}", target="x", metadata={"topic": "tide"}, scores=score)


HEAD = {
    "version": 2,
    "status": "success",
    "eval": {"task": "quiz", "model": "north", "dataset": {"sample_ids": [0, 1, 2]}, "config": {"epochs": 1}},
    "results": {"scores": [{"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}}]},
}


class TestInspectJson(ReaderContract):
    def example(self) -> ReaderExample:
        def join(pieces: Sequence[bytes]) -> bytes:
            return json.dumps(HEAD).encode()[:-1] + b', "samples": ' + in_a_list(pieces) + b"}"

        return ReaderExample(InspectReader, tuple(map(sample, range(3))), join, file="north.json", writes=False)


class TestInspectZip(ReaderContract):
    def example(self) -> ReaderExample:
        def join(pieces: Sequence[bytes]) -> bytes:
            data = io.BytesIO()
            with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("header.json", json.dumps(HEAD))
                archive.writestr("summaries.json", in_a_list(pieces))
                for piece in pieces:
                    archive.writestr(f"samples/{json.loads(piece)['id']}_epoch_1.json", piece)
            return data.getvalue()

        pieces = tuple(map(sample, range(3)))
        return ReaderExample(InspectReader, pieces, join, file="north.eval", text=False, compressible=False, writes=False)


def test_every_installed_format_of_the_package_is_held_to_the_contract() -> None:
    """In any module of this folder: a new reader's test is a module of its own."""
    modules = [
        path.stem for path in Path(__file__).parent.glob("test_*.py") if "(ReaderContract)" in path.read_text(encoding="utf-8")
    ]
    held = [
        made
        for module in map(importlib.import_module, modules)
        for name, made in inspect.getmembers(module, inspect.isclass)
        if name.startswith("Test") and issubclass(made, ReaderContract)
    ]
    names = {made().example().reader().name for made in held}
    assert names >= {name for name, point in list_plugins("readers").items() if point.value.startswith("pipeline.")}
