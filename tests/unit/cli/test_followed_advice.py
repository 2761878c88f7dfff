"""What messages advise is followed to the letter, and leaves nothing wrong."""

from __future__ import annotations

import glob
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from support.advice_of_commands import COMMANDS, PLACES
from support.advice_of_compares import COMPARES, FILES, Typed
from support.advice_tables import OF_STUDIES
from support.following_advice import Case, follow, template

Call = Callable[..., tuple[int, str]]
CASES = [(module, case) for table in OF_STUDIES for module, cases in table.items() for case in cases]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{module}: {case.says[:50]}") for module, case in CASES])
def test_what_a_message_advises_about_inputs_leaves_nothing_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    follow(case, tmp_path)


def advised_line(typed: Typed, printed: str) -> str:
    """Return what is typed after a message that has the help of a case."""
    said = [help_ for help_ in re.findall(r"= help: (.*)", printed) if template(typed.says).fullmatch(help_)]
    assert said, printed
    found = re.search(typed.take, said[0])
    advised = found[1] if found else ""
    for word, value in typed.fill:
        advised = advised.replace(word, value)
    return typed.then.replace("<0>", advised)


def begun(*_: object, **__: object) -> NoReturn:
    """Stand for a comparison that has read everything and begins: what follows is the same for all of them."""
    raise SystemExit(0)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize(
    "typed", [pytest.param(one, id=f"{module}: {one.line}") for module, each in COMPARES.items() for one in each]
)
def test_what_compare_advises_is_typed_and_works(files: Path, call: Call, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    monkeypatch.chdir(files)
    few = [] if "-b" in typed.line else ["-b", "100"]
    code, printed = call("compare", *shlex.split(typed.line), *few)
    assert code != 0, printed
    then = [word for one in shlex.split(advised_line(typed, printed)) for word in (sorted(glob.glob(one)) or [one])]
    monkeypatch.setattr("pipeline.engine.launch.execute", begun)
    code, printed = call("compare", *then, "-b", "100")
    assert code == 0, printed


@pytest.mark.parametrize(
    "typed", [pytest.param(one, id=f"{module}: {one.line}") for module, each in COMMANDS.items() for one in each]
)
def test_what_is_advised_about_a_command_is_typed_and_works(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in PLACES.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    code, printed = call(*shlex.split(typed.line))
    assert code != 0, printed
    then = advised_line(typed, printed).removeprefix("pipeline ")
    monkeypatch.setattr("pipeline.engine.launch.execute", begun)
    code, printed = call(*shlex.split(then))
    assert code == 0, (then, printed)
