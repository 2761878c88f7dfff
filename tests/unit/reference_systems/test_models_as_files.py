"""Models of the reference systems are kept as plain data, and predict the same bits when they are read again."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.small_language import make_sentences

from pipeline.interfaces import KeepsModels, TrainingItems
from pipeline.plugins import list_plugins
from pipeline.trainers.registry import load_trainer
from reference_systems._kept_models import read_model, write_model
from reference_systems._suffixes import SuffixModel

SMALL: dict[str, dict[str, Any]] = {
    "graph-parser": {"epochs": 1, "bits": 10, "tags": "tag"},
    "transition-parser": {"epochs": 1, "bits": 10, "tags": "tag"},
    "ensemble-parser": {"epochs": 1, "step_epochs": 1, "bits": 10, "tags": "tag"},
    "latent-pcfg": {"cycles": 1, "steps": 2},
    "crf": {"iterations": 3},
}
NAMES = sorted(name for name, point in list_plugins("trainers").items() if point.module.startswith("reference_systems."))


def items(seed: int, *, hide: tuple[str, ...] = (), count: int = 40) -> TrainingItems:
    made = make_sentences(count, seed=seed)
    columns = {
        "word": tuple(one.words for one in made),
        "tag": tuple(one.tags for one in made),
        "upos": tuple(one.tags for one in made),
        "chunk": tuple(one.chunks for one in made),
        "head": tuple(one.heads for one in made),
        "relation": tuple(one.relations for one in made),
        "tree": tuple(one.brackets for one in made),
        "source": tuple(one.words for one in made),
        "target": tuple(one.translation for one in made),
    }
    shown = {name: values for name, values in columns.items() if name not in hide}
    return TrainingItems(tuple(str(k + 1) for k in range(count)), shown)


def test_all_reference_systems_are_here() -> None:
    assert len(NAMES) == 13


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_model_predicts_the_same_bits(name: str, tmp_path: Path) -> None:
    if name == "crf" and importlib.util.find_spec("pycrfsuite") is None:
        pytest.skip("python-crfsuite is not installed")
    trainer = load_trainer(name, SMALL.get(name, {}))
    assert isinstance(trainer, KeepsModels)
    sample = np.array([*range(0, 40, 2), 1, 1, 7])
    model = trainer.fit(items(1), sample, seed=5, workdir=tmp_path)
    kept = tmp_path / "kept"
    kept.mkdir()
    trainer.save_model(model, kept)
    test = items(2, hide=trainer.gives)
    wanted = trainer.predict(model, test)
    again = load_trainer(name, SMALL.get(name, {}))
    assert isinstance(again, KeepsModels)
    loaded = again.load_model(kept, tmp_path)
    assert again.predict(loaded, test) == wanted
    assert getattr(loaded, "notes", ()) == getattr(model, "notes", ())
    other = trainer.fit(items(1), np.arange(5), seed=5, workdir=tmp_path)
    assert trainer.predict(other, test) != wanted, "a model that says the same whatever it learnt shows nothing"


def test_numbers_come_back_with_all_their_bits(tmp_path: Path) -> None:
    model = SuffixModel(
        np.array([0.1, np.nan, -0.0, np.inf]), 0.1 + 0.2, {(True, "ä\u2028"): np.array([2**62, -1]), (False, ""): np.zeros(0, int)}
    )
    write_model(model, tmp_path)
    found = read_model(tmp_path)
    assert found.prior.tobytes() == model.prior.tobytes()
    assert found.theta == model.theta
    assert list(found.counts) == list(model.counts)
    assert [part.tolist() for part in found.counts.values()] == [[2**62, -1], []]


@pytest.mark.parametrize(
    ("kind", "numbers", "bytes_each"),
    [
        ("int64", [-128, 127], 1),
        ("uint64", [0, 127], 1),
        ("int32", [0, 128], 2),
        ("int64", [-(2**15) - 1, 0], 4),
        ("int32", [2**31 - 1], 4),
        ("int64", [-1, 2**31], 8),
        ("int64", [-(2**63), 2**63 - 1], 8),
        ("uint64", [0, 2**64 - 1], 8),
    ],
)
def test_whole_numbers_take_few_bytes_and_come_back_of_their_kind(
    kind: str, numbers: list[int], bytes_each: int, tmp_path: Path
) -> None:
    many = np.resize(np.array(numbers, kind), 10_000)
    write_model((many,), tmp_path)
    (found,) = read_model(tmp_path)
    assert found.dtype == many.dtype
    np.testing.assert_array_equal(found, many)
    assert 0 < (tmp_path / "vectors.npz").stat().st_size - 10_000 * bytes_each < 1000


def test_a_count_of_what_was_not_met_is_still_zero(tmp_path: Path) -> None:
    write_model((Counter({True: 3}), {"a": None}), tmp_path)
    counted, named = read_model(tmp_path)
    assert counted[False] == 0
    assert named == {"a": None}


@dataclass
class Foreign:
    """A value of another package."""

    number: int = 1


@pytest.mark.parametrize("held", [Foreign(), object(), np.array([Foreign()], dtype=object), {"a": {1, 2}}])
def test_what_is_no_plain_data_is_refused(held: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="a model holds"):
        write_model((held,), tmp_path)


@pytest.mark.parametrize(
    "address", ["subprocess:Popen", "reference_systems._kept_models:write_model", "reference_systems._trees:json"]
)
def test_a_changed_file_makes_nothing_but_parts_of_models(address: str, tmp_path: Path) -> None:
    write_model((), tmp_path)
    (tmp_path / "model.json").write_text(json.dumps({"of": address, "parts": {}}))
    with pytest.raises((ValueError, AttributeError)):
        read_model(tmp_path)


def test_an_array_of_objects_is_not_read(tmp_path: Path) -> None:
    write_model((np.arange(3),), tmp_path)
    with (tmp_path / "vectors.npz").open("wb") as file:
        np.savez(file, int64=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        read_model(tmp_path)
