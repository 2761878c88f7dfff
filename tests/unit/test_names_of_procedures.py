"""A procedure has one home: its name stands in no other code of the package."""

from __future__ import annotations

import ast
from pathlib import Path

from pipeline.procedures.registry import PROCEDURES, in_tree

PACKAGE = Path(__file__).resolve().parents[2] / "pipeline"
HOMES = {"procedures", "presets"}  # a preset names the procedure that its paper or tool uses
OTHERS = {
    "study/presets.py",
    "inference/convention_levels.py",
}  # what presets set; and rules on 0/1 scores, named as procedures are


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


def test_no_module_names_a_procedure_of_another_home() -> None:
    names = {name for name in PROCEDURES if in_tree(name)}
    found = {
        path.relative_to(PACKAGE).as_posix(): sorted(names & strings(path))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in HOMES and path.relative_to(PACKAGE).as_posix() not in OTHERS
    }
    assert {name: used for name, used in found.items() if used} == {}
