"""Two HMM aligners that learn to agree: fit both directions together and keep the links that both believe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._alignment_kernels import agree, link_posteriors
from reference_systems._bitext import Cells, Lexicon, Sentences, lay_out, sample_bitext
from reference_systems._hmm_kernels import hmm_posteriors
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_count, check_flag, check_number
from reference_systems._symmetrise import Links, to_links
from reference_systems._token_aligner import count_words, start_lexicon

__all__ = ["HmmAlignerTrainer", "HmmAlignment", "HmmDirection"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HmmDirection:
    """A fitted direction.

    Parameters
    ----------
    lexicon : Lexicon
    jumps : (2·reach + 1,) float64
        Shares of the jumps from −reach to reach.
    """

    lexicon: Lexicon
    jumps: Array


@dataclass(frozen=True, eq=False)
class HmmAlignment:
    """Both directions and what is to be said of them.

    Parameters
    ----------
    forward : HmmDirection
        Target tokens move over source tokens.
    reverse : HmmDirection
        Source tokens move over target tokens.
    notes : tuple of str
    """

    forward: HmmDirection
    reverse: HmmDirection
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class _Learner:
    """One direction while it is fitted."""

    lexicon: Lexicon
    cells: Cells
    entries: NDArray[np.int64]
    jumps: Array


class HmmAlignerTrainer(PlainModels):
    """Aligns words by an HMM each way round, trained jointly by agreement, and keeps links whose two posteriors are high.

    A token is linked near the place after the last link: p(i | i′, I) = c(i − i′) / Σ c(i″ − i′) (S. Vogel, H. Ney and C. Tillmann
    1996, HMM-based word alignment in statistical translation, doi:10.3115/993268.993313), with null words as F. J. Och and H. Ney
    2003 have them (doi:10.1162/089120103321337421). In the joint E-step the expected count of a link is the product of the two
    directions' posteriors; that of a jump is its own posterior times the other direction's posterior of the link it leads to, and
    that of a link to the null word, which the other direction does not have, its own posterior. Decoding keeps a link if √(p·q) is
    at least the threshold (P. Liang, B. Taskar and D. Klein 2006, Alignment by agreement, doi:10.3115/1220835.1220849). Model 1,
    trained by agreement too, is where EM starts.

    Parameters
    ----------
    start_iterations, iterations : int
        Of EM with Model 1, and with the HMM.
    joint : bool
        Train by agreement; otherwise the directions meet in decoding only.
    threshold : float
        Of the geometric mean of the two posteriors.
    null : float
        p₀.
    reach : int
        The longest jump with a count of its own. A longer one counts as the longest of its direction, so it should be rare.

    Examples
    --------
    >>> items = TrainingItems(ids=("1",), columns={"source": (("good", "day"),), "target": (("bon", "jour"),)})
    >>> trainer = HmmAlignerTrainer(threshold=0.1)
    >>> trainer.predict(trainer.fit(items, np.array([0]), seed=1, workdir=Path()), items)
    {'link': (((0, 0), (1, 1)),)}
    """

    name: ClassVar[str] = "hmm-aligner"
    takes: tuple[str, ...] = ("source", "target")
    gives: tuple[str, ...] = ("link",)
    same_bits: bool = True

    def __init__(
        self,
        *,
        start_iterations: int = 5,
        iterations: int = 5,
        joint: bool = True,
        threshold: float = 0.5,
        null: float = 0.2,
        reach: int = 30,
    ) -> None:
        self.start_iterations = check_count(self.name, "start_iterations", start_iterations, least=0, most=1000)
        self.iterations = check_count(self.name, "iterations", iterations, least=1, most=1000)
        self.joint = check_flag(self.name, "joint", joint)
        self.threshold = check_number(self.name, "threshold", threshold, least=1e-9, most=1.0)
        self.null = check_number(self.name, "null", null, least=1e-9, most=0.99)
        self.reach = check_count(self.name, "reach", reach, least=1, most=1000)

    @property
    def signature(self) -> str:
        """Name and version of the algorithm."""
        return f"{self.name}|version:1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> HmmAlignment:
        """Fit to the sampled pairs, one drawn twice counts twice; neither their order nor the seed matters."""
        bitext = sample_bitext(items, sample)
        jumps = np.full(2 * self.reach + 1, 1.0 / (2 * self.reach + 1))
        sides = ((bitext.source, bitext.target), (bitext.target, bitext.source))
        learners = [_Learner(*start_lexicon(given, generated), jumps) for given, generated in sides]
        for iteration in range(self.start_iterations + self.iterations):
            self._step(learners, bitext.times, with_jumps=iteration >= self.start_iterations)
        forward, reverse = (HmmDirection(learner.lexicon, learner.jumps) for learner in learners)
        return HmmAlignment(forward, reverse, bitext.notes)

    def predict(self, model: HmmAlignment, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Align each pair; links are (source, target), from 0."""
        source, target = items.columns["source"], items.columns["target"]
        (forward, own), (reverse, other) = (
            self._posteriors(direction, given, generated)
            for direction, given, generated in ((model.forward, source, target), (model.reverse, target, source))
        )
        both = own * agree(forward.given, forward.generated, forward.starts, reverse.starts, other)
        links: list[Links] = []
        for pair, (first, second) in enumerate(zip(source, target, strict=True)):
            table = both[forward.starts[pair] : forward.starts[pair + 1]].reshape(len(second), len(first) + 1)[:, 1:]
            links.append(to_links(self.threshold**2 <= table.T))
        return {"link": tuple(links)}

    def _step(self, learners: list[_Learner], times: Array, *, with_jumps: bool) -> None:
        """One step of EM, in both directions at once."""
        chances = [learner.lexicon.values[learner.entries] for learner in learners]
        own = [
            self._expect(learner, found, times, None, with_jumps=with_jumps)[0]
            for learner, found in zip(learners, chances, strict=True)
        ]
        for learner, found, mine, other, twin in zip(learners, chances, own, own[::-1], learners[::-1], strict=True):
            cells = learner.cells
            weights = (
                agree(cells.given, cells.generated, cells.starts, twin.cells.starts, other) if self.joint else np.ones(len(mine))
            )
            if with_jumps:
                # One jump of each length, so that none becomes impossible in a small sample.
                counts = self._expect(learner, found, times, weights, with_jumps=True)[1] + 1.0
                jumps = counts / counts.sum()
            else:
                jumps = learner.jumps
            learner.lexicon = count_words(learner.lexicon, cells, learner.entries, mine * weights, times, prior=0.0)
            learner.jumps = jumps

    def _expect(
        self, learner: _Learner, chances: Array, times: Array, weights: Array | None, *, with_jumps: bool
    ) -> tuple[Array, Array]:
        cells = learner.cells
        if not with_jumps:
            return link_posteriors(cells.given, cells.generated, cells.starts, times, chances, -1.0, 0.0)[0], learner.jumps
        weights = np.ones(len(chances)) if weights is None else weights
        found = hmm_posteriors(cells.given, cells.generated, cells.starts, times, chances, learner.jumps, self.null, weights)
        return found[0], found[1]

    def _posteriors(self, direction: HmmDirection, given: Sentences, generated: Sentences) -> tuple[Cells, Array]:
        lexicon = direction.lexicon
        cells = lay_out(given, generated, lexicon.given, lexicon.generated)
        once, same = np.ones(len(cells.given)), np.ones(len(cells.keys))
        found = hmm_posteriors(
            cells.given, cells.generated, cells.starts, once, lexicon.look_up(cells), direction.jumps, self.null, same
        )
        return cells, found[0]
