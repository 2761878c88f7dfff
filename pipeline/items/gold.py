"""Read the gold or the references of a test set, whole or the chosen items, in the order of a frame."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.errors import DataError, PipelineError, StudyError
from pipeline.inputs import locate_input
from pipeline.interfaces import Items
from pipeline.items.choices import select_items
from pipeline.items.datasets import dataset_digest, gold_items, load_dataset
from pipeline.items.frame import Frame, align_items, digest_items
from pipeline.items.readers import load_reader
from pipeline.store.addresses import digest
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import DatasetSpec

__all__ = [
    "choose_items",
    "gold_digest_of",
    "load_gold",
    "read_gold",
    "reader_options",
    "surveyed_gold",
    "whole_gold",
    "whole_gold_once",
]


def reader_options(spec: TestSet) -> Mapping[str, Any]:
    """Return a study's settings for columns and missing items, in the form that readers take."""
    return {"columns": dict(spec.columns), "missing": spec.missing}


def gold_files(spec: TestSet, base: Path) -> list[Path]:
    """Return the files of references and gold, in the order in which readers take them."""
    return [locate_input(base, file) for file in (*spec.references, *([spec.gold] if isinstance(spec.gold, str) else []))]


def whole_gold(spec: TestSet, base: Path) -> Items | None:
    """Read all items of the gold or the references of a test set; None where it has none."""
    if isinstance(spec.gold, DatasetSpec):
        return gold_items(load_dataset(spec.gold))
    return load_reader(spec.format).read_gold(gold_files(spec, base), reader_options(spec))


def choose_items(gold: Items | None, spec: TestSet) -> Items | None:
    """Return the items of a gold that the study names by ranges; all where it names none, or by columns."""
    if not isinstance(spec.items, str):
        return gold
    if gold is None:
        raise StudyError.of(
            "P124",
            "ranges count the items of the gold, and the test set has none",
            where="items",
            help="choose by a column that groups items, `items: {include: {COLUMN: GROUP}}`, or leave the others out of the files",
        )
    return select_items(gold, spec.items, where="items")


def read_gold(spec: TestSet, base: Path) -> Items | None:
    """Read the gold or the references of a test set, the chosen items of it; None where it has none."""
    return choose_items(whole_gold(spec, base), spec)


def load_gold(spec: TestSet, *, base: Path, frame: Frame, digest: str | None = None, gold: Items | None = None) -> Items | None:
    """Read the gold or the references again, in the order of the frame; ``gold`` is that of an embedded data set.

    Raises
    ------
    DataError
        P220, where ``digest`` is given and the content is not what was surveyed.
    """
    if gold is None:
        if isinstance(spec.gold, DatasetSpec):
            raise ValueError("the gold of an embedded data set is passed in, not read from a file")
        gold = read_gold(spec, base)
    if digest is not None and digest != (digest_items(gold) if gold is not None else ""):
        raise _changed(gold)
    return None if gold is None else align_items(gold, frame)


def whole_gold_once(spec: TestSet, base: Path, *, digest: str | None = None) -> Items | None:
    """Return `whole_gold`, parsed again only where one of its files is another one than last time.

    Raises
    ------
    DataError
        P220, where ``digest`` is given and the items in files that the study chooses are not what was surveyed: outputs would be
        fitted to a gold that they are not compared with.
    """
    stamps = tuple(_stamp(path) for path in gold_files(spec, base))
    whole, found = _read_once(spec.model_dump_json(include={"format", "gold", "references", "columns", "items"}), base, stamps)
    if digest is not None and isinstance(spec.gold, str) and digest != found:
        raise _changed(whole)
    return whole


def _changed(gold: Items | None) -> PipelineError:
    return DataError.of(
        "P220",
        "the gold or a reference changed after it was surveyed",
        where=gold.source if gold is not None else None,
        help="start the study again: the changed file makes it a new run, which reuses what is still valid",
    )


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()  # the reader says what is wrong with it
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@lru_cache(maxsize=2)
def _read_once(spec: str, base: Path, stamps: tuple[tuple[int, ...], ...]) -> tuple[Items | None, str]:
    """Return all items of the gold, and the digest of those that are chosen."""
    asked = TestSet.model_validate_json(spec)
    whole = whole_gold(asked, base)
    chosen = choose_items(whole, asked)
    return whole, digest_items(chosen) if chosen is not None else ""


def gold_digest_of(spec: TestSet, gold: Items) -> str:
    """Return the digest of a gold; that of an embedded test set is of the features too, which decide what a model predicts."""
    own = digest_items(gold)
    return digest([own, dataset_digest(spec.gold)]) if isinstance(spec.gold, DatasetSpec) else own


def surveyed_gold(spec: TestSet, base: Path, expected: str, *, where: str) -> Items | None:
    """Read the gold again.

    Raises
    ------
    DataError
        P220 where it is not what was surveyed.
    """
    gold = read_gold(spec, base)
    if (gold_digest_of(spec, gold) if gold is not None else "") == expected:
        return gold
    if isinstance(spec.gold, DatasetSpec):
        raise DataError.of(
            "P220",
            f"the embedded data set {spec.gold.dataset!r} is not the one that was surveyed",
            where=where,
            help="use the same versions on every worker, or start the study again",
        )
    raise DataError.of(
        "P220",
        "the gold or a reference changed after it was surveyed",
        where=gold.source if gold is not None else where,
        help="start the study again: the changed file makes it a new run, which reuses what is still valid",
    )
