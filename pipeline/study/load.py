"""Study files and cluster profiles as values. This module reads YAML 1.2 with line marks and finds all errors at once.

The words of YAML 1.1 that surprise (`no`, `on`, 010, 1:30, dates) are what they look like: text, and ten.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from pipeline.errors import Problem, StudyError
from pipeline.study.complaints import complain, suggest
from pipeline.study.expand import expand_paths
from pipeline.study.marks import Document, KeyPath
from pipeline.study.presets import set_preset
from pipeline.study.profile import LOCAL, ClusterProfile
from pipeline.study.schema import Frozen, Study

__all__ = [
    "ClusterProfile",
    "LoadedStudy",
    "load_profile",
    "load_study",
    "locate_profile",
    "override_study",
    "resolve",
    "study_from_value",
]

_Model = TypeVar("_Model", bound=Frozen)

_DIGITS = r"[0-9](?:_?[0-9])*"
_BOOL, _INT, _FLOAT, _NULL, _TEXT = (f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "null", "str"))
_SCALARS = {
    _BOOL: re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
    _INT: re.compile(rf"^(?:[-+]?{_DIGITS}|0x[0-9a-fA-F]+|0o[0-7]+)$"),
    _FLOAT: re.compile(
        rf"^(?:[-+]?(?:\.{_DIGITS}|{_DIGITS}(?:\.(?:{_DIGITS})?)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    _NULL: re.compile(r"^(?:~|null|Null|NULL|)$"),
}


class _Loader(yaml.SafeLoader):
    """PyYAML's parser with the scalars of YAML 1.2; values are built here, never by its constructors."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own class attribute


for _tag, _pattern in _SCALARS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, None)


@dataclass(frozen=True)
class LoadedStudy:
    """A study with where it comes from.

    Parameters
    ----------
    study : Study
        What is asked.
    path : Path
        The file, as it was named.
    base : Path
        Its directory: relative paths in the study start here.
    text : str
        The file's text.
    overrides : tuple of str
        What the command line changed, ``key.path=value``.
    document : Document
        The values as they were written, with their places.
    """

    study: Study
    path: Path
    base: Path
    text: str
    overrides: tuple[str, ...] = ()
    document: Document = field(default_factory=Document, repr=False, compare=False)


def load_study(path: Path | str, overrides: Sequence[str] = ()) -> LoadedStudy:
    """Read a study file.

    Parameters
    ----------
    path : Path
        The file.
    overrides : sequence of str
        Changes from the command line, ``key.path=value``: the value is YAML, a position in a list counts from 0, and a key
        that holds a dot stands in double quotes.

    Raises
    ------
    StudyError
        With every problem there is (P1xx), each with its line and column, or the flag it came from.
    """
    text = _read(Path(path), "the study file")
    document, problems = _parse(text, str(path))
    if document.value is None and not problems:
        help = "workflows/ in the source has examples to start from"
        raise StudyError(Problem("P107", "the study file is empty", str(path), help))
    problems += [problem for override in overrides for problem in _override(document, override)]
    set_preset(document)
    problems += expand_paths(document)
    study = _validate(Study, document, problems)
    return LoadedStudy(study, Path(path), Path(path).absolute().parent, text, tuple(overrides), document)


def study_from_value(value: dict[str, Any], *, base: Path) -> LoadedStudy:
    """Give a study that was never in a file, from plain values as a file would hold them."""
    text = json.dumps(value, indent=2) + "\n"
    document = Document(json.loads(text))
    set_preset(document)
    return LoadedStudy(_validate(Study, document, []), Path("study"), base, text, (), document)


def override_study(study: Study, overrides: Sequence[str]) -> Study:
    """Give another study, changed as ``--set`` changes one."""
    document = Document(resolve(study))
    problems = [problem for override in overrides for problem in _override(document, override)]
    return _validate(Study, document, problems)


def parse_flow(text: str, flag: str) -> str | dict[str, Any]:
    """Give an argument of the command line: what a study would have there where it is in braces, else the text itself.

    Raises
    ------
    StudyError
        P102 or P106 for what is no mapping.
    """
    if not text.startswith("{"):
        return text
    document, problems = _parse(text, f"{flag} {text}")
    if problems:
        raise StudyError(*problems)
    found: dict[str, Any] = document.value
    return found


def locate_profile(name: str, base: Path) -> str:
    """Give the absolute path of a profile that is in order, or ``local``: what a coordinator elsewhere can read again."""
    load_profile(name, base)
    found = next((path for path in (Path(name), base / name) if path.is_file()), None)
    return name if name == "local" or found is None else str(found.absolute())


def load_profile(name: Path | str, base: Path | None = None, overrides: Sequence[str] = ()) -> ClusterProfile:
    """Read a cluster profile: ``local``, or a file, found from the current directory or else from ``base``.

    ``overrides`` change it as they change a study, for example ``options.interface=lo``. A relative ``scheduler_file`` is
    relative to the profile.
    """
    if str(name) == "local":
        return LOCAL
    candidates = [Path(name), *([base / name] if base else [])]
    path = next((candidate for candidate in candidates if candidate.is_file()), candidates[0])
    if not path.exists() and not re.search(r"[/\\]|\.ya?ml$", str(name)):
        help = "local, or the path of a file such as cluster/slurm.yaml"
        raise StudyError(Problem("P112", f"there is no cluster profile {str(name)!r}", None, help))
    text = _read(path, "the cluster profile")
    document, problems = _parse(text, str(path))
    if document.value is None and not problems:
        raise StudyError(Problem("P107", "the cluster profile is empty", str(path), "see cluster/local.yaml"))
    if isinstance(document.value, dict):
        document.value.setdefault("name", path.stem)
    problems += [problem for override in overrides for problem in _override(document, override)]
    profile = _validate(ClusterProfile, document, problems)
    if profile.scheduler_file is None:
        return profile
    file = path.absolute().parent / os.path.expanduser(os.path.expandvars(profile.scheduler_file))
    return profile.model_copy(update={"scheduler_file": str(file)})


