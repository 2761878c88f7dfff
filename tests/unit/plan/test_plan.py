"""A plan asks for what is missing and for nothing else, whatever exists; and its cost knows no cells × pairs."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from itertools import combinations

import pytest
from support.plans import NAMES, all_done, made_study, plan_tasks, receipt_of

from pipeline.plan.inventory import Inventory
from pipeline.plan.task import Failure, ResampleSpec, Task, unpack_mask
from pipeline.resampling.address import cell_bounds, count_cells

Cell = tuple[str, int, tuple[str, str]]


def resamples(tasks: tuple[Task, ...]) -> list[ResampleSpec]:
    return [task.spec for task in tasks if isinstance(task.spec, ResampleSpec)]


def asked_pairs(specs: list[ResampleSpec]) -> Counter[Cell]:
    """How often each pair of statistics is asked on each cell of each size."""
    found: Counter[Cell] = Counter()
    for spec in specs:
        for column in spec.columns:
            pairs = [p for p, asked in zip(combinations(column.systems, 2), column.pair_mask(), strict=True) if asked]
            found.update((spec.size, cell, pair) for cell in range(spec.first_cell, spec.stop_cell) for pair in pairs)
    return found


def asked_scores(specs: list[ResampleSpec]) -> Counter[tuple[str, int, str]]:
    found: Counter[tuple[str, int, str]] = Counter()
    for spec in specs:
        for column in spec.columns:
            kept = [key for key, keep in zip(column.systems, column.kept_mask(), strict=True) if keep]
            found.update((spec.size, cell, key) for cell in range(spec.first_cell, spec.stop_cell) for key in kept)
    return found


def stored_cells(specs: list[ResampleSpec]) -> set[int]:
    return {cell for spec in specs for cell in range(spec.first_cell, spec.stop_cell)}


def test_what_is_done_is_not_planned_again() -> None:
    asked = made_study(sizes=(20,), keep_replicates=20_000)
    assert {task.kind for task in plan_tasks(asked, all_done(asked))} == {"collect", "report"}
    everything = [receipt_of(task) for task in plan_tasks(asked)]
    assert plan_tasks(asked, everything) == ()


def test_a_new_system_costs_its_extraction_and_its_own_pairs() -> None:
    done = all_done(made_study())
    tasks = plan_tasks(made_study(systems=("z", *NAMES)), done)
    assert [task.kind for task in tasks].count("extract") == 1
    (new,) = [task.key for task in tasks if task.kind == "extract"]
    asked = asked_pairs(resamples(tasks))
    assert len(asked) == len(NAMES) * count_cells(40_000)
    assert all(new in pair for _, _, pair in asked)
    assert set(asked.values()) == {1}


def test_fewer_systems_need_no_resampling() -> None:
    tasks = plan_tasks(made_study(systems=NAMES[1:4]), all_done(made_study()))
    assert {task.kind for task in tasks} == {"collect", "report"}


def test_more_replicates_need_the_new_cells_and_the_one_that_was_cut_short() -> None:
    done = all_done(made_study(replicates=40_000))  # cells 0, 1 and a part of 2
    assert stored_cells(resamples(plan_tasks(made_study(replicates=70_000), done))) == {2, 3, 4}
    whole = all_done(made_study(replicates=3 * 2**14))
    assert stored_cells(resamples(plan_tasks(made_study(replicates=70_000), whole))) == {3, 4}


def test_fewer_replicates_need_their_last_cell_where_it_is_cut_short() -> None:
    done = all_done(made_study(replicates=70_000))
    assert stored_cells(resamples(plan_tasks(made_study(replicates=40_000), done))) == {2}
    assert resamples(plan_tasks(made_study(replicates=2 * 2**14), done)) == []


def test_more_kept_scores_need_no_pair() -> None:
    done = all_done(made_study(keep_replicates=10_000))
    specs = resamples(plan_tasks(made_study(keep_replicates=20_000), done))
    assert stored_cells(specs) == {1}
    assert not asked_pairs(specs)
    assert len(asked_scores(specs)) == len(NAMES)


def test_a_new_system_among_kept_scores_keeps_its_own_and_no_other() -> None:
    done = all_done(made_study(keep_replicates=20_000))
    tasks = plan_tasks(made_study(systems=(*NAMES, "z"), keep_replicates=20_000), done)
    (new,) = [task.key for task in tasks if task.kind == "extract"]
    assert asked_scores(resamples(tasks)) == {("full", 0, new): 1, ("full", 1, new): 1}


def test_a_system_that_failed_for_good_is_in_no_pair() -> None:
    tasks = plan_tasks(made_study())
    lost = next(task for task in tasks if task.kind == "extract")
    inventory = Inventory()
    inventory.fail(Failure(lost.key, lost.label, 4, ()))
    asked = asked_pairs(resamples(plan_tasks(made_study(), inventory)))
    assert asked
    assert all(lost.key not in pair for _, _, pair in asked)


def test_blocks_decide_how_much_a_task_does_and_not_what_is_done() -> None:
    asked = made_study(sizes=(20, 500), replicates=100_000, keep_replicates=20_000)
    wanted = asked_pairs(resamples(plan_tasks(asked, block_cells=1)))
    for options in ({"block_cells": 2}, {"block_cells": 50}, {}, {"workers": 8}):
        assert asked_pairs(resamples(plan_tasks(asked, **options))) == wanted


def test_a_task_is_the_same_when_the_plan_is_made_again() -> None:
    asked = made_study(replicates=200_000)
    first = [task for task in plan_tasks(asked, block_cells=3) if task.kind == "resample"]
    rest = [task for task in plan_tasks(asked, [receipt_of(first[1])], block_cells=3) if task.kind == "resample"]
    assert rest == [first[0], *first[2:]]


def random_study(rng: random.Random):
    replicates = rng.choice([1000, 2**14, 40_000, 70_000, 100_000])
    return made_study(
        systems=rng.sample("abcdefghij", rng.randint(2, 9)),
        sizes=rng.choice([(), (20,)]),
        contents={"d": "c"} if rng.random() < 0.3 else None,  # two systems with one output
        replicates=replicates,
        keep_replicates=rng.choice([0, 5000, 20_000, 50_000]),
    )


@pytest.mark.parametrize("seed", range(40))
def test_whatever_was_asked_before_each_pair_of_each_cell_is_counted_once(seed: int) -> None:
    """Cell by cell and pair by pair, in plain sets: what receipts hold and what tasks ask are all there is, and disjoint."""
    rng = random.Random(seed)
    done = Inventory()
    for _ in range(rng.randint(0, 4)):
        before = plan_tasks(random_study(rng), done if rng.random() < 0.7 else (), block_cells=rng.choice([None, 1, 2, 3]))
        for task in before:
            if task.kind in {"extract", "resample"} and rng.random() < 0.8:
                done.add(receipt_of(task))
    asked = random_study(rng)
    study = asked[0]
    b, keep = study.resampling.replicates, study.resampling.scores_kept
    held_pairs: set[Cell] = set()
    held_scores: set[tuple[str, int, str]] = set()
    everything = resamples(plan_tasks(asked, block_cells=1))
    size_of = {column.column: spec.size for spec in everything for column in spec.columns}
    for receipt in done.receipts.values():
        for entry in receipt.covers.get("columns", ()):
            size, systems = size_of.get(entry["column"]), list(entry["systems"])
            if size is None:
                continue
            pairs = list(combinations(systems, 2))
            for cell in range(receipt.covers["first_cell"], receipt.covers["stop_cell"]):
                theirs = cell_bounds(cell, receipt.covers["replicates"])
                if cell < count_cells(b) and theirs == cell_bounds(cell, b):
                    held_pairs |= {
                        (size, cell, p) for p, m in zip(pairs, unpack_mask(entry["pairs"], len(pairs)), strict=True) if m
                    }
                    held_scores |= {
                        (size, cell, k) for k, m in zip(systems, unpack_mask(entry["kept"], len(systems)), strict=True) if m
                    }
    specs = resamples(plan_tasks(asked, done, block_cells=rng.choice([None, 1, 2, 3])))
    keys = sorted({key for spec in everything for column in spec.columns for key in column.systems})
    sizes = set(size_of.values())
    wanted = {(size, cell, p) for size in sizes for cell in range(count_cells(b)) for p in combinations(keys, 2)}
    assert asked_pairs(specs) == Counter(wanted - held_pairs)
    kept = {(size, cell, key) for size in sizes for cell in range(count_cells(keep)) for key in keys}
    assert asked_scores(specs) == Counter(kept - held_scores)


@pytest.mark.parametrize("state", ["empty", "full", "grown"])
def test_memory_of_a_plan_does_not_grow_with_cells_times_pairs(state: str) -> None:
    systems = [f"s{i:03d}" for i in range(400)]
    asked = made_study(systems=systems, sizes=(100, 200), replicates=10**6)
    before = {"empty": 0, "full": 400, "grown": 395}[state]
    inventory = Inventory.of(all_done(made_study(systems=systems[:before], sizes=(100, 200), replicates=10**6)) if before else ())
    tracemalloc.start()
    plan_tasks(asked, inventory)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    mask_of_one_column = count_cells(10**6) * 400 * 399 // 2  # a byte for each cell and pair
    assert peak < 2 * mask_of_one_column
