"""A made-up study of many systems: its plan without files, and its statistics in a store as if extracted.

Extracting a thousand outputs would take longer than everything else that is measured; what counts here is that tasks run on
statistics of the right number, size and form. They are those of BLEU: counts of matches and n-grams of made lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.items.frame import Frame
from pipeline.items.stored import frame_key, store_frame
from pipeline.metrics.registry import load_metric
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Receipt, Task
from pipeline.record.manifest import Manifest, ReceiptWriter
from pipeline.store.addresses import digest
from pipeline.store.array_files import write_arrays
from pipeline.store.files import make_directory, write_json
from pipeline.store.ledger import Ledger
from pipeline.store.runs import STORE_NAME, RunDirectory, Store
from pipeline.study.load import study_from_value
from pipeline.study.schema import Study

__all__ = ["Made", "even_sizes"]

METRIC = "bleu"


@dataclass(frozen=True)
class Made:
    """A study of one test set by BLEU.

    Parameters
    ----------
    systems, replicates, keep_replicates : int
    sizes : sequence of int
        Units of each test size; the last is the whole test set.
    """

    systems: int
    replicates: int
    sizes: Sequence[int]
    keep_replicates: int = 0

    def asked(self) -> tuple[Study, Inputs]:
        """Return the study and its inputs, as if they had been surveyed."""
        value = {
            "schema": 1,
            "study": f"made-{self.systems}",
            "test_sets": {"made": {"references": ["ref.txt"], "outputs": "{system}.txt"}},
            "metrics": [METRIC],
            "resampling": {
                "replicates": self.replicates,
                "keep_replicates": self.keep_replicates,
                "test_sizes": [*self.sizes[:-1], "full"],
            },
            "analyses": [],
        }
        outputs = tuple(OutputInputs(f"system-{i:04d}", digest(["made", i])) for i in range(self.systems))
        test_set = TestSetInputs("made", frame_key(self.frame()), digest("gold"), self.sizes[-1], self.sizes[-1], outputs)
        metric = load_metric(METRIC, {})
        known = MetricInputs(METRIC, {}, metric.signature, metric.higher_is_better)
        return study_from_value(value, base=Path("/")).study, Inputs("/", (test_set,), (known,), {})

    def frame(self) -> Frame:
        """Return the items, each a unit of its own."""
        items = tuple(map(str, range(self.sizes[-1])))
        return Frame("made", items, tuple(range(len(items))), items)

    def plan(self, *, block_cells: int = 1, workers: int = 1) -> tuple[Task, ...]:
        """Return all tasks of the study."""
        return plan_study(*self.asked(), Inventory(), run="run", block_cells=block_cells, workers=workers).tasks

    def write(self, runs: Path) -> RunDirectory:
        """Make a run of the study in which everything is extracted and nothing is counted."""
        study, inputs = self.asked()
        manifest = Manifest(study, inputs, ())
        run = RunDirectory(runs / manifest.run_id)
        make_directory(run.root)
        items = self.sizes[-1]
        store = Store(runs / STORE_NAME)
        store_frame(self.frame(), store)
        with Ledger(run.ledger) as ledger:
            receipts = ReceiptWriter(ledger)
            for number, task in enumerate(t for t in self.plan() if t.kind == "extract"):
                path = store.path("statistics", task.key, ".arrays")
                arrays = {"values": _statistics(number, items), "decimals": np.zeros(10, np.int64)}
                checksum = write_arrays(path, {**arrays, "rounding_error": np.zeros(1)})
                receipts.append("done", Receipt("extract", task.key, task.label, store.relative(path), checksum, 0.0, ""))
        write_json(run.plan, manifest.to_json())
        return run


def _statistics(system: int, items: int) -> NDArray[np.int64]:
    """Return (item, statistic) counts as `metrics/bleu.py` orders them: two lengths, four matches, four totals."""
    reference = np.random.default_rng(1).integers(5, 45, items)
    generator = np.random.default_rng([2, system])
    length = np.maximum(reference + generator.integers(-3, 4, items), 1)
    totals = [np.maximum(length - n, 0) for n in range(4)]
    rate = 0.55 + 0.1 * generator.random()
    matches = [generator.binomial(total, rate ** (n + 1)) for n, total in enumerate(totals)]
    return np.stack([length, reference, *matches, *totals], axis=1).astype(np.int64)


def even_sizes(units: int, number: int) -> list[int]:
    """Return so many test sizes in even steps up to the whole test set.

    Examples
    --------
    >>> even_sizes(2000, 4)
    [500, 1000, 1500, 2000]
    """
    return [round(units * (i + 1) / number) for i in range(number)]
