"""Which format a file has: ask every reader, say why one was chosen, and refuse to guess between two."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import DataError, PluginError, Problem, name_some
from pipeline.interfaces import FileSample, Recognised
from pipeline.items.discover import find_outputs
from pipeline.items.names import COMPRESSIONS
from pipeline.items.readers._files import read_head, read_text
from pipeline.items.readers._tables import NO_ROWS, find_head
from pipeline.items.readers._typed_tables import begins_json, begins_split
from pipeline.items.readers._zip import open_zip
from pipeline.items.readers.registry import import_reader
from pipeline.plugins import list_plugins

if TYPE_CHECKING:  # `compare` refuses a mistyped metric without loading them
    from pipeline.study.schema import Study
    from pipeline.study.sets import TestSet

__all__ = ["AUTO", "FormatFound", "recognise_beside", "recognise_file", "recognise_formats", "refuse_json", "take_sample"]

AUTO = "auto"
_HEAD = 1 << 16
_ZIP = b"PK\x03\x04"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How texts in UTF-16 begin."""
_JSON = (".json", ".jsonl", ".ndjson")
_NEAR = 0.05
"""Readers whose confidence is as near as this to the best one's are as good as it."""


class FormatFound(NamedTuple):
    """A format and what its reader is to know of the files."""

    name: str
    options: Mapping[str, Any]

    @property
    def as_written(self) -> str | dict[str, Any]:
        """The format as a study writes it."""
        return {"name": self.name, **self.options} if self.options else self.name


def recognise_formats(study: Study, base: Path) -> tuple[Study, dict[str, str]]:
    """Return a study in which every test set has its format and its own name in its paths, and what was recognised, by test set.

    Raises
    ------
    DataError
        P259 where no reader recognises the first output, P260 where two do alike, P275 where a file is JSON that would be taken
        for plain text.
    """
    told: dict[str, str] = {}
    test_sets: dict[str, TestSet] = {}
    for name, spec in study.test_sets.items():
        settled = _with_name(spec, name)
        if spec.format.name == AUTO:
            found, problems = find_outputs(settled.outputs, base=base, exclude=study.systems.exclude)
            if problems:
                raise DataError(*problems)
            if not found:
                where = f"test_sets.{name}.format"
                help_ = "name the format" if settled.outputs is None else "see `outputs:` and `systems.exclude:` in the study"
                raise DataError.of("P259", "there is no output to recognise the format by", where=where, help=help_)
            format_, told[name] = recognise_file(
                found[0].path, gold=settled.gold is not None, references=bool(settled.references), options=spec.format.options
            )
            compared = [*settled.references, *([settled.gold] if isinstance(settled.gold, str) else [])]
            refuse_json([*(one.path for one in found[1:]), *(base / path for path in compared)], format_.name)
            settled = settled.model_copy(update={"format": type(spec.format)(name=format_.name, **format_.options)})
        test_sets[name] = settled
    return study.model_copy(update={"test_sets": test_sets}), told


def recognise_file(
    path: Path, *, gold: bool = False, references: bool = False, options: Mapping[str, object] | None = None
) -> tuple[FormatFound, str]:
    """Return the format of a file, and in words why it is that one.

    Parameters
    ----------
    path : Path
        A file of outputs.
    gold, references : bool
        Whether the study names a gold or references.
    options : mapping, optional
        What the study says to the reader, whichever it will be.
    """
    sample = take_sample(path, gold=gold, references=references)
    answers, failed = _ask_all(sample)
    if _is_json(path, sample.head):
        split = begins_split(sample.head)  # a table, which readers of tables read
        answers = [answer for answer in answers if split or _reads_json(answer[0])]
        if not answers:
            raise DataError(_refuse_json(path, sample.head))
    found = sorted(answers, key=lambda answer: (-answer[1].confidence, answer[0]))
    if not found:
        if not sample.lines or sample.head.startswith(_WIDE):
            read_text(path)  # which says that it is empty, binary, or no UTF-8
        if len(sample.lines) == 1 and {".csv", ".tsv"} & {*path.suffixes}:
            raise DataError.of("P212", "the table has a header and no rows", where=str(path), help=NO_ROWS)
        raise DataError.of(
            "P259",
            f"no format is recognised in {path.name}",
            where=str(path),
            help=f"name it: `format: …`; there are {', '.join(list_plugins('readers'))}",
            note="; ".join(failed) or None,
        )
    name, best = found[0]
    rivals = [f"{other} ({answer.why})" for other, answer in found[1:] if answer.confidence > best.confidence - _NEAR]
    if rivals:
        raise DataError.of(
            "P260",
            f"{path.name} may be {name} ({best.why}) or {' or '.join(rivals)}",
            where=str(path),
            help=f"name the format: `format: {name}`",
        )
    return FormatFound(name, {**best.options, **(options or {})}), f"{path.name} is read as {name}: {best.why}"


