"""What a simulation says, as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markdown_tables import render_table

from simulation.cluster import Outcome
from simulation.rates import Measured
from simulation.validate import Comparison

__all__ = ["format_comparisons", "format_measured", "format_memory", "format_outcomes"]


def format_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Return one line a number of workers; all have the same stages."""
    rows = []
    for outcome in outcomes:
        resample = next(stage for stage in outcome.stages if stage.name == "resample")
        rows.append(
            [
                f"{outcome.workers:,}",
                f"{sum(stage.jobs for stage in outcome.stages):,}",
                f"{resample.busy_seconds:,.0f}",
                f"{resample.jobs / resample.seconds:.1f}",
                f"{resample.stored_bytes / 1e9:,.0f}",
                *(f"{stage.seconds:,.0f}" for stage in outcome.stages),
                f"{outcome.seconds:,.0f}",
                f"{100 * outcome.utilisation:.0f} %",
                outcome.bottleneck,
                resample.bottleneck,
            ]
        )
    stages = [f"{stage.name} s" for stage in outcomes[0].stages]
    head = ["workers", "tasks", "block seconds", "blocks/s", "GB of cells", *stages]
    return render_table([*head, "all s", "used", "held up by", "blocks alone by"], rows)


def format_comparisons(comparisons: Iterable[Comparison]) -> str:
    """Return one line a run."""
    rows = [
        [
            f"{c.workers}",
            f"{c.measured:.1f}",
            f"{c.from_tasks:.1f} ({100 * (c.from_tasks / c.measured - 1):+.1f} %)",
            f"{c.from_rates:.1f} ({100 * (c.from_rates / c.measured - 1):+.1f} %)",
            f"{c.processor:.1f}",
            f"{c.processor_from_rates:.1f} ({100 * (c.processor_from_rates / c.processor - 1):+.1f} %)",
            f"{100 * (1 - c.task_share):.1f} %",
            f"{c.load:.1f}",
        ]
        for c in comparisons
    ]
    return render_table(
        ["workers", "measured s", "from its task times", "from rates", "processor s", "from rates", "outside blocks", "load"], rows
    )


def format_memory(measured: Measured) -> str:
    """Say what the largest tasks hold."""
    return (
        f"Memory, of {measured.systems} systems on two test sizes: {measured.block_memory_bytes / 2**30:.2f} GiB of a process that "
        f"has resampled, {measured.report_memory_bytes / 2**30:.2f} GiB once it has also made the cube and the report."
    )


def format_measured(measured: Measured) -> str:
    """Return the rates, one a line."""
    rows = [
        ["a cell of all pairs", f"{measured.cell_seconds:.2f} s + {1e3 * measured.cell_unit_seconds:.2f} ms a unit"],
        ["… stored", f"{measured.cell_bytes / 1e6:.1f} MB"],
        ["… first of a worker", f"+ {measured.warm_seconds:.1f} s"],
        ["… standard deviation", f"{100 * measured.variation:.1f} %"],
        ["… memory of the process", f"{measured.block_memory_bytes / 2**30:.2f} GiB"],
        ["extraction of an output", f"{measured.extract_seconds:.2f} s"],
        [
            "shard of a cube, a pair and size",
            f"{1e6 * measured.shard_row_seconds:.0f} µs + {1e6 * measured.shard_cell_seconds:.2f} µs a cell, "
            f"{measured.shard_row_bytes:.0f} bytes stored",
        ],
        ["cube from shards, a pair and size", f"{1e6 * measured.collect_row_seconds:.1f} µs"],
        [
            "report of one test size",
            f"{measured.report_seconds:.1f} s; each further one {1e6 * measured.report_row_seconds:.1f} µs a pair",
        ],
        [
            "scheduling a task",
            f"{1e3 * measured.task_seconds:.2f} ms ({1 / measured.task_seconds:.0f} a second), {measured.task_bytes / 1e3:.1f} kB",
        ],
        ["a receipt", f"{1e3 * measured.receipt_seconds:.2f} ms, {measured.receipt_bytes:.0f} bytes of ledger"],
        ["a plan", f"{measured.plan_seconds:.2f} s"],
        ["a local cluster", f"{measured.start_seconds:.1f} s"],
        ["store, written and synced", f"{measured.store_bandwidth / 1e6:.0f} MB/s"],
    ]
    return render_table(["rate", f"{measured.systems} systems, {measured.processor}, load {measured.load}"], rows)
