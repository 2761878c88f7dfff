"""The arguments of `compare` as they were typed, and messages that name its options in place of a study's keys."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pipeline.errors import DataError, PipelineError, Problem, UsageError
from pipeline.items.discover import find_outputs
from pipeline.items.names import name_outputs
from pipeline.metrics.registry import is_metric
from pipeline.plugins import refuse_unknown
from pipeline.procedures.registry import other_names
from pipeline.resampling.address import MOST_REPLICATES
from pipeline.study.yaml_values import parse_flow

__all__ = [
    "as_paths",
    "files_of",
    "in_words_of_compare",
    "name_outputs",
    "name_systems",
    "parse_columns",
    "parse_filters",
    "parse_named",
    "refuse_settings",
    "speaking_of_compare",
]

OneOrMore = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One path, or several."""


def as_paths(given: OneOrMore) -> list[str]:
    """Return paths as strings; one alone need not stand in a list, and is not taken letter by letter."""
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(path) for path in given]


def name_systems(outputs: Mapping[str, str | os.PathLike[str]] | OneOrMore) -> dict[str, str]:
    """Return the paths of outputs by system; the key ``*`` has a single file, which may hold all systems.

    Examples
    --------
    >>> name_systems("scores.csv"), name_systems({"ours": Path("a.txt"), "base": "b.txt"})
    ({'*': 'scores.csv'}, {'ours': 'a.txt', 'base': 'b.txt'})
    """
    if isinstance(outputs, Mapping):
        return {str(name): os.fspath(path) for name, path in outputs.items()}
    paths = as_paths(outputs)
    return {"*": paths[0]} if len(paths) == 1 else name_outputs(paths)


def files_of(outputs: Mapping[str, str], *, base: Path) -> dict[str, str]:
    """Return the path of each output where a single one is a pattern with ``{system}``, as studies write it; else what is given.

    Raises
    ------
    DataError
        P207, P208, P219 where no file matches it, two have one name, or it is no pattern.
    """
    pattern = outputs.get("*", "")
    if "{system}" not in pattern or os.path.exists(base / pattern):
        return dict(outputs)
    found, problems = find_outputs(pattern, base=base)
    if problems:
        raise DataError(*problems)
    return {str(one.system): str(one.path) for one in found}


def parse_named(arguments: Sequence[str], *, base: Path) -> dict[str, str]:
    """Return the paths of systems by name, from what was typed: paths, and ``NAME=PATH``; a single path as `name_systems` does.

    Where a file has the whole argument for its name it is that file, and what has a slash before its first ``=`` is a path.

    Raises
    ------
    UsageError
        P013 where a path without a name is there twice, P017 where two outputs have one name, P018 where one side of ``=`` is
        empty, P019 where what is no file is a metric.
    """
    given: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if ":" not in argument and is_metric(argument) and not os.path.exists(base / argument):
            help_ = f"give -m with each metric: -m {argument}"
            problems.append(Problem("P019", f"there is no file {argument}, which is a metric", help=help_))
        elif not equals or "/" in name or os.path.exists(base / argument):
            given.append(("", argument))
        elif name and path:
            given.append((name, path))
        else:
            lacking = "path" if name else "name"
            problems.append(
                Problem("P018", f"the {lacking} is missing", argument, "write NAME=PATH, for example base=out/base.txt")
            )
    if problems:
        raise UsageError(*problems)
    unnamed = [path for name, path in given if not name]
    if len(unnamed) == len(given) == 1:
        return {"*": unnamed[0]}
    derived = {path: name for name, path in name_outputs(unnamed).items()}
    files: dict[str, list[str]] = {}
    for name, path in given:
        files.setdefault(name or derived[path], []).append(path)
    problems = [
        Problem(
            "P017",
            f"{len(paths)} outputs have the name '{name}'",
            " and ".join(paths),
            f"give each a name of its own: {' '.join(f'{name}-{k}={path}' for k, path in enumerate(paths, start=1))}",
        )
        for name, paths in files.items()
        if len(paths) > 1
    ]
    if problems:
        raise UsageError(*problems)
    return {name: path for name, (path,) in files.items()}


