"""Procedures, presets and analyses have one home each: their names stand in no other code of the package."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from pipeline.plugins import in_tree, list_plugins
from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES

PACKAGE = Path(__file__).resolve().parents[2] / "pipeline"
PRESET_NAMES_OF_NULLS = {"multeval"}  # a preset that is called as the null of replicas whose number it prints


@cache
def strings(path: Path) -> set[str]:
    """Return what a module has as text, without docstrings and comments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    # Functions may be called as a procedure is.
    lists = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    prose |= {id(name) for one in lists for name in ast.walk(one)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    }


def named_elsewhere(names: set[str], *homes: str) -> dict[str, list[str]]:
    """Return the names that stand in modules outside their homes: folders, or single modules."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        used = sorted(names & strings(path))
        if used and not any(name == home or name.startswith(f"{home}/") for home in homes):
            found[name] = used
    return found


def test_no_module_names_a_procedure_of_another_home() -> None:
    # A preset names the procedure that its paper or tool uses; rules on 0/1 scores are called as procedures are.
    assert named_elsewhere(set(PROCEDURES.own()), "procedures", "presets", "inference/convention_levels.py") == {}


def test_no_module_names_a_preset_of_another_home() -> None:
    assert named_elsewhere(set(PRESETS.own()) - PRESET_NAMES_OF_NULLS, "presets") == {}
    of_replicas = ("presets", "resampling/replicas", "analyses/replicas")
    assert named_elsewhere(PRESET_NAMES_OF_NULLS, *of_replicas) == {}


def test_no_module_names_an_analysis_of_another_home() -> None:
    # A preset asks in a study, as a user does; other words are called as an analysis is.
    names = {name for name in list_plugins("analyses") if in_tree("analyses", name)}
    assert named_elsewhere(names, "analyses", "presets") == {}
    for name in names:
        home = name.replace("-", "_")
        assert named_elsewhere({name}, f"analyses/{home}", f"analyses/{home}.py", "presets") == {}
