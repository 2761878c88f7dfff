"""Tests of systems with several runs, by going through all arrangements in fractions. Shares no code with kernels.

A system is its runs; a run is the (numerator, denominator) of each unit. What a null permutes it permutes unit by unit, so that the
sums of all arrangements are those of the units' own outcomes added up in every combination; equal sums are counted together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, prod

from support.enumeration import Law, chance, compositions

Output = tuple[Fraction | int, Fraction | int]
Run = Sequence[Output]
Sums = tuple[Output, ...]
"""One (numerator, denominator) a slot: first the slots of the first side, then those of the second."""

EQUAL_RUNS = ("per-output", "paired-runs", "multeval")
"""Nulls that have no arrangement where the two systems have different numbers of runs."""


def ratio(output: Output) -> Fraction | None:
    return Fraction(output[0]) / Fraction(output[1]) if output[1] else None


def mean(scores: Iterable[Fraction | None]) -> Fraction | None:
    found = list(scores)
    return None if None in found else sum(found, Fraction(0)) / len(found)


def add_up(outputs: Iterable[Output]) -> Output:
    numerators, denominators = zip(*outputs, strict=True)
    return sum(numerators), sum(denominators)


def gain_of_slots(sums: Sums, ahead: int, sign: int) -> Fraction | None:
    one, other = mean(map(ratio, sums[:ahead])), mean(map(ratio, sums[ahead:]))
    return None if one is None or other is None else sign * (one - other)


# What may become of the outputs of one unit, `a` those of the first system's runs and `b` those of the second's: the outputs in
# each slot. Every outcome has the same chance; the first is as observed.


def per_output(a: Run, b: Run) -> Iterator[Sums]:
    for swapped in product((False, True), repeat=len(a)):
        kept = [(y, x) if swap else (x, y) for x, y, swap in zip(a, b, swapped, strict=True)]
        yield (*(x for x, _ in kept), *(y for _, y in kept))


def r_of_2r(a: Run, b: Run) -> Iterator[Sums]:
    yield from permutations((*a, *b))


def segment_block(a: Run, b: Run) -> Iterator[Sums]:
    if len(a) != len(b):
        a, b = ([tuple(Fraction(part, len(runs)) for part in add_up(runs))] for runs in (a, b))
    yield (*a, *b)
    yield (*b, *a)


def multeval(a: Run, b: Run) -> Iterator[Sums]:
    runs = range(len(a))
    for swapped, order in product(product((False, True), repeat=len(a)), permutations(runs)):
        back = [order.index(run) for run in runs]
        x = add_up((b if swapped[run] else a)[order[run]] for run in runs)
        y = add_up((a if swapped[run] else b)[back[run]] for run in runs)
        yield (x, y)


OUTCOMES: dict[str, Callable[[Run, Run], Iterator[Sums]]] = {
    "per-output": per_output,
    "r-of-2r": r_of_2r,
    "segment-block": segment_block,
    "multeval": multeval,
}


def law_of_outcomes(null: str, a: Sequence[Run], b: Sequence[Run], sign: int) -> tuple[Fraction | None, Law]:
    """Return the observed gain and the law of δ° where outputs of a unit are permuted."""
    units = [list(OUTCOMES[null](*([run[unit] for run in system] for system in (a, b)))) for unit in range(len(a[0]))]
    sums = Counter([tuple((0, 0) for _ in units[0][0])])
    for outcomes in units:
        added: Counter[Sums] = Counter()
        for (total, ways), (outcome, times) in product(sums.items(), Counter(outcomes).items()):
            added[tuple((x + p, y + q) for (x, y), (p, q) in zip(total, outcome, strict=True))] += ways * times
        sums = added
    slots = len(units[0][0])
    ahead = len(a) if slots == len(a) + len(b) else 1
    ways_of: Counter[Fraction | None] = Counter()
    for total, ways in sums.items():
        ways_of[gain_of_slots(total, ahead, sign)] += ways
    as_it_is = tuple(add_up(outcomes[0][slot] for outcomes in units) for slot in range(slots))
    return gain_of_slots(as_it_is, ahead, sign), Law(ways_of, prod(map(len, units)))


def law_of_runs(null: str, a: Sequence[Run], b: Sequence[Run], sign: int) -> tuple[Fraction | None, Law]:
    """Return the observed gain and the law of δ° where whole runs are permuted: only their scores matter."""
    scores = [ratio(add_up(run)) for run in (*a, *b)]
    if None in scores:
        return None, Law({None: 1}, 1)
    both = range(len(scores))
    if null == "whole-run":
        sides = [(taken, [run for run in both if run not in taken]) for taken in combinations(both, len(a))]
    else:
        numbers = range(len(a))
        sides = [
            ([run + len(a) * flip for run, flip in zip(numbers, flips, strict=True)],
             [run + len(a) * (not flip) for run, flip in zip(numbers, flips, strict=True)])
            for flips in product((False, True), repeat=len(a))
        ]  # fmt: skip
    gains = [sign * (mean(scores[run] for run in one) - mean(scores[run] for run in other)) for one, other in sides]
    return gains[0], Law(Counter(gains), len(gains))


def crossed_law(a: Sequence[Run], b: Sequence[Run], sign: int) -> tuple[Fraction | None, Law]:
    """Return the observed gain and the law of δ* where units are drawn with replacement, and the runs of each side apart."""
    n = len(a[0])

    def gain(drawn: Sequence[Run], others: Sequence[Run], counts: Sequence[int]) -> Fraction | None:
        one, other = (
            mean(ratio(add_up((k * x, k * y) for k, (x, y) in zip(counts, run, strict=True))) for run in runs)
            for runs in (drawn, others)
        )
        return None if one is None or other is None else sign * (one - other)

    ways: Counter[Fraction | None] = Counter()
    for counts in compositions(n, n):
        samples = factorial(n) // prod(map(factorial, counts))
        for drawn, others in product(product(a, repeat=len(a)), product(b, repeat=len(b))):
            ways[gain(drawn, others, counts)] += samples
    return gain(a, b, [1] * n), Law(ways, n**n * len(a) ** len(a) * len(b) ** len(b))


def enumerate_null(null: str, a: Sequence[Run], b: Sequence[Run], *, sign: int = 1) -> dict[str, object]:
    """Go through all arrangements of a null: how many, the gain, and the chances of one as large and of a larger one."""
    if null in EQUAL_RUNS and len(a) != len(b):
        return {"reason": "unequal runs"}
    if null in OUTCOMES:
        gain, law = law_of_outcomes(null, a, b, sign)
    elif null == "crossed":
        gain, law = crossed_law(a, b, sign)
    else:
        gain, law = law_of_runs(null, a, b, sign)
    if gain is None:
        return {"reason": "undefined score"}
    centre = gain if null == "crossed" else 0
    return {
        "gain": gain,
        "arrangements": law.total,
        "empty": Fraction(law.total - law.defined, law.total),
        "p": chance(law, lambda other: abs(other - centre) >= abs(gain)),
        "p-strict": chance(law, lambda other: abs(other - centre) > abs(gain)),
    }
