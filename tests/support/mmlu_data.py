"""0/1 columns of the real set `mmlu-pro`, read without the package."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def read_mmlu(data: Path, *, models: int, items: int) -> NDArray[np.int64]:
    """Return (item, model) 1 where the first models are right, on items from all over the file, which is sorted by domain."""
    folder = data / "mmlu-pro"
    with gzip.open(folder / "items.tsv.gz", "rt") as lines:
        answers = np.array([line.rstrip("\n").split("\t")[3] for line in lines][1:])
    with gzip.open(folder / "predictions.tsv.gz", "rt") as lines:
        letters = [line.rstrip("\n").split("\t")[1] for line in lines][1 : models + 1]
    right = np.array([np.array(list(of)) == answers for of in letters]).T.astype(np.int64)
    return right[:: len(right) // items][:items]
