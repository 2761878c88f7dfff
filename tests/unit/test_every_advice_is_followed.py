"""Every help of an error is bound to what follows it: a case, a test, or a reason why none can."""

from __future__ import annotations

from pathlib import Path

from support.advice_tables import TABLES
from support.advices import list_advices

ROOT = Path(__file__).parents[2]
OTHERS = ROOT / "tests" / "support" / "advice_followed_elsewhere.txt"


def others() -> dict[tuple[str, str], str]:
    """Return what is not in a table of cases: where it is followed, or why it cannot be."""
    found: dict[tuple[str, str], str] = {}
    section = ""
    for line in OTHERS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif line:
            module, _, says = line.partition(": ")
            assert (module, says) not in found, line
            found[module, says] = section
    return found


def cases() -> set[tuple[str, str]]:
    return {(module, case.says) for table in TABLES for module, each in table.items() for case in each}


def test_every_advice_is_bound_to_what_follows_it() -> None:
    commands = {advice for advice in list_advices() if "`pipeline " in advice[1]}  # test_advice.py has the tests that follow these
    bound = cases() | set(others()) | commands
    assert [f"{module}: {says}" for module, says in list_advices() if (module, says) not in bound] == []


def test_what_is_bound_is_advised() -> None:
    known = set(list_advices())
    assert sorted({*cases(), *others()} - known) == []
    assert sorted(cases() & set(others())) == []


def test_tests_that_follow_advice_are_there() -> None:
    for section in set(others().values()):
        if section.startswith("tests/"):
            path, _, name = section.partition("::")
            assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), section
            assert (ROOT / path).exists(), section
