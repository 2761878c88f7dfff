"""Every help and every hint is bound to what follows it: a case, a test, or a reason why none can; and what they name is there."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from support.advice_of_warnings import AGAIN, AGREEMENTS, TOLD, WARNINGS
from support.advice_tables import TABLES
from support.advices import list_advices
from support.hints import list_hints

from pipeline.cli.main import main  # noqa: F401 - with it all commands are known
from pipeline.cli.options import cli
from pipeline.error_help import EXIT_CODES, FAMILIES, OWN_HELP
from pipeline.plugins import import_plugin, list_plugins
from pipeline.study.grouping import ROLES
from pipeline.study.profile import ClusterProfile
from pipeline.study.schema import Study

ROOT = Path(__file__).parents[2]
OTHERS = ROOT / "tests" / "support" / "advice_followed_elsewhere.txt"
HINTS = ROOT / "tests" / "support" / "hints_followed_elsewhere.txt"
MOST_OPEN = 0
"""So many hints are not followed yet. Whoever follows one takes its line out, and lowers this."""


def others(file: Path = OTHERS) -> dict[tuple[str, str], str]:
    """Return what is not in a table of cases: where it is followed, or why it cannot be, or ``open``."""
    found: dict[tuple[str, str], str] = {}
    section = ""
    for line in file.read_text(encoding="utf-8").splitlines():
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
    for section in {*others().values(), *others(HINTS).values()}:
        if section.startswith("tests/"):
            path, _, name = section.partition("::")
            assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), section
            assert (ROOT / path).exists(), section


def test_every_other_text_that_names_a_key_or_an_option_is_bound_too() -> None:
    """Warnings, notes and checks; a new one that names something to do is followed, or stands with the reason why not."""
    tables = (WARNINGS, AGAIN, AGREEMENTS, TOLD)
    followed = {(module, case.says) for table in tables for module, each in table.items() for case in each}
    elsewhere = others(HINTS)
    assert [f"{module}: {says}" for module, says in list_hints() if (module, says) not in followed | set(elsewhere)] == []
    assert sorted(set(elsewhere) - set(list_hints())) == []
    assert Counter(elsewhere.values())["open"] == MOST_OPEN


OF_OTHERS = {"--scheduler-file", "--log", "--no-deps", "--mem", "--help", "--version", "--debug"}
"""Options of Dask, of a harness, of pip and of Slurm, and those that click adds."""
BELOW_KEYS = ROLES | {"base", "bounds", "chunk", "disk", "log_directory", "memory", "minutes", "security", "word"}
"""Roles of columns, limits of commands, options of an analysis and of clusters: they have tests where they are read."""

EXPLAINED = {
    "P113": "study/load: set it, or write ${",
    "P116": "survey/checks: {}compare fewer systems in this study",
    "P117": "survey/checks: there are {}",
    "P125": "survey/compare_arguments: b = 1,000,000 finds p-values down to 1e-6",
    "P128": "study/load: check that it is the right file",
    "P133": "survey/checks: write `method: auto`",
    "P134": "survey/checks: unset {}: the best available form",
    "P203": "items/compare: set `missing: drop` to test on the first {} {}, or correct the file",
    "P204": "items/readers/_files: convert it: iconv",
    "P209": "items/item_table: keep one row for each item",
    "P213": "items/align: a test needs at least two units",
    "P214": "items/compare: give it an item column",
    "P216": "items/compare: set `missing: drop` or `missing: zero`",
    "P220": "items/outputs: start the study again",
    "P238": "survey/checks: rename the column, or say that it is not a system",
    "P239": "tasks/collect/p_tables: write `method: monte-carlo`",
    "P266": "items/readers/inspect_logs: run it to its end",
    "P270": "items/training: start the study again",
    "P285": "items/readers/_streams: write it to a file",
    "P289": "inputs: write 8GiB",
    "P291": "survey/checks: write `unit: document`",
    "P311": "trainers/command: correct the option 'version_command'",
    "P401": "tasks/run: `pipeline logs` has the traceback",
    "P403": "tasks/run: give workers more memory, or fewer threads",
    "P404": "tasks/extract: install the same versions on every worker",
    "P405": "tasks/resample: it has: {}; workers and coordinator need the same version",
    "P414": "trainers/_outcome: raise `limits: {disk",
    "P415": "trainers/_outcome: raise `limits: {memory",
    "P416": "trainers/_outcome: raise `limits: {minutes",
    "P502": "store/runs: give more of the id",
    "P606": "engine/clusters/cluster: leave `protocol` and `security` out of `options:`",
    "P610": "engine/clusters/patience: correct `options:` of the profile",
    "P620": "cli/doctor: do what it says below each line",
    "P701": "store/files: free some space, or name another place with --runs",
    "P702": "store/files: make the directory writable for this user",
    "P703": "store/files: check the file system",
    "P714": "engine/restore: `pipeline run STUDY --runs",
    "P720": "store/garbage: run this as a user who may read all runs",
    "P721": "store/garbage: if no other folder of runs has a link to it",
    "P733": "store/archive: name another folder with --output",
    "P735": "store/objects: `pip install 'pipeline[objects]'`",
    "P736": "store/objects: check the address, the account",
}
"""Codes with a sentence of their own, and the help of a message that says the same, which is followed."""


def texts() -> Iterator[tuple[str, str]]:
    yield from list_advices()
    yield from list_hints()
    for name, text in OWN_HELP.items():
        yield f"explain {name}", text
    for family in FAMILIES:
        yield f"explain {family.title}", family.help
    for status, ending in EXIT_CODES.items():
        yield f"explain {status}", ending.help


def options_of(command: click.Command) -> set[str]:
    found = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        found |= options_of(inner)
    return found


@cache
def known_keys() -> frozenset[str]:
    """Return the keys of studies and profiles, and the options of all that has some."""
    found: set[str] = set(ClusterProfile.model_fields)

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(value.get("properties", {}))
            found.update(one for one in value.get("enum", ()) if isinstance(one, str))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)

    walk(Study.model_json_schema(by_alias=True))
    for family in ("readers", "metrics", "trainers", "analyses"):
        found.update(list_plugins(family))
        for name in list_plugins(family):
            found.update(inspect.signature(import_plugin(family, name)).parameters)
    return frozenset(found)


def named_keys(text: str) -> set[str]:
    """Return the keys that a text has in backticks: `format: {name: text}` has two."""
    inside = " ".join(re.findall(r"`([^`]*)`", text))
    return set(re.findall(r"(?<![\w.$#/\"'-])([a-z][a-z_]+):(?=[ `]|$)", f"{inside} "))


def test_every_option_that_is_named_exists() -> None:
    known = options_of(cli) | OF_OTHERS
    named = {(place, one) for place, text in texts() for one in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)}
    assert sorted((place, one) for place, one in named if one not in known) == []


def test_every_key_that_is_named_exists() -> None:
    assert sorted((place, key) for place, text in texts() for key in named_keys(text) - known_keys() - BELOW_KEYS) == []


@pytest.mark.parametrize("text", ["write `format: {nmae: text}`", "see `ouputs:` in the study"])
def test_a_key_that_does_not_exist_would_be_found(text: str) -> None:
    assert named_keys(text) - known_keys()


def test_every_page_that_is_named_exists() -> None:
    pages = {(place, page) for place, text in texts() for page in re.findall(r"docs/[\w/.-]*\w/?|[A-Z]+\.md", text)}
    assert sorted((place, page) for place, page in pages if not (ROOT / page).exists()) == []
    sections = {
        (page, section)
        for _, text in texts()
        for page, section in re.findall(r"(docs/[\w/-]+\.md), ([A-Z][\w ]*?)(?:[.);]|$)", text)
    }
    assert sections
    for page, section in sections:
        assert re.search(rf"^#+ {section}$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE), (page, section)


def test_every_sentence_of_a_code_says_what_a_message_with_this_code_helps_with() -> None:
    assert EXPLAINED.keys() == OWN_HELP.keys()
    advised = [f"{module}: {says}" for module, says in list_advices()]
    assert [code for code, says in EXPLAINED.items() if not any(one.startswith(says) for one in advised)] == []
    modules = {
        code: (ROOT / "pipeline" / f"{says.partition(':')[0]}.py").read_text(encoding="utf-8") for code, says in EXPLAINED.items()
    }
    assert [code for code, source in modules.items() if f'"{code}"' not in source] == []
