"""Outputs, gold and documents of a test set: each file is read once, and they are brought together or refused.

An alignment is never guessed: files without identifiers go by line
number, so they must have the same number of lines, unless the study says what becomes of the rest and nothing speaks for a gap in
the middle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import DataError, NothingToCompare, PipelineError, Problem, is_name, name_some
from pipeline.inputs import locate_input
from pipeline.interfaces import Items
from pipeline.items.choices import ChosenUnit, choose_by_groups, choose_unit
from pipeline.items.compare import Candidate, check_alignment, choose_frame_ids, disagreeing_contents
from pipeline.items.discover import find_outputs, folders_without_output, is_table, names_left_out
from pipeline.items.documents import Sources, make_frame, read_group
from pipeline.items.frame import Frame, Output, Survey, describe_kind, digest_items
from pipeline.items.gold import choose_items, whole_gold
from pipeline.items.item_table import ItemTable
from pipeline.items.offers import offer_pattern, offer_sets
from pipeline.items.outputs import HAVE_IDENTICAL_OUTPUTS, OutputFiles, ReadOutputs
from pipeline.items.readers import load_reader
from pipeline.study.grouping import ITEM, REPLICA
from pipeline.study.schema import Systems
from pipeline.study.sets import ItemChoice, TestSet
from pipeline.study.training_schema import DatasetSpec

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
    problems: list[Problem] = []
    whole, gold = _read_gold(spec, base, gold, problems)
    told_of_gold = whole.warnings if whole is not None else ()
    files = OutputFiles(load_reader(spec.format), spec, whole)
    read = _read_outputs(files, base, systems, gold, problems)
    candidates, notes = read.candidates, read.notes
    if REPLICA in spec.columns and candidates and not any(REPLICA in each.output.coordinates for each in candidates):
        message = f"the column '{spec.columns[REPLICA]}' was not read: the format {files.reader.name} has no column of runs"
        problems.append(Problem("P211", message, name, "give each run a file of its own: a path with {system} and {replica}"))
    empty = [candidate.system for candidate in candidates if not candidate.ids] if spec.missing != "error" else []
    if empty:  # they would count as 0 throughout, or leave nothing to compare
        problems.extend(Problem("P218", f"system '{system}' has no items", name, _EMPTY) for system in empty)
        raise DataError(*problems)
    if not problems and spec.outputs is not None and len(candidates) < min_systems:
        raise _too_few(name, spec, read, min_systems)
    # Where only some items of the gold are scored, outputs may have them all, or those alone.
    whole_outputs = whole is not None and any(len(candidate.ids) == len(whole) for candidate in candidates)
    right = whole if whole_outputs else gold
    full = choose_frame_ids(right, candidates)
    listed = ItemTable(locate_input(base, spec.documents), spec.columns) if spec.documents is not None else None
    sources = Sources(name, spec, listed, full.ids, full.numbered, right, candidates)
    chosen = full.ids if right is gold or gold is None else gold.ids
    if isinstance(spec.items, ItemChoice) and full.ids:
        with _gathered(problems):
            chosen, told = choose_by_groups(spec.items, sources)
            notes.extend(told)
    sources = replace(sources, scored=frozenset(chosen))
    checked = check_alignment(full, candidates, right, missing=spec.missing, reread=files.reread, chosen=chosen)
    problems.extend(_offer_sets(checked.problems, candidates, files))
    problems.extend(disagreeing_contents(candidates, chosen))
    frame, drawn = _group_items(sources, checked.kept, unit, strata, notes, problems)
    problems.extend([] if problems else _nothing_varies(frame, drawn.name, strata, str(spec.outputs or "")))
    if problems:
        raise DataError(*dict.fromkeys(problems))  # a file that two columns are looked for in cannot be read twice
    if strata is not None and len(frame.strata) == 1:
        notes.append(
            f"all {len(frame.units)} units are in one stratum, '{frame.strata[0]}' of {strata}: this resamples as without strata"
        )
    identical = _identical(candidates)
    notes.extend(_tell_published(checked.outputs))
    if identical:
        groups = name_some([" and ".join(group) for group in identical], 5)
        notes.append(f"{groups} {HAVE_IDENTICAL_OUTPUTS}")
    return Survey(
        frame=frame,
        outputs=tuple(checked.outputs),
        gold_digest=digest_items(gold) if gold is not None else "",
        reader=files.reader.name,
        warnings=tuple(dict.fromkeys((*told_of_gold, *read.warnings, *checked.warnings, *notes))),
        identical=identical,
        taken=read.taken,
        left_out=tuple(read.left_out),
        largest=read.largest,
        gold=gold,
        kinds=read.kinds,
        gold_kind=describe_kind(gold) if gold is not None else None,
        unit=drawn.name,
        unit_reason=drawn.reason,
    )


def _offer_sets(problems: Sequence[Problem], candidates: Sequence[Candidate], files: OutputFiles) -> Iterator[Problem]:
    """Go through problems of items, and say of tables that may be test sets what to do then."""
    lacking = any(problem.code in ("P216", "P217") and problem.note is None for problem in problems)
    offered = offer_sets([(each.source, files.reread(each).columns) for each in candidates]) if lacking else None
    differ = any(problem.code in ("P216", "P217", "P226") for problem in problems)
    named = offer_pattern([each.source for each in candidates]) if differ else None
    for problem in problems:
        if named and problem.code in ("P216", "P217", "P226"):
            problem, named = replace(problem, note="; ".join(filter(None, (problem.note, named)))), None
        yield replace(problem, note=offered) if offered and problem.note is None else problem


@contextmanager
def _gathered(problems: list[Problem]) -> Iterator[None]:
    """Collect problems of the data with the other problems, to raise all at once."""
    try:
        yield
    except DataError as exc:
        problems.extend(exc.problems)


def _read_gold(spec: TestSet, base: Path, given: Items | None, problems: list[Problem]) -> tuple[Items | None, Items | None]:
    """Return all items of the gold, and those that are scored.

    An embedded gold is passed in as it is scored; outputs are fitted to all of it, here and when they are read again.
    """
    if given is not None:
        return (whole_gold(spec, base) if isinstance(spec.gold, DatasetSpec) else given), given
    whole = chosen = None
    with _gathered(problems):
        whole = whole_gold(spec, base)
        chosen = choose_items(whole, spec)
    return whole, chosen


def _read_outputs(files: OutputFiles, base: Path, systems: Systems, gold: Items | None, problems: list[Problem]) -> ReadOutputs:
    """Find and read every output, and note which folders have none."""
    outputs = files.spec.outputs
    found, wrong = find_outputs(outputs, base=base, exclude=systems.exclude)
    read = files.survey(found, systems, gold)
    if systems.exclude and not is_table(outputs):
        read.left_out.extend(names_left_out(outputs, base=base, exclude=systems.exclude))
    empty = folders_without_output(outputs, base=base, exclude=systems.exclude)
    if empty:
        read.notes.append(f"{_WITHOUT_FILE} are not systems: {name_some(empty, 5)}")
    problems.extend((*wrong, *read.problems))
    problems.extend(_unprintable([candidate.system for candidate in read.candidates]))
    return read


_EMPTY = "give its outputs, or leave it out by `systems.exclude`"
_WITHOUT_FILE = "folders without a file that `outputs:` names"


def _too_few(name: str, spec: TestSet, read: ReadOutputs, needed: int) -> PipelineError:
    names = [candidate.system for candidate in read.candidates]
    seen = [f"found: {', '.join(names)}"] if names else []
    seen += [note for note in read.notes if note.startswith(_WITHOUT_FILE)]
    seen += [f"the column '{group}' groups the items" for group in read.taken]
    seen += read.warnings[:3]  # such as a column of text, which may be what was meant
    help_ = "see `outputs:` and `systems.exclude:` in the study"
    if len(names) + len(read.left_out) >= needed:  # the files hold enough of them
        help_ = f"`systems.exclude` leaves out {name_some(read.left_out)}: leave out fewer"
    return NothingToCompare.of(
        "P290",
        f"test set '{name}' has {len(names)} system{'s' * (len(names) != 1)}, and a comparison needs {needed}",
        where=", ".join(spec.outputs.values()) if isinstance(spec.outputs, Mapping) else spec.outputs,
        help=help_,
        note="; ".join(seen) or None,
    )


def _group_items(
    sources: Sources, kept: Collection[str], unit: str | None, strata: str | None, notes: list[str], problems: list[Problem]
) -> tuple[Frame, ChosenUnit]:
    """Return the frame of the items that are kept, and what is drawn of it."""
    frame, drawn = Frame(sources.test_set, (), (), ()), ChosenUnit(unit or ITEM)
    stratum: tuple[str, ...] | None = None
    with _gathered(problems):
        if strata is not None and sources.ids:
            stratum, doubts = read_group(strata, sources, key="resampling.strata")
            notes.extend(doubts)
    with _gathered(problems):
        if sources.ids:
            drawn = choose_unit(unit, sources, kept, stratum)
            notes.extend(drawn.notes)
        groups = {"unit": drawn.groups, "stratum": stratum, "document": drawn.documents}
        frame = make_frame(sources.test_set, sources.ids, kept, **groups, names=(drawn.name, strata or ""))
    return frame, drawn


def _nothing_varies(frame: Frame, unit: str, strata: str | None, where: str) -> list[Problem]:
    """Return a problem where resampling always gives the same test set: each unit is alone in its stratum, or there is only one."""
    always = "resampling always gives the same test set"
    problems = []
    if strata is not None and len(frame.strata) == len(frame.units):
        message = f"every {unit} of test set '{frame.test_set}' is alone in its stratum: {always}"
        problems.append(Problem("P229", message, where, f"leave out `strata: {strata}`, or take larger strata"))
    elif len(frame.units) < 2:
        message = (
            f"test set '{frame.test_set}' has {len(frame.units)} {unit}{'s' * (len(frame.units) != 1)}: "
            "resampling one unit always gives the same test set"
        )
        problems.append(Problem("P213", message, where, "a test needs at least two units, and many more to find anything"))
    return problems


def alignment_table(survey: Survey) -> list[AlignmentRow]:
    """Return one row for each system: its items, those shared with the gold, missing and repeated ones, and systems equal to it."""
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
        if not is_name(name)
    ]


def _identical(candidates: list[Candidate]) -> tuple[tuple[str, ...], ...]:
    groups: dict[str, list[str]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.output.digest, []).append(candidate.system)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