def resolve(study: Study) -> dict[str, Any]:
    """Give everything a study asks, defaults included, as plain JSON values: what digests are made of."""
    return study.model_dump(mode="json", by_alias=True)


def _validate(model: type[_Model], document: Document, problems: list[Problem]) -> _Model:
    try:
        # Strict JSON: lists become tuples, and neither "5" nor true is a number.
        value = model.model_validate_json(json.dumps(document.value), strict=True)
    except ValidationError as error:
        # What could not be read stands there as nothing: no second complaint about that.
        unread = {problem.where for problem in problems if problem.code == "P106"}
        problems = problems + [problem for problem in complain(error, document, model) if problem.where not in unread]
        raise StudyError(*sorted(problems, key=_position)) from error
    if problems:
        raise StudyError(*sorted(problems, key=_position))
    return value


def _position(problem: Problem) -> tuple[int, int]:
    """Order problems as they stand in the file, those of flags last."""
    found = re.search(r":([0-9]+):([0-9]+)$", problem.where or "")
    return (int(found[1]), int(found[2])) if found and not (problem.where or "").startswith("--") else (2**31, 0)


def _read(path: Path, what: str) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        near = suggest(path.name, (found.name for found in path.parent.glob("*.y*ml"))) if path.parent.is_dir() else None
        raise StudyError(Problem("P109", f"there is no such file as {what}", str(path), near)) from error
    except OSError as error:
        raise StudyError(Problem("P109", f"{what} cannot be read: {error.strerror}", str(path))) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        message = f"{what} is not UTF-8: the byte 0x{data[error.start]:02x}"
        raise StudyError(Problem("P108", message, f"{path}:{line}:{column}", "save it as UTF-8")) from error


def _parse(text: str, source: str) -> tuple[Document, list[Problem]]:
    """Give the document in a text, and what is wrong with it that does not hinder reading on."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        message = ", ".join(part for part in (error.problem, error.context) if part)
        raise StudyError(Problem("P106", f"this is not YAML: {message}", where, _syntax_help(message))) from error
    except yaml.reader.ReaderError as error:
        line, column = text.count("\n", 0, error.position) + 1, error.position - text.rfind("\n", 0, error.position)
        raise StudyError(
            Problem("P106", "this is not YAML: a character that does not print", f"{source}:{line}:{column}")
        ) from error
    except RecursionError as error:
        raise StudyError(Problem("P106", "this is not YAML that can be read: it is nested too deeply", source)) from error
    document, problems = Document(), list[Problem]()
    if node is not None:
        document.value = _build(node, (), document, problems, source, frozenset())
    return document, problems


def _syntax_help(message: str) -> str | None:
    if "\\t" in message:
        return "indent with blanks, not with tabs"
    if "mapping values are not allowed" in message:
        return "put text that holds ': ' in quotes"
    return None


def _build(node: yaml.Node, path: KeyPath, document: Document, problems: list[Problem], source: str, above: frozenset[int]) -> Any:
    """Give the value of a node and note its place; ``above`` holds the nodes around it, to notice one within itself."""
    place = f"{source}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
    document.values[path] = place
    if id(node) in above:
        problems.append(Problem("P106", "an alias stands within what it stands for", place))
        return None
    inside = above | {id(node)}
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, mark = key_node.value, key_node.start_mark
            at = f"{source}:{mark.line + 1}:{mark.column + 1}"
            if not isinstance(key, str):
                problems.append(Problem("P106", "a key must be text", at))
            elif key in mapping:
                problems.append(Problem("P102", f"duplicate key {key!r}", at, f"the first one is at {document.keys[(*path, key)]}"))
            else:
                document.keys[(*path, key)] = at
                mapping[key] = _build(value_node, (*path, key), document, problems, source, inside)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*path, n), document, problems, source, inside) for n, item in enumerate(node.value)]
    try:
        return _scalar(node.tag, node.value)
    except ValueError as error:
        problems.append(Problem("P106", str(error), place))
        return None


def _scalar(tag: str, text: str) -> Any:
    if tag == _TEXT:
        return text
    if tag not in _SCALARS or not _SCALARS[tag].match(text):
        raise ValueError(f"the tag {tag.replace('tag:yaml.org,2002:', '!!')} does not go with {text!r}")
    if tag == _NULL:
        return None
    if tag == _BOOL:
        return text[0] in "tT"
    if tag == _INT:
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    plain = text.lower()
    number = float(plain.replace(".inf", "inf").replace(".nan", "nan"))
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that can be used")
    # 1e6 counts something; 1.0 does not.
    return int(number) if "e" in plain and number.is_integer() and abs(number) < 2**63 else number


def _override(document: Document, override: str) -> list[Problem]:
    flag = f"--set {override}"
    path, equals, text = override.partition("=")
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|([^.\[\]]+)', path)
    if not equals or not parts:
        return [Problem("P111", f"this changes nothing: {override!r}", flag, "write --set key.path=value")]
    try:
        other, problems = _parse(text, flag)
    except StudyError as error:
        return [replace(problem, where=flag) for problem in error.problems]
    hindrance = document.put(tuple(quoted or plain for quoted, plain in parts), other, flag)
    if hindrance:
        return [Problem("P111", hindrance, flag)]
    return [replace(problem, where=flag) for problem in problems]
