"""Entry points of other packages: what they may not replace, and what is said of those that cannot be used."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pipeline import plugins
from pipeline.errors import PluginError
from pipeline.metrics.registry import load_metric

NOT_A_CLASS = 3


def offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point for point in points if point.group == group])


def test_no_other_package_replaces_a_member_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one on the path did, under the same run id."""
    ours = EntryPoint("accuracy", "pipeline.metrics.accuracy:Accuracy", "pipeline.metrics")
    theirs = EntryPoint("accuracy", "zebra:Accuracy", "pipeline.metrics")
    for points in ((ours, theirs), (theirs, ours)):
        offer(monkeypatch, *points)
        assert plugins.list_plugins("metrics")["accuracy"] == ours


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
