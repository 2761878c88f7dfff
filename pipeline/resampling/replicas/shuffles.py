"""The sums of each side after outputs are permuted: a class for each null that permutes outputs.

After a permutation there are slots for runs, those of the first system and then those of the second. Slot k of the pair (a, b)
has the sum ahead[k](a) + behind[k](b): what a system adds depends on itself and on whether it stands first, so that work is done
once for each system and not for each pair. All sums are whole numbers in float64.

Outputs are dealt to slots by `pipeline.resampling.replicas.dealing`. MultEval's shuffle has a permutation of its own, in
`draw_shuffle`, the readable definition, and `fill_shuffles`, the kernel.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.dealing import SharedOutputs, sum_dealt, sum_shared
from pipeline.resampling.replicas.groups import Group, PlacedColumns, RunColumns
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.permutations import fill_words, permute, shuffle_places, unit_words
from pipeline.resampling.swaps import draw_swap_words

__all__ = ["SHUFFLES", "Dealt", "Shuffle", "draw_shuffle", "fill_shuffles", "shuffled_share"]

_WORD = 32  # bits


def draw_shuffle(draws: Draws, replicate: int, runs: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Draw what MultEval draws of each unit: which places are exchanged, and a permutation of runs; the readable definition.

    Returns
    -------
    swapped : (unit, run) bool
        Bit r mod 32, from the lowest, of the unit's word r // 32.
    permutation : (unit, run) int64
        From the words after these.
    """
    bit_words = -(-runs // _WORD)
    words = unit_words(draws, replicate, -(-(bit_words + runs - 1) // 4))
    run = np.arange(runs)
    swapped = (words[:, run // _WORD] >> (run % _WORD).astype(np.uint64)) & np.uint64(1)
    permutation = np.array([permute(row[bit_words:], runs) for row in words], np.int64).reshape(-1, runs)
    return swapped.astype(np.bool_), permutation


def fill_shuffles(
    draws: Draws, first: int, count: int, runs: int, *, n_words: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Draw MultEval's shuffle of consecutive replicates, as masks over (run, unit).

    Returns
    -------
    given, taken : (word, replicate) uint64
        Output k of a unit goes to the other side in X where ``given`` is set, and in Y where ``taken`` is set. Run k has the
        words k · W … k · W + W − 1, W words a run; words beyond the runs are 0.
    """
    given, taken = np.zeros((n_words, count), np.uint64), np.zeros((n_words, count), np.uint64)
    _fill_shuffles(np.uint64(draws.key), np.uint64(first), draws.n_units, runs, given, taken)
    return given, taken


@bare_kernel
def _fill_shuffles(
    key: np.uint64, first: np.uint64, units: int, runs: int, given: NDArray[np.uint64], taken: NDArray[np.uint64]
) -> None:
    width = (units + 63) // 64  # words of a run
    bit_words = (runs + _WORD - 1) // _WORD
    quads = (bit_words + runs + 2) // 4
    words, order = np.empty(4 * quads, np.uint64), np.empty(runs, np.int64)
    for row in range(given.shape[1]):
        for unit in range(units):
            fill_words(key, first + np.uint64(row), unit * quads, quads, words)
            shuffle_places(words[bit_words:], order)
            at, bit = unit // 64, np.uint64(unit % 64)
            for run in range(runs):
                other = order[run]
                # Slot ``run`` of X holds run ``other``; slot ``other`` of Y holds run ``run``: the inverse permutation.
                given[other * width + at, row] |= ((words[run // _WORD] >> np.uint64(run % _WORD)) & np.uint64(1)) << bit
                taken[run * width + at, row] |= ((words[other // _WORD] >> np.uint64(other % _WORD)) & np.uint64(1)) << bit


class Dealt(NamedTuple):
    """The contributions of systems to slots, each (statistic, system, slot, replicate)."""

    ahead: NDArray[np.float64]
    behind: NDArray[np.float64]


class Shuffle(Protocol):
    """Permutes the outputs of a group's pairs.

    Parameters
    ----------
    slots : tuple of int
        Slots of the first and of the second side, over which scores are averaged.
    pooled : int
        Runs whose sums are added up in a slot.
    divisors : tuple of int
        What the sums of the system that stands first, and of the other, are divided by before they meet in a slot.
    """

    slots: tuple[int, int]
    pooled: int
    divisors: tuple[int, int]

    def deal(self, draws: Draws, first: int, count: int) -> Dealt:
        """Permute consecutive replicates."""
        ...


class PerOutput:
    """Each run of each unit is swapped or not; run r has the masks' words r · W … r · W + W − 1, W words of 64 units a run."""

    pooled, divisors = 1, (1, 1)

    def __init__(self, replicas: Replicas, group: Group, width: int) -> None:
        self.slots = group.runs
        self._columns = RunColumns.of(replicas, group, width, words=-(-replicas.n_units // 64))

    def deal(self, draws: Draws, first: int, count: int) -> Dealt:
        runs, words = self.slots[0], -(-draws.n_units // 64)
        wide = Draws(draws.key, 64 * words * runs, 64 * words * runs)
        masks = draw_swap_words(wide, first, count, n_words=self._columns.n_words)
        moved = self._columns.sum_over(masks)
        return _mirror(self._columns.totals[..., None] - moved, moved)


class RofTwoR:
    """The R_A + R_B outputs of each unit are dealt to R_A + R_B slots."""

    pooled, divisors = 1, (1, 1)

    def __init__(self, replicas: Replicas, group: Group, width: int) -> None:
        self.slots = group.runs
        self._width = width
        # A system stands on one side or on both.
        chosen = [np.unique(group.rows[:, side]) for side in range(2)]
        self._place = []
        for rows in chosen:
            place = np.zeros(len(group.systems), np.int64)
            place[rows] = np.arange(len(rows))
            self._place.append(place)
        systems = [group.systems[rows] for rows in chosen]
        self._shared = SharedOutputs.of(replicas, systems[0], systems[1], width)
        self._sides = [] if self._shared is not None else [_by_unit(replicas, some, width) for some in systems]

    def deal(self, draws: Draws, first: int, count: int) -> Dealt:
        if self._shared is not None:
            sums = sum_shared(draws, first, count, self._shared)
        else:
            sums = sum_dealt(draws, first, count, *self._sides)
        ahead, behind = (
            side.reshape(-1, self._width, *side.shape[1:])[place].transpose(1, 0, 2, 3)
            for side, place in zip(sums, self._place, strict=True)
        )
        return Dealt(ahead, behind)


class SegmentBlock:
    """All runs of a unit are swapped at once, run r against run r; means of runs where there are more on one side."""

    pooled = 1

    def __init__(self, replicas: Replicas, group: Group, width: int) -> None:
        equal = group.runs[0] == group.runs[1]
        self.slots = group.runs if equal else (1, 1)
        self._columns: RunColumns | PlacedColumns
        if equal:
            self._columns = RunColumns.of(replicas, group, width, words=0)
            self.divisors = (1, 1)
        else:
            sums = [replicas.statistics[system][:, :, :width].sum(axis=0) for system in group.systems.tolist()]
            self._columns = PlacedColumns.of(np.stack(sums)[:, None])
            self.divisors = group.runs

    def deal(self, draws: Draws, first: int, count: int) -> Dealt:
        masks = draw_swap_words(draws, first, count, n_words=self._columns.n_words)
        shape = (*self._columns.totals.shape[:2], self.slots[0], count)
        moved = self._columns.sum_over(masks).reshape(shape)
        return _mirror(self._columns.totals.reshape(*shape[:3], 1) - moved, moved)


class MultEvalShuffle:
    """X takes outputs by a permutation of runs, Y by its inverse; both are scored over all their runs together.

    MultEval (Clark and others 2011, P11-2031; https://github.com/jhclark/multeval) pools the runs of a system, shuffles outputs
    within a unit, and counts |δ°| > |δ|, strictly: of a system against itself it prints 1/(b + 1). Its shuffle exchanges outputs
    between the systems at random and permutes run numbers, π for X and π⁻¹ for Y. If π is its own inverse, Y is what X left over.
    With three runs or more it need not be: some outputs are in both and others in neither, so X and Y are more alike. With
    independent outputs Var(X − Y) is ½ + 1/R times that of complementary halves, and about 7.4, 10.1, 12.9 % of true nulls are
    rejected at .05 for R = 3, 5, 10.
    """

    slots, divisors = (1, 1), (1, 1)

    def __init__(self, replicas: Replicas, group: Group, width: int) -> None:
        self._runs = self.pooled = group.runs[0]
        self._columns = PlacedColumns.of(_stack(replicas, group, width))

    def deal(self, draws: Draws, first: int, count: int) -> Dealt:
        given, taken = fill_shuffles(draws, first, count, self._runs, n_words=self._columns.n_words)
        total = self._columns.totals[:, :, None]
        in_x, in_y = self._columns.sum_over(given), self._columns.sum_over(taken)
        return Dealt(np.stack([total - in_x, in_y], axis=2), np.stack([in_x, total - in_y], axis=2))


SHUFFLES: dict[str, type[PerOutput | RofTwoR | SegmentBlock | MultEvalShuffle]] = {
    "per-output": PerOutput,
    "r-of-2r": RofTwoR,
    "segment-block": SegmentBlock,
    "multeval": MultEvalShuffle,
}
"""By the name of the null."""


def shuffled_share(runs: int) -> float:
    """Return Var(X − Y) of MultEval's shuffle as a share of that of complementary halves, where outputs are independent.

    ½ + 1/R for two runs or more: 1 where π(k) = π⁻¹(k), which has the chance 2/R, and ½ where two coins decide about an output.

    Examples
    --------
    >>> [round(shuffled_share(runs), 3) for runs in (1, 2, 3, 5, 10)]
    [1.0, 1.0, 0.833, 0.7, 0.6]
    """
    return 1.0 if runs == 1 else 0.5 + 1 / runs


def _stack(replicas: Replicas, group: Group, width: int) -> NDArray[np.int64]:
    return np.stack([replicas.statistics[system][:, :, :width] for system in group.systems.tolist()])


def _by_unit(replicas: Replicas, systems: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return (unit, run, system · statistic)."""
    taken = np.stack([replicas.statistics[system][:, :, :width] for system in systems.tolist()])
    return np.ascontiguousarray(taken.transpose(2, 1, 0, 3)).reshape(taken.shape[2], taken.shape[1], -1)


def _mirror(left: NDArray[np.float64], moved: NDArray[np.float64]) -> Dealt:
    """Where outputs with one run number change sides, move a system's contribution from its own slots to the other side's."""
    return Dealt(np.concatenate([left, moved], axis=2), np.concatenate([moved, left], axis=2))
