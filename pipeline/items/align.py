"""Outputs, gold and documents of a test set, brought together or refused. This module reads each file once.

An alignment is never guessed: files without identifiers go by line
number, so they must have the same number of lines, unless the study says what becomes of the rest and nothing speaks for a gap in
the middle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import DataError, NothingToCompare, Problem, name_some
from pipeline.interfaces import Items
from pipeline.items.choices import ChosenUnit, choose_by_groups, choose_unit
from pipeline.items.compare import Candidate, check_alignment, choose_frame_ids, disagreeing_contents
from pipeline.items.discover import find_outputs, folders_without_output
from pipeline.items.documents import Sources, make_frame, read_group
from pipeline.items.frame import Frame, Output, Survey, digest_items
from pipeline.items.gold import choose_items, whole_gold
from pipeline.items.item_table import ItemTable
from pipeline.items.kinds import describe_kind
from pipeline.items.outputs import OutputFiles
from pipeline.items.readers import load_reader
from pipeline.study.grouping import ITEM
from pipeline.study.schema import DatasetSpec, ItemChoice, Systems, TestSet

__all__ = ["AlignmentRow", "alignment_table", "survey_test_set"]


_PUBLISHED_ALIKE = 1e-4
"""Published means and those of items are alike within this: files round what they publish."""


class AlignmentRow(NamedTuple):
    """One line of the table that `pipeline check` prints."""

    system: str
    items: int
    common: int
    missing: int
    duplicates: int
    identical_to: tuple[str, ...]
    published: Mapping[str, tuple[float, float]]


def survey_test_set(
    name: str,
    spec: TestSet,
    *,
    base: Path,
    systems: Systems,
    unit: str | None,
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
    unit : str or None
        ``item``, ``document`` or any column that ``spec`` brings; None for documents where they are known, else items.
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
    # An embedded gold is passed in as it is scored; outputs are fitted to all of it, here and when they are read again.
    whole = whole_gold(spec, base) if isinstance(spec.gold, DatasetSpec) else gold
    if gold is None:
        try:
            whole = whole_gold(spec, base)
            gold = choose_items(whole, spec)
        except DataError as exc:
            problems.extend(exc.problems)
    found, wrong = find_outputs(spec.outputs, base=base, exclude=systems.exclude)
    files = OutputFiles(reader, spec, whole)
    read = files.survey(found, systems, gold)
    candidates, notes, taken = read.candidates, read.notes, read.taken
    empty = folders_without_output(spec.outputs, base=base, exclude=systems.exclude)
    lost = [f"folders without a file that `outputs:` names are no systems: {name_some(empty, 5)}"] if empty else []
    notes.extend(lost)
    problems.extend((*wrong, *read.problems))
    names = [candidate.system for candidate in candidates]
    problems.extend(_unprintable(names))
    if not problems and spec.outputs is not None and len(names) < min_systems:
        raise NothingToCompare.of(
            "P290",
            f"test set '{name}' has {len(names)} system{'s' * (len(names) != 1)}, and a comparison needs {min_systems}",
            where=", ".join(spec.outputs.values()) if isinstance(spec.outputs, Mapping) else spec.outputs,
            help="see `outputs:` and `systems.exclude:` in the study",
            note="; ".join(
                [
                    *([f"found: {', '.join(names)}"] if names else []),
                    *lost,
                    *(f"the column '{group}' groups the items" for group in taken),
                ]
            )
            or None,
        )
    # Where only some items of the gold are scored, outputs may have them all, or those alone.
    whole_outputs = whole is not None and any(len(candidate.ids) == len(whole) for candidate in candidates)
    right = whole if whole_outputs else gold
    full = choose_frame_ids(right, candidates)
    listed = ItemTable(base / spec.documents, spec.columns) if spec.documents is not None else None
    sources = Sources(name, spec, listed, full.ids, full.numbered, right, candidates)
    chosen = full.ids if right is gold or gold is None else gold.ids
    if isinstance(spec.items, ItemChoice) and full.ids:
        try:
            chosen, told = choose_by_groups(spec.items, sources)
            notes.extend(told)
        except DataError as exc:
            problems.extend(exc.problems)
    sources = replace(sources, scored=frozenset(chosen))
    checked = check_alignment(full, candidates, right, missing=spec.missing, reread=files.reread, chosen=chosen)
    problems.extend(checked.problems)
    problems.extend(disagreeing_contents(candidates, chosen))
    stratum: tuple[str, ...] | None = None
    chosen_unit = ChosenUnit(unit or ITEM)
    frame = Frame(name, (), (), ())
    try:
        if strata is not None and full.ids:
            stratum, doubts = read_group(strata, sources)
            notes.extend(doubts)
    except DataError as exc:
        problems.extend(exc.problems)
    try:
        if full.ids:
            chosen_unit = choose_unit(unit, sources, checked.kept, stratum)
            notes.extend(chosen_unit.notes)
        given = {"unit": chosen_unit.groups, "stratum": stratum, "document": chosen_unit.documents}
        frame = make_frame(name, full.ids, checked.kept, **given, names=(chosen_unit.name, strata or ""))
    except DataError as exc:
        problems.extend(exc.problems)
    unit = chosen_unit.name
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
    notes.extend(_tell_published(checked.outputs))
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
        kinds=read.kinds,
        gold_kind=describe_kind(gold) if gold is not None else None,
        unit=unit,
        unit_reason=chosen_unit.reason,
    )


def alignment_table(survey: Survey) -> list[AlignmentRow]:
    """Give one row a system: how many items it has, shares with the gold, lacks, has twice, and who has the same output."""
    twins = {system: tuple(other for other in group if other != system) for group in survey.identical for system in group}
    return [
        AlignmentRow(o.system, o.n_items, o.n_items - o.extra, o.missing, o.duplicates, twins.get(o.system, ()), o.published)
        for o in survey.outputs
    ]


def _tell_published(outputs: Sequence[Output]) -> list[str]:
    """Tell which aggregates of files are not those of their items."""
    told = []
    for name in dict.fromkeys(name for output in outputs for name in output.published):
        pairs = {output.system: output.published[name] for output in outputs if name in output.published}
        worst = max(pairs, key=lambda system: abs(pairs[system][1] - pairs[system][0]))
        published, here = pairs[worst]
        if abs(here - published) > _PUBLISHED_ALIKE * max(1.0, abs(published)):
            told.append(
                f"what files publish as {name} is not what their items give: for '{worst}' {published:g} is published, "
                f"its items have {here:g}"
            )
    return told


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
