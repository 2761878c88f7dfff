"""YAML 1.2 as values with their places, read within limits: the content of an alias counts every time.

The words of YAML 1.1 that surprise (`no`, `on`, 010, 1:30, dates) are what they look like: text, and ten.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from pipeline.errors import Problem, StudyError
from pipeline.inputs import size_text
from pipeline.study.marks import Document, KeyPath

__all__ = ["MOST_BYTES", "format_yaml", "parse_flow", "parse_yaml"]

MOST_BYTES = 4 << 20
"""Bytes of a document: a study of ten thousand systems by name has one MiB, and PyYAML reads some 200 KB a second."""

MOST_VALUES = 100_000
"""Values of a document, those of an alias wherever it stands: nine lists of nine aliases each are 387 million values."""

MOST_TEXT = 4 * MOST_BYTES
"""Characters of all texts, counted alike."""

MOST_DEPTH = 100
"""Levels of lists and mappings; the deepest key of a study has six."""

LONGEST_KEY = 1000
LONGEST_NUMBER = 100
"""Characters of a key, and of a number."""

_SHOWN = 60

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


class _TooMuch(yaml.MarkedYAMLError):
    """A limit is passed where ``problem_mark`` is."""


class _Loader(yaml.SafeLoader):
    """PyYAML's parser with the scalars of YAML 1.2, within limits; values are built here, never by its constructors."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own class attribute

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose as PyYAML does, which would go as deep as the stack does, and on for as long as there is text."""
        self._depth += 1
        self._nodes += 1
        if self._depth > MOST_DEPTH or self._nodes > 2 * MOST_VALUES:  # keys are nodes too
            raise _TooMuch(None, None, _DEEP if self._depth > MOST_DEPTH else _MANY, self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        node: yaml.Node | None = super().compose_node(parent, index)  # type: ignore[no-untyped-call, unused-ignore]
        self._depth -= 1
        return node


for _tag, _pattern in _SCALARS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, None)


def parse_yaml(text: str, source: str) -> tuple[Document, list[Problem]]:
    """Return the document in a text, and the problems that do not prevent reading on.

    Raises
    ------
    StudyError
        P106 where it is no YAML; P128 where it has too many values; P129 where they are nested too deeply.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except _TooMuch as error:
        raise _refuse(str(error.problem), f"{source}:{_place(error.problem_mark)}") from error
    except yaml.MarkedYAMLError as error:
        raise StudyError(_explain_syntax(error, source)) from error
    except yaml.reader.ReaderError as error:
        line, column = text.count("\n", 0, error.position) + 1, error.position - text.rfind("\n", 0, error.position)
        raise StudyError(
            Problem("P106", "this is not YAML: a character that does not print", f"{source}:{line}:{column}")
        ) from error
    builder = _Builder(source)
    if node is not None:
        builder.document.value = builder.build(node, (), frozenset())
    return builder.document, builder.problems


def parse_flow(text: str, flag: str) -> str | dict[str, Any]:
    """Return an argument of the command line: what a study would have there where it is in braces, else the text itself.

    Raises
    ------
    StudyError
        P102 or P106 for what is not a mapping.
    """
    if not text.startswith("{"):
        return text
    document, problems = parse_yaml(text, f"{flag} {text}")
    if problems:
        raise StudyError(*problems)
    found: dict[str, Any] = document.value
    return found


def _explain_syntax(error: yaml.MarkedYAMLError, source: str) -> Problem:
    """Say what is wrong with the syntax and where; of what is never closed, where it was opened."""
    mark, opened = error.problem_mark or error.context_mark, error.context_mark
    message, help_ = ", ".join(part for part in (error.problem, error.context) if part), None
    if opened is not None and error.context == "while scanning a quoted scalar" and "end of stream" in str(error.problem):
        mark, message, help_ = opened, "a quotation mark is never closed", "write the same mark where the text ends"
    elif opened is not None and str(error.context).startswith("while parsing a flow"):
        what, closing = ("mapping", "}") if str(error.context).endswith("mapping") else ("list", "]")
        help_ = f"put a comma, or the closing '{closing}', into the {what} that begins at {source}:{_place(opened)}"
    where = f"{source}:{_place(mark)}" if mark else source
    return Problem("P106", f"this is not YAML: {message}", where, help_ or _syntax_help(message))


