"""Outputs, gold and documents of a test set, brought together or refused. This module reads each file once.

The codes P201 to P229 are listed in `pipeline.items.codes`. An alignment is never guessed: files without identifiers go by line
number, so they must have the same number of lines, unless the study says what becomes of the rest and nothing speaks for a gap in
the middle.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import DataError, NothingToCompare, Problem
from pipeline.interfaces import Items, Reader
from pipeline.items.compare import Candidate, check_alignment, choose_frame_ids
from pipeline.items.datasets import gold_items, load_dataset
from pipeline.items.discover import Found, find_outputs, is_excluded, is_table
from pipeline.items.documents import Sources, groups_like_systems, make_frame, read_documents, read_group
from pipeline.items.frame import Frame, Output, Survey, align_items, digest_items
from pipeline.items.item_table import ItemTable
from pipeline.items.last_table import read_table_once
from pipeline.items.readers import load_reader
from pipeline.items.selection import select_items
from pipeline.study.grouping import ITEM, group_columns
from pipeline.study.schema import DatasetSpec, Systems, TestSet

__all__ = [
    "AlignmentRow",
    "Frame",
    "Output",
    "Survey",
    "align_items",
    "alignment_table",
    "load_gold",
    "load_output",
    "read_gold",
    "survey_test_set",
]


class AlignmentRow(NamedTuple):
    """One line of the table that `pipeline check` prints."""

    system: str
    items: int
    common: int
    missing: int
    duplicates: int
    identical_to: tuple[str, ...]


def survey_test_set(
    name: str,
    spec: TestSet,
    *,
    base: Path,
    systems: Systems,
    unit: str,
    strata: str | None = None,
    gold: Items | None = None,
    min_systems: int = 2,
) -> Survey:
    """Read everything of a test set once, and give the frame all outputs are aligned to.

    Parameters
    ----------
    name : str
        Name of the test set.
    spec : TestSet
        From the study file.
    base : Path
        The folder of the study file.
    systems : Systems
        Whose ``exclude`` applies.
    unit : str
        ``item``, ``document`` or any column that ``spec`` brings.
    strata : str, optional
        A column that no unit crosses.
    gold : Items, optional
        The gold of an embedded data set, in place of a file.
    min_systems : int
        Fewer are refused; without ``outputs:`` (they come from training) none is needed.

    Raises
    ------
    DataError
        With every problem of the test set; `NothingToCompare` where too few systems are the only one.
    """
    reader = load_reader(spec.format)
    problems: list[Problem] = []
    if gold is None:
        try:
            gold = _read_gold_files(reader, spec, base)
        except DataError as exc:
            problems.extend(exc.problems)
    found, wrong = find_outputs(spec.outputs, base=base, exclude=systems.exclude)
    candidates, notes, unreadable, taken = _read_all(reader, found, spec, systems, gold)
    problems.extend((*wrong, *unreadable))
    names = [candidate.system for candidate in candidates]
    problems.extend(_unprintable(names))
    if not problems and spec.outputs is not None and len(names) < min_systems:
        raise NothingToCompare.of(
            "P290",
            f"test set '{name}' has {len(names)} system{'s' * (len(names) != 1)}, and a comparison needs {min_systems}",
            where=str(spec.outputs),
            help="see `outputs:` and `systems.exclude:` in the study",
            note="; ".join(
                [*([f"found: {', '.join(names)}"] if names else []), *(f"the column '{group}' groups the items" for group in taken)]
            )
            or None,
        )
    full = choose_frame_ids(gold, candidates)
    checked = check_alignment(full, candidates, gold, missing=spec.missing, reread=lambda one: _reread(reader, one, spec))
    problems.extend(checked.problems)
    listed = ItemTable(base / spec.documents, spec.columns) if spec.documents is not None else None
    sources = Sources(name, spec, listed, full.ids, full.numbered, gold, candidates)
    groups: dict[str, tuple[str, ...]] = {}
    for column in dict.fromkeys([*([] if unit == ITEM else [unit]), *([] if strata is None else [strata])] if full.ids else []):
        try:
            groups[column], doubts = read_group(column, sources)
            notes.extend(doubts)
        except DataError as exc:
            problems.extend(exc.problems)
    documents, doubts = read_documents(sources) if unit == ITEM else (None, [])
    notes.extend(doubts)
    frame = Frame(name, (), (), ())
    try:
        given = {"unit": groups.get(unit), "stratum": groups.get(strata or ""), "document": documents}
        frame = make_frame(name, full.ids, checked.kept, **given, names=(unit, strata or ""))
    except DataError as exc:
        problems.extend(exc.problems)
    if not problems and strata is not None and len(frame.strata) == len(frame.units):
        message = f"every {unit} of test set '{name}' is alone in its stratum: resampling always gives the same test set"
        problems.append(Problem("P229", message, str(spec.outputs or ""), f"leave out `strata: {strata}`, or take larger strata"))
    if not problems and len(frame.units) < 2:
        problems.append(
            Problem(
                "P213",
                f"test set '{name}' has {len(frame.units)} {unit}{'s' * (len(frame.units) != 1)}: "
                "resampling one unit always gives the same test set",
                str(spec.outputs or ""),
                "a test needs at least two units, and many more to find anything",
            )
        )
    if problems:
        raise DataError(*dict.fromkeys(problems))  # a file that two columns are looked for in cannot be read twice
    if strata is not None and len(frame.strata) == 1:
        notes.append(
            f"all {len(frame.units)} units are in one stratum, '{frame.strata[0]}' of {strata}: this resamples as without strata"
        )
    identical = _identical(candidates)
    notes.extend(f"{' and '.join(group)} have identical outputs: no test can tell them apart" for group in identical)
    return Survey(
        frame=frame,
        outputs=tuple(checked.outputs),
        gold_digest=digest_items(gold) if gold is not None else "",
        reader=reader.name,
        warnings=tuple(dict.fromkeys((*getattr(reader, "warnings", ()), *checked.warnings, *notes))),
        identical=identical,
        taken=taken,
        gold=gold,
    )


def load_gold(spec: TestSet, *, base: Path, frame: Frame, digest: str | None = None, gold: Items | None = None) -> Items | None:
    """Read the gold or the references again, in the order of the frame; ``gold`` is that of an embedded data set.

    Raises
    ------
    DataError
        P220, where ``digest`` is given and the content is not what was surveyed.
    """
    if gold is None:
        if isinstance(spec.gold, DatasetSpec):
            raise ValueError("the gold of an embedded data set is passed in, not read from a file")
        gold = read_gold(spec, base)
    if digest is not None and digest != (digest_items(gold) if gold is not None else ""):
        raise DataError.of(
            "P220",
            "the gold or a reference changed after it was surveyed",
            where=gold.source if gold is not None else None,
            help="start the study again: the changed file makes it a new run, which reuses what still holds",
        )
    return None if gold is None else align_items(gold, frame)


def read_gold(spec: TestSet, base: Path) -> Items | None:
    """Read the gold or the references of a test set, the chosen items of it; None where it has none."""
    if not isinstance(spec.gold, DatasetSpec):
        return _read_gold_files(load_reader(spec.format), spec, base)
    gold = gold_items(load_dataset(spec.gold))
    return gold if spec.items is None else select_items(gold, spec.items, where="items")


def _read_gold_files(reader: Reader, spec: TestSet, base: Path) -> Items | None:
    files = [*spec.references, *([spec.gold] if isinstance(spec.gold, str) else [])]
    gold = reader.read_gold([base / file for file in files], _options(spec))
    return gold if gold is None or spec.items is None else select_items(gold, spec.items, where="items")


def load_output(spec: TestSet, output: Output, *, frame: Frame) -> Items:
    """Read one output again, in the order of the frame; what is missing is filled where the study says ``zero``.

    Raises
    ------
    DataError
        P220, where the content is not what was surveyed.
    """
    reader = load_reader(spec.format)
    if is_table(spec.outputs):
        items = read_table_once(reader.name, Path(output.path), spec.columns).get(output.system)
    else:
        items = _read_outputs(reader, Found(output.system, Path(output.path)), spec).get(output.system)
    if items is None or digest_items(items, leave_out=group_columns(spec)) != output.digest:
        raise DataError.of(
            "P220",
            f"the output of '{output.system}' changed after it was surveyed",
            where=output.path,
            help="start the study again: the changed file makes it a new run, which reuses what still holds",
        )
    # What groups items is in the frame by now: no metric shall take it for a score.
    values = {name: column for name, column in items.columns.items() if name not in group_columns(spec)}
    return align_items(replace(items, columns=values), frame, missing=spec.missing, blank=getattr(reader, "blank", ""))


def alignment_table(survey: Survey) -> list[AlignmentRow]:
    """Give one row a system: how many items it has, shares with the gold, lacks, has twice, and who has the same output."""
    twins = {system: tuple(other for other in group if other != system) for group in survey.identical for system in group}
    return [
        AlignmentRow(o.system, o.n_items, o.n_items - o.extra, o.missing, o.duplicates, twins.get(o.system, ()))
        for o in survey.outputs
    ]


def _read_all(
    reader: Reader, found: list[Found], spec: TestSet, systems: Systems, gold: Items | None
) -> tuple[list[Candidate], list[str], list[Problem], tuple[str, ...]]:
    """Read every output; give what is kept of each, what is odd, what is wrong, and groups that might have been systems."""
    taken: tuple[str, ...] = ()
    candidates: list[Candidate] = []
    notes: list[str] = []
    problems: list[Problem] = []
    ids_seen: dict[tuple[str, ...], tuple[str, ...]] = {}
    for one in found:
        try:
            outputs = _read_outputs(reader, one, spec)
        except DataError as exc:
            problems.extend(exc.problems)
            continue
        taken = (*taken, *(groups_like_systems(list(outputs.values()), spec, gold) if one.system is None else ()))
        for system, items in outputs.items():
            if not is_excluded(system, systems.exclude):
                # Line numbers are the same in every file: one tuple serves them all.
                ids = ids_seen.setdefault(items.ids, items.ids)
                candidates.append(_candidate(system, one, items, ids, group_columns(spec)))
                notes.extend(_oddities(system, items, gold))
    return candidates, notes, problems, taken


def _options(spec: TestSet) -> Mapping[str, Any]:
    return {"columns": dict(spec.columns)}


def _read_outputs(reader: Reader, found: Found, spec: TestSet) -> dict[str, Items]:
    return reader.read_outputs(found.path, system=found.system, options=_options(spec))


def _reread(reader: Reader, candidate: Candidate, spec: TestSet) -> Items:
    found = Found(None if is_table(spec.outputs) else candidate.system, Path(candidate.source))
    return _read_outputs(reader, found, spec)[candidate.system]


def _candidate(system: str, found: Found, items: Items, ids: tuple[str, ...], groups: Collection[str]) -> Candidate:
    output = Output(system, os.path.abspath(found.path), digest_items(items, leave_out=groups), len(items))
    there = {name: tuple(items.columns[name]) for name in groups if name in items.columns}
    noun = "line" if items.lines[-1:] == (len(items),) else "sentence"
    return Candidate(output, str(found.path), ids, items.numbered, there, noun)


def _oddities(system: str, items: Items, gold: Items | None) -> list[str]:
    notes = []
    for name, values in items.columns.items():
        if name == "text" and not any(values):
            notes.append(f"every output of '{system}' is empty")
        if gold is not None and any(values == other for key, other in gold.columns.items() if key.startswith("reference.")):
            notes.append(f"the output of '{system}' is a reference, word for word")
    return notes


def _unprintable(names: list[str]) -> list[Problem]:
    return [
        Problem("P221", f"the system name {name!r} is empty or holds characters that do not print", help="rename it")
        for name in names
        if not name.strip() or not name.isprintable()
    ]


def _identical(candidates: list[Candidate]) -> tuple[tuple[str, ...], ...]:
    groups: dict[str, list[str]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.output.digest, []).append(candidate.system)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