def parse_columns(text: str | None) -> dict[str, str]:
    """Return columns by role from what was typed in braces.

    Raises
    ------
    UsageError
        P018 where it is not a mapping of names to names.
    """
    found = parse_flow(text, "--columns") if text is not None else {}
    if isinstance(found, str) or not all(isinstance(name, str) for name in found.values()):
        help_ = "write roles and names in braces, --columns '{system: llm, item: question}'"
        raise UsageError.of("P018", f"these are not names of columns: {text}", where="--columns", help=help_)
    return found


def parse_filters(arguments: Sequence[str]) -> dict[str, list[str]]:
    """Return the values that are kept by column, from ``COLUMN=VALUE`` as typed.

    Raises
    ------
    UsageError
        P018 where a column or a value is missing.

    Examples
    --------
    >>> parse_filters(["domain=news", "domain=social", "kind=a=b"])
    {'domain': ['news', 'social'], 'kind': ['a=b']}
    """
    kept: dict[str, list[str]] = {}
    for argument in arguments:
        column, _, value = argument.partition("=")
        if not (column and value):
            lacking = "value" if column else "column"
            help_ = "write COLUMN=VALUE, for example --filter domain=news"
            raise UsageError.of("P018", f"the {lacking} is missing", where=f"--filter {argument}", help=help_)
        kept.setdefault(column, []).append(value)
    return kept


def refuse_settings(preset: str | None, procedures: OneOrMore, replicates: int | None) -> None:
    """Refuse what needs no file to be seen to be wrong, before any is read.

    Raises
    ------
    PluginError
        P301 for a preset or procedure that is not installed.
    UsageError
        P125 where more replicates are asked for than a run can draw.
    """
    for name in [] if preset is None else as_paths(preset):
        refuse_unknown("presets", name)
    for name in as_paths(procedures):
        refuse_unknown("procedures", name, others=other_names)
    if replicates is not None and replicates > MOST_REPLICATES:
        raise UsageError.of(
            "P125",
            f"{replicates:,} replicates are asked for, and at most {MOST_REPLICATES:,} can be",
            where="-b, --replicates",
            help="b = 1,000,000 finds p-values down to 1e-6, within seconds for a handful of systems",
        )


_NAMED = "give each system a file of its own, `NAME=PATH`"

_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"paths are relative to the study file.*", "paths are relative to the current folder"),
        (
            r"see `outputs:` and `systems\.exclude:` in the study",
            "give two outputs or more, or one table of all systems: a column each, or rows with the columns `system`, `item` and "
            "`score`; `--columns '{system: …, item: …}'` says which columns these are",
        ),
        (r"write the place of the name into the path, `outputs: [^`]*`, or map names to paths", _NAMED),
        (r"write the place of the name into the path, `outputs: [^`]*`, or give a table of all systems", _NAMED),
        (r"write (\S+) into `outputs:`, or into", r"write \1 into"),
        (r"start the study again: .*", "compare the files again"),
        (r"start the study (again|in a new process)", "compare the files again"),
        (r"the study names a file of references or gold", "`-r` gives a file"),
        (r"folders without a file that `outputs:` names", "folders without a file"),
        (r"give `references:` to a test set of format text, `gold:` to one of another format that has them", "give them with `-r`"),
        (r"add `reference:` or `gold:` to the format", "name their key in `--format`, as `reference` or `gold`"),
        (r"(?<!`)columns: (\{[^`]*\})$", r"`--columns '\1'`"),
        (r"`columns: (\{.*?\})`", r"`--columns '\1'`"),
        (r"`format: (\{.*?\})`", r"`--format '\1'`"),
        (r"`format: ([^`]*)`", r"`--format \1`"),
        (r"`(missing|documents|unit): ([^`]*)`", r"`--\1 \2`"),
        (r"`(missing|documents|columns|format|unit):`", r"`--\1`"),
        (r'`outputs: ("[^"`]*")`', r"name them by `\1`"),
        (r"^missing: (?=drop|zero)", "--missing "),
        (r"`systems\.exclude`", "`--exclude`"),
        (r"the `(gold|references|documents):`", r"the \1"),
        (r"`(gold|references):`", "`-r`"),
        (r"one of the `outputs:`", "one of the outputs"),
        (r"another name in `outputs:`", "another name, `NAME=PATH`"),
        (r" of the test set(?=;|$)", ""),
        (r"\b(?:the )?test set 'test set'", "the test set"),
        (r"leave it out of the study", "leave it out"),
        (r"write `family: all-pairs` and no `baseline:`, or give `gate` the option `--all-pairs`", "leave out `--baseline`"),
        (r" (in|of) (the|this) study", ""),
        (r"\bresampling\.(alpha|baseline|replicates|unit)\b", r"--\1"),
        (r"\bresampling\.procedures(\[\d+\])?", "--procedure"),
        (r"\bmetrics(\[\d+\])(\.\w+)?", "-m"),
        (r"\btest_sets\.test set\.(format|missing|columns|documents)\b", r"--\1"),
        (r"\btest_sets\.test set\.items\b", "--filter"),
    )
)


