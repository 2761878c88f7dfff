"""Training items, and the base class of trainers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from pipeline.dataclass import dataclass, field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["KeepsModels", "Trainer", "TrainingItems"]


@dataclass(frozen=True)
class TrainingItems:
    """Items a trainer learns from, or a test set it is to predict; then what it is to predict is not among the columns.

    Parameters
    ----------
    ids : tuple of str
        Identifiers, as in the test set's `Items`.
    columns : mapping of str to sequence
        Values by name, one an item, as the reader of the format gives them: ``label``, ``text``; of sentences, one tuple with an
        entry a token: ``word``, ``tag``, ``chunk``, ``head``, ``relation``.
    features : (item, …) ndarray, optional
        One row an item, for data sets that have them.
    writer : callable ``(path, columns, ids)``, optional
        Writes items as a file of the format they were read in, for a trainer that hands files to a program outside. A target
        that is not there is blank.
    reads : callable ``(path) -> columns``, optional
        Reads the columns of such a file, as that program wrote it, in file order.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    features: NDArray[Any] | None = None
    writer: Callable[[Path, Mapping[str, Sequence[Any]], Sequence[str]], None] | None = field(
        default=None, compare=False, repr=False
    )
    reads: Callable[[Path], Mapping[str, Sequence[Any]]] | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.ids)


class Trainer(ABC):
    """Fits a model to sampled training items and predicts test sets.

    A trainer inherits this class, or has all of its members; it is refused (P308) otherwise.

    Attributes
    ----------
    name : str
        What studies call it.
    takes, gives : tuple of str
        The columns that it fits to, and those that it predicts: a study without one of them is refused before anything is trained.
        A trainer of scikit-learn takes ``label`` and features or ``text``.
    same_bits : bool
        Whether the same sample and seed give the same outputs, bit for bit, on every machine of the same kind.
    """

    name: ClassVar[str]
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    same_bits: bool = False

    @property
    @abstractmethod
    def signature(self) -> str:
        """One line that identifies what a model depends on besides its options: its name, and versions."""

    @abstractmethod
    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> Any:
        """Fit to ``items`` drawn at the positions ``sample`` (with repetitions) and return the model.

        A model may have ``notes``, a tuple of sentences for the report: a solver that did not converge, a class too rare.
        """

    @abstractmethod
    def predict(self, model: Any, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the trainer's columns, one value for each item."""


@runtime_checkable
class KeepsModels(Protocol):
    """Optional methods of a trainer: its models are then kept, and another test set is predicted without fitting again.

    Files must hold plain data, such as JSON or arrays without objects: whoever reads them must not run code of theirs.
    """

    def save_model(self, model: Any, folder: Path) -> None:
        """Write a model, as `Trainer.fit` returned it, into an empty folder; one that stays empty means that it cannot be kept."""
        ...

    def load_model(self, folder: Path, workdir: Path) -> Any:
        """Return a model that predicts what the saved one did, bit for bit.

        ``folder`` has what `save_model` wrote, for as long as the model is used; ``workdir`` is empty, as for `Trainer.fit`. Any
        exception means that the model is fitted again.
        """
        ...
