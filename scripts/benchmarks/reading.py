"""Time the reading of what people have: texts with a metric's counts, strings of answers, parsed sentences.

    python -m benchmarks.reading {bleu|fresh|letters|conllu} FOLDER

prints CPU seconds of one side, without starting Python and importing. `fresh` reads the same texts as `bleu` and makes a new
sacreBLEU object for each system.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arithmetic import spread
from benchmarks.inputs import make_correct, write_texts
from benchmarks.measure import run_measured

__all__ = ["LIMITS", "measure_reading", "write_inputs"]

LIMITS = {"ratio_to_fresh": 0.6, "letters_cpu_s": 1.0, "conllu_cpu_s": 2.0}
SYSTEMS, SEGMENTS = 19, 1000
MODELS, QUESTIONS = 28, 12_002
SENTENCES = 2000


def write_inputs(folder: Path) -> None:
    """Write texts and a reference; questions with their answers, and letters of all models; a gold treebank and a parser's."""
    write_texts(folder, systems=SYSTEMS, items=SEGMENTS)
    generator = np.random.default_rng([1, QUESTIONS, 10])
    right = generator.integers(0, 10, QUESTIONS)
    correct = make_correct(systems=MODELS, items=QUESTIONS)
    letters = np.array(list("ABCDEFGHIJ"))
    rows = [f"{number}\ts{number // 130}\t{letter}" for number, letter in enumerate(letters[right].tolist())]
    (folder / "items.tsv").write_text("\n".join(["question_id\tsource\tanswer", *rows]) + "\n", encoding="utf-8")
    wrong = (right + generator.integers(1, 10, QUESTIONS)) % 10
    given = ["".join(letters[np.where(correct[:, k] == 1, right, wrong)].tolist()) for k in range(MODELS)]
    table = ["model\tletters", *(f"m{k:02d}\t{one}" for k, one in enumerate(given))]
    (folder / "letters.tsv").write_text("\n".join(table) + "\n", encoding="utf-8")
    _write_trees(folder)


def _write_trees(folder: Path) -> None:
    """Write sentences of 5 to 44 words whose heads are words before them; the parser errs in one of six, and splits some words."""
    generator = np.random.default_rng([2, SENTENCES])
    gold: list[str] = []
    parsed: list[str] = []
    for number, length in enumerate(generator.integers(5, 45, SENTENCES).tolist(), start=1):
        words = [f"w{word}" for word in generator.integers(10, 9000, length).tolist()]
        heads = [0, *(int(generator.integers(1, k + 1)) for k in range(1, length))]
        guess = [
            head if k == 0 or generator.random() > 1 / 6 else int(generator.integers(1, k + 1)) for k, head in enumerate(heads)
        ]
        gold += [f"# sent_id = s{number}", *_rows(words, heads), ""]
        split = int(generator.integers(1, length)) if number % 10 == 0 else length
        if split < length:  # a word in two: those behind it have other numbers
            words = [*words[:split], words[split][:1], words[split][1:], *words[split + 1 :]]
            heads = [head + (head > split + 1) for head in guess]
            guess = [*heads[: split + 1], split + 1, *heads[split + 1 :]]
        parsed += [*_rows(words, guess), ""]
    (folder / "gold.conllu").write_text("\n".join(gold) + "\n", encoding="utf-8")
    (folder / "parsed.conllu").write_text("\n".join(parsed) + "\n", encoding="utf-8")


def _rows(words: list[str], heads: list[int]) -> list[str]:
    relations = ("root", "nsubj", "obj", "det")
    columns = zip(words, heads, strict=True)
    return [
        f"{k}\t{word}\t_\tNOUN\tNN\t_\t{head}\t{relations[min(head, 3)]}\t_\t_" for k, (word, head) in enumerate(columns, start=1)
    ]


def _read_texts(folder: Path) -> None:
    from pipeline.items.readers import load_reader
    from pipeline.metrics import load_metric

    reader, metric = load_reader("text"), load_metric("bleu")
    prepared = metric.prepare(reader.read_gold([folder / "reference.txt"], {}))
    for path in sorted((folder / "bleu").iterdir()):
        metric.extract(prepared, reader.read_outputs(path, system=path.stem, options={})[path.stem])


