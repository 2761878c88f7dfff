"""Thirty nights, simulated: how often a history has a false alarm, and how soon a regression is found, by each way to share out α.

Each night a build is compared with the release on 200 items by a paired t-test, as a study with `procedures: [paired-t]` does.
Gains of items have a standard deviation of 1; a share of their variance is the item's own and stays from night to night, as it does
where the test set is the same. Without a regression nothing differs on any night; the regression is there from night 11 on.
A second table tells how far the t-test keeps so small a level, with scores of several kinds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pipeline.inference.sequential.spending import Spending

NIGHTS, ITEMS, FROM, ALPHA = 30, 200, 11, 0.05
SIZES = (50, 200, 1000)
LEVELS = (ALPHA, ALPHA / NIGHTS)
BATCH = 500


def simulate(rng: np.random.Generator, histories: int, share: float, loss: float) -> NDArray[np.float64]:
    """Return t of every night, (history, night); gains of the build are below 0 where it is worse."""
    found = []
    for first in range(0, histories, BATCH):
        count = min(BATCH, histories - first)
        lasting = rng.normal(size=(count, 1, ITEMS)) * np.sqrt(share)
        gains = lasting + rng.normal(size=(count, NIGHTS, ITEMS)) * np.sqrt(1 - share)
        gains[:, FROM - 1 :] -= loss
        found.append(gains.mean(axis=2) / (gains.std(axis=2, ddof=1) / np.sqrt(ITEMS)))
    return np.concatenate(found)


def rules() -> Iterator[tuple[str, NDArray[np.float64], int]]:
    """Go through the ways to share out α: name, level of every night, nights in succession that must say the same."""
    nights = range(1, NIGHTS + 1)
    yield "every night at .05", np.full(NIGHTS, ALPHA), 1
    yield "--looks 30", ALPHA * np.array([Spending(NIGHTS).share(night) for night in nights]), 1
    yield "--looks endless", ALPHA * np.array([Spending(None).share(night) for night in nights]), 1
    yield "--looks 30 --confirm 2", ALPHA * np.array([Spending(NIGHTS).share(night) for night in nights]), 2


def alarms(t: NDArray[np.float64], levels: NDArray[np.float64], confirm: int, *, both: bool = False) -> NDArray[np.bool_]:
    """Return where a loss is found, (history, night), or with ``both`` a difference in either direction."""
    found: NDArray[np.bool_] = 2 * stats.t.sf(np.abs(t), ITEMS - 1) <= levels
    if not both:
        found &= t < 0
    confirmed = found.copy()
    for before in range(1, confirm):
        confirmed[:, before:] &= found[:, :-before]
        confirmed[:, :before] = False
    return confirmed


def gains(rng: np.random.Generator, kind: str, items: int, trials: int) -> NDArray[np.float64]:
    """Return gains of equal systems, (trial, item): their mean is expected to be 0."""
    if kind == "Gaussian":
        return rng.normal(size=(trials, items))
    if kind == "right or wrong":  # one item in five differs
        drawn = rng.random((trials, items))
        return (drawn < 0.1).astype(float) - (drawn > 0.9)
    if kind == "exponential":
        return rng.exponential(size=(trials, items)) - 1
    failed = rng.random((trials, items)) < 0.05  # one item in twenty fails totally, and the others are so much better
    return rng.normal(0.05, 0.1, (trials, items)) - failed


def tails(rng: np.random.Generator, trials: int) -> Iterator[tuple[str, int, list[float]]]:
    """Go through scores and sizes: how many times its level a paired t-test of one night is wrong, at .05 and at a thirtieth."""
    for kind in ("Gaussian", "right or wrong", "exponential", "total failures"):
        for items in SIZES:
            wrong = np.zeros(len(LEVELS))
            for first in range(0, trials, BATCH):
                found = gains(rng, kind, items, min(BATCH, trials - first))
                t = found.mean(axis=1) / np.maximum(found.std(axis=1, ddof=1) / np.sqrt(items), 1e-300)
                p = 2 * stats.t.sf(np.abs(t), items - 1)
                wrong += [(p <= level).sum() for level in LEVELS]
            yield kind, items, list(wrong / trials / LEVELS)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    null = {share: simulate(rng, asked.histories, share, 0.0) for share in (0.0, 0.9)}
    losses = {loss: simulate(rng, asked.histories, 0.0, loss) for loss in (0.2, 0.3)}
    heads = ("false alarms, new items", "false alarms, same items", "build called worse, new items")
    print(f"| | {' | '.join(heads)} | loss .2 | nights | loss .3 | nights |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, levels, confirm in rules():
        cells = [f"{alarms(t, levels, confirm, both=True).any(axis=1).mean():.3f}" for t in null.values()]
        cells.append(f"{alarms(null[0.0], levels, confirm).any(axis=1).mean():.3f}")
        for t in losses.values():
            after = alarms(t, levels, confirm)[:, FROM - 1 :]
            found = after.any(axis=1)
            cells += [f"{found.mean():.3f}", f"{np.median(after[found].argmax(axis=1)) + 1:.0f}"]
        print(f"| {name} | {' | '.join(cells)} |")
    print("\n| gains | items | false alarms of a night at .05, in its level | at .05/30 |\n|---|--:|--:|--:|")
    for kind, items, times in tails(rng, 10 * asked.histories):
        print(f"| {kind} | {items} | {times[0]:.2f} | {times[1]:.2f} |")


if __name__ == "__main__":
    main()
