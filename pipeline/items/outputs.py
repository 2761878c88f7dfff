"""The outputs of a test set: each file is read once to survey it and again for each task, and fitted to the gold."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items, Reader
from pipeline.items.compare import Candidate
from pipeline.items.discover import Found, is_excluded, is_table
from pipeline.items.documents import groups_like_systems
from pipeline.items.frame import CONTENT, Frame, Kind, Output, align_items, describe_kind, digest_items
from pipeline.items.gold import reader_options, whole_gold_once
from pipeline.items.readers import load_reader
from pipeline.items.readers.registry import fits_outputs
from pipeline.study.grouping import group_columns
from pipeline.study.schema import Systems
from pipeline.study.sets import FormatSpec, TestSet

__all__ = ["HAVE_IDENTICAL_OUTPUTS", "OutputFiles", "ReadOutputs", "load_output", "read_table_once", "warn_once"]

HAVE_IDENTICAL_OUTPUTS = "have identical outputs: no test can distinguish them"
"""How the warning ends that names such systems; a report has a check for it."""


@dataclass(frozen=True)
class ReadOutputs:
    """What reading every file of a test set gave.

    Parameters
    ----------
    candidates : list of Candidate
        One a system.
    notes : list of str
        What is odd.
    problems : list of Problem
        What is wrong.
    warnings : list of str
        What was odd about the files.
    left_out : list of str
        Systems in the files that ``systems.exclude`` leaves out.
    largest : dict of str to dict of str to (float, int)
        By system and column of numbers, the largest without its sign, and its line.
    taken : tuple of str
        Groups that might have been systems.
    kinds : dict of str to Kind
        What the values of each output are like.
    """

    candidates: list[Candidate]
    notes: list[str]
    problems: list[Problem]
    taken: tuple[str, ...]
    kinds: dict[str, Kind]
    warnings: list[str]
    left_out: list[str]
    largest: dict[str, dict[str, tuple[float, int]]]


@dataclass(frozen=True)
class OutputFiles:
    """Files of outputs with what reads them.

    Parameters
    ----------
    reader : Reader
    spec : TestSet
    whole : Items or None
        All items of the gold, for readers that fit outputs to it.
    """

    reader: Reader
    spec: TestSet
    whole: Items | None

    def read(self, found: Found) -> dict[str, Items]:
        """Return the outputs in a file by system, as the file has them."""
        return self.reader.read_outputs(found.path, system=found.system, options=reader_options(self.spec))

    def fit(self, items: Items) -> Items:
        """Return an output cut into the gold's items, where the format can tell them although the file cuts them otherwise."""
        return items if self.whole is None else self.reader.fit(self.whole, items)

    def reread(self, candidate: Candidate) -> Items:
        """Read a candidate's file once more."""
        system = candidate.output.found or candidate.system
        found = Found(None if is_table(self.spec.outputs) else system, Path(candidate.source))
        return self.fit(self.read(found)[candidate.system])

    def survey(self, found: list[Found], systems: Systems, gold: Items | None) -> ReadOutputs:
        """Read every output, and keep of each what is needed to align it."""
        result = ReadOutputs([], [], [], (), {}, [], [], {})
        taken: tuple[str, ...] = ()
        ids_seen: dict[tuple[str, ...], tuple[str, ...]] = {}
        for one in found:
            try:
                outputs = self.read(one)
                fitted = {system: self.fit(items) for system, items in outputs.items()}
            except DataError as exc:
                result.problems.extend(exc.problems)
                continue
            both = (*outputs.values(), *fitted.values())
            result.warnings.extend(warning for items in both for warning in items.warnings)
            taken = (*taken, *(groups_like_systems(list(outputs.values()), self.spec, gold) if one.system is None else ()))
            for system, items in outputs.items():
                if is_excluded(system, systems.exclude):
                    result.left_out.append(system)
                else:
                    # Line numbers are the same in every file: one tuple serves them all.
                    ids = ids_seen.setdefault(fitted[system].ids, fitted[system].ids)
                    candidate = _candidate(system, one, items, fitted[system], ids, group_columns(self.spec))
                    result.candidates.append(replace(candidate, blank=self.reader.blank, names_some=self.reader.gold_lists_items))
                    result.notes.extend(_oddities(system, items, gold, one.path, self.spec))
                    result.largest[system] = dict(_largest(items))
                    if gold is not None:
                        result.kinds[system] = describe_kind(items)
        files = frozenset(str(one.path) for one in found)
        return replace(result, taken=taken, warnings=warn_once(result.warnings, files))