def recognise_beside(path: Path, references: Sequence[Path]) -> tuple[FormatFound, str]:
    """Recognise an output by what was given to compare it with, which may be a gold or references: its format says which.

    What could be compared with a gold, and has results of its own, is taken for results beside lines of text: its items would not
    be found in those.
    """
    compared = bool(references)
    try:
        found = recognise_file(path, gold=compared, references=compared)
    except DataError as error:
        if compared or error.problems[0].code != "P259":
            raise
        if {".csv", ".tsv"} & {*path.suffixes} and (problem := _refuse_table(path)):
            raise DataError(problem) from None
        return recognise_file(path, gold=True, references=True)  # its reader says what is missing
    if compared and _compares_with(found[0].name) == "gold" and all(_holds(one, "references", beside=True) for one in references):
        return recognise_file(path) if _holds(path, "nothing", beside=False) else found
    return found


def _refuse_table(path: Path) -> Problem | None:
    """Say why a file that is called a table is none of scores; None where it may be one of labels, whose gold is missing."""
    lines = take_sample(path).lines
    if len(lines) < 2:
        return None
    head = find_head(lines)
    lines = (*lines[: head.place + 1], *filter(str.strip, lines[head.place + 1 :]))  # empty lines are left out
    if len(lines) < head.place + 2:
        return None
    if head.delimiter is None:
        what = f"line {head.place + 1} has no tab, comma or semicolon between the names of columns"
        return Problem(
            "P259", f"{path.name} is no table: {what}", str(path), "begin the file with a header, with commas between names"
        )
    try:
        header, first = (next(csv.reader([line], delimiter=head.delimiter)) for line in lines[head.place : head.place + 2])
    except csv.Error:  # a carriage return within a line
        return None
    unnamed = header.count("")
    if len(header) != len(first) or unnamed > 1:
        what = f"line {head.place + 1} has {len(header)} fields, and the row below it {len(first)}"
        what = f"line {head.place + 1} leaves {unnamed} columns without a name" if unnamed > 1 else what
        help_ = "begin the file with a header that names every column, and nothing above it"
        return Problem("P259", f"{path.name} is no table: {what}", f"{path}:{head.place + 1}", help_)
    if not {"label", "labels", "text"}.isdisjoint(header):
        return None
    message = f"{path.name} is no table of scores: below the header there is no number, but {name_some([*map(repr, first)])}"
    help_ = "write numbers, or true and false; labels and texts are compared with a file of them, `-r FILE`"
    return Problem("P259", message, f"{path}:{head.place + 2}", help_)


def _holds(path: Path, kind: str, *, beside: bool) -> bool:
    """Tell whether a file is there, and has a format that is compared with this; what is wrong with it is told later."""
    try:
        return _compares_with(recognise_file(path, gold=beside, references=beside)[0].name) == kind
    except DataError:
        return False


def _compares_with(name: str) -> str | None:
    return getattr(import_reader(name), "compares_with", None)


