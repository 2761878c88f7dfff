"""Everything has one home: no other code names procedures, presets and analyses, and names are imported from where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TypeGuard

from pipeline.plugins import in_tree, list_plugins
from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES

PACKAGE = Path(__file__).resolve().parents[2] / "pipeline"
PRESET_NAMES_OF_NULLS = {"multeval"}  # a preset that is called as the null of replicas whose number it prints


@cache
def read(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a module has as text, and the names that it lists and does not make: its tree, which is large, is not kept."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))  # once: walking takes most of the time
    return strings(nodes), frozenset(listed_of_others(tree, nodes))


def is_list_of_names(node: ast.AST) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"


def strings(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Return what a module has as text, without docstrings and comments."""
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    # Functions may be called as a procedure is.
    lists = [node.value for node in nodes if is_list_of_names(node)]
    prose |= {id(name) for one in lists for name in ast.walk(one)}
    return frozenset(
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    )


def named_elsewhere(names: set[str], *homes: str) -> dict[str, list[str]]:
    """Return the names that stand in modules outside their homes: folders, or single modules."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        used = sorted(names & read(path)[0])
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


PASSED_ON = {"report/values.py", "survey/compare_arguments.py", "power_analysis/answers.py"}
"""Modules that also list a name of a folder that those who ask them may not import, or that has words for them beside its own."""


def made_by(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Go through the names that a module makes and does not import."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def list_names(node: ast.AST) -> set[str]:
    """Return the text of `__all__`."""
    return {name.value for name in ast.walk(node) if isinstance(name, ast.Constant) and isinstance(name.value, str)}


def listed_of_others(tree: ast.Module, nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names of `__all__` that are imported, and not made beside that."""
    lists = [node.value for node in tree.body if is_list_of_names(node)]
    imported = {alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    found = {name for one in lists for name in list_names(one)} & imported
    return found - set(made_by(nodes)) if found else found


def test_a_module_lists_only_names_that_it_makes_itself() -> None:
    """A name of two modules has two homes. The type checker refuses imports of names that a module does not list."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name, others = path.relative_to(PACKAGE).as_posix(), read(path)[1]
        if others and path.name != "__init__.py" and name not in PASSED_ON:
            found[name] = sorted(others)
    assert found == {}
