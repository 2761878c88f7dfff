"""What else tells a user what to do, read from the source: warnings, notes and checks that name a key of a study or an option."""

from __future__ import annotations

import ast
import re
from functools import cache

from support.advices import PACKAGE, list_advices

_KEY = re.compile(
    r"`[a-z][\w.]*:(?: [^`]*)?`|`[a-z]+: \{|`# \w+: |`?\b(?:resampling|systems|report|analyses|test_sets)\.[a-z_]+\b"
    r"|(?:^|[ :;(`])--[a-z][a-z-]+"
)
"""A key of a study in backticks or with its section, the first line of a file, or an option."""
_ELSEWHERE = (
    "cli/advice",  # completes commands
    "cubes/declarations",  # says what variables are
    "error_codes",
    "error_help",  # has an inventory of its own
    "presets/",
    "study/marks",
    "survey/compare_arguments",  # says the words of a study in those of a command
)
_DESCRIBES = {"option", "argument", "Field", "compile", "command", "Option", "Choice", "format_option"}
"""Calls whose texts describe an option or a key, or are patterns."""


def _is_sentence(text: str) -> bool:
    return len(text.split()) > 2 and "\n\n" not in text and not text.startswith("\b")


@cache
def list_hints() -> tuple[tuple[str, str], ...]:
    """Return the modules of the package and the texts with a key or an option that are no help of an error, nor name a command."""
    helps = [text for _, text in list_advices()]
    found: dict[tuple[str, str], None] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if module.startswith(_ELSEWHERE):
            continue
        source = path.read_text(encoding="utf-8")
        if not _KEY.search(source):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        aside = {node.value for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                aside.update(node.values)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _DESCRIBES:
                aside.update(ast.walk(node))
        for node in nodes:
            if node in aside:
                continue
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            named = _KEY.search(text) and _is_sentence(text) and "`pipeline " not in text
            if named and not any(text.strip() in help_ for help_ in helps):
                found[module, text] = None
    return tuple(found)
