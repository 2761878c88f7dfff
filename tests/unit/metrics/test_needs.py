"""What a metric says that it needs of files: installed ones say it, one of the user's own may."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import PluginError
from pipeline.metrics.registry import load_metric
from pipeline.plugins import list_plugins

NEEDED = {"ratio": {"numerator": "hits", "denominator": "cost"}}
OWN = """class Own:
    statistics, form, higher_is_better = ("right", "items"), "ratio", True
    needs_of_outputs, needs_of_gold = {0!r}, ("label",)
    def prepare(self, gold): pass
    def extract(self, prepared, output): pass
    def scorer(self, decimals): return lambda sums: sums[0] / sums[1]
"""


@pytest.mark.parametrize("name", [name for name in list_plugins("metrics") if name != "mean"])
def test_every_installed_metric_says_what_it_needs(name: str) -> None:
    metric = load_metric(name, NEEDED.get(name, {}))
    assert metric.needs_of_outputs
    assert bool(metric.needs_of_gold) is (name not in {"ratio", "win-rate"})


def test_a_mean_needs_the_column_that_it_names() -> None:
    assert load_metric("mean").needs_of_outputs == ()
    assert load_metric("mean", {"column": "cost"}).needs_of_outputs == ("cost",)


def test_a_metric_of_ones_own_says_it_too(tmp_path: Path) -> None:
    for module, needs in (("says_needs", ["label"]), ("says_a_word", "label")):
        (tmp_path / f"{module}.py").write_text(OWN.format(needs))
    metric = load_metric("says_needs:Own", {"path": str(tmp_path)})
    assert (metric.needs_of_outputs, metric.needs_of_gold) == (("label",), ("label",))
    with pytest.raises(PluginError, match=r"P308.*its `needs_of_outputs` are not a tuple of names"):
        load_metric("says_a_word:Own", {"path": str(tmp_path)})
