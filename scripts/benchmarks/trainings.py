"""Measure what running trainings as a study costs beyond the trainings, beside a plain loop in one process.

    python -m benchmarks.trainings FOLDER MODEL NUMBER

is that loop: it draws the same samples, fits and predicts the same, and writes a file of outputs each.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.arithmetic import spread
from benchmarks.measure import start_measured

__all__ = ["NEWS", "OVERHEAD", "SMALLER", "Corpus", "Trainings", "measure_loop", "measure_rate"]

OVERHEAD = 0.05
"""CPU seconds of trainings in a study beyond those in a plain loop, as a share of the loop's."""

MODELS = {
    "perceptron": "{trainer: perceptron-tagger}",
    "constant": '{trainer: python, object: "constant:Constant", path: models}',
}
CONSTANT = '''\
"""The least that a trainer can do."""


class Constant:
    """One tag for all."""

    takes, gives, same_bits = ("word", "tag"), ("tag",), True

    def fit(self, items, sample, *, seed, workdir):
        """Learn nothing."""
        return None

    def predict(self, model, items):
        """Give the first tag."""
        return {"tag": [("T00",) * len(words) for words in items.columns["word"]]}
'''
TEMPLATE = """\
schema: 1
study: trainings
seed: {seed}
training:
  data: {{path: train.txt, format: tagged}}
  resamples: [{{method: bootstrap, replicas: {number}}}]
  models: {{{model}: {options}}}
test_sets:
  made: {{format: tagged, gold: test.txt}}
metrics: [tag-accuracy]
resampling: {{replicates: 1000, keep_replicates: 0, test_sizes: [full], family: against-baseline, baseline: {baseline}}}
analyses: []
report: {{formats: [json], null_laboratory: false}}
"""
WORDS, TAGS = 4000, 15


class Corpus(NamedTuple):
    """How many sentences are trained on, and how many are tagged."""

    train: int
    test: int


NEWS = Corpus(2962, 1661)
"""As many as a training of full size in workflows/taggers-brown.yaml has of news, which a fifth of its trainings are."""

SMALLER = (Corpus(1481, 1661), Corpus(740, 1661), Corpus(2000, 400))
"""A half and a quarter of it, as the others are, and a test set that is small: what a study costs is told, and has no target."""


class Between(NamedTuple):
    """Numbers of trainings between which something is measured."""

    few: int
    many: int


def write_corpus(path: Path, *, sentences: int, seed: int) -> None:
    """Write tagged sentences: words by Zipf's law, each with one tag or two, the second more often after its own kind."""
    rng = np.random.default_rng(seed)
    lexicon = np.random.default_rng(1)
    first, second = lexicon.integers(0, TAGS, WORDS), lexicon.integers(0, TAGS, WORDS)
    chance = 1.0 / np.arange(1, WORDS + 1)
    lines = []
    for length in rng.integers(5, 35, sentences):
        words = rng.choice(WORDS, length, p=chance / chance.sum())
        last, tokens = 0, []
        for word, turn in zip(words.tolist(), rng.random(length).tolist(), strict=True):
            last = int(second[word] if turn < (0.4 if last % 3 == word % 3 else 0.05) else first[word])
            tokens.append(f"w{word:04d}{'aeiou'[word % 5]}/T{last:02d}")
        lines.append(" ".join(tokens))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Stretch(NamedTuple):
    """What one training took in the stretch between two numbers of them, of all processes."""

    cpu_s: float
    wall_s: float


class Trainings:
    """A folder with a corpus, from which studies of so many trainings of one base model are run."""

    def __init__(self, folder: Path, model: str, corpus: Corpus) -> None:
        self.folder, self.model = folder, model
        (folder / "models").mkdir(parents=True)
        (folder / "models" / "constant.py").write_text(CONSTANT, encoding="utf-8")
        write_corpus(folder / "train.txt", sentences=corpus.train, seed=2)
        write_corpus(folder / "test.txt", sentences=corpus.test, seed=3)

    def study(self, between: Between, *, workers: int = 1, seed: int = 7) -> Stretch:
        """Run a study of so many trainings."""
        study = self.folder / "study.yaml"
        baseline = json.dumps(f"{self.model}/bootstrap-1/0")
        values = {"seed": seed, "number": between.many, "model": self.model, "baseline": baseline}
        study.write_text(TEMPLATE.format(options=MODELS[self.model], **values), encoding="utf-8")
        with tempfile.TemporaryDirectory(dir=self.folder) as runs:
            command = [sys.executable, "-m", "pipeline", "run", str(study), "--runs", runs, "--workers", str(workers), "--quiet"]
            return follow(command, Path(runs) / ".store" / "outputs", "*.zip", between)

    def loop(self, between: Between) -> Stretch:
        """Run a plain loop over the same trainings."""
        with tempfile.TemporaryDirectory(dir=self.folder) as outputs:
            command = [sys.executable, "-m", "benchmarks.trainings", str(self.folder), self.model, str(between.many), outputs]
            return follow(command, Path(outputs), "*.txt", between)


