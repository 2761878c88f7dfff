"""Everything has one home: no other code names procedures, presets and analyses, and names are imported from where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pipeline.plugins import in_tree, list_plugins
from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES

PACKAGE = Path(__file__).resolve().parents[2] / "pipeline"
PRESET_NAMES_OF_NULLS = {"multeval"}  # a preset that is called as the null of replicas whose number it prints


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def strings(path: Path) -> set[str]:
    """Return what a module has as text, without docstrings and comments."""
    tree = parse(path)
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


PASSED_ON = {"report/values.py", "survey/compare_arguments.py", "planning/answers.py"}
"""Modules that also list a name of a folder that those who ask them may not import, or that has words for them beside its own."""


def made_by(tree: ast.Module) -> Iterator[str]:
    """Go through the names that a module makes and does not import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def list_names(node: ast.AST) -> set[str]:
    """Return the text of `__all__`."""
    return {name.value for name in ast.walk(node) if isinstance(name, ast.Constant) and isinstance(name.value, str)}


def test_a_module_lists_only_names_that_it_makes_itself() -> None:
    """A name of two modules has two homes. The type checker refuses imports of names that a module does not list."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree, name = parse(path), path.relative_to(PACKAGE).as_posix()
        lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
        imported = {alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        others = {name for one in lists for name in list_names(one)} & imported - set(made_by(tree))
        if others and path.name != "__init__.py" and name not in PASSED_ON:
            found[name] = sorted(others)
    assert found == {}
