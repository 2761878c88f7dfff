"""Everything that can go wrong, each with a code, an exit status and a way out, as a tree of exceptions.

::

    PipelineError            exit 70   internal error
    ├── UsageError           exit  2   P0xx  the command line
    ├── StudyError           exit  2   P1xx  the study file or a cluster profile
    ├── DataError            exit  3   P2xx  outputs, references, alignment
    │   └── NothingToCompare exit  5   P29x  fewer than two systems
    ├── PluginError          exit  2   P3xx  a reader, metric, trainer or analysis that is not there
    ├── TaskError            exit  4   P4xx  one task failed; the rest goes on
    ├── AnswerTurned         exit  7   P45x  the run is complete, and numbers are not what the study expects
    ├── RunNotFound          exit 66   P5xx  no such run
    ├── ClusterError         exit 69   P6xx  no scheduler, no workers
    ├── StoreError           exit 73   P7xx  disk full, not writable, stored bytes damaged
    ├── RunLocked            exit 74   P8xx  another process writes this run
    └── Interrupted          exit 75   P9xx  stopped on request, resumable

An exception carries one or more `Problem`; a border collects all problems of a kind before it raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from pipeline.dataclass import dataclass

__all__ = [
    "ClusterError",
    "DataError",
    "Interrupted",
    "NothingToCompare",
    "PipelineError",
    "PluginError",
    "Problem",
    "RunLocked",
    "RunNotFound",
    "StoreError",
    "StudyError",
    "TaskError",
    "UsageError",
    "is_name",
    "join_alike",
    "join_files",
    "look_alike",
    "name_some",
    "render_problems",
    "visible",
]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what, where, and how to mend it.

    Parameters
    ----------
    code : str
        Stable code, for example ``P203``.
    message : str
        What is wrong, in one sentence.
    where : str, optional
        File with line and column, or cube and block.
    help : str, optional
        What to do about it.
    note : str, optional
        What else is worth knowing.
    """

    code: str
    message: str
    where: str | None = None
    help: str | None = None
    note: str | None = None


