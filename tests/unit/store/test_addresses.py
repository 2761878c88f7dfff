"""The same value has the same address, and different values have different ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.store.addresses import canonical_json, digest, digest_bytes, digest_file


def test_order_of_keys_and_kind_of_sequence_do_not_matter() -> None:
    assert digest({"a": [1, 2], "b": {"c": None, "d": True}}) == digest({"b": {"d": True, "c": None}, "a": (1, 2)})


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), (1, True), (0, False), (1, 1.0), (None, "null"), ([["a"], "b"], [["a", "b"]])]
)
def test_values_that_look_alike_have_different_addresses(one: object, other: object) -> None:
    assert digest([one]) != digest([other])


@pytest.mark.parametrize("value", [{1: "a"}, {"a": {1}}, b"bytes", object(), {"x": {None: 1}}])
def test_what_json_cannot_tell_apart_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        digest(value)


def test_nan_has_no_address() -> None:
    with pytest.raises(ValueError):
        digest([float("nan")])


def test_an_address_is_this_forever() -> None:
    assert canonical_json({"b": [1.5, "日", None], "a": "\udcff"}) == b'{"a":"\\udcff","b":[1.5,"\\u65e5",null]}'
    assert digest({"seed": 20120712}) == "643f20e01ed2a950ee700d464a76b044"


def test_a_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    data = bytes(range(256)) * 5000
    (tmp_path / "file").write_bytes(data)
    assert digest_file(tmp_path / "file") == digest_bytes(data)
