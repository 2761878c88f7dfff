"""`scripts/soak` tells memory that grows with the tasks from memory that does not."""

from __future__ import annotations

import pytest
from faults.soak import Sample, flatness, table


def samples(bytes_a_task: float, *, jumps: dict[int, float] | None = None) -> list[Sample]:
    """Samples of a process that starts at 100 MiB, warms up by 80, and grows."""
    found, extra = [], 0.0
    for done in range(50, 10_001, 50):
        extra += (jumps or {}).get(done, 0.0)
        warm = 80 * min(1.0, done / 800)
        found.append(Sample(done, done / 100, 100 + warm + extra + bytes_a_task * done / 2**20, 300.0))
    return found


@pytest.mark.parametrize("bytes_a_task", [0, 3600, 100_000])
def test_growth_is_that_of_the_tasks_and_not_of_the_start(bytes_a_task: float) -> None:
    assert flatness(samples(bytes_a_task)) == pytest.approx(bytes_a_task, abs=1e-6)


def test_one_sample_amid_a_collection_of_garbage_does_not_tilt_the_line() -> None:
    assert flatness(samples(500, jumps={4000: 60.0, 4050: -60.0})) == pytest.approx(500)


def test_what_was_seen_once_has_no_growth() -> None:
    assert flatness(samples(500)[:1]) == 0.0


def test_the_table_has_the_quartiles_of_what_was_done() -> None:
    rows = table(samples(0)).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| 1,000", "| 2,500", "| 5,000", "| 7,500", "| 10,000"]
    assert rows[-1] == "| 10,000 | 1.7 | 180 | 300 |"