def follow(command: Sequence[str | Path], outputs: Path, pattern: str, between: Between) -> Stretch:
    """Run a command and give what one training took from the output number ``few`` on to the output number ``many``.

    Both ends are looked at from outside, in the same way whoever trains: the time at which a file appears, and what the processor
    has done by then for all processes of the command.
    """
    started = start_measured(command)
    marks = []
    for number in between:
        while sum(1 for _ in outputs.rglob(pattern)) < number:
            if not started.is_running():
                started.finish()
                raise RuntimeError(f"there are fewer than {number} outputs")
            time.sleep(0.02)
        marks.append((started.cpu_s(), time.monotonic()))
    started.finish()
    (cpu, begin), (cpu_then, end) = marks
    return Stretch((cpu_then - cpu) / (between.many - between.few), (end - begin) / (between.many - between.few))


def measure_loop(folder: Path, *, between: Between, corpus: Corpus, repeat: int, target: bool) -> dict[str, Any]:
    """Return the record of trainings in a study of one worker and in a plain loop, held to `OVERHEAD` where there is a target.

    Both run at the same time, each on a core of its own: whatever else the machine does, or does to its clock, concerns both.
    """
    trainings = Trainings(folder / f"loop-{corpus.train}", "perceptron", corpus)
    sides: dict[str, Callable[[Between], Stretch]] = {"ours": trainings.study, "loop": trainings.loop}
    found: dict[str, list[Stretch]] = {name: [] for name in sides}
    for run in sides.values():
        run(Between(1, 2))  # kernels and byte code are on disk from here on
    with ThreadPoolExecutor(len(sides)) as threads:
        for _ in range(repeat):
            started = {name: threads.submit(run, between) for name, run in sides.items()}
            for name, stretch in started.items():
                found[name].append(stretch.result())
    pairs = list(zip(found["ours"], found["loop"], strict=True))
    overhead = spread([ours.cpu_s / loop.cpu_s - 1 for ours, loop in pairs])
    return {
        "kind": "trainings",
        "job": "perceptron-tagger",
        "sentences": corpus.train,
        "test_sentences": corpus.test,
        "few": between.few,
        "many": between.many,
        "repeat": repeat,
        "cpu_s": {name: spread([stretch.cpu_s for stretch in stretches]) for name, stretches in found.items()},
        "wall_s": {name: spread([stretch.wall_s for stretch in stretches]) for name, stretches in found.items()},
        "overhead": overhead,
        "overhead_of_wall": spread([ours.wall_s / loop.wall_s - 1 for ours, loop in pairs]),
        "targets": {"overhead": {"at_most": OVERHEAD, "met": overhead["median"] <= OVERHEAD}} if target else {},
    }


def measure_rate(folder: Path, *, number: int, repeat: int) -> dict[str, Any]:
    """Return the record of many trainings that take no time, on two workers."""
    trainings = Trainings(folder / "rate", "constant", Corpus(200, 50))
    rates = [1 / trainings.study(Between(20, number), workers=2, seed=turn).wall_s for turn in range(repeat)]
    return {
        "kind": "training-rate",
        "job": "constant",
        "workers": 2,
        "number": number,
        "repeat": repeat,
        "tasks_per_s": spread(rates, digits=1),
        "targets": {},
    }


def main(arguments: Sequence[str]) -> int:
    """Train in a plain loop."""
    from pipeline.items.readers.registry import load_reader
    from pipeline.items.training import items_to_predict, read_training_items, training_digest
    from pipeline.study.sets import TestSet
    from pipeline.study.training_schema import DataFiles
    from pipeline.trainers.registry import load_trainer
    from pipeline.trainers.sampling import Rule, TrainingSet, draw_sample, training_seed

    folder, model, number, outputs = Path(arguments[0]), arguments[1], int(arguments[2]), Path(arguments[3])
    spec = DataFiles(path="train.txt", format="tagged")
    items, reader = read_training_items(spec, folder), load_reader("tagged")
    gold = reader.read_gold([folder / "test.txt"], {})
    assert gold is not None
    asked = items_to_predict(TestSet.model_validate({"gold": "test.txt", "format": "tagged"}), gold)
    trainer = load_trainer("perceptron-tagger", {})
    digest = training_digest(spec, items)
    drawn_from = TrainingSet.of_items(digest, len(items))
    rule = Rule("bootstrap", 1.0)
    for replica in range(number):
        sample = draw_sample(rule, drawn_from, seed=7, replica=replica)
        seed = training_seed(rule, seed=7, data=digest, model=model, replica=replica)
        fitted = trainer.fit(items, sample.items, seed=seed, workdir=outputs)
        reader.write(outputs / f"{replica}.txt", {**asked.columns, **trainer.predict(fitted, asked)}, asked.ids)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
