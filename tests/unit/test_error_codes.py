"""Holds every place that raises an error to the table of codes."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

import pipeline
from pipeline import errors
from pipeline.error_codes import CODES
from pipeline.error_help import EXIT_CODES, FAMILIES, OWN_HELP, family_of, help_of

PACKAGE = Path(pipeline.__file__).parent
CODE = re.compile(r"(?:error\[)?(P\d{3})(?:\]: .*)?")


ERRORS = [name for name, kind in vars(errors).items() if isinstance(kind, type)]
USES = re.compile(rf"P\d{{3}}|\b(?:{'|'.join(ERRORS)})(?:\.of)?\(")
"""What stands in every module that uses a code, or makes an error: parsing all others takes most of the time."""


class Raised(NamedTuple):
    """An error that is made with its code."""

    kind: str
    code: str
    place: str


class Used(NamedTuple):
    """The places where each code stands alone in quotes, and the errors that are made with theirs."""

    places: dict[str, list[str]]
    raised: list[Raised]


@pytest.fixture(scope="module")
def used() -> Used:
    """What all modules use: they are read once."""
    found = Used(defaultdict(list), [])
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name in {"error_codes.py", "error_help.py"}:
            continue
        name, text = path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        if not USES.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and (code := CODE.fullmatch(node.value)):
                found.places[code[1]].append(f"{name}:{node.lineno}")
            elif isinstance(node, ast.Call) and (made := made_with_code(node)):
                found.raised.append(Raised(*made, f"{name}:{node.lineno}"))
    return found


def made_with_code(call: ast.Call) -> tuple[str, str] | None:
    """The class and the code of an error, of `DataError.of("P201", …)` and the like."""
    made = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "of" else call.func
    if not isinstance(made, ast.Name) or not isinstance(getattr(errors, made.id, None), type) or made.id == "Problem":
        return None
    inner = call.args[0] if call.args else None
    first = inner.args[0] if isinstance(inner, ast.Call) and inner.args and ast.unparse(inner.func) == "Problem" else inner
    return (made.id, first.value) if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def test_every_code_that_is_used_is_in_the_table_and_none_is_left_over(used: Used) -> None:
    assert {code: places for code, places in used.places.items() if code not in CODES} == {}, "not in the table"
    assert [code for code in CODES if code not in used.places] == [], "nobody uses these"


def test_errors_end_with_the_exit_status_of_their_code(used: Used) -> None:
    assert len(used.raised) > 200, "nothing is tested"
    offenders = [
        f"{place}: {code} is a {kind}, which exits with {getattr(errors, kind).exit_code}, and the table says {CODES[code].exit}"
        for kind, code, place in used.raised
        if CODES[code].exit not in (None, getattr(errors, kind).exit_code)
    ]
    assert offenders == []


def test_the_table_is_in_order_and_its_meanings_fit_a_line() -> None:
    assert list(CODES) == sorted(CODES)
    assert [code for code, known in CODES.items() if not known.meaning or "|" in known.meaning or known.meaning.endswith(".")] == []


def test_every_code_has_something_to_do_and_an_exit_code_that_is_explained() -> None:
    assert [code for code in CODES if not help_of(code).endswith(".")] == []
    assert {known.exit for known in CODES.values()} - {None} <= set(EXIT_CODES)
    assert [status for status, ending in EXIT_CODES.items() if not ending.help.endswith(".")] == []


def test_families_begin_with_a_code_and_have_one_each() -> None:
    assert [family.first for family in FAMILIES] == sorted(family.first for family in FAMILIES)
    assert [family.title for family in FAMILIES if family.first not in CODES] == []
    assert {family_of(code) for code in CODES} == set(FAMILIES)
    assert [code for code in OWN_HELP if code not in CODES] == []
