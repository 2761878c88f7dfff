"""What is advised about files that are odd: cut, doubled, of another kind, or short of something."""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
import zlib

from support.advice_of_items import GROUPED, documents
from support.advice_of_tool_files import SWE, lines, log, stat
from support.advice_of_trainings import CONSTANT, DATA, FILES, GOOD, LEARN, SEEDS, learnt, models, training
from support.following_advice import Case


def zipped(**members: str) -> bytes:
    """Return a zip file."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.json", content)
    return written.getvalue()


def logged(**scores: str) -> bytes:
    """Return a log of Inspect as it writes them by default."""
    whole = json.loads(log(**scores))
    samples = whole.pop("samples")
    return zipped(header=json.dumps(whole), summaries=json.dumps(samples))


def windowed(content: str) -> bytes:
    """Return what xz packs, with a header that asks for a window of 2 GiB."""
    data = bytearray(lzma.compress(content.encode(), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16}]))
    end = 12 + (data[12] + 1) * 4
    data[16] = 38
    data[end - 4 : end] = struct.pack("<I", zlib.crc32(data[12 : end - 4]))
    return bytes(data)


EVAL = "{format: inspect, outputs: '{system}.eval'}"
LOGS = {"a.eval": logged(match="C"), "b.eval": logged(match="I")}
WIDE = "item,a,b\n1,3,4\n2,3,5\n"
RUNS = "item,system,checkpoint,score\n" + "".join(
    f"q{item},{system},{run},{value}\n"
    for system, values in {"a": "342", "b": "453"}.items()
    for run in (1, 2)
    for item, value in enumerate(values)
)
HALVES = "item,system,score,words\nq0,a,3,9\nq1,a,3,\nq2,a,4,8\nq0,b,5,9\nq1,b,4,7\nq2,b,6,8\n"
TASKS = "task,item,a,b\n" + "".join(f"{task},{k},{k},{9 - k}\n" for task in ("arc", "quiz") for k in range(4))
SETS = "{{format: {{name: scores, rows: {{{}}}}}, outputs: x.csv}}"
LONG = "item,llm,score\n1,a,3\n1,b,4\n2,a,3\n2,b,5\n"
WORD = {"gold.txt": "a/D b/N\nc/V\n", "a.out": "a/D b/V\nc/V\n", "b.out": "a/D b/N\nc/V\n"}
NAMED = "id,label\nx,n\ny,v\nz,n\n"

EVERY = {
    "schema_version": "0.3.0",
    "evaluation_id": "e",
    "evaluation_name": "h",
    "evaluation_result_id": "em",
    "interaction_type": "single_turn",
    "output": {"raw": ["y"]},
    "answer_attribution": [],
    "error": None,
}


def told(number: int, model: str = "m") -> dict[str, object]:
    """Return a sample of Every Eval Ever."""
    own = {
        "model_id": model,
        "sample_id": f"q{number}",
        "sample_hash": f"h{number}",
        "input": {"raw": f"q{number}", "reference": ["y"]},
    }
    return {**EVERY, **own, "evaluation": {"score": float(number % 2), "is_correct": bool(number % 2)}}


ODD_FILES = {
    "survey/checks": [
        Case(
            "write `family: all-pairs` and no `baseline:`, or give `gate` the option `--all-pairs`: every model is then "
            "compared with every other, {} among them",
            "{format: scores, outputs: x.csv}",
            {"x.csv": RUNS.replace("checkpoint", "seed")},
            {"more": "resampling: {<0>}\n"},
            more="resampling: {baseline: a, family: against-baseline}\n",
        ),
    ],
    "items/readers/every_eval_ever": [
        Case(
            "give the file without {system}: systems are then its models",
            "{format: every-eval-ever, outputs: '{system}.jsonl'}",
            {"x.jsonl": lines(*(told(k, model) for k in (1, 2) for model in "mn"))},
            {"test_set": "{format: every-eval-ever, outputs: x.jsonl}"},
        ),
        Case(
            "a sample has one score in each evaluation; epochs are told by `metadata.epoch`",
            "{format: every-eval-ever, outputs: '{system}.jsonl'}",
            {f"{s}.jsonl": lines(told(1), told(2), told(2)) for s in "ab"},
            {f"{s}.jsonl": lines(*({**told(k), "metadata": {"epoch": e}} for k in (1, 2) for e in (1, 2))) for s in "ab"},
        ),
    ],
    "items/readers/helm": [
        Case(
            "an instance has one '{}' in each trial; copy or make the file again",
            "{format: helm, outputs: '{system}/per_instance_stats.json'}",
            {"a/per_instance_stats.json": stat()[:-1] + ", " + stat()[1:], "b/per_instance_stats.json": stat()},
            {"a/per_instance_stats.json": stat()},
        ),
    ],
    "items/readers/swe_bench": [
        Case(
            "name every instance once",
            "{format: swe-bench, gold: one.txt, outputs: '{system}.json'}",
            {"one.txt": "x__y-1\nx__y-2\nx__y-3\nx__y-3\n", "a.json": SWE, "b.json": SWE},
            {"one.txt": "x__y-1\nx__y-2\nx__y-3\n"},
        ),
    ],
    "items/readers/_inspect": [
        Case(
            "name the format that it has, or another file", EVAL, {**LOGS, "a.eval": zipped(words="[]")}, {"a.eval": LOGS["a.eval"]}
        ),
    ],
    "items/readers/_zip": [
        Case(
            "copy or make the file again",
            EVAL,
            {**LOGS, "a.eval": LOGS["a.eval"].replace(b"success", b"succexx", 1)},
            {"a.eval": LOGS["a.eval"]},
        ),
        Case(
            "{}; one that is cut off has lost the list of its members, which is at its end",
            EVAL,
            {**LOGS, "a.eval": LOGS["a.eval"][:-30]},
            {"a.eval": LOGS["a.eval"]},
        ),
    ],
    "items/readers/_sets": [
        Case(help_, SETS.format(wrong), {"x.csv": TASKS}, {"test_set": SETS.format(right)})
        for help_, wrong, right in (
            ("did you mean {}", "tusk: arc", "task: arc"),
            ("did you mean {}", "task: ark", "task: arc"),
            ("name a column of the table", "year: arc", "task: arc"),
            ("name a value that the column has", "task: zebra", "task: quiz"),
        )
    ]
    + [
        Case(
            "write it in quotes, as the table does: `{}`",
            SETS.format("task: 1.50"),
            {"x.csv": TASKS.replace("arc", "1.50")},
            {"test_set": SETS.format("task: <0>")},
        ),
        Case(
            "write the name of its test set, or delete the row",
            "{format: scores, outputs: x.csv}",
            {"x.csv": TASKS.replace("quiz,3", ",3")},
            {"x.csv": TASKS.replace("quiz,3", ",3"), "test_set": SETS.format("task: arc")},
        ),
    ],
    "items/readers/_layouts": [
        Case(
            "keep one row for each item; or, where there is a row for each item and system, name the column: "
            "`columns: {system: …}`",
            "{format: scores, outputs: x.csv}",
            {"x.csv": LONG},
            {"test_set": "{format: scores, outputs: x.csv, <0>}"},
            fill={"…": "llm"},
        ),
        Case(
            "keep one row for each item; or, where a model has a row for each of its runs, name the column: "
            "`columns: {replica: …}`",
            "{format: scores, outputs: x.csv}",
            {"x.csv": RUNS},
            {"test_set": "{format: scores, outputs: x.csv, <0>}"},
            fill={"…": "checkpoint"},
        ),
        Case(
            "write the runs without a slash",
            "{format: scores, outputs: x.csv}",
            {"x.csv": RUNS.replace("checkpoint", "run").replace(",a,1,", ",a,b/1,").replace(",b,2,", ",a/b,1,")},
            {"x.csv": RUNS.replace("checkpoint", "run").replace(",a,1,", ",a,b-1,").replace(",b,2,", ",a/b,1,")},
        ),
        Case(
            "write its number, or its name",
            "{format: scores, outputs: x.csv, columns: {replica: checkpoint}}",
            {"x.csv": RUNS.replace("q1,a,2,", "q1,a,,")},
            {"x.csv": RUNS},
        ),
    ],
    "items/readers/_holes": [
        Case(
            "write a number, or leave all numbers of the row empty: the item is then missing",
            "{format: scores, outputs: x.csv, missing: drop}",
            {"x.csv": HALVES},
            {"x.csv": HALVES.replace("q1,a,3,", "q1,a,,")},
        ),
    ],
    "items/readers/_records": [
        Case(
            "say what a missing score counts as: leave the item out and set `missing:`, or write a number",
            "{format: helm, outputs: '{system}/per_instance_stats.json'}",
            {"a/per_instance_stats.json": stat().replace("1.0", "NaN", 1), "b/per_instance_stats.json": stat()},
            {"a/per_instance_stats.json": stat()},
        ),
    ],
    "items/readers/_scored": [
        Case(
            "ask for another score, or give the group another name in `columns:`",
            "{format: inspect, outputs: '{system}.json', columns: {match: input}}",
            {"a.json": log(match="C"), "b.json": log(match="I")},
            {"test_set": "{format: inspect, outputs: '{system}.json', columns: {asked: input}}"},
        ),
        Case(
            "write the file again in UTF-8",
            "{format: inspect, outputs: '{system}.json'}",
            {"a.json": log(match="C").replace("match", "m\\ud800"), "b.json": log(match="I")},
            {"a.json": log(match="C")},
        ),
        Case(
            "check that the file is what its format says",
            "{format: inspect, outputs: '{system}.json'}",
            {"a.json": log(match="C").replace('"target": "x"', '"target": ' + "[" * 900 + "]" * 900, 1), "b.json": log(match="I")},
            {"a.json": log(match="C")},
        ),
    ],
    "items/choices": [
        Case(
            "see `items:` of the test set",
            "{format: scores, outputs: x.csv, items: {include: {kind: other}}}",
            GROUPED,
            {"test_set": "{format: scores, outputs: x.csv, items: {include: {kind: l}}}"},
        ),
    ],
    "items/compare": [
        Case(
            "the test set has {} items: choose some of them",
            "{format: scores, outputs: x.csv, items: {include: {kind: l}, exclude: {kind: l}}}",
            GROUPED,
            {"test_set": "{format: scores, outputs: x.csv, items: {include: {kind: l}}}"},
        ),
        Case(
            "give it an item column",
            "{format: labels, gold: gold.csv, outputs: '{system}.lab', missing: drop}",
            {"gold.csv": NAMED, "a.lab": "n\nv\n", "b.lab": NAMED},
            {"a.lab": "id,label\nx,n\ny,v\n"},
            metric="accuracy",
        ),
    ],
    "items/item_table": [
        documents(
            "correct `columns: {document: …}` of the test set",
            "line\tdocid\n1\tx\n2\tx\n3\ty\n",
            {"test_set": "{format: text, references: [ref.txt], outputs: 'out/{system}.txt', documents: docs.tsv, <0>}"},
            own=", columns: {document: paper}",
            fill={"…": "docid"},
        ),
    ],
    "items/recognise": [
        learnt("name the format", GOOD, GOOD, "{format: auto, gold: test.csv}")._replace(mend={"test_set": LEARN}),
    ],
    "items/readers/_streams": [
        Case(
            "decompress it, or compress it with usual settings",
            "{format: scores, outputs: x.csv.xz}",
            {"x.csv.xz": windowed(WIDE)},
            mend,
        )
        for mend in ({"x.csv.xz": lzma.compress(WIDE.encode())}, {"x.csv": WIDE, "test_set": "{format: scores, outputs: x.csv}"})
    ],
    "items/readers/_typed_tables": [
        Case(
            "write the values as columns of their own",
            "{format: scores, outputs: x.table.json}",
            {"x.table.json": json.dumps({"columns": ["ab"], "data": [[[1, 3]], [[2, 2]]]})},
            {"x.table.json": json.dumps({"columns": ["a", "b"], "data": [[1, 3], [2, 2]]})},
        ),
    ],
    "survey/training": [
        learnt(
            "count something that is there",
            training(DATA.replace("train.csv", "zero.csv"), "resamples: [{method: quota, replicas: 1, instances: size}]", CONSTANT),
            training(
                DATA.replace("train.csv", "zero.csv"), "resamples: [{method: quota, replicas: 1, instances: items}]", CONSTANT
            ),
        )._replace(files={**FILES, "zero.csv": "id,label,text,size,who\n1,a,x,0,p\n2,b,y,0,p\n"}),
    ],
    "metrics/_columns": [
        Case(
            "outputs have the tokens of the gold, in its order: only what is predicted differs",
            "{format: tagged, gold: gold.txt, outputs: '{system}.out'}",
            {**WORD, "a.out": WORD["a.out"].replace("b/V", "x/V")},
            {"a.out": WORD["a.out"]},
            metric="tag-accuracy",
            counts=True,
        ),
    ],
    "trainers/python": [
        learnt(
            "see `options:` of the model",
            training(DATA, SEEDS, models("{trainer: python, object: 'own_trainers:Picky', path: ., options: {size: -1}}")),
            training(DATA, SEEDS, models("{trainer: python, object: 'own_trainers:Picky', path: ., options: {size: 1}}")),
        )._replace(
            files={
                **FILES,
                "own_trainers.py": FILES["own_trainers.py"]
                + "class Picky(Constant):\n    def __init__(self, size):\n"
                + "        if size < 0:\n            raise ValueError('negative')\n",
            }
        ),
    ],
    "own_code": [
        learnt(
            "give it one: its code is part of what is computed",
            training(DATA, SEEDS, models("{trainer: python, object: 'sys:exit'}")),
            GOOD,
        ),
        learnt(
            "another module has this name: rename one of them",
            training(DATA, SEEDS, models("{trainer: python, object: 'json:JSONDecoder', path: code}")),
            training(DATA, SEEDS, models("{trainer: python, object: 'own_trainers:Constant', path: code}")),
        )._replace(files={**FILES, "code/json.py": FILES["own_trainers.py"], "code/own_trainers.py": FILES["own_trainers.py"]}),
    ],
}
