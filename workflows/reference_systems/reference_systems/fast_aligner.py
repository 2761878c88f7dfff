"""IBM Model 2 with a diagonal: the word aligner that prefers links near the diagonal of the sentence pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._bitext import sample_bitext
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_choice, check_count, check_flag, check_number
from reference_systems._symmetrise import HEURISTICS
from reference_systems._token_aligner import TokenAlignment, TokenModel, fit_token_aligner, predict_links

__all__ = ["FastAlignerTrainer"]


class FastAlignerTrainer(PlainModels):
    """Aligns words by IBM Model 2 whose chance of linking target token j to source token i falls with the distance to the diagonal.

    p(i | j) = p₀ of the null word, otherwise (1 − p₀) · exp(−λ·|i/I − j/J|) / Z (C. Dyer, V. Chahuneau and N. A. Smith 2013,
    A simple, fast, and effective reparameterization of IBM Model 2, https://aclanthology.org/N13-1073). The M-step finds the
    best λ by halving, where they take a few steps of the gradient; so the likelihood never falls without a prior.

    Parameters
    ----------
    iterations : int
        Of EM.
    symmetrise : str
        As of `reference_systems.ibm1.Ibm1Trainer`.
    prior : float
        α of a Dirichlet prior of t(· | e), by variational Bayes; 0 is maximum likelihood.
    null : float
        p₀.
    tension : float
        λ at the start.
    tune : bool
        Fit λ, each direction its own.

    Examples
    --------
    >>> items = TrainingItems(ids=("1",), columns={"source": (("good", "day"),), "target": (("bon", "jour"),)})
    >>> trainer = FastAlignerTrainer()
    >>> trainer.predict(trainer.fit(items, np.array([0]), seed=1, workdir=Path()), items)
    {'link': (((0, 0), (1, 1)),)}
    """

    name: ClassVar[str] = "fast-aligner"
    takes: tuple[str, ...] = ("source", "target")
    gives: tuple[str, ...] = ("link",)
    same_bits: bool = True

    def __init__(
        self,
        *,
        iterations: int = 5,
        symmetrise: str = "grow-diag",
        prior: float = 0.01,
        null: float = 0.08,
        tension: float = 4.0,
        tune: bool = True,
    ) -> None:
        self.iterations = check_count(self.name, "iterations", iterations, least=1, most=1000)
        self.symmetrise = check_choice(self.name, "symmetrise", symmetrise, HEURISTICS)
        self.prior = check_number(self.name, "prior", prior, least=0.0, most=1000.0)
        self.null = check_number(self.name, "null", null, least=0.0, most=0.99)
        self.tension = check_number(self.name, "tension", tension, least=0.0, most=64.0)
        self.tune = check_flag(self.name, "tune", tune)

    @property
    def signature(self) -> str:
        """Name and version of the algorithm."""
        return f"{self.name}|version:1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> TokenAlignment:
        """Fit to the sampled pairs, one drawn twice counts twice; neither their order nor the seed matters."""
        model = TokenModel(iterations=self.iterations, prior=self.prior, null=self.null, tension=self.tension, tune=self.tune)
        return fit_token_aligner(sample_bitext(items, sample), model)

    def predict(self, model: TokenAlignment, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Align each pair; links are (source, target), from 0."""
        return predict_links(model, items, self.symmetrise)