def warn_once(warnings: Sequence[str], files: Collection[str]) -> list[str]:
    """Return warnings of files, each once: what is the same of several files is said of the first, with how many more there are.

    Examples
    --------
    >>> warn_once(["a.csv: 'x' holds text", "b.csv: 'x' holds text", "b.csv:3: odd"], ["a.csv", "b.csv", "c.csv"])
    ["a.csv and 1 more file: 'x' holds text", 'b.csv:3: odd']
    """
    places: dict[str, list[str]] = {}
    for warning in dict.fromkeys(warnings):
        source, colon, told = warning.partition(": ")
        of_file = colon and source in files
        places.setdefault(told if of_file else warning, []).append(source if of_file else "")
    said = []
    for told, (first, *more) in places.items():
        others = f" and {len(more):,} more {'file' if len(more) == 1 else 'files'}" if more else ""
        said.append(f"{first}{others}: {told}" if first else told)
    return said


def load_output(spec: TestSet, output: Output, *, frame: Frame, base: Path | None = None, gold_digest: str | None = None) -> Items:
    """Read one output again, in the order of the frame; what is missing is filled where the study says ``zero``.

    Parameters
    ----------
    base : Path, optional
        The folder of the study file, for formats whose outputs are fitted to the gold.
    gold_digest : str, optional
        What was surveyed of the gold that they are fitted to.

    Raises
    ------
    DataError
        P220, where the content is not what was surveyed.
    """
    reader = load_reader(spec.format)
    fits = base is not None and fits_outputs(reader)
    files = OutputFiles(reader, spec, whole_gold_once(spec, base, digest=gold_digest) if fits and base is not None else None)
    if is_table(spec.outputs) or output.found is not None:
        items = read_table_once(spec.format, Path(output.path), reader_options(spec), system=output.found).get(output.system)
    else:
        items = files.read(Found(output.system, Path(output.path))).get(output.system)
    if items is None or digest_items(items, leave_out=group_columns(spec)) != output.digest:
        raise DataError.of(
            "P220",
            f"the output of '{output.system}' changed after it was surveyed",
            where=output.path,
            help="start the study again: the changed file makes it a new run, which reuses what is still valid",
        )
    items = files.fit(items)
    # What groups items is in the frame by now: no metric shall take it for a score.
    left_out = {*group_columns(spec), CONTENT}
    values = {name: column for name, column in items.columns.items() if name not in left_out}
    return align_items(replace(items, columns=values), frame, missing=spec.missing, blank=reader.blank, whole=not output.missing)


def _candidate(system: str, found: Found, items: Items, fitted: Items, ids: tuple[str, ...], groups: Collection[str]) -> Candidate:
    output = Output(
        system,
        os.path.abspath(found.path),
        digest_items(items, leave_out=groups),
        len(fitted),
        found=found.system if found.system != system else None,
        coordinates=_join_coordinates(found.coordinates, items.coordinates),
        published=_republish(items),
        directions=items.directions,
        columns=tuple(name for name in items.columns if name not in {*groups, CONTENT}),
    )
    there = {name: tuple(fitted.columns[name]) for name in groups if name in fitted.columns}
    noun = "line" if items.lines[-1:] == (len(items),) else "sentence"
    contents = tuple(items.columns.get(CONTENT, ()))
    return Candidate(output, str(found.path), ids, fitted.numbered, there, noun, contents)


def _largest(items: Items) -> Iterator[tuple[str, tuple[float, int]]]:
    """Yield each column all of whose values are numbers, with the one that is furthest from 0 and its line."""
    for name, values in items.columns.items():
        with suppress(TypeError, ValueError):  # a column of texts or lists ends at its first value
            sizes = [abs(float(value)) for value in values]
            if sizes:
                place = max(range(len(sizes)), key=sizes.__getitem__)
                yield name, (sizes[place], items.lines[place])


def _join_coordinates(path: Mapping[str, str], file: Mapping[str, str]) -> dict[str, str]:
    """Return what a path and its file say of a system; runs in the file of a run are replicas of the model all the same."""
    if "replica" not in path or "replica" not in file:
        return {**path, **file}
    trained = {name: value for name, value in file.items() if name != "runs_are"}  # what runs are, the path says
    return {**trained, "model": path["model"], "replica": f"{path['replica']}/{file['replica']}"}


