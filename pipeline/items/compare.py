"""Whether outputs have the same items: each is compared with the items that its test set should have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pipeline.dataclass import dataclass, field
from pipeline.errors import Problem, name_some
from pipeline.interfaces import Items
from pipeline.items.frame import Missing, Output
from pipeline.items.misalignment import locate_missing_line, written_otherwise

__all__ = ["Alignment", "Candidate", "FullIds", "check_alignment", "choose_frame_ids", "disagreeing_contents"]

_MOST_NAMED = 5


@dataclass(frozen=True)
class Candidate:
    """An output that was read, before it is known whether it aligns."""

    output: Output
    source: str
    ids: tuple[str, ...]
    numbered: bool
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    noun: str = "line"
    """What is counted where items have no names: lines, or sentences of several."""
    contents: tuple[str, ...] = ()
    """A digest of what each item asked, where the file tells."""
    blank: str = ""
    """What stands for an item that is missing and counted."""
    names_some: bool = False
    """Whether such files may leave out items that a gold names."""

    @property
    def system(self) -> str:
        """Name of the system."""
        return self.output.system


@dataclass(frozen=True)
class FullIds:
    """The items a test set should have: those of ``whose``."""

    ids: tuple[str, ...]
    numbered: bool
    whose: str


@dataclass(frozen=True)
class Alignment:
    """How all outputs align, which items all of them have, and what is wrong."""

    outputs: list[Output] = field(default_factory=list)
    kept: Collection[str] = ()
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def choose_frame_ids(gold: Items | None, candidates: Sequence[Candidate]) -> FullIds:
    """Return the items of the gold; without one, those most outputs have in the order most have them, then the rest.

    The majority decides so that adding one system does not reorder the items, and with them the draws, of all others.
    """
    if gold is not None:
        return FullIds(gold.ids, gold.numbered, "the gold")
    if not candidates:
        return FullIds((), True, "the gold")
    counts = Counter(candidate.ids for candidate in candidates)
    most = max(counts, key=lambda ids: (counts[ids], len(ids)))
    numbered = all(candidate.numbered for candidate in candidates)
    if numbered:
        return FullIds(most, True, "the other systems" if counts[most] > 1 else "the longest file")
    rest = dict.fromkeys(name for candidate in candidates for name in candidate.ids)
    return FullIds(tuple(dict.fromkeys((*most, *rest))), False, "the other systems")


def check_alignment(
    full: FullIds,
    candidates: Sequence[Candidate],
    gold: Items | None,
    *,
    missing: Missing,
    reread: Callable[[Candidate], Items],
    chosen: Collection[str] | None = None,
) -> Alignment:
    """Compare every output with the items there should be.

    Parameters
    ----------
    full : FullIds
        The items there should be.
    candidates : sequence of Candidate
        The outputs.
    gold : Items, optional
        To find the line near which files part.
    missing : {"error", "drop", "zero"}
        What the study says.
    reread : callable
        Gives the items of a candidate once more, for files that part.
    chosen : collection of str, optional
        The items that are scored; the others need not be there.
    """
    wanted = dict.fromkeys(full.ids)
    scored = wanted if chosen is None or len(chosen) == len(full.ids) else dict.fromkeys(chosen)
    result = Alignment(kept=scored)
    lengths = {len(c.ids) for c in candidates}
    aligned = sum(_agrees(c, full, wanted) for c in candidates)
    if gold is not None and len(candidates) > 1 and len(lengths) == 1 and not aligned and all(c.numbered for c in candidates):
        (length,) = lengths
        whole = "both" if len(candidates) == 2 else f"all {len(candidates)}"
        message = f"items do not align: the gold has {len(full.ids)} items, {whole} systems have {length}"
        result.problems.append(Problem("P203", message, gold.source, "check that it is the gold of this test set"))
        return result
    if gold is None and _are_apart(candidates, full):
        result.problems.append(_nothing_left(candidates, full, any_scored=True))
        return result
    kept = set(scored)
    together = {*(candidate.ids for candidate in candidates), *([full.ids] if gold is not None else [])}
    for candidate in candidates:
        by_line = candidate.numbered and (full.numbered or len(candidate.ids) == len(full.ids))
        if by_line:
            given = dict.fromkeys(full.ids[: len(candidate.ids)])
            lacks = full.ids[len(candidate.ids) :]
            extra = max(0, len(candidate.ids) - len(full.ids))
        else:
            given = dict.fromkeys(candidate.ids)
            lacks = tuple(name for name in scored if name not in given)
            extra = sum(name not in wanted for name in candidate.ids)
        result.outputs.append(replace(candidate.output, missing=len(lacks), extra=extra))
        kept &= given.keys()
        if candidate.numbered and (lacks or extra):
            problem = _judge_lines(candidate, full, candidates, gold, missing, reread, aligned)
        else:
            problem = _judge_names(candidate, full, wanted, lacks, extra, missing, aligned, together)
        if problem is not None:
            result.problems.append(problem)
        elif lacks or extra:
            result.warnings.append(_tell_loss(candidate, len(lacks), extra, missing))
        elif candidate.numbered and not full.numbered:
            result.warnings.append(f"{candidate.source} has no identifiers: it goes line by line with {full.whose}")
    if missing != "drop":
        kept = set(scored)
    if full.ids and not kept:
        result.problems.append(_nothing_left(candidates, full, any_scored=bool(scored)))
    unnamed = [c for c in candidates if c.numbered and not full.numbered]
    short = [c for c in unnamed if len(c.ids) != len(full.ids) and missing != "error"]
    if unnamed and (short or len(kept) < len(full.ids)):
        worst = (short or unnamed)[0]
        what = "filled" if short and missing == "zero" else "left out"
        message = f"items are {what} by name, and the output of '{worst.system}' has only line numbers"
        result.problems.append(Problem("P214", message, worst.source, "give it an item column"))
    return replace(result, kept=kept)


def disagreeing_contents(candidates: Sequence[Candidate], chosen: Collection[str]) -> list[Problem]:
    """Return the systems whose items have the names of other systems' items, and are others, among those that are scored."""
    problems = []
    scored = set(chosen)
    asked: dict[str, tuple[str, str]] = {}
    for candidate in candidates:
        others = []
        for name, content in zip(candidate.ids, candidate.contents, strict=False):
            first, system = asked.setdefault(name, (content, candidate.system))
            if first != content and name in scored:
                others.append((name, system))
        if others:
            name, system = others[0]
            message = (
                f"system '{candidate.system}' was asked something else in {len(others)} of {len(candidate.ids)} items: "
                f"'{name}' is another item there than with '{system}'"
            )
            help_ = (
                "take outputs of one version of the test set, made with the same prompts; `agree:` of a format, where it has the "
            )
            help_ += "option, says in what items must be the same"
            problems.append(Problem("P262", message, candidate.source, help_))
    return problems


