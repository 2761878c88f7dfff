"""Tests what the base classes of plugins give, and what becomes of classes that do not inherit them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import PluginError
from pipeline.interfaces import Items, Metric, Reader
from pipeline.items.readers import registry
from pipeline.items.readers.registry import fits_outputs, import_reader, load_reader
from pipeline.items.readers.tagged import TaggedReader
from pipeline.metrics import registry as metrics
from pipeline.metrics.accuracy import Accuracy
from pipeline.metrics.registry import load_metric


class Looks:
    """Has what a reader needs and inherits nothing."""

    name, targets, compares_with, usual_metric = "looks", ("text",), "nothing", None

    def read_gold(self, paths: Any, options: Any) -> None:
        """Read nothing."""

    def read_outputs(self, path: Path, *, system: str | None, options: Any) -> dict[str, Items]:
        return {}

    def write(self, path: Path, columns: Any, ids: Any) -> None:
        """Write nothing."""


READS = {"name", "targets", "compares_with", "usual_metric", "read_gold", "read_outputs"}


class Deaf:
    name, targets = "deaf", ()


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    def put(made: Any) -> None:
        for module in (registry, metrics):
            monkeypatch.setattr(module, "import_plugin", lambda family, name: made)

    return put


def test_a_reader_that_merely_looks_right_has_the_defaults(install: Any) -> None:
    install(Looks)
    reader = load_reader("looks")
    assert isinstance(reader, Reader)
    assert (reader.outputs, reader.endings, reader.blank, reader.exact, reader.holds_systems) == (None, (), "", False, False)
    assert not fits_outputs(reader)


def test_a_reader_of_a_format_that_no_training_writes_need_not_say_so(install: Any, tmp_path: Path) -> None:
    install(type("ReadsOnly", (), {name: value for name, value in vars(Looks).items() if name in READS}))
    with pytest.raises(ValueError, match="not written in this format"):
        load_reader("reads-only").write(tmp_path / "new.txt", {"text": ["a"]}, ["1"])
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_fits_outputs_is_known_by_its_method(install: Any) -> None:
    install(type("Fits", (Looks,), {"fit": lambda self, gold, output: gold}))
    assert fits_outputs(load_reader("fits"))


def test_a_reader_without_its_methods_is_refused_with_all_that_it_lacks(install: Any) -> None:
    install(Deaf)
    assert import_reader("deaf").endings == ()
    with pytest.raises(PluginError) as caught:
        load_reader("deaf")
    assert caught.value.problems[0].message == "the format 'deaf' has no compares_with, usual_metric, read_gold, read_outputs"


def test_a_metric_that_merely_looks_right_has_the_defaults(install: Any) -> None:
    members = {name: value for name, value in vars(Accuracy).items() if not name.startswith("__")}
    install(type("Looks", (), {**members, "__module__": __name__}))
    metric = load_metric("looks")
    assert isinstance(metric, Metric)
    assert (dict(metric.follows), metric.checks_gold, metric.signature) == ({}, False, "accuracy|unit:percent")
    install(Deaf)
    with pytest.raises(PluginError, match="P308: the metric 'deaf' has no statistics, higher_is_better, form, signature"):
        load_metric("deaf")


def test_only_the_class_that_says_so_writes_exactly() -> None:
    class Own(TaggedReader):
        def write(self, path: Path, columns: Any, ids: Any) -> None:
            """Write what nobody can read."""

    assert TaggedReader.exact
    assert not Own.exact


def test_every_reader_of_the_package_inherits_the_base_class() -> None:
    for name in registry.list_plugins("readers"):
        assert issubclass(registry.import_plugin("readers", name), Reader), name
