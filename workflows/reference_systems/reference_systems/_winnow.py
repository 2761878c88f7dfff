"""SNoW's hot loops: Winnow over sparse features, and brackets that match."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["WinnowRule", "close_brackets", "train_winnow"]

_UNLINKED = 0.0  # weight of a feature that no positive example of the target has had: it takes no part
_LEAST, _MOST = 1e-300, 1e300  # of linked weights: none becomes unlinked by demotion, and their sums are finite


class WinnowRule(NamedTuple):
    """How a Winnow learns; the threshold is 1, for only the ratio of weights to it matters.

    Parameters
    ----------
    cycles : int
        Passes over the examples.
    promotion, demotion : float
        What weights are multiplied by at a mistake: above 1, below 1.
    initial : float
        Weight of a feature that is new to a target.
    """

    cycles: int
    promotion: float
    demotion: float
    initial: float


@kernel
def train_winnow(
    features: NDArray[np.int32],
    targets: NDArray[np.bool_],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    order: NDArray[np.int64],
    n_features: int,
    rule: WinnowRule,
) -> NDArray[np.float64]:
    """Learn the weights of each target, a mistake at a time.

    A target fires where the weights of an example's features sum to 1 or more. Where it fails to fire, they are multiplied by
    ``promotion``; where it fires and should not, by ``demotion``. A feature is linked to a target, with the ``initial`` weight, by
    the first positive example that has it; until then it takes no part.

    Parameters
    ----------
    features : (example, slot) int32
        Features that are active.
    targets : (target, example) bool
    starts, ends : (sentence,) int64
        Examples of each sentence.
    order : (draw,) int64
        Sentences in the order they are learnt from, with repetitions.
    n_features : int
    rule : WinnowRule

    Returns
    -------
    (target, feature) float64
    """
    n_targets, n_slots = len(targets), features.shape[1]
    weights = np.zeros((n_targets, n_features))
    for _ in range(rule.cycles):
        for sentence in order:
            for example in range(starts[sentence], ends[sentence]):
                for target in range(n_targets):
                    wanted = targets[target, example]
                    activation = 0.0
                    for slot in range(n_slots):
                        feature = features[example, slot]
                        if wanted and weights[target, feature] == _UNLINKED:
                            weights[target, feature] = rule.initial
                        activation += weights[target, feature]
                    if wanted != (activation >= 1.0):
                        factor = rule.promotion if wanted else rule.demotion
                        for slot in range(n_slots):
                            weight = weights[target, features[example, slot]]
                            if weight != _UNLINKED:
                                weights[target, features[example, slot]] = min(max(weight * factor, _LEAST), _MOST)
    return weights


@kernel
def close_brackets(opens: NDArray[np.float64], closes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the chunks of a sentence that have the greatest sum of evidence for their first and last words.

    Viterbi over two states, outside and inside a chunk, so that each opening bracket has its closing one.

    Parameters
    ----------
    opens, closes : (token,) float64
        Evidence that a chunk begins, ends at the word; below 0 against it.

    Returns
    -------
    (chunk, 2) int64
        First token and the one after the last.
    """
    n = len(opens)
    # Best sums before token t, and where the chunk began on the way to it: of the state outside, by −1 where none ended there.
    outside, inside = np.zeros(n + 1), np.full(n + 1, -np.inf)
    began, came = np.zeros(n + 1, np.int64), np.full(n + 1, -1, np.int64)
    for t in range(n):
        inside_here, begin = inside[t], began[t]
        if outside[t] + opens[t] > inside_here:
            inside_here, begin = outside[t] + opens[t], t
        inside[t + 1], began[t + 1] = inside_here, begin
        outside[t + 1] = outside[t]
        if inside_here + closes[t] > outside[t]:
            outside[t + 1], came[t + 1] = inside_here + closes[t], begin
    spans = np.empty((n, 2), np.int64)
    count, t = 0, n
    while t > 0:
        if came[t] < 0:
            t -= 1
        else:
            spans[count, 0], spans[count, 1] = came[t], t
            count += 1
            t = came[t]
    return spans[:count][::-1].copy()