def refuse_json(paths: Iterable[Path], form: str) -> None:
    """Refuse files in JSON beside one that was recognised as a format without it: they would be taken for plain text.

    Raises
    ------
    DataError
        P275, for all of them.
    """
    if _reads_json(form):
        return
    problems = []
    for path in paths:
        with suppress(DataError):  # one that cannot be read is told by its reader
            head, _ = read_head(path, _HEAD)
            if _is_json(path, head) and not begins_split(head):
                problems.append(_refuse_json(path, head))
    if problems:
        raise DataError(*problems)


def take_sample(path: Path, *, gold: bool = False, references: bool = False) -> FileSample:
    """Read the beginning of a file."""
    head, whole = read_head(path, _HEAD)
    members: tuple[str, ...] = ()
    if head.startswith(_ZIP):
        with suppress(DataError), open_zip(path) as archive:  # where it is damaged its reader says so
            members = archive.names
    return FileSample(path, head, _lines(head, whole=whole), members, gold, references)


def _lines(head: bytes, *, whole: bool) -> tuple[str, ...]:
    text = io.TextIOWrapper(io.BytesIO(head), encoding="utf-8-sig", errors="strict", newline="\n")
    lines: list[str] = []
    try:
        lines.extend(line.removesuffix("\n").removesuffix("\r") for line in text)
    except UnicodeDecodeError:
        if whole or not lines:
            return ()
        return tuple(lines)  # the sample may end within a character
    return tuple(lines if whole or len(lines) == 1 else lines[:-1])


def _ask_all(sample: FileSample) -> tuple[list[tuple[str, Recognised]], list[str]]:
    """Return what readers make of a file, and whose answer broke: what a reader makes of others' files is no concern of theirs."""
    answers, failed = [], []
    for name in list_plugins("readers"):
        try:
            made = import_reader(name)
        except PluginError:
            continue  # it is installed, and what it needs is not
        try:
            answer = made.recognise(sample)
        except Exception as error:  # code of another package
            failed.append(f"{name} could not say whether the file is its own: {type(error).__name__}: {error}")
            continue
        if answer is not None:
            answers.append((name, answer))
    return answers, failed


def _is_json(path: Path, head: bytes) -> bool:
    """Say whether a file is JSON, by its name or by how it begins."""
    name = path.name.lower()
    for ending in COMPRESSIONS:
        name = name.removesuffix(ending)
    return name.endswith(_JSON) or begins_json(head)


def _reads_json(name: str) -> bool:
    """Say whether a reader reads JSON, by the endings of its files; one that names none says itself what it recognises."""
    endings = import_reader(name).endings
    return not endings or not set(_JSON).isdisjoint(endings)


def _refuse_json(path: Path, head: bytes) -> Problem:
    keys: list[str] = []
    with suppress(ValueError, RecursionError):
        first = json.loads(head.decode("utf-8-sig").partition("\n")[0])
        keys = [repr(str(key)) for key in first] if isinstance(first, dict) else []
    return Problem(
        "P275",
        f"{path.name} is JSON, and nothing says where in it the outputs are",
        str(path),
        "with an object a line, name the key: `format: {name: json-lines, text: KEY}`, or `label: KEY`, or `score: KEY`; "
        "for a table whose keys are its columns, `format: scores`; to take each line as it is for a text, name the format: "
        "`format: text`",
        f"the keys of line 1 are {name_some(keys, 8)}" if keys else None,
    )


def _with_name(spec: TestSet, name: str) -> TestSet:
    """Return a test set with its name in place of ``{test_set}`` in every path."""

    def put(path: str) -> str:
        return path.replace("{test_set}", name)

    outputs = spec.outputs
    return spec.model_copy(
        update={
            "outputs": put(outputs) if isinstance(outputs, str) else outputs and {key: put(path) for key, path in outputs.items()},
            "references": tuple(map(put, spec.references)),
            "gold": put(spec.gold) if isinstance(spec.gold, str) else spec.gold,
            "documents": put(spec.documents) if spec.documents is not None else None,
        }
    )
