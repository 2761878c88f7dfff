"""Keep fitted models, so that another test set is predicted without fitting again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline.interfaces import KeepsModels, Trainer
from pipeline.plan.task import TrainSpec
from pipeline.store.files import scratch_directory
from pipeline.store.models import forget_model, has_model, keep_model, take_model
from pipeline.store.runs import Store

__all__ = ["KEPT", "KeptModel", "forget_kept", "keep_fitted", "kept_model"]

KEPT = "the model was kept from an earlier training: it was not fitted again, and the seconds are those of its predictions"
"""The remark in a report on a training whose model was kept."""

_NOT_KEPT = "the model could not be kept, so another test set will need another training"


class KeptModel:
    """A model of the store, brought into a folder.

    Parameters
    ----------
    trainer : KeepsModels
    folder : Path
    """

    def __init__(self, trainer: KeepsModels, folder: Path) -> None:
        self._trainer, self._folder = trainer, folder

    def load(self, workdir: Path) -> Any:
        """Return the model as `Trainer.fit` does."""
        return self._trainer.load_model(self._folder, workdir)


@contextmanager
def kept_model(store: Store, spec: TrainSpec, trainer: Trainer) -> Iterator[KeptModel | None]:
    """Yield the kept model of a training; None where there is none, it is damaged, or the trainer keeps none."""
    if not spec.keep_models or not isinstance(trainer, KeepsModels) or not has_model(store, spec.identity):
        yield None
        return
    with scratch_directory("model") as folder:
        yield KeptModel(trainer, folder) if take_model(store, spec.identity, folder, room=spec.keep_models) else None


def forget_kept(store: Store, spec: TrainSpec) -> None:
    """Remove a model that cannot be used."""
    forget_model(store, spec.identity)


def keep_fitted(store: Store, spec: TrainSpec, trainer: Trainer, model: Any) -> tuple[str, ...]:
    """Keep a newly fitted model where its trainer can, and return the remark for the report where that failed."""
    if not spec.keep_models or not isinstance(trainer, KeepsModels):
        return ()
    try:
        with scratch_directory("model") as folder:
            trainer.save_model(model, folder)
            keep_model(store, spec.identity, folder, room=spec.keep_models)
    except Exception as error:  # saving is foreign code, and the disk may be full: the fitted model is good all the same
        return (f"{_NOT_KEPT}: {type(error).__name__}",)
    return ()
