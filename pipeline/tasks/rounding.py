"""Numbers that were rounded. This module warns where systems were rounded differently, so that equal numbers may be apart."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.errors import name_some
from pipeline.plan.comparisons import statistics_key
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import present_outputs
from pipeline.tasks.manifest import Manifest

__all__ = ["rounding_warnings"]


def rounding_warnings(manifest: Manifest, inventory: Inventory) -> Iterator[str]:
    """Give a warning for each test set and metric where one number of two systems may have become two integers.

    Numbers of a file are integers of so many decimals. Where their sum would be too large some decimals are left out, as many as
    the file's own largest number asks for.
    """
    for test_set in manifest.inputs.test_sets:
        present, _ = present_outputs(manifest.study, manifest.inputs, test_set, inventory)
        for metric in manifest.inputs.metrics:
            missing = manifest.study.test_sets[test_set.name].missing
            scales: dict[tuple[int, ...], list[str]] = {}
            rounded: dict[tuple[int, ...], float] = {}
            for output in present:
                receipt = inventory.receipts.get(statistics_key(test_set, missing, metric, output))
                if receipt is None or "decimals" not in receipt.covers:
                    continue
                decimals, error = tuple(receipt.covers["decimals"]), float(receipt.covers["rounding_error"])
                scales.setdefault(decimals, []).append(output.system)
                if error:
                    rounded[decimals] = max(error, rounded.get(decimals, 0.0))
            # What was not rounded is exact on any finer scale, and on no coarser one.
            finest = tuple(map(max, zip(*scales, strict=True)))
            if any(decimals < most for scale in rounded for decimals, most in zip(scale, finest, strict=True)):
                apart = sum(sorted(rounded.values())[-2:])
                told = "; ".join(f"{max(scale)} of {name_some(systems)}" for scale, systems in sorted(scales.items()))
                yield (
                    f"{test_set.name}: {metric.name}: numbers were rounded to different decimals ({told}): two that are equal may "
                    f"be apart by up to {apart:.2g}; fewer decimals in the files make them one"
                )
