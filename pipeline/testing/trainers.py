"""What every trainer must do, as tests that a trainer's own tests inherit."""

from __future__ import annotations

import copy
import pickle
import random
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.interfaces import KeepsModels, Trainer, TrainingItems

__all__ = ["TrainerContract", "TrainerExample", "take_training_items"]


@dataclass(frozen=True)
class TrainerExample:
    """A trainer, at least four items that it learns something from, and a test set with its targets still there."""

    trainer: Trainer
    items: TrainingItems
    test: TrainingItems


class TrainerContract(ABC):
    """What every trainer must do; inherit, name the class ``Test…`` and give an example.

    Trainers that do not promise the same bits are tried as if they did: on one machine the example must give them.
    """

    @abstractmethod
    def example(self) -> TrainerExample:
        """Return the trainer and the items it is tried on."""

    def test_it_says_what_it_takes_and_gives(self) -> None:
        """Columns are tuples of names, ``same_bits`` is true or false, the signature is one printable line."""
        trainer = self.example().trainer
        for columns in (trainer.takes, trainer.gives):
            assert isinstance(columns, tuple)
            assert all(isinstance(name, str) for name in columns)
        assert isinstance(trainer.same_bits, bool)
        assert trainer.signature
        assert trainer.signature.isprintable()
        assert trainer.signature == self.example().trainer.signature

    def test_it_predicts_the_columns_it_gives_one_value_an_item(self, tmp_path: Path) -> None:
        """What is predicted has as many values as the test set has items."""
        example = self.example()
        predicted = self._train(example, tmp_path)
        assert predicted
        assert set(example.trainer.gives or predicted) == set(predicted)
        assert {name: len(values) for name, values in predicted.items()} == dict.fromkeys(predicted, len(example.test))

    def test_the_same_seed_gives_the_same_outputs(self, tmp_path: Path) -> None:
        """Nothing but the sample and the seed decides: no clock, no generator of the process."""
        first = self._train(self.example(), tmp_path)
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - what a trainer must not read
        assert self._train(self.example(), tmp_path) == first
        random.seed(2)
        np.random.seed(2)  # noqa: NPY002 - and not once more
        assert self._train(self.example(), tmp_path) == first

    def test_a_second_fit_learns_nothing_from_the_first(self, tmp_path: Path) -> None:
        """One trainer may be fitted many times."""
        example = self.example()
        first = self._train(example, tmp_path)
        self._train(example, tmp_path, sample=np.zeros(len(example.items), dtype=np.int64) + np.arange(len(example.items)) % 3)
        assert self._train(example, tmp_path) == first

    def test_the_sample_decides_and_not_where_its_items_stand(self, tmp_path: Path) -> None:
        """Items in another order, drawn in the same one, give the same; items that are not drawn decide nothing."""
        example = self.example()
        sample = self._sample(example)
        order = np.random.default_rng(3).permutation(len(example.items))
        moved = TrainerExample(example.trainer, take_training_items(example.items, order.tolist()), example.test)
        assert self._train(moved, tmp_path, sample=np.argsort(order)[sample]) == self._train(example, tmp_path, sample=sample)
        alone = TrainerExample(example.trainer, take_training_items(example.items, np.unique(sample).tolist()), example.test)
        assert self._train(alone, tmp_path, sample=np.unique(sample, return_inverse=True)[1]) == self._train(
            example, tmp_path, sample=sample
        )

    def test_an_item_drawn_twice_counts_as_two(self, tmp_path: Path) -> None:
        """A sample with repetitions gives what the same items give, copied into a training set of their own."""
        example = self.example()
        for seed in range(3):
            sample = np.random.default_rng(seed).integers(0, len(example.items), size=2 * len(example.items))
            copied = TrainerExample(example.trainer, take_training_items(example.items, sample.tolist()), example.test)
            assert self._train(copied, tmp_path, sample=np.arange(len(sample))) == self._train(example, tmp_path, sample=sample)

    def test_its_inputs_are_left_as_they_were(self, tmp_path: Path) -> None:
        """Items and sample are shared by other trainings of the process."""
        example = self.example()
        sample = self._sample(example)
        before = copy.deepcopy((_plain(example.items), _plain(example.test), sample.tolist()))
        self._train(example, tmp_path, sample=sample)
        assert (_plain(example.items), _plain(example.test), sample.tolist()) == before

    def test_what_it_predicts_is_not_shown_to_it(self, tmp_path: Path) -> None:
        """Without the targets of the test set the outputs are the same."""
        example = self.example()
        blind = TrainerExample(example.trainer, example.items, _without_targets(example))
        assert self._train(blind, tmp_path) == self._train(example, tmp_path, hide=False)

    def test_a_model_that_travelled_predicts_the_same(self, tmp_path: Path) -> None:
        """A model is a value: it can be pickled, and predicting does not change it."""
        example = self.example()
        model = self._fit(example, tmp_path, self._sample(example))
        travelled = pickle.loads(pickle.dumps(model))
        test = _without_targets(example)
        first = _values(example.trainer.predict(model, test))
        assert _values(example.trainer.predict(travelled, test)) == first
        assert _values(example.trainer.predict(model, test)) == first

    def test_a_kept_model_predicts_the_same(self, tmp_path: Path) -> None:
        """Where a trainer keeps models, what it saved is loaded by another one, in another place, and gives the same outputs."""
        example = self.example()
        if not isinstance(example.trainer, KeepsModels):
            return
        model = self._fit(example, tmp_path, self._sample(example))
        folder, workdir = (Path(tempfile.mkdtemp(dir=tmp_path)) for _ in range(2))
        example.trainer.save_model(model, folder)
        test = _without_targets(example)
        wanted = _values(example.trainer.predict(model, test))
        if not any(folder.iterdir()):
            return
        other = self.example().trainer
        assert isinstance(other, KeepsModels)
        assert _values(other.predict(other.load_model(folder, workdir), test)) == wanted

    def test_files_are_written_in_the_work_directory_only(self, tmp_path: Path, monkeypatch: Any) -> None:
        """Trainings run beside one another: the current, home and temporary folders stay as they were."""
        watched = tmp_path / "elsewhere"
        watched.mkdir()
        monkeypatch.chdir(watched)
        for name in ("HOME", "TMPDIR"):
            monkeypatch.setenv(name, str(watched))
        monkeypatch.setattr(tempfile, "tempdir", None)  # it is remembered from the first question
        self._train(self.example(), tmp_path)
        assert [path.name for path in watched.rglob("*")] == []

    def test_notes_of_a_model_are_sentences_for_the_report(self, tmp_path: Path) -> None:
        """``notes``, where a model has them, are lines of text."""
        example = self.example()
        notes = getattr(self._fit(example, tmp_path, self._sample(example)), "notes", ())
        assert all(isinstance(note, str) and note.isprintable() for note in notes)

    def _sample(self, example: TrainerExample) -> NDArray[np.int64]:
        """Draw some items twice and leave others out, every label the same number of times as far as that goes."""
        size = len(example.items)
        return np.concatenate([np.arange(0, size, 2), np.arange(0, size, 2), np.arange(1, size, 4)]).astype(np.int64)

    def _fit(self, example: TrainerExample, folder: Path, sample: NDArray[np.int64]) -> Any:
        workdir = Path(tempfile.mkdtemp(dir=folder))
        return example.trainer.fit(example.items, sample, seed=20_120_712, workdir=workdir)

    def _train(
        self, example: TrainerExample, folder: Path, *, sample: NDArray[np.int64] | None = None, hide: bool = True
    ) -> dict[str, list[Any]]:
        model = self._fit(example, folder, self._sample(example) if sample is None else sample)
        return _values(example.trainer.predict(model, _without_targets(example) if hide else example.test))


def take_training_items(items: TrainingItems, positions: Sequence[int]) -> TrainingItems:
    """Return the training items at some positions, in the order of these.

    Examples
    --------
    >>> take_training_items(TrainingItems(("a", "b"), {"label": ("x", "y")}), [1, 1]).columns
    {'label': ('y', 'y')}
    """
    return replace(
        items,
        ids=tuple(items.ids[k] for k in positions),
        columns={name: tuple(values[k] for k in positions) for name, values in items.columns.items()},
        features=None if items.features is None else items.features[list(positions)],
    )


def _without_targets(example: TrainerExample) -> TrainingItems:
    hidden = example.trainer.gives
    return replace(example.test, columns={name: values for name, values in example.test.columns.items() if name not in hidden})


def _values(predicted: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in predicted.items()}


def _plain(items: TrainingItems) -> tuple[Any, ...]:
    features = None if items.features is None else items.features.tolist()
    return items.ids, {name: list(values) for name, values in items.columns.items()}, features
