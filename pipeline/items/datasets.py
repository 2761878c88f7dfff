"""Data sets that ship inside a dependency, loaded, split and shifted, always to the same bits.

``digits`` is scikit-learn's copy of 1797 handwritten digits, stored form by form: fourteen writers' forms of about 130
digits each. The halves are cut between two forms, so no writer is both trained on and tested on; cut at even and odd
positions, every writer would be in both, and a nearest neighbour would look better than it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import PluginError
from pipeline.interfaces import Items, TrainingItems
from pipeline.study.training_schema import DatasetSpec

__all__ = ["DATASETS", "dataset_digest", "gold_items", "load_dataset"]

LATTICE = 1024
"""Shifted pixels are rounded to 1/1024: far above what SciPy versions may differ by, far below what a pixel means."""

_FIRST_TEST_FORM = 905
"""Position of the first digit of the eighth of the fourteen forms."""

_TEST_STRIDE = 551
"""Step through the 892 test items, coprime to 892 and nearest to its golden section: see `_digits`."""


def _digits(spec: DatasetSpec) -> TrainingItems:
    # The test half is walked in a fixed stride: "the first 100 items" is then a sample of all its writers, where file
    # order would make the smaller test sizes a test on one writer each.
    from sklearn.datasets import load_digits  # a second of import that only this data set needs

    pixels, labels = load_digits(return_X_y=True)
    if spec.part == "train":
        positions = np.arange(_FIRST_TEST_FORM)
    else:
        n_test = len(labels) - _FIRST_TEST_FORM
        positions = _FIRST_TEST_FORM + np.arange(n_test) * _TEST_STRIDE % n_test
    images = _shift(pixels[positions].reshape(-1, 8, 8), rotate=spec.rotate, blur=spec.blur)
    features = np.ascontiguousarray(images.reshape(len(positions), 64))
    features.setflags(write=False)  # shared by every caller in the process
    return TrainingItems(
        ids=tuple(f"{position:04d}" for position in positions.tolist()),
        columns={"label": tuple(str(label) for label in labels[positions].tolist())},
        features=features,
    )


DATASETS: dict[str, Callable[[DatasetSpec], TrainingItems]] = {"digits": _digits}
"""The embedded data sets by name."""


@lru_cache(maxsize=8)
def load_dataset(spec: DatasetSpec) -> TrainingItems:
    """Return the items of one part of an embedded data set, shifted as asked.

    Parameters
    ----------
    spec : DatasetSpec
        Name, part, and degrees (counter-clockwise) and blur in pixels; the rotation comes first.

    Returns
    -------
    TrainingItems
        ``features : (item, pixel) float64``, read-only. Identifiers are positions in the data set.

    Raises
    ------
    PluginError
        P304, where no data set has this name.

    Examples
    --------
    >>> train = load_dataset(DatasetSpec(dataset="digits", part="train"))
    >>> test = load_dataset(DatasetSpec(dataset="digits", part="test"))
    >>> len(train.ids), len(test.ids), set(train.ids) & set(test.ids)
    (905, 892, set())
    """
    try:
        load = DATASETS[spec.dataset]
    except KeyError:
        raise PluginError.of(
            "P304", f"there is no embedded data set {spec.dataset!r}", help=f"there are: {', '.join(sorted(DATASETS))}"
        ) from None
    return load(spec)


def gold_items(items: TrainingItems) -> Items:
    """Return the gold labels of a data set in the form a reader gives those of a file: the column ``label``."""
    return Items(
        ids=items.ids,
        columns={"label": items.columns["label"]},
        source="embedded data set",
        lines=tuple(range(1, len(items.ids) + 1)),
        numbered=False,
    )


def dataset_digest(spec: DatasetSpec) -> str:
    """Return 32 hex characters that stand for what the data set holds: features on their lattice, labels, identifiers.

    The features are hashed as little-endian int64 multiples of 1/1024, so the digest does not depend on the versions of
    Python, NumPy or SciPy that turned or blurred the images, but does change when the content does.
    """
    items = load_dataset(spec)
    assert items.features is not None  # embedded data sets have them
    content = hashlib.sha256(b"pipeline-dataset-1\0")
    content.update(repr(items.features.shape).encode())
    content.update(np.rint(items.features * LATTICE).astype("<i8").tobytes())
    for column in (items.columns["label"], items.ids):
        content.update(len(column).to_bytes(8, "little"))
        for value in column:
            encoded = value.encode()
            content.update(len(encoded).to_bytes(8, "little") + encoded)
    return content.hexdigest()[:32]


def _shift(images: NDArray[np.float64], *, rotate: float, blur: float) -> NDArray[np.float64]:
    """Turn and blur ``images : (item, row, column)``, then put every pixel on the lattice."""
    from scipy import ndimage  # a fifth of a second of import that every run would pay

    if rotate:
        # Linear interpolation: no spline filter that would run over the border, no values outside the range.
        images = ndimage.rotate(images, rotate, axes=(1, 2), reshape=False, order=1, mode="constant", cval=0.0)
    if blur:
        images = ndimage.gaussian_filter(images, sigma=(0.0, blur, blur), mode="constant", cval=0.0)
    return np.asarray(np.rint(images * LATTICE) / LATTICE, dtype=np.float64)