def _republish(items: Items) -> dict[str, tuple[float, float]]:
    """Return what a file says of its items as a whole beside the mean of what it says of each, by column."""
    found = {}
    for name, published in items.published.items():
        values = [float(value) for value in items.columns.get(name, ())]
        if values:
            found[name] = (float(published), sum(values) / len(values))
    return found


def _oddities(system: str, items: Items, gold: Items | None, path: Path, spec: TestSet) -> list[str]:
    notes = []
    if not any(items.columns.get("text", [True])):
        notes.append(f"every output of '{system}' is empty")
    if gold is not None and (copied := _find_copied(items, gold, spec)) is not None:
        notes.append(f"the output of '{system}', {path.name}, {copied}, unless it is there to show the best possible score")
    if gold is not None and "text" in items.columns:
        references = next((values for key, values in gold.columns.items() if key.startswith("reference.")), ())
        if _is_list_of_names(items.columns["text"], references):
            notes.append(
                f"'{system}' looks like a list of document names, not like an output: give it by `documents:`, "
                "and leave it out by `systems.exclude`"
            )
    return notes


def _find_copied(items: Items, gold: Items, spec: TestSet) -> str | None:
    """Say that an output is a reference, or may be a copy of the gold, and what to do; None where it is none.

    Nobody writes a reference by chance, but a system may be right everywhere.
    """
    references = {name: values for name, values in gold.columns.items() if name.startswith("reference.")}
    for place, values in enumerate(references.values()):
        if values == items.columns.get("text"):
            file = spec.references[place] if len(spec.references) == len(references) else gold.source
            return f"is the reference {os.path.basename(file)} itself: leave it out"
    answers = items.columns.keys() & gold.columns.keys() - {*group_columns(spec), CONTENT}
    if not answers or items.ids != gold.ids or any(items.columns[name] != gold.columns[name] for name in answers):
        return None
    gold_file = f"the gold {os.path.basename(spec.gold)}" if isinstance(spec.gold, str) else "the gold"
    return f"equals {gold_file} on every item: if it is a copy, leave it out"


_FEWEST_LINES = 20
"""In fewer lines names and short outputs look alike."""


def _is_list_of_names(texts: Sequence[str], references: Sequence[str]) -> bool:
    """Say whether no text has two words, or each occurs three times or more on average, and references are nothing like that."""
    if len(texts) < _FEWEST_LINES or len(references) < _FEWEST_LINES:
        return False
    words = not any(" " in text.strip() for text in texts) and 2 * sum(" " in text.strip() for text in references) > len(references)
    # Of other outputs the first half has more distinct texts than that already.
    repeated = all(3 * len(set(some)) <= len(texts) for some in (texts[: len(texts) // 2], texts))
    return words or (repeated and 3 * len(set(references)) > 2 * len(references))


_Stamp = tuple[int, int, int, int]


def read_table_once(form: FormatSpec, path: Path, options: Mapping[str, Any], *, system: str | None = None) -> dict[str, Items]:
    """Return the items of every system in a table, or of every run of one system, parsed again only where the file is another one.

    Extraction asks for one system at a time: of S systems each would parse and check S columns. A file that is changed within
    the tick of the clock and keeps its length is not seen to be another; the digest that an output is held to is then that of
    what was surveyed.

    Parameters
    ----------
    form : FormatSpec
        The format, with its reader's options.
    path : Path
        The table.
    options : mapping
        What the study says of columns and of items that are missing.
    system : str, optional
        The system of which the file holds several runs.
    """
    try:
        found = path.stat()
    except OSError:
        # The reader says what is wrong with it.
        return load_reader(form).read_outputs(path, system=system, options=options)
    stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return _read(form.model_dump_json(), path, system, json.dumps(options), stamp)


@lru_cache(maxsize=1)
def _read(form: str, path: Path, system: str | None, options: str, stamp: _Stamp) -> dict[str, Items]:
    items = load_reader(json.loads(form)).read_outputs(path, system=system, options=json.loads(options))
    # Equal fields become one string: what is kept of a large table is its places, not its text.
    one: dict[str, str] = {}
    return {
        named: replace(of, columns={name: _shared(of.columns[name], one) for name in of.columns}) for named, of in items.items()
    }


def _shared(values: Sequence[Any], one: dict[str, str]) -> Sequence[Any]:
    # What a reader of another package gives need be no text: 1 and true are equal, and not the same.
    return tuple(map(one.setdefault, values, values)) if all(type(value) is str for value in values) else values
