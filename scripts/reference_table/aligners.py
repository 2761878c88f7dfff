"""Train word aligners on 447 sentence pairs of the Canadian Hansards and tabulate alignment error rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markdown_tables import render_table

from pipeline.interfaces import Items, Trainer, TrainingItems
from pipeline.items.readers.links import LinksReader
from pipeline.metrics.aer import Aer
from reference_systems.fast_aligner import FastAlignerTrainer
from reference_systems.hmm_aligner import HmmAlignerTrainer
from reference_systems.ibm1 import Ibm1Trainer

__all__ = ["table"]

TRAINERS: Mapping[str, Any] = {
    "`ibm1`": Ibm1Trainer(),
    "`ibm1`, intersection": Ibm1Trainer(symmetrise="intersection"),
    "`fast-aligner`": FastAlignerTrainer(),
    "`fast-aligner`, intersection": FastAlignerTrainer(symmetrise="intersection"),
    "`hmm-aligner`": HmmAlignerTrainer(),
    "`hmm-aligner`, joint: false, threshold: 0.2": HmmAlignerTrainer(joint=False, threshold=0.2),
}

# Not run here: measured once on the same 447 pairs, their directional alignments joined by our heuristics.
OTHERS = {
    "NLTK 3.10.4 `IBMModel1`, 10 iterations, grow-diag": "35.4",
    "the same, intersection": "38.6",
    "NLTK 3.10.4 `IBMModel2`, 5 iterations, grow-diag": "36.1",
    "eflomal 2.0.0, model 3, grow-diag; three runs": "17.2–17.7",
}
ON_A_MILLION = ("fastalign.intersection", "fastalign.grow-diagonal", "giza.intersection", "giza.grow-diagonal")
HELD_OUT = 337  # the last 110 pairs are then tested on
DRAWS, SEED = 5, 1


def table(data: Path) -> str:
    """Return the learning curves of the aligners, and other tools beside them."""
    folder = data / "align-enfr-hansards"
    reader, options = LinksReader(), {"columns": {"base": "1"}}
    gold = reader.read_gold([folder / "bitext.src-tgt.txt.gz", folder / "gold.txt.gz"], options)
    assert gold is not None
    items = TrainingItems(gold.ids, {side: gold.columns[side] for side in ("source", "target")})
    rows = [[name, *_curve(trainer, items, gold)] for name, trainer in TRAINERS.items()]
    rows += [[name, "–", "–", found, "–", "–"] for name, found in OTHERS.items()]
    head = ["AER, %", "first ¼", "first ½", "all 447", f"{DRAWS} bootstrap samples", "first 337, on the last 110"]
    trained = []
    for name in ON_A_MILLION:
        outputs = reader.read_outputs(folder / "systems" / f"{name}.txt.gz", system=name, options=options)
        trained.append([f"`{name}`", f"{_rate(gold, outputs[name].columns['link']):.1f}"])
    published = render_table(["as published, trained on 1.1 million pairs", "AER, %"], trained, words=1)
    return f"{render_table(head, rows, words=1)}\n\n{published}"


def _curve(trainer: Trainer, items: TrainingItems, gold: Items) -> list[str]:
    n = len(items)
    rates = [_test(trainer, items, np.arange(round(n * share)), gold) for share in (0.25, 0.5, 1.0)]
    samples = np.random.default_rng(SEED).integers(0, n, (DRAWS, n))
    drawn = np.array([_test(trainer, items, sample, gold) for sample in samples])
    held_out = _test(trainer, items, np.arange(HELD_OUT), gold, first=HELD_OUT)
    return [*(f"{rate:.1f}" for rate in rates), f"{drawn.mean():.1f} ± {drawn.std(ddof=1):.1f}", f"{held_out:.1f}"]


def _test(trainer: Trainer, items: TrainingItems, sample: Any, gold: Items, first: int = 0) -> float:
    model = trainer.fit(items, np.asarray(sample, dtype=np.int64), seed=0, workdir=Path())
    return _rate(gold, trainer.predict(model, items)["link"], first)


def _rate(gold: Items, links: Sequence[Any], first: int = 0) -> float:
    metric = Aer()
    output = Items(gold.ids, {"link": links}, "links", gold.lines)
    counts = metric.extract(metric.prepare(gold), output).values[first:].sum(axis=0)
    return float(metric.scorer((0,) * 4)(counts.reshape(4, 1, 1)).item())