def _read_fresh(folder: Path) -> None:
    from sacrebleu.metrics.bleu import BLEU

    reference = (folder / "reference.txt").read_text(encoding="utf-8").splitlines()
    for path in sorted((folder / "bleu").iterdir()):
        BLEU().corpus_score(path.read_text(encoding="utf-8").splitlines(), [reference])


def _read_letters(folder: Path) -> None:
    from pipeline.items.align import survey_test_set
    from pipeline.items.frame import align_items
    from pipeline.items.outputs import load_output
    from pipeline.metrics import load_metric
    from pipeline.study.schema import Systems
    from pipeline.study.sets import TestSet

    columns = {"item": "question_id", "label": "answer", "source": "source"}
    known = {"format": {"name": "labels", "layout": "letters"}, "gold": "items.tsv", "outputs": "letters.tsv", "columns": columns}
    spec = TestSet.model_validate(known)
    found = survey_test_set("questions", spec, base=folder, systems=Systems(), unit="source")
    metric = load_metric("accuracy")
    prepared = metric.prepare(align_items(found.gold, found.frame)) if found.gold is not None else None
    for output in found.outputs:
        metric.extract(prepared, load_output(spec, output, frame=found.frame, base=folder))


def _read_trees(folder: Path) -> None:
    from pipeline.items.readers import load_reader
    from pipeline.metrics import load_metric

    reader: Any = load_reader("conllu")
    gold = reader.read_gold([folder / "gold.conllu"], {})
    output = reader.read_outputs(folder / "parsed.conllu", system="parser", options={})["parser"]
    fitted = reader.fit(gold, output) if hasattr(reader, "fit") else output
    for name in ("uas", "las"):
        metric = load_metric(name)
        metric.extract(metric.prepare(gold), fitted)


SIDES: dict[str, Callable[[Path], None]] = {
    "bleu": _read_texts,
    "fresh": _read_fresh,
    "letters": _read_letters,
    "conllu": _read_trees,
}


def time_side(side: str, folder: Path) -> float:
    """Return CPU seconds of one side; what it imports, and compiled kernels that are loaded, are had before."""
    from pipeline.items.readers import load_reader
    from pipeline.metrics import load_metric

    for module in ("pipeline.items.align", "pipeline.items.outputs", "pipeline.study.schema"):
        importlib.import_module(module)
    for reader in ("text", "labels", "conllu"):
        load_reader(reader)
    for metric in ("bleu", "accuracy", "uas", "las"):
        load_metric(metric)
    if side == "conllu":
        SIDES[side](folder / "small")
    start = time.process_time()
    SIDES[side](folder)
    return time.process_time() - start


def measure_reading(folder: Path, *, repeat: int) -> dict[str, Any]:
    """Return the record of all sides, measured in turns."""
    data = folder / "reading"
    data.mkdir()
    write_inputs(data)
    _write_small(data)
    seconds: dict[str, list[float]] = {side: [] for side in SIDES}
    for _ in range(repeat):
        for side, found in seconds.items():
            found.append(float(run_measured([sys.executable, "-m", "benchmarks.reading", side, data])[1]))
    ratio = spread([ours / fresh for ours, fresh in zip(seconds["bleu"], seconds["fresh"], strict=True)])
    figures = {
        "ratio_to_fresh": ratio,
        "letters_cpu_s": spread(seconds["letters"]),
        "conllu_cpu_s": spread(seconds["conllu"]),
    }
    return {
        "kind": "reading",
        "repeat": repeat,
        "bleu_cpu_s": spread(seconds["bleu"]),
        "fresh_cpu_s": spread(seconds["fresh"]),
        **figures,
        "targets": {name: {"at_most": LIMITS[name], "met": figure["median"] <= LIMITS[name]} for name, figure in figures.items()},
    }


def _write_small(folder: Path) -> None:
    """Write the first sentence of the trees alone, for kernels to be loaded with."""
    (folder / "small").mkdir()
    for name in ("gold.conllu", "parsed.conllu"):
        first = (folder / name).read_text(encoding="utf-8").split("\n\n")[0]
        (folder / "small" / name).write_text(first + "\n\n", encoding="utf-8")


if __name__ == "__main__":
    print(time_side(sys.argv[1], Path(sys.argv[2])))
