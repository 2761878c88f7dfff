"""Entry points of other packages: what they may not replace, and what is said of those that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import Distribution, EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from pipeline import plugins
from pipeline.analyses.registry import load_analysis
from pipeline.errors import PluginError
from pipeline.interfaces import Analysis, Finding, Procedure
from pipeline.metrics.registry import load_metric
from pipeline.procedures import registry

NOT_A_CLASS = 3


def offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints(points))


def test_no_other_package_replaces_a_member_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one on the path did, under the same run id."""
    ours = EntryPoint("accuracy", "pipeline.metrics.accuracy:Accuracy", "pipeline.metrics")
    theirs = EntryPoint("accuracy", "zebra:Accuracy", "pipeline.metrics")
    for points in ((ours, theirs), (theirs, ours)):
        offer(monkeypatch, *points)
        assert plugins.list_plugins("metrics")["accuracy"] == ours


def brought_by(distribution: str, value: str, tmp_path: Path) -> EntryPoint:
    """The entry point of a metric `flesch` of an installed distribution."""
    info = tmp_path / f"{distribution}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(f"[pipeline.metrics]\nflesch = {value}\n")
    (point,) = Distribution.at(info).entry_points
    return point


def test_one_name_of_two_other_packages_is_refused_with_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one whose module comes later by the alphabet was taken."""
    one, other = brought_by("ease", "ease:Flesch", tmp_path), brought_by("zebra", "zebra.metrics:Flesch", tmp_path)
    told = r"P313: 2 installed packages bring the metric 'flesch': ease 1\.5 \(ease:Flesch\), zebra 1\.5 \(zebra\.metrics:Flesch\)"
    for points in ((one, other), (other, one)):
        offer(monkeypatch, *points)
        assert list(plugins.list_plugins("metrics")) == ["flesch"]
        with pytest.raises(PluginError, match=told):
            load_metric("flesch")


def test_two_packages_that_name_the_same_object_are_not_at_odds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value = f"{__name__}:NOT_A_CLASS"
    offer(monkeypatch, brought_by("old-name", value, tmp_path), brought_by("new-name", value, tmp_path))
    assert plugins.import_plugin("metrics", "flesch") == NOT_A_CLASS


def test_an_entry_point_that_is_not_a_class_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, EntryPoint("three", f"{__name__}:NOT_A_CLASS", "pipeline.metrics"))
    with pytest.raises(PluginError, match=r"P302.* names 3, which is not a class"):
        load_metric("three")


def test_a_module_that_ends_the_process_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaver.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    offer(monkeypatch, EntryPoint("gone", "leaver:Metric", "pipeline.metrics"))
    with pytest.raises(PluginError, match=r"P302: the metric 'gone' cannot be loaded"):
        plugins.import_plugin("metrics", "gone")


@pytest.mark.parametrize("named", ["no.such.module:compute", "os:no_such_function", "without_a_colon"])
def test_a_procedure_without_its_code_is_refused_before_a_run_begins(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    words = {"title": "the coin test", "null": "either system wins", "when": "never", "formula": "½"}
    monkeypatch.setattr(registry, "PROCEDURES", {"coin": Procedure("coin", **words, compute=named)})
    monkeypatch.setattr(registry, "in_tree", lambda family, name: False)
    with pytest.raises(PluginError, match=r"P302: the procedure 'coin' cannot be loaded: it names '" + named):
        registry.check_procedure("coin")


class Hasty(Analysis):
    name = "hasty"

    def check(self, options: Mapping[str, Any]) -> None:
        raise ValueError("window")

    def find(self, cubes: Mapping[str, Any], options: Mapping[str, Any]) -> Finding:
        raise AssertionError("it is refused before")


def test_an_analysis_that_fails_on_its_options_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, EntryPoint("hasty", f"{__name__}:Hasty", "pipeline.analyses"))
    with pytest.raises(PluginError, match="P302: the analysis 'hasty' failed on its options: ValueError: window"):
        load_analysis("hasty")