def _agrees(candidate: Candidate, full: FullIds, wanted: Collection[str]) -> bool:
    if len(candidate.ids) != len(full.ids):
        return False
    return candidate.numbered or candidate.ids == full.ids or all(name in wanted for name in candidate.ids)


def _judge_lines(
    candidate: Candidate,
    full: FullIds,
    candidates: Sequence[Candidate],
    gold: Items | None,
    missing: Missing,
    reread: Callable[[Candidate], Items],
    aligned: int,
) -> Problem | None:
    """Judge a file that has only line numbers, and another number of them."""
    count, right = len(candidate.ids), len(full.ids)
    near = _find_parting(candidate, right, candidates, gold, reread)
    noun = candidate.noun
    where = candidate.source if near is None else f"{candidate.source}, near {noun} {near}"
    message = f"items do not align: system '{candidate.system}' has {count} {noun}s, {full.whose} {_have(full.whose)} {right}"
    note = f"the other {aligned} systems align" if aligned > 1 else None
    empty = "; an empty output is an empty line" if noun == "line" else ""
    mend = f"correct the file: a {noun} is lost, split or joined there{empty}"
    if near is not None:
        code = "P203" if missing == "error" else "P214"
        return Problem(
            code, message, where, mend, note if code == "P203" else f"`missing: {missing}` would pair the wrong {noun}s after it"
        )
    if missing == "drop" or (missing == "zero" and count < right):
        return None
    noun += "" if min(count, right) == 1 else "s"
    drop = f"set `missing: drop` to test on the first {min(count, right)} {noun}, or correct the file"
    return Problem("P203", message, where, drop, note)


def _find_parting(
    candidate: Candidate, right: int, candidates: Sequence[Candidate], gold: Items | None, reread: Callable[[Candidate], Items]
) -> int | None:
    if gold is not None and len(gold) == right:
        peer = gold
    else:
        other = next((c for c in candidates if len(c.ids) == right), None)
        if other is None:
            return None
        peer = reread(other)
    ours, theirs = (
        next((values for name, values in items.columns.items() if name != "document"), ()) for items in (reread(candidate), peer)
    )
    return locate_missing_line(ours, theirs)


