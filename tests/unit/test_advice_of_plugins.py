"""What code of others is told to do is done to the letter, and then the code is taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.following_advice import help_of

import pipeline.interfaces
import pipeline.testing
from pipeline import options, plugins
from pipeline.analyses.registry import accept_finding, load_analysis
from pipeline.errors import StudyError
from pipeline.interfaces import Analysis, Figure, Finding, Items, Metric, Preset, Procedure, Reader, Section, Trainer
from pipeline.metrics.own_metric import OwnMetric
from pipeline.metrics.registry import load_metric
from pipeline.plugins import PluginValues, check_members
from pipeline.procedures import registry
from pipeline.report.findings import refuse_unshowable

ROOT = Path(__file__).parents[2]


def offer(monkeypatch: pytest.MonkeyPatch, family: str, name: str, value: str) -> None:
    """Have a package bring one object of this module."""
    point = EntryPoint(name, f"{__name__}:{value}", f"pipeline.{family}")
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints([point]))


class Gaps(Analysis):
    name = "gaps"

    def find(self, cubes: Mapping[str, Any], options: Mapping[str, Any]) -> Finding:
        return Finding(self.name, ())


class Misnamed(Gaps):
    name = "gap"


class Hasty(Gaps):
    def check(self, options: Mapping[str, Any]) -> None:
        if options.get("window", 1) < 1:
            raise ValueError("window")


class Careful(Hasty):
    def check(self, given: Mapping[str, Any]) -> None:
        try:
            super().check(given)
        except ValueError as error:
            raise StudyError.of("P151", str(error)) from error


class Bare:
    """What has the members that it was told to have, as far as a test has written them."""


def test_an_analysis_has_the_name_of_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "analyses", "gaps", "Misnamed")
    help_of(lambda: load_analysis("gaps"), "give the class the name of its entry point: studies and reports use it")
    monkeypatch.setattr(Misnamed, "name", "gaps")
    assert load_analysis("gaps").name == "gaps"


def test_an_analysis_refuses_options_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "analyses", "gaps", "Hasty")
    says = "raise a StudyError for options of no use, as pipeline.options does"
    said = help_of(lambda: load_analysis("gaps", {"window": 0}), says)
    offer(monkeypatch, "analyses", "gaps", "Careful")
    with pytest.raises(StudyError, match="window") as raised:
        load_analysis("gaps", {"window": 0})
    assert f"raise a {type(raised.value).__name__} " in said
    assert "raise StudyError" in Path(options.__file__).read_text(encoding="utf-8")


def test_an_analysis_returns_a_finding_of_its_own() -> None:
    said = help_of(lambda: accept_finding("gaps", Finding("others", ())), "return pipeline.interfaces.Finding({}, …)")
    made = eval(said.removeprefix("return ").replace("…", "()"), {"pipeline": pipeline})
    assert accept_finding("gaps", made) == made


def test_a_plugin_has_the_members_that_are_lacking_or_inherits_them(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "analyses", "gaps", "Bare")
    said = help_of(lambda: load_analysis("gaps"), "see pipeline.interfaces.{}, which a class may inherit")
    (named,) = re.findall(r"interfaces\.(\w+)", said)
    base = getattr(pipeline.interfaces, named)
    members = {"name": "gaps", "find": Gaps.find}
    for made in (type("Bare", (base,), members), type("Bare", (), {**members, "__module__": __name__})):
        monkeypatch.setitem(globals(), "Bare", made)
        assert load_analysis("gaps").name == "gaps"


@pytest.mark.parametrize("base", [Analysis, Metric, Reader, Trainer])
def test_a_contract_is_named_where_there_is_one(base: type) -> None:
    says = "see pipeline.interfaces.{}, which a class may inherit; pipeline.testing.{}Contract tries one"
    contracts = {name for name in pipeline.testing.__all__ if name.endswith("Contract")}
    if f"{base.__name__}Contract" in contracts:
        said = help_of(lambda: check_members("member", "x", object(), base), says)
        assert re.findall(r"testing\.(\w+)", said)[0] in contracts
    else:
        help_of(lambda: check_members("member", "x", object(), base), says.partition(";")[0])


WORDS: dict[str, Any] = {"title": "the coin test", "null": "either system wins", "when": "never", "formula": "½"}


def test_a_value_of_a_plugin_is_of_its_kind_and_name(monkeypatch: pytest.MonkeyPatch) -> None:
    known = PluginValues("procedures", Procedure)
    says = "its entry point names a pipeline.interfaces.{} of the same name"
    monkeypatch.setitem(globals(), "COIN", Preset)
    offer(monkeypatch, "procedures", "coin", "COIN")
    said = help_of(lambda: known["coin"], says)
    kind = getattr(pipeline.interfaces, re.findall(r"interfaces\.(\w+)", said)[0])
    monkeypatch.setitem(globals(), "COIN", kind("penny", compute="a:b", **WORDS))
    help_of(lambda: known["coin"], says)
    monkeypatch.setitem(globals(), "COIN", kind("coin", compute="a:b", **WORDS))
    assert known["coin"].name == "coin"


def test_the_code_of_a_procedure_is_named_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "in_tree", lambda family, name: False)

    def check(named: str) -> None:
        monkeypatch.setattr(registry, "PROCEDURES", {"coin": Procedure("coin", **WORDS, compute=named)})
        registry.check_procedure("coin")

    said = help_of(lambda: check("statistics.mean"), 'name its code as "module:function"')
    check(said.split('"')[1].replace("module", "statistics").replace("function", "mean"))


FINDING = Finding(
    "gaps", ({"gap": 1.5},), figures=(Figure("gap-bars", "Gaps", "Bars.", "A bar is a gap.", lambda axes: axes, "gaps"),)
)


def in_section(section: str) -> Finding:
    return replace(FINDING, figures=(replace(FINDING.figures[0], section=section),))


def test_a_figure_stands_in_a_chapter_or_in_a_section_of_its_finding() -> None:
    says = "name a chapter ({}), or a section of this finding"
    said = help_of(lambda: refuse_unshowable([in_section("gapz")], []), says)
    chapters = re.findall(r"\((.*)\)", said)[0].split(", ")
    refuse_unshowable([in_section(chapter) for chapter in chapters], [])
    refuse_unshowable([replace(in_section("gapz"), sections=(Section("gapz", "Gaps"),))], [])


def test_sections_of_two_analyses_have_keys_of_their_own() -> None:
    def open_sections(*keys: str) -> None:
        refuse_unshowable([replace(FINDING, sections=(Section(key, f"{place}"),)) for place, key in enumerate(keys)], [])

    help_of(lambda: open_sections("gaps", "gaps"), "give one of them another key")
    open_sections("gaps", "others")


class Share(Bare):
    """A metric that is none, as its form has it: what is added to both sums makes it another."""

    statistics = ("same", "items")
    form = "ratio"
    higher_is_better = True

    def prepare(self, gold: Any) -> Any:
        return None

    def extract(self, prepared: Any, output: Items) -> Any:
        return [(1, 2) for _ in output.ids]

    def scorer(self, decimals: tuple[int, ...]) -> Any:
        return lambda sums: 100 - 100 * sums[0] / sums[1]


class Errors(Share):
    def scorer(self, decimals: tuple[int, ...]) -> Any:
        return lambda sums: 100 * sums[0] / sums[1]


def changed(said: str, made: type, place: int) -> Any:
    """Return an object of a class with the line that a help has in backticks."""
    name, value = re.findall(r"`(\w+)(?:` is| =) '?(\w+)", said)[place]
    return type("Own", (made,), {name: {"False": False}.get(value, value)})()


def own(made: Any) -> Metric:
    return OwnMetric("own:Share", made, "0")


def test_a_score_that_is_no_ratio_is_said_to_be_general_or_turned_round() -> None:
    says = "its `form` is 'general'; an error rate is a ratio with `higher_is_better = False`"
    said = help_of(lambda: own(Share()).scorer((0, 0)), says)
    assert own(changed(said, Share, 0)).scorer((0, 0))(np.array([1, 4])) == 75.0
    errors = own(changed(said, Errors, 1))
    assert errors.scorer((0, 0))(np.array([1, 4])) == 25.0
    assert not errors.higher_is_better


def test_a_metric_scores_each_column_of_sums() -> None:
    sums = np.array([[1, 2, 3], [4, 4, 4]])
    says = "one score for each column of sums; the first axis is the statistic's"
    flat = type("Flat", (Share,), {"form": "general", "scorer": lambda self, decimals: lambda sums: 100 * sums[:, 0]})
    help_of(lambda: own(flat()).scorer((0, 0))(sums), says)
    assert own(Errors()).scorer((0, 0))(sums).tolist() == [25.0, 50.0, 75.0]


def test_an_object_that_is_no_metric_begins_with_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = help_of(lambda: own(Bare()), "docs/metrics/your-own.md has an example to start from")
    page = (ROOT / said.split(" ")[0]).read_text(encoding="utf-8")
    (tmp_path / "answers_of_page.py").write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0])
    monkeypatch.syspath_prepend(tmp_path)
    metric = load_metric("answers_of_page:ExactMatch", {"path": str(tmp_path)})
    gold = Items(("1", "2"), {"reference.0": ("Rome", "Oslo")}, "gold", (1, 2))
    counted = metric.extract(metric.prepare(gold), Items(("1", "2"), {"text": ("rome", "Bergen")}, "out", (1, 2)))
    assert metric.scorer(counted.decimals)(counted.values.sum(axis=0)) == 50.0
