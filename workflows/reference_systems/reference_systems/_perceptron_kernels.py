"""The averaged perceptron in whole numbers: weights are sums over all steps, so nothing is rounded.

A feature is a whole number; what is known of it is a list of (tag, weight), which holds only tags that were ever confused at it.
The score of a tag is the sum of its weights at the features of a token, and the first of the best tags wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.compiled import kernel

__all__ = ["learn", "tag"]


@kernel
def _look_around(features: Any, token: int, first: int, last: int, words: Any, rows: Any, slots: Any) -> None:
    """Fill in the features of a token that depend on words only; ``slots`` are (attribute, offset, first feature)."""
    for slot in range(len(slots)):
        neighbour = token + slots[slot, 1]
        row = words[neighbour] if first <= neighbour < last else 0
        features[slot] = slots[slot, 2] + rows[row, slots[slot, 0]]


@kernel
def _look_back(features: Any, n_slots: int, before: int, previous: int, word: int, n_tags: int, bases: Any) -> None:
    """Fill in the features with the tags given before: the last, the last two, the last with the word."""
    features[n_slots] = bases[0] + previous
    features[n_slots + 1] = bases[1] + before * (n_tags + 1) + previous
    features[n_slots + 2] = bases[2] + word * (n_tags + 1) + previous


@kernel
def _first_best(scores: Any) -> int:
    best = 0
    for candidate in range(1, len(scores)):
        if scores[candidate] > scores[best]:
            best = candidate
    return best


@kernel
def learn(orders: Any, words: Any, starts: Any, rows: Any, gold: Any, slots: Any, bases: Any, n_features: int, n_tags: int) -> Any:
    """Run over the sentences in the orders given, one row an epoch, and sum the weights as they are after each token.

    The sums are kept lazily: a weight that changes at step ``s`` adds what it was times the steps since it last changed.

    Returns
    -------
    first_entry : (feature + 1,) int64
        Where the entries of each feature begin.
    tag, total : (entry,) int32, int64
        Of the weights that ever changed, the tag and the sum over all steps.
    """
    # The entries of a feature lie side by side, in a stretch that moves to the end when it must grow: scoring reads them in a row.
    begin = np.zeros(n_features, dtype=np.int64)
    length = np.zeros(n_features, dtype=np.int32)
    room = np.zeros(n_features, dtype=np.int32)
    end, capacity = 0, 1 << 16
    of_tag = np.empty(capacity, dtype=np.int32)
    weight = np.empty(capacity, dtype=np.int32)
    total = np.empty(capacity, dtype=np.int64)
    changed = np.empty(capacity, dtype=np.int64)
    n_slots = len(slots)
    features = np.empty(n_slots + 3, dtype=np.int64)
    scores = np.empty(n_tags, dtype=np.int64)
    step = 0
    for epoch in range(orders.shape[0]):
        for sentence in orders[epoch]:
            first, last = starts[sentence], starts[sentence + 1]
            before, previous = n_tags, n_tags
            for token in range(first, last):
                _look_around(features, token, first, last, words, rows, slots)
                _look_back(features, n_slots, before, previous, rows[words[token], 0], n_tags, bases)
                scores[:] = 0
                for feature in features:
                    for entry in range(begin[feature], begin[feature] + length[feature]):
                        scores[of_tag[entry]] += weight[entry]
                guess = _first_best(scores)
                if guess != gold[token]:
                    if end + 2 * len(features) * (n_tags + 1) > capacity:
                        capacity = 2 * capacity + 2 * len(features) * (n_tags + 1)
                        of_tag, weight = _grown(of_tag, capacity), _grown(weight, capacity)
                        total, changed = _grown(total, capacity), _grown(changed, capacity)
                    for feature in features:
                        if length[feature] + 2 > room[feature]:
                            old, room[feature] = begin[feature], 2 * length[feature] + 2
                            begin[feature] = end
                            end += room[feature]
                            for k in range(length[feature]):
                                of_tag[begin[feature] + k] = of_tag[old + k]
                                weight[begin[feature] + k] = weight[old + k]
                                total[begin[feature] + k] = total[old + k]
                                changed[begin[feature] + k] = changed[old + k]
                        for change in (1, -1):
                            wanted: Any = gold[token] if change == 1 else guess
                            entry = begin[feature]
                            while entry < begin[feature] + length[feature] and of_tag[entry] != wanted:
                                entry += 1
                            if entry == begin[feature] + length[feature]:
                                length[feature] += 1
                                of_tag[entry], weight[entry], total[entry], changed[entry] = wanted, 0, 0, step
                            total[entry] += weight[entry] * (step - changed[entry])
                            changed[entry] = step
                            weight[entry] += change
                step += 1
                before, previous = previous, guess
    first_entry = np.zeros(n_features + 1, dtype=np.int64)
    for number in range(n_features):
        first_entry[number + 1] = first_entry[number] + length[number]
    tags = np.empty(first_entry[-1], dtype=np.int32)
    totals = np.empty(first_entry[-1], dtype=np.int64)
    for number in range(n_features):
        for k in range(length[number]):
            entry = begin[number] + k
            tags[first_entry[number] + k] = of_tag[entry]
            totals[first_entry[number] + k] = total[entry] + weight[entry] * (step - changed[entry])
    return first_entry, tags, totals


@kernel
def _grown(values: Any, capacity: int) -> Any:
    larger = np.empty(capacity, dtype=values.dtype)
    larger[: len(values)] = values
    return larger


@kernel
def tag(words: Any, starts: Any, rows: Any, slots: Any, bases: Any, first_entry: Any, of_tag: Any, weight: Any, n_tags: int) -> Any:
    """Return one tag a token, left to right, each from the tags given before it."""
    tags = np.empty(len(words), dtype=np.int32)
    n_slots = len(slots)
    features = np.empty(n_slots + 3, dtype=np.int64)
    scores = np.empty(n_tags, dtype=np.int64)
    for sentence in range(len(starts) - 1):
        first, last = starts[sentence], starts[sentence + 1]
        before, previous = n_tags, n_tags
        for token in range(first, last):
            _look_around(features, token, first, last, words, rows, slots)
            _look_back(features, n_slots, before, previous, rows[words[token], 0], n_tags, bases)
            scores[:] = 0
            for feature in features:
                for entry in range(first_entry[feature], first_entry[feature + 1]):
                    scores[of_tag[entry]] += weight[entry]
            tags[token] = _first_best(scores)
            before, previous = previous, tags[token]
    return tags
