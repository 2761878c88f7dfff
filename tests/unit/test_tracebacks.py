"""What Python shows of an error: one traceback and the message, unless there is more to be found in it."""

from __future__ import annotations

import functools
import inspect
import pickle
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from support.studies import write_scores

import pipeline
from pipeline.errors import DataError, PipelineError, Problem, StudyError
from pipeline.tracebacks import shortened

PACKAGE = Path(pipeline.__file__).parent

OWN = """
from pipeline.metrics.mean import Mean
class Broken(Mean):
    def __init__(self):
        raise RuntimeError("a mistake of mine")
"""


def shown(program: str, folder: Path, **environment: str) -> str:
    """Return what Python prints of a program that fails."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    asked = ["env", *(f"{name}={value}" for name, value in environment.items()), sys.executable, "program.py"]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 1
    return done.stderr


def test_an_error_shows_the_line_that_called_and_the_message_with_its_help(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"], items=5)
    said = shown("import pipeline\npipeline.compare('scoers.csv')\n", tmp_path)
    assert said.count("Traceback") == 1
    files = re.findall(r'File "([^"]+)"', said)
    assert [Path(file).name for file in files] == ["program.py", "tracebacks.py"]
    assert said.splitlines()[-3].startswith("pipeline.errors.DataError: P201: there is no file scoers.csv")
    assert said.splitlines()[-1].startswith("   = help: did you mean scores.csv?")


def test_all_of_it_is_shown_to_who_debugs(tmp_path: Path) -> None:
    said = shown("import pipeline\npipeline.compare('missing.csv')\n", tmp_path, PIPELINE_DEBUG="1")
    assert said.count("Traceback") == 3
    assert "FileNotFoundError" in said


def test_an_error_in_code_of_ones_own_shows_where_it_is(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"], items=5)
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    said = shown("import pipeline\npipeline.compare('scores.csv', metrics='mine:Broken')\n", tmp_path)
    assert re.search(r'mine.py", line 5, in __init__', said), said


def fail(error: Exception) -> Any:
    """Raise an error that was made of another one."""
    try:
        raise KeyError("inside")
    except KeyError as cause:
        raise error from cause


def test_what_was_raised_is_kept_behind_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    # The tests count as a part of the package here: otherwise the error would be one of other people's code.
    monkeypatch.setattr("pipeline.tracebacks.__file__", str(Path(__file__).parents[2] / "any.py"))
    raised = StudyError.of("P101", "unknown key", help="see the list")
    raised.facts = {"attempts": 2}
    with pytest.raises(StudyError) as caught:
        shortened(fail)(raised)
    short = caught.value
    assert short is not raised
    assert (short.problems, short.facts, str(short), short.__notes__) == (
        raised.problems,
        raised.facts,
        str(raised),
        raised.__notes__,
    )
    assert short.__context__ is raised
    assert isinstance(raised.__cause__, KeyError)
    assert (short.__cause__, short.__suppress_context__) == (None, True)


def raised_in(file: str, error: str) -> Any:
    """Return a function of code in a file that raises an error."""
    names: dict[str, Any] = {"DataError": DataError, "Line": Line}
    exec(compile(f"def fail():\n error = {error}\n error.add_note('told later')\n raise error", file, "exec"), names)
    return names["fail"]


class Line(DataError):
    """An error that is made of other things than problems."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(Problem("P201", f"line {line} of {path} is odd"))
        self.line = line


def test_an_error_of_an_installed_package_is_shown_with_all_that_it_has() -> None:
    file = Path(sysconfig.get_path("purelib")) / "reader" / "lines.py"
    with pytest.raises(Line, match="line 3 of x is odd") as caught:
        shortened(raised_in(str(file), "Line('x', 3)"))()
    assert caught.value.__suppress_context__
    assert (caught.value.line, caught.value.__notes__) == (3, ["told later"])


@pytest.mark.parametrize("folder", [f"{Path(pipeline.__file__).parent}_study", Path(sys.prefix) / "my_project"])
def test_code_of_ones_own_is_that_also_beside_the_package_and_in_the_folder_of_an_environment(folder: str | Path) -> None:
    with pytest.raises(DataError) as caught:
        shortened(raised_in(str(Path(folder) / "metric.py"), "DataError.of('P201', 'mine')"))()
    assert not caught.value.__suppress_context__


@pytest.mark.parametrize(("module", "of_others"), [(pipeline.__file__, False), ("/home/me/mine.py", True), (None, True)])
def test_code_that_was_made_for_a_module_is_of_whom_the_module_is(module: str | None, of_others: bool) -> None:
    """As the ``__init__`` of a dataclass is; what ``python -c`` runs is of no module's file."""
    fail = raised_in("<string>", "DataError.of('P201', 'made')")
    fail.__globals__.update({} if module is None else {"__file__": module})
    # Without the frame of the test itself, which is one of other people's code.
    inside = functools.partial(exec, compile("fail()", str(PACKAGE / "any.py"), "exec"), {"fail": fail})
    with pytest.raises(DataError) as caught:
        shortened(inside)()
    assert caught.value.__suppress_context__ is not of_others


@pytest.mark.parametrize("error", [PipelineError.of("P999", "a fault of ours"), ValueError("what nobody expected")])
def test_a_fault_of_ours_is_raised_as_it_is(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.tracebacks.__file__", str(Path(__file__).parents[2] / "any.py"))
    with pytest.raises(type(error)) as caught:
        shortened(fail)(error)
    assert caught.value is error


@pytest.mark.parametrize("name", pipeline.__all__[1:])
def test_every_verb_is_shortened_and_stays_what_it_was(name: str) -> None:
    verb = getattr(pipeline, name)
    assert inspect.unwrap(verb) is not verb
    assert verb.__doc__
    assert "kwargs" not in inspect.signature(verb).parameters
    assert pickle.loads(pickle.dumps(verb)) is verb
    with pytest.raises(PipelineError) as caught:
        verb(Path("nowhere") / "at.all")
    assert not isinstance(caught.value, DataError) or caught.value.__suppress_context__
