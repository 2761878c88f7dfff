"""Transcripts of speech: sclite's `.trn`, a line an utterance with its name, and Kaldi's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import read_lines, with_warnings, write_lines
from pipeline.items.readers._join import join_items, need_system
from pipeline.items.readers._tables import refuse
from pipeline.items.readers._transcripts import Transcript, read_marks, without_nothing
from pipeline.study.grouping import SPEAKER

__all__ = ["TrnReader"]

_LAYOUTS = ("trn", "kaldi")
_NAME_BEHIND = re.compile(r"\(([^()\s]+)\)[ \t]*$")
_NAME_BEFORE = re.compile(r"[^ \t]+")
_NAMED_LIKE_SPEECH = re.compile(r"(?=.*[-_])(?=.*[0-9])[^ \t()]+")
_COMMENT = ";;"
_BLANKS = " \t"
_HELP = {
    "trn": "a line is `words (speaker_utterance)`; for Kaldi's `utterance words` write `format: {name: trn, layout: kaldi}`",
    "kaldi": "a line is `utterance words`; an empty one has its name alone",
}


@dataclass
class _Read:
    """The utterances of a file: name, line and text of each."""

    names: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


class TrnReader(Reader):
    """An utterance a line, ``words (speaker_utterance)``; gold and outputs alike.

    The gold has the columns ``reference.0`` and ``speaker``. Where it has ``{ a / b / @ }``, or ``(uh)`` that may be left out,
    ``reference.alternatives`` has what may be said, place by place, and ``reference.0`` the first of each. Outputs have ``text``.
    Lines that begin with ``;;`` are comments.

    Parameters
    ----------
    layout : str
        ``trn``, or ``kaldi``: ``utterance words``, without alternatives.
    speaker : str or int
        The speaker is what stands in the name of an utterance before the first of these characters; or so many characters.
    optional : bool
        With false ``(uh)`` is a word in parentheses, which has to be said with them.
    """

    name: ClassVar[str] = "trn"
    endings: ClassVar[tuple[str, ...]] = (".trn", ".txt", ".text")
    targets: ClassVar[tuple[str, ...]] = ("text",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "wer"
    blank: str = ""

    def __init__(self, *, layout: str = "trn", speaker: str | int = "-_", optional: bool = True) -> None:
        if layout not in _LAYOUTS:
            raise ValueError(f"option 'layout' is one of {', '.join(_LAYOUTS)}, not {layout!r}")
        if (
            not speaker
            or isinstance(speaker, bool)
            or not isinstance(speaker, (str, int))
            or (isinstance(speaker, int) and speaker < 1)
        ):
            raise ValueError(
                f"option 'speaker' is the characters that end the name of a speaker, or how many it has, not {speaker!r}"
            )
        if not isinstance(optional, bool):
            raise ValueError(f"option 'optional' is true or false, not {optional!r}")
        self.layout, self.speaker, self.optional = layout, speaker, optional
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines that all end in a name in parentheses; or begin with names of utterances, each its own, in order."""
        lines = [line for line in sample.lines if line.strip() and not line.startswith(_COMMENT)]
        found = [_NAME_BEHIND.search(line) for line in lines]
        names = [match[1] for match in found if match is not None]
        if names and len(set(names)) == len(lines):
            sure = all(map(_NAMED_LIKE_SPEECH.fullmatch, names))
            return Recognised(0.95 if sure else 0.6, f"every line ends in a name of its own in parentheses, as ({names[0]})")
        first = [line.split(None, 1)[0] for line in lines]
        ordered = all(one < other for one, other in pairwise(first))
        if sample.gold and len(first) > 1 and ordered and all(map(_NAMED_LIKE_SPEECH.fullmatch, first)):
            why = f"every line begins with a name of its own, in order, as {first[0]}: Kaldi's text"
            return Recognised(0.8, why, {"layout": "kaldi"})
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return what was said in the utterances of one file or several; None without files."""
        if not paths:
            return None
        columns: Mapping[str, str] = options.get("columns", {})
        roles = dict.fromkeys([SPEAKER, *(role for role, key in columns.items() if key == SPEAKER)])
        seen: dict[str, str] = {}
        parts = [self._read_references(path, tuple(roles), seen) for path in paths]
        alternatives = any("reference.alternatives" in part.columns for part in parts)
        if alternatives:
            blank = [{"reference.alternatives": ((),) * len(part), **part.columns} for part in parts]
            parts = [Items(part.ids, given, part.source, part.lines, False) for part, given in zip(parts, blank, strict=True)]
        alone = [name for part in parts for name in part.ids if self._speaker(name) == name]
        if alone and SPEAKER in columns.values():
            names = f"{len(alone)} utterances, the first is '{alone[0]}', name no speaker: each is one of its own"
            self._told.append(f"{paths[0]}: {names}; see `speaker:` of the format")
        return join_items(parts)

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return what a system recognised in each utterance; one without words is an empty output.

        Raises
        ------
        DataError
            P209 an utterance twice; P264 a line without a name, or with alternatives: an output says one thing.
        """
        name = need_system(system, path, "transcripts")
        read, source = self._read(path, {})
        if self.layout == "trn":
            help_ = "an output says what was recognised: leave one alternative"
            refuse(
                Problem("P264", "the output has alternatives in braces", f"{source}:{line}", help_)
                for text, line in zip(read.texts, read.lines, strict=True)
                if "{" in text or "}" in text
            )
            read.texts = [without_nothing(text) for text in read.texts]
        return {name: Items(tuple(read.names), {"text": tuple(read.texts)}, source, tuple(read.lines), False)}

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write an utterance a line; blanks at the ends of a text are left out.

        Raises
        ------
        ValueError
            Where a name or a text would be read as another.
        """
        texts = [text.strip(_BLANKS) for text in columns.get("text", [self.blank] * len(ids))]
        for name, text in zip(ids, texts, strict=True):
            if not re.fullmatch(r"[^()\s]+", name) or name.startswith(_COMMENT):
                raise ValueError(f"an utterance cannot be named {name!r}")
            if self.layout == "trn" and (text.startswith(_COMMENT) or "{" in text or "}" in text or without_nothing(text) != text):
                raise ValueError(f"the text {text!r} of utterance '{name}' would be read as something else")
        behind = self.layout == "trn"
        write_lines(
            path, (f"{text} ({name})" if behind else f"{name} {text}".rstrip() for name, text in zip(ids, texts, strict=True))
        )

    def _read_references(self, path: Path, roles: Sequence[str], seen: dict[str, str]) -> Items:
        read, source = self._read(path, seen)
        columns: dict[str, Sequence[Any]] = {"reference.0": tuple(read.texts)}
        if self.layout == "trn":
            found = list(self._understand(read, source))
            columns["reference.0"] = tuple(one.text for one in found)
            if any(one.slots for one in found):
                columns["reference.alternatives"] = tuple(one.slots for one in found)
        speakers = tuple(map(self._speaker, read.names))
        return Items(tuple(read.names), {**columns, **dict.fromkeys(roles, speakers)}, source, tuple(read.lines), False)

    def _understand(self, read: _Read, source: str) -> Iterator[Transcript]:
        problems = []
        for text, line in zip(read.texts, read.lines, strict=True):
            try:
                yield read_marks(text, optional=self.optional)
            except ValueError as exc:
                help_ = "alternatives are `{ one / two words / @ }`, and @ is not a word"
                problems.append(Problem("P264", str(exc), f"{source}:{line}", help_))
        refuse(problems)

    def _read(self, path: Path, seen: dict[str, str]) -> tuple[_Read, str]:
        """Return the utterances of a file as they stand; ``seen`` has those before, with their places."""
        lines = read_lines(path)
        self._told.extend(lines.warnings)
        pattern = _NAME_BEHIND if self.layout == "trn" else _NAME_BEFORE
        read = _Read()
        problems: list[Problem] = []
        for number, line in enumerate(lines.values, start=1):
            if not line.strip(_BLANKS) or line.startswith(_COMMENT):
                continue
            where = f"{lines.source}:{number}"
            found = pattern.search(line)
            if found is None:
                problems.append(
                    Problem("P264", f"the line does not end in the name of its utterance: …{line[-30:]!r}", where, _HELP["trn"])
                )
                continue
            name, text = (found[1], line[: found.start()]) if self.layout == "trn" else (found[0], line[found.end() :])
            if name in seen:
                problems.append(Problem("P209", f"utterance '{name}' is there twice, first in {seen[name]}", where))
                continue
            seen[name] = where
            read.names.append(name)
            read.lines.append(number)
            read.texts.append(text.strip(_BLANKS))
        refuse(problems)
        if not read.names:
            raise DataError.of("P264", "the file has no utterance", where=lines.source, help=_HELP[self.layout])
        return read, lines.source

    def _speaker(self, name: str) -> str:
        if isinstance(self.speaker, int):
            return name[: self.speaker]
        ends = [place for place in map(name.find, self.speaker) if place > 0]
        return name[: min(ends)] if ends else name