def _syntax_help(message: str) -> str | None:
    if "\\t" in message:
        return "indent with spaces, not with tabs"
    if "mapping values are not allowed" in message:
        return "put text that holds ': ' in quotes"
    return None


class _Builder:
    """Makes values of nodes, and counts: a node that an alias repeats is made again at each place."""

    def __init__(self, source: str) -> None:
        self.document = Document()
        self.problems: list[Problem] = []
        self._source = source
        self._values = self._text = 0

    def build(self, node: yaml.Node, path: KeyPath, above: frozenset[int]) -> Any:
        """Return the value of a node and note its place; ``above`` holds the nodes around it, to notice one within itself."""
        place = self._at(node)
        self.document.values[path] = place
        if id(node) in above:
            self._complain("P106", "an alias refers to itself", place)
            return None
        self._values += 1
        self._count_text(node, place)
        if self._values > MOST_VALUES:
            raise _refuse(_MANY, place)
        if len(path) >= MOST_DEPTH:
            raise _refuse(_DEEP, place)
        inside = above | {id(node)}
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, n), inside) for n, item in enumerate(node.value)]
        try:
            return _scalar(node.tag, node.value)
        except ValueError as error:
            self._complain("P106", str(error), place)
            return None

    def _mapping(self, node: yaml.MappingNode, path: KeyPath, inside: frozenset[int]) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, at = key_node.value, self._at(key_node)
            self._count_text(key_node, at)
            if not isinstance(key, str):
                self._complain("P106", "a key must be text", at)
            elif len(key) > LONGEST_KEY:
                self._complain("P106", f"a key has {len(key):,} characters, and {LONGEST_KEY:,} at most", at)
            elif key in mapping:
                first = f"the first one is at {self.document.keys[(*path, key)]}"
                self._complain("P102", f"duplicate key {key!r}", at, first)
            else:
                self.document.keys[(*path, key)] = at
                mapping[key] = self.build(value_node, (*path, key), inside)
        return mapping

    def _count_text(self, node: yaml.Node, place: str) -> None:
        self._text += len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        if self._text > MOST_TEXT:
            raise _refuse(_LONG, place)

    def _complain(self, code: str, message: str, place: str, help: str | None = None) -> None:
        self.problems.append(Problem(code, message, place, help))
        if len(self.problems) >= _MOST_PROBLEMS:  # an error in an alias counts every time it is repeated
            raise StudyError(*self.problems)

    def _at(self, node: yaml.Node) -> str:
        return f"{self._source}:{_place(node.start_mark)}"


def _place(mark: Any) -> str:
    return f"{mark.line + 1}:{mark.column + 1}"


_MOST_PROBLEMS = 1000
"""Nobody reads more, and each takes memory."""

_DEEP, _MANY, _LONG = "deep", "many", "long"


def _refuse(what: str, place: str) -> StudyError:
    """Say which limit is passed, and where."""
    if what == _DEEP:
        return StudyError(Problem("P129", f"lists and mappings are nested in more than {MOST_DEPTH} levels", place))
    held = f"more than {MOST_VALUES:,} values" if what == _MANY else f"text of more than {size_text(MOST_TEXT)}"
    return StudyError(Problem("P128", f"this makes {held}, what an alias repeats counted each time", place))


def _scalar(tag: str, text: str) -> Any:
    if tag == _TEXT:
        return text
    if tag not in _SCALARS or not _SCALARS[tag].match(text):
        raise ValueError(f"the tag {tag.replace('tag:yaml.org,2002:', '!!')} does not go with {_clip(text)!r}")
    if tag == _NULL:
        return None
    if tag == _BOOL:
        return text[0] in "tT"
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number has {len(text):,} characters, and {LONGEST_NUMBER} at most: {_clip(text)}")
    if tag == _INT:
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    plain = text.lower()
    number = float(plain.replace(".inf", "inf").replace(".nan", "nan"))
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that can be used")
    # 1e6 counts something; 1.0 does not.
    return int(number) if "e" in plain and number.is_integer() and abs(number) < 2**63 else number


def _clip(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def format_yaml(value: Any) -> str:
    """Return plain values as YAML that `parse_yaml` reads back, keys in their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


class _Dumper(yaml.SafeDumper):
    """Quotes texts that YAML 1.1 or 1.2 takes for something else."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = not any(pattern.match(text) for pattern in _SCALARS.values())
    return dumper.represent_scalar(_TEXT, text, style=None if plain else "'")


_Dumper.add_representer(str, _represent_text)
