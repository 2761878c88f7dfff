"""How far scores of runs spread on the set that they were tuned on: s_dev, from the cube of another test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.replicas.data import Model
from pipeline.interfaces.analyses import FULL
from pipeline.resampling.replicas.score_deviation import run_spread

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["TUNED", "Development"]

TUNED = "runs were tuned on this test set: it tests nothing"


class Development:
    """The development set of a study.

    Parameters
    ----------
    cubes : mapping of str to xarray.Dataset
        By test set.
    name : str or None
        Which of them it is; None where the study does not say.
    """

    def __init__(self, cubes: Mapping[str, xr.Dataset], name: str | None) -> None:
        self._cubes, self._name = cubes, name

    def describe(self, models: Sequence[Model], row: Mapping[str, Any], *, test_set: str, metric: str) -> dict[str, Any]:
        """Return the fields of a model's row: s_dev, or the reason why there is none."""
        (model,) = (model for model in models if model.name == row["model"])
        scores, reason = self._scores(model, metric)
        fields: dict[str, Any] = {"s_dev": run_spread(scores) if reason is None else None, "s_dev_reason": reason}
        if test_set == self._name:
            fields["warning"] = "; ".join(filter(None, (row["warning"], TUNED)))
        return fields

    def _scores(self, model: Model, metric: str) -> tuple[np.ndarray[Any, np.dtype[np.float64]], str | None]:
        """Return the scores of a model's runs on the development set, and why they are of no use."""
        nothing = np.zeros(0)
        if self._name is None:
            return nothing, "s_dev needs outputs on the development set that runs were tuned on: name it as `development`"
        cube = self._cubes.get(self._name)
        if cube is None:
            return nothing, f"there is no test set {self._name!r}; there are {', '.join(self._cubes)}"
        if metric not in cube["metric"].values.tolist():
            return nothing, f"the test set {self._name!r} has no metric {metric!r}"
        if len(model.runs) < 2:
            return nothing, "one run has no spread"
        observed = cube["observed_score"].sel(metric=metric, test_size=FULL)
        known = dict(zip(map(str, cube["system"].values.tolist()), observed.values.tolist(), strict=True))
        scores = np.array([known.get(system, np.nan) for system in model.systems])
        lacking = int(np.isnan(scores).sum())
        return scores, f"{lacking} of {len(scores)} runs have no score on {self._name!r}" if lacking else None
