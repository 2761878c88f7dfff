"""Embedded data sets: halves that share nothing, shifts that are the same everywhere, digests that mean the content."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from sklearn.datasets import load_digits

from pipeline.errors import PluginError
from pipeline.items.datasets import dataset_digest, gold_items, load_dataset
from pipeline.study.training_schema import DatasetSpec


def digits(**options) -> DatasetSpec:
    return DatasetSpec(dataset="digits", **options)


def test_the_halves_share_no_item_and_leave_none_out():
    train, test = load_dataset(digits(part="train")), load_dataset(digits(part="test"))
    assert sorted(train.ids + test.ids) == [f"{i:04d}" for i in range(1797)]
    assert abs(len(train.ids) - len(test.ids)) < 20


def test_items_carry_the_features_and_label_of_the_position_their_identifier_names():
    pixels, labels = load_digits(return_X_y=True)
    for part in ("train", "test"):
        items = load_dataset(digits(part=part))
        positions = [int(name) for name in items.ids]
        np.testing.assert_array_equal(items.features, pixels[positions])
        assert items.columns["label"] == tuple(map(str, labels[positions]))


def test_the_cut_is_between_two_writers():
    # Every writer filled the same form: it begins with 0…9 three times and goes on 0 9 5 5 6 5.
    labels = load_digits().target
    form = [*list(range(10)) * 3, 0, 9, 5, 5, 6, 5]
    first = len(load_dataset(digits(part="train")).ids)
    # One label of this copy of the form is off; at no other position near by do more than a few agree.
    agreement = {start: sum(labels[start + i] == form[i] for i in range(len(form))) for start in range(first - 60, first + 60)}
    assert max(agreement, key=agreement.get) == first
    assert agreement[first] >= len(form) - 2


def test_the_first_hundred_test_items_come_from_every_test_writer():
    positions = np.array([int(name) for name in load_dataset(digits(part="test")).ids[:100]])
    starts = [905, 1029, 1157, 1287, 1415, 1543, 1667, 1797]
    assert np.histogram(positions, bins=starts)[0].min() >= 10


def test_a_rotation_of_zero_and_no_blur_change_nothing():
    assert dataset_digest(digits(rotate=0.0, blur=0.0)) == dataset_digest(digits())


def test_a_quarter_turn_is_counter_clockwise_and_exact():
    plain, turned = load_dataset(digits()), load_dataset(digits(rotate=90))
    image, image_turned = plain.features[0].reshape(8, 8), turned.features[0].reshape(8, 8)
    np.testing.assert_array_equal(image_turned, np.rot90(image))


def test_each_image_is_shifted_on_its_own():
    # The same shift of one image alone, without the stack: pixels of neighbours in the stack do not leak in.
    shifted = load_dataset(digits(rotate=8, blur=0.5))
    alone = load_dataset(digits()).features[17].reshape(8, 8)
    alone = ndimage.gaussian_filter(ndimage.rotate(alone, 8, reshape=False, order=1), 0.5, mode="constant")
    np.testing.assert_allclose(shifted.features[17].reshape(8, 8), alone, atol=2**-11 + 1e-9)


def test_a_shift_keeps_labels_and_identifiers():
    plain, turned = load_dataset(digits()), load_dataset(digits(rotate=8))
    assert (plain.columns, plain.ids) == (turned.columns, turned.ids)
    assert not np.array_equal(plain.features, turned.features)


def test_pixels_lie_on_the_lattice_so_that_no_version_of_scipy_shows():
    features = load_dataset(digits(rotate=8, blur=0.5)).features
    np.testing.assert_array_equal(features * 1024, np.rint(features * 1024))


def test_features_shared_by_all_callers_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        load_dataset(digits()).features[0, 0] = 1.0


def test_the_digest_tells_every_part_and_shift_apart():
    specs = [digits(), digits(part="train"), digits(rotate=8), digits(rotate=-8), digits(blur=0.5), digits(rotate=8, blur=0.5)]
    assert len({dataset_digest(spec) for spec in specs}) == len(specs)


@pytest.mark.golden
@pytest.mark.parametrize(
    ("spec", "digest"),
    [
        (digits(part="train"), "84704c2c15a559d49ccaaae4414d62e0"),
        (digits(part="test"), "6ab09e3e97f833d23c9f0820503479cf"),
        (digits(part="test", rotate=8), "2cd5b66f33404b8c3ceed0bfd1792d8f"),
    ],
)
def test_the_content_is_this_on_every_python(spec, digest):
    assert dataset_digest(spec) == digest


def test_gold_items_are_the_labels_in_the_column_a_reader_would_give():
    items = load_dataset(digits())
    gold = gold_items(items)
    assert gold.ids == items.ids
    assert gold.columns == {"label": items.columns["label"]}
    assert not gold.numbered
    assert len(gold) == len(gold.lines) == 892


def test_an_unknown_data_set_is_refused_with_the_list():
    with pytest.raises(PluginError) as caught:
        load_dataset(DatasetSpec(dataset="mnist"))
    (problem,) = caught.value.problems
    assert problem.code == "P304"
    assert "digits" in problem.help
