"""IBM Model 1 in both directions: the word aligner that knows words and no positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._bitext import sample_bitext
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_choice, check_count, check_number
from reference_systems._symmetrise import HEURISTICS
from reference_systems._token_aligner import TokenAlignment, TokenModel, fit_token_aligner, predict_links

__all__ = ["Ibm1Trainer"]


class Ibm1Trainer(PlainModels):
    """Aligns words by IBM Model 1, p(f | e) = Π_j 1 / (I + 1) · Σ_i t(f_j | e_i), each way round, and joins the two alignments.

    The sum begins with the null word. EM starts from equal chances, so that its maximum does not depend on a seed (P. F. Brown
    et al. 1993, The mathematics of statistical machine translation: parameter estimation, https://aclanthology.org/J93-2003).

    Parameters
    ----------
    iterations : int
        Of EM.
    symmetrise : str
        ``forward``: each target token chooses a source token, or none; ``reverse``; ``intersection``, ``union``, ``grow-diag``,
        ``grow-diag-final``, ``grow-diag-final-and``.
    prior : float
        α of a Dirichlet prior of t(· | e), by variational Bayes; 0 is maximum likelihood.

    Examples
    --------
    >>> source = (("the", "book"), ("the", "roof"), ("a", "book"))
    >>> target = (("le", "livre"), ("le", "toit"), ("un", "livre"))
    >>> items = TrainingItems(ids=("1", "2", "3"), columns={"source": source, "target": target})
    >>> trainer = Ibm1Trainer(symmetrise="intersection")
    >>> trainer.predict(trainer.fit(items, np.arange(3), seed=1, workdir=Path()), items)["link"]
    (((0, 0), (1, 1)), ((0, 0), (1, 1)), ((0, 0), (1, 1)))
    """

    name: ClassVar[str] = "ibm1"
    takes: tuple[str, ...] = ("source", "target")
    gives: tuple[str, ...] = ("link",)
    same_bits: bool = True

    def __init__(self, *, iterations: int = 10, symmetrise: str = "grow-diag", prior: float = 0.0) -> None:
        self.iterations = check_count(self.name, "iterations", iterations, least=1, most=1000)
        self.symmetrise = check_choice(self.name, "symmetrise", symmetrise, HEURISTICS)
        self.prior = check_number(self.name, "prior", prior, least=0.0, most=1000.0)

    @property
    def signature(self) -> str:
        """Name and version of the algorithm."""
        return f"{self.name}|version:1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> TokenAlignment:
        """Fit to the sampled pairs, one drawn twice counts twice; neither their order nor the seed matters."""
        return fit_token_aligner(sample_bitext(items, sample), TokenModel(iterations=self.iterations, prior=self.prior))

    def predict(self, model: TokenAlignment, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Align each pair; links are (source, target), from 0."""
        return predict_links(model, items, self.symmetrise)