def _judge_names(
    candidate: Candidate,
    full: FullIds,
    wanted: Collection[str],
    lacks: Sequence[str],
    extra: int,
    missing: Missing,
    aligned: int,
    together: Collection[tuple[str, ...]],
) -> Problem | None:
    """Judge a file whose items have names; ``together`` has the items of each file."""
    note = f"the other {aligned} systems align" if aligned > 1 else None
    twins = written_otherwise(lacks, candidate.ids, together) if lacks else []
    if twins:
        # Whatever `missing:` says: these are the same items, and leaving them out would be no answer.
        here, there = twins[0]
        others = "" if len(twins) == 1 else f", and so do {len(twins) - 1} more"
        message = (
            f"system '{candidate.system}' lacks {len(lacks)} of {len(full.ids)} items: its item '{here}' and the item '{there}' of "
            f"{full.whose} differ only in how they are written{others}"
        )
        return Problem("P216", message, candidate.source, f"write identifiers in one way: '{here}' or '{there}' in all files", note)
    if lacks and missing == "error":
        shown = name_some(list(map(repr, lacks)), _MOST_NAMED)
        message = f"system '{candidate.system}' lacks {len(lacks)} of {len(full.ids)} items: {shown}"
        help_ = "set `missing: drop` or `missing: zero`, or correct the file"
        if candidate.names_some and full.whose != "the gold":
            help_ = "give `gold:`, a file of all items, and set `missing: zero`: without it, items that no file names are left out"
        return Problem("P216", message, candidate.source, help_, note)
    if extra and missing != "drop":
        shown = name_some([repr(name) for name in candidate.ids if name not in wanted], _MOST_NAMED)
        count = "an item" if extra == 1 else f"{extra} items"
        message = f"system '{candidate.system}' has {count} that {full.whose} {_do(full.whose)} not have: {shown}"
        return Problem("P217", message, candidate.source, "set `missing: drop`, or correct the file", note)
    return None


def _tell_loss(candidate: Candidate, lacks: int, extra: int, missing: Missing) -> str:
    parts = []
    if lacks:
        items = "1 item, which is" if lacks == 1 else f"{lacks} items, which are"
        parts.append(
            f"lacks {items} " + ("left out for all systems" if missing == "drop" else f"counted as {candidate.blank or 'empty'}")
        )
    if extra:
        parts.append(f"has {'1 item more, which is' if extra == 1 else f'{extra} items more, which are'} left out")
    return f"system '{candidate.system}' {' and '.join(parts)}"


def _are_apart(candidates: Sequence[Candidate], full: FullIds) -> bool:
    """Tell whether no two of several files have an item in common, though their items have names."""
    if len(candidates) < 2 or any(c.numbered for c in candidates):
        return False
    sets = [{*candidate.ids} for candidate in candidates]
    if len(full.ids) < sum(map(len, sets)):
        return False
    lacking = ([name for name in full.ids if name not in own] for own in sets)
    return not any(
        written_otherwise(lacks, each.ids, [c.ids for c in candidates]) for each, lacks in zip(candidates, lacking, strict=True)
    )


def _have(whose: str) -> str:
    return "have" if whose.endswith("s") else "has"


def _nothing_left(candidates: Sequence[Candidate], full: FullIds, *, any_scored: bool) -> Problem:
    """Say what files without a common item have instead: nothing could be printed of them otherwise."""
    if not any_scored:
        return Problem("P218", "`items:` leaves no item", help=f"the test set has {len(full.ids)} items: choose some of them")
    begins = (f"{each.system} has {', '.join(map(repr, each.ids[:3]))}{', …' * (len(each.ids) > 3)}" for each in candidates[:3])
    columns, *others = {each.output.columns for each in candidates}
    shown = name_some(list(map(repr, columns)), _MOST_NAMED) if len(columns) > 1 and not others else ""
    note = f"if {shown} are systems, each file is a test set: `pipeline init` takes such files together" if shown else None
    return Problem(
        "P218", "no item is in all outputs", help=f"give an item the same name in all files: {'; '.join(begins)}", note=note
    )


def _do(whose: str) -> str:
    return "do" if whose.endswith("s") else "does"