_GOLD = re.compile(r"\bthe gold\b(?! [a-z]*(?:label|chunk|tag|token|tree)s?\b)")


def in_words_of_compare(text: str, *, references: bool = False) -> str:
    """Return a message with options of `compare` in place of keys of a study.

    Parameters
    ----------
    references : bool
        Whether files of references were given, as `-r` does: what is compared with is then called so, of labels as of texts.

    Examples
    --------
    >>> in_words_of_compare("set `missing: drop`, or correct the file; `format: {name: lm-eval, filter: …}`")
    "set `--missing drop`, or correct the file; `--format '{name: lm-eval, filter: …}'`"
    >>> in_words_of_compare("system 'a' has 59 lines, the gold has 60", references=True)
    "system 'a' has 59 lines, the reference file has 60"
    """
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return _GOLD.sub("the reference file", text) if references else text


@contextmanager
def speaking_of_compare(
    scratch: Path | None = None, runs: str | Path | None = None, references: object = None
) -> Iterator[Callable[[str], str]]:
    """Raise what is wrong in the words of `compare`, without the folder of files that are gone afterwards.

    Yields what puts other texts into these words.

    Parameters
    ----------
    scratch : Path, optional
        The folder that is gone.
    runs : str or Path, optional
        Where the run is kept, if it is, with the traceback of what failed.
    references : object
        What was given to compare outputs with; nothing is false.
    """
    gone = "" if scratch is None else f"{scratch}{os.sep}"

    def say(text: str) -> str:
        return in_words_of_compare(text, references=bool(references)).replace(gone, "")

    try:
        yield say
    except PipelineError as error:
        problems = [_translate(problem, gone, runs, say) for problem in error.problems]
        if problems == list(error.problems):
            raise
        raise type(error)(*problems) from error


_KEY = re.compile(r"(resampling|metrics|test_sets|analyses)[.\[]")
"""How the path of a key begins; whatever else says where something is, is the path of a file."""


def _translate(problem: Problem, gone: str, runs: str | Path | None, say: Callable[[str], str]) -> Problem:
    said = {name: getattr(problem, name) for name in ("message", "help", "note")}
    where = in_words_of_compare(problem.where) if _KEY.match(problem.where or "") and problem.where else problem.where
    said = {name: text and say(text) for name, text in said.items()}
    logs = f"`pipeline logs --runs {'DIR' if runs is None else shlex.quote(str(runs))}` has"
    told = logs if runs is not None else f"give `--runs DIR` as well, and {logs}"
    said["help"] = said["help"] and said["help"].replace("`pipeline logs` has", told)
    if problem.code == "P701" and gone and (problem.where or "").startswith(gone):  # there is nothing that could be resumed
        free = f"free some space in {shlex.quote(os.path.dirname(gone.rstrip(os.sep)))}, where files are kept meanwhile"
        said |= {"help": f"{free}, or name a folder elsewhere: `--runs DIR`", "note": None}
    return replace(problem, where=where and where.replace(gone, ""), **said)