class PipelineError(Exception):
    """The root of the tree; raised itself only for what is our own fault."""

    exit_code: ClassVar[int] = 70

    facts: Mapping[str, Any] = MappingProxyType({})
    """What the record of a failure keeps beside the problems."""

    def __init__(self, *problems: Problem) -> None:
        if not problems:
            raise ValueError("an error needs at least one problem")
        self.problems: tuple[Problem, ...] = problems
        super().__init__("; ".join(f"{p.code}: {p.message}" for p in problems))
        for problem in problems:  # a notebook shows them below the message
            told = _details(problem)
            if told:
                self.add_note(visible("\n".join([f"{problem.code}:", *told] if len(problems) > 1 else told)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions travel between processes; the default would rebuild from the joined message.
        return type(self), self.problems

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        *,
        where: str | None = None,
        help: str | None = None,
        note: str | None = None,
    ) -> PipelineError:
        """Make an error of this class that holds one problem."""
        return cls(Problem(code, message, where, help, note))


class UsageError(PipelineError):
    """The command line is wrong."""

    exit_code = 2


class StudyError(PipelineError):
    """The study file, or a profile it names, is wrong."""

    exit_code = 2


class DataError(PipelineError):
    """Outputs or references are missing, unreadable or do not align."""

    exit_code = 3


class NothingToCompare(DataError):
    """There are fewer than two systems."""

    exit_code = 5


class PluginError(PipelineError):
    """A named reader, metric, trainer, procedure or analysis does not exist or cannot be loaded."""

    exit_code = 2


class TaskError(PipelineError):
    """One task failed for a reason of its own; the rest of the study goes on."""

    exit_code = 4


class AnswerTurned(PipelineError):
    """Results are not what the study expects of them; the run is complete."""

    exit_code = 7


class RunNotFound(PipelineError):
    """No run answers to this name."""

    exit_code = 66


class ClusterError(PipelineError):
    """The cluster cannot be reached or gives no workers."""

    exit_code = 69


class StoreError(PipelineError):
    """Something cannot be written, or stored bytes are damaged."""

    exit_code = 73


class RunLocked(PipelineError):
    """Another process is writing this run."""

    exit_code = 74


class Interrupted(PipelineError):
    """The run was stopped on request; what is done is kept."""

    exit_code = 75


def join_alike(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems with those that differ in their place alone as one.

    Examples
    --------
    >>> [problem.where for problem in join_alike([Problem("P410", "failed", f"train a/{k}") for k in range(5)])]
    ['train a/0, train a/1, train a/2 and 2 more']
    """
    alike: dict[Problem, list[str]] = {}
    for problem in problems:
        places = alike.setdefault(replace(problem, where=None), [])
        if problem.where and problem.where not in places:
            places.append(problem.where)
    return [replace(problem, where=name_some(places) or None) for problem, places in alike.items()]


def join_files(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems with those that differ in their place alone as one that names every file, of many places in it the first.

    Examples
    --------
    >>> found = [Problem("P210", "no number", f"{file}.csv:{line}") for file in "ab" for line in range(2, 9)]
    >>> print(render_problems(join_files(found)))
    error[P210]: no number
      --> a.csv:2, a.csv:3, a.csv:4 and 4 more
      --> b.csv:2, b.csv:3, b.csv:4 and 4 more
    """
    alike: dict[Problem, dict[str, list[str]]] = {}
    for problem in problems:
        files = alike.setdefault(replace(problem, where=None), {})
        if problem.where:
            places = files.setdefault(_LINE.split(problem.where)[0], [])
            places.extend([] if problem.where in places else [problem.where])
    return [replace(problem, where="\n  --> ".join(map(name_some, files.values())) or None) for problem, files in alike.items()]


_LINE = re.compile(r":\d+(:|$)")


def name_some(names: Sequence[str], most: int = 3) -> str:
    """Return names with commas, of many the first and how many more.

    Examples
    --------
    >>> name_some(["a", "b"]), name_some(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    # One more than is named takes no more room than to say so.
    return ", ".join(names) if len(names) <= most + 1 else f"{', '.join(names[:most])} and {len(names) - most} more"


def render_problems(problems: Iterable[Problem] | Sequence[Problem]) -> str:
    """Return problems as text for a terminal, one paragraph each.

    Examples
    --------
    >>> print(render_problems([Problem("P101", "unknown key 'bootstraps'", "study.yaml:21:3", "did you mean 'replicates'?")]))
    error[P101]: unknown key 'bootstraps'
      --> study.yaml:21:3
       = help: did you mean 'replicates'?
    """
    lines: list[str] = []
    for problem in problems:
        lines += [f"error[{problem.code}]: {problem.message}", *_details(problem)]
    return visible("\n".join(lines))


def _details(problem: Problem) -> list[str]:
    """Return where a problem is, what to do and what else is known, a line each."""
    said = (("  --> ", problem.where), ("   = help: ", problem.help), ("   = note: ", problem.note))
    return [f"{mark}{text}" for mark, text in said if text]


def visible(text: str) -> str:
    r"""Return a text as a terminal may show it: names of files may hold anything.

    Examples
    --------
    >>> visible("no\x1b]0;owned\x07.csv, or \u202egpj.txt")
    'no\\x1b]0;owned\\x07.csv, or \\u202egpj.txt'
    """
    return "".join(map(_printable, text))


def _printable(character: str) -> str:
    """Return what a terminal shows as it is, and an escape in place of what it would obey: names of files may hold anything."""
    if character.isprintable() or character in _JOINERS or character in "\n\t":
        return character
    return character.encode("unicode_escape").decode("ascii")


_JOINERS = "\u200c\u200d"
"""Part of words in Persian, Hindi and others, and of pictures that are made of several."""


def is_name(text: str) -> bool:
    r"""Tell whether a text can be a name: it is not empty, and what does not print in it joins two characters, not both ASCII.

    Examples
    --------
    >>> is_name("\u0645\u06cc\u200c\u0631\u0648\u062f"), is_name("a\u200cb"), is_name("\u0645\u200c"), is_name(" "), is_name("a\tb")
    (True, False, False, False, False)
    """
    if text.isprintable():
        return bool(text.strip())
    hidden = [place for place, character in enumerate(text) if not character.isprintable()]
    return all(text[place] in _JOINERS and _joins(text[:place][-1:], text[place + 1 : place + 2]) for place in hidden)


def _joins(before: str, after: str) -> bool:
    return not (before + after).isascii() and all(side.isprintable() and side.strip() for side in (before, after))


def look_alike(names: Iterable[str]) -> list[tuple[str, ...]]:
    r"""Return the names that look the same though they are not: all that they differ in is what joins characters.

    Examples
    --------
    >>> look_alike(["a", "\u0645\u06cc\u0631", "\u0645\u06cc\u200c\u0631"]) == [("\u0645\u06cc\u0631", "\u0645\u06cc\u200c\u0631")]
    True
    """
    alike: dict[str, dict[str, None]] = {}
    for name in names:
        alike.setdefault(name.translate(_UNJOINED), {})[name] = None
    return [tuple(group) for group in alike.values() if len(group) > 1]


_UNJOINED = dict.fromkeys(map(ord, _JOINERS))
