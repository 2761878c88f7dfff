"""A conditional random field: the chunker that python-crfsuite fits to words and tags in a window."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import PluginError
from pipeline.interfaces import TrainingItems
from reference_systems._chunks import check_type, chunk_spans, chunk_tags
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_count, check_number

__all__ = ["CrfModel", "CrfTrainer"]

_REACH = 2  # words looked at on either side


@dataclass(frozen=True)
class CrfModel:
    """A fitted field.

    Parameters
    ----------
    stored : bytes
        The model file of CRFsuite; empty where the sample held no word.
    notes : tuple of str
        Says so where the sample had no chunk, and where the weights had not settled.
    """

    stored: bytes
    notes: tuple[str, ...] = ()


class CrfTrainer(PlainModels):
    """Finds chunks by a first-order conditional random field over IOB2 tags, fitted by L-BFGS with an L2 penalty.

    The features of a word are the words and tags from two before it to two after, their neighbouring pairs, and the triples of tags
    around it. The order of the sample changes last digits only, the seed nothing.

    Parameters
    ----------
    penalty : float
        Coefficient of the L2 penalty, 1 / (2σ²) of a Gaussian prior.
    iterations : int
        At most so many of L-BFGS.
    type : str
        Type of the chunks; others count as outside.

    Notes
    -----
    F. Sha and F. Pereira (2003), Shallow parsing with conditional random fields, NAACL, doi:10.3115/1073445.1073473. It needs
    python-crfsuite (N. Okazaki's CRFsuite, http://www.chokkan.org/software/crfsuite).
    """

    name: ClassVar[str] = "crf"
    takes: tuple[str, ...] = ("word", "tag", "chunk")
    gives: tuple[str, ...] = ("chunk",)
    same_bits: bool = True

    def __init__(self, *, penalty: float = 1.0, iterations: int = 50, type: str = "NP") -> None:
        self.penalty = check_number(self.name, "penalty", penalty, least=0.0, most=1e6)
        self.iterations = check_count(self.name, "iterations", iterations, least=1, most=100_000)
        self.type = check_type(self.name, type)
        self._suite = _import_suite()

    @property
    def signature(self) -> str:
        """Name, version of the features and of python-crfsuite."""
        return f"crf|v1|python-crfsuite:{metadata.version('python-crfsuite')}"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> CrfModel:
        """Fit to the sampled sentences; the model file passes through ``workdir``."""
        trainer = self._suite.Trainer(verbose=False)
        trainer.select("lbfgs")
        trainer.set_params({"c1": 0.0, "c2": self.penalty, "max_iterations": self.iterations})
        words, tags, chunks = (items.columns[name] for name in self.takes)
        any_word = any_chunk = False
        for position in sample.tolist():
            wanted = chunk_tags(len(tags[position]), chunk_spans(chunks[position], self.type), self.type)
            trainer.append(list(_features(words[position], tags[position])), list(wanted))
            any_word |= bool(wanted)
            any_chunk |= any(label != "O" for label in wanted)
        notes = () if any_chunk else (f"the sample has no chunk of type {self.type}: none is found",)
        if not any_word:
            return CrfModel(b"", notes)
        path = workdir / "model.crfsuite"
        trainer.train(str(path))
        return CrfModel(path.read_bytes(), notes)

    def predict(self, model: CrfModel, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the IOB2 tags of each sentence."""
        sentences = zip(items.columns["word"], items.columns["tag"], strict=True)
        if not model.stored:
            return {"chunk": tuple(("O",) * len(tags) for _, tags in sentences)}
        tagger = self._suite.Tagger()
        tagger.open_inmemory(model.stored)
        labels = (tagger.tag(list(_features(words, tags))) if tags else [] for words, tags in sentences)
        return {"chunk": tuple(chunk_tags(len(found), chunk_spans(found, self.type), self.type) for found in labels)}


def _features(words: Sequence[str], tags: Sequence[str]) -> Iterator[list[str]]:
    """Yield the active features of each word: each a place, a kind and what stands there."""
    edge = ("",) * _REACH
    padded = [*edge, *words, *edge]
    around = [*edge, *tags, *edge]
    for here in range(_REACH, _REACH + len(words)):
        w, t = padded[here - _REACH : here + _REACH + 1], around[here - _REACH : here + _REACH + 1]
        yield [
            *(f"w{place}={word}" for place, word in enumerate(w)),
            *(f"t{place}={tag}" for place, tag in enumerate(t)),
            f"w1w2={w[1]} {w[2]}",
            f"w2w3={w[2]} {w[3]}",
            *(f"tt{place}={t[place]} {t[place + 1]}" for place in range(2 * _REACH)),
            *(f"ttt{place}={t[place]} {t[place + 1]} {t[place + 2]}" for place in range(2 * _REACH - 1)),
        ]


def _import_suite() -> Any:
    try:
        return importlib.import_module("pycrfsuite")
    except ImportError as exc:
        raise PluginError.of(
            "P302",
            "the trainer 'crf' needs python-crfsuite, which is not installed",
            help="pip install python-crfsuite",
        ) from exc
