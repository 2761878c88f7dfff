"""Makes a system: sampled training items → model → outputs. This module is the training task."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError, TaskError
from pipeline.items.datasets import load_dataset
from pipeline.store.addresses import digest_file
from pipeline.store.files import write_json
from pipeline.store.runs import STORE_NAME, Store
from pipeline.study.schema import DatasetSpec
from pipeline.study.task import Receipt, Task, TrainSpec
from pipeline.trainers.registry import load_trainer
from pipeline.trainers.sampling import distinct_share, draw_sample, training_seed

__all__ = ["train"]


def train(task: Task, runs: Path) -> Receipt:
    """Fit a model to its sample, predict every test set and store the outputs.

    Raises
    ------
    TaskError
        P410 the training failed; the other systems go on.
    """
    spec = task.spec
    assert isinstance(spec, TrainSpec)
    store = Store(runs / STORE_NAME)
    data = load_dataset(DatasetSpec.model_validate(spec.data))
    name = str(spec.data["dataset"])
    drawn: dict[str, Any] = {"method": spec.method, "fraction": spec.fraction, "replica": spec.replica}
    sample = draw_sample(seed=spec.seed, data=name, n_items=len(data.labels), **drawn)
    seed = training_seed(seed=spec.seed, data=name, model=spec.model, **drawn)
    trainer = load_trainer(spec.trainer, spec.options)
    try:
        with tempfile.TemporaryDirectory(prefix="pipeline-train-") as workdir:
            model = trainer.fit(data, sample, seed=seed, workdir=Path(workdir))
            outputs = {
                gold: list(trainer.predict(model, load_dataset(DatasetSpec.model_validate(test_set))))
                for gold, test_set in spec.test_sets.items()
            }
    except PipelineError:
        raise
    except (Exception, SystemExit) as error:  # a trainer is foreign code: whatever it raises is the failure of this system alone
        raise TaskError.of(
            "P410",
            f"the training failed: {type(error).__name__}: {error}",
            where=task.label,
            help="the rest of the study goes on without this system; `retries:` of the model tries again",
        ) from error
    path = store.path("outputs", task.key, ".json")
    write_json(path, {"outputs": outputs})
    covers = {
        "model": spec.model,
        "items": len(sample),
        "distinct": distinct_share(sample, len(data.labels)),
        "notes": list(getattr(model, "notes", ())),
    }
    return Receipt("train", task.key, task.label, store.relative(path), digest_file(path), 0.0, "", covers)
