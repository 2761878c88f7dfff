"""Formats for those who name no test set. This module recognises the files of `compare` and says what their format goes with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.errors import DataError, UsageError
from pipeline.items.readers import load_reader
from pipeline.items.recognise import AUTO, recognise_file, refuse_json
from pipeline.study.schema import FormatSpec

__all__ = ["FormatInUse", "find_format"]


@dataclass(frozen=True)
class FormatInUse:
    """A format and what goes with it.

    Parameters
    ----------
    value : str or mapping
        As ``format:`` of a test set has it.
    metric : str or None
        What is usual for it.
    gold : mapping
        ``references`` or ``gold`` of a test set, as the format takes them; empty where it takes none.
    holds_systems : bool
        Whether one file may hold all systems.
    told : str
        What the format was recognised by; empty where it was named.
    columns : mapping
        Which columns of tables hold what, by role.
    """

    value: str | Mapping[str, Any]
    metric: str | None
    gold: Mapping[str, Any]
    holds_systems: bool
    told: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


def find_format(
    named: str | Mapping[str, Any],
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    base: Path,
    columns: Mapping[str, str] | None = None,
) -> FormatInUse:
    """Give the format that is named, or that the first output has, and what it is compared with.

    Raises
    ------
    UsageError
        P011 where it needs one gold file, P012 where it needs references, P014 where it needs neither.
    DataError
        P259 where no reader recognises the file, P260 where two do alike, P275 where a file is JSON and is not read as such.
    """
    form: Any = named
    told = ""
    if isinstance(named, Mapping):
        if not isinstance(named.get("name"), str):
            raise UsageError.of("P015", "the format has no name", where="--format", help="write `--format '{name: lm-eval, …}'`")
        form = named["name"] if len(named) == 1 else named
    if form == AUTO:
        form, told = _recognise(base / outputs[0], bool(references))
        refuse_json([base / path for path in (*outputs[1:], *references)], form.name)
    reader = load_reader(form)
    kind = reader.compares_with
    if kind == "gold" and len(references) != 1:
        message = f"the format {reader.name} needs one gold file, {len(references)} are given"
        raise UsageError.of("P011", message, where="-r", help="give the gold file with -r")
    if kind == "references" and not references:
        raise UsageError.of("P012", f"{reader.name} needs at least one reference", where="-r", help="give it with -r REF")
    gold: dict[str, Any] = {}
    if kind == "gold":
        gold = {"gold": references[0]}
    elif kind == "references":
        gold = {"references": list(references)}
    elif len(references) == 1 and getattr(reader, "gold_lists_items", False):
        gold = {"gold": references[0]}
    elif references:
        message = f"the format {reader.name} has scores already: it takes no reference"
        raise UsageError.of("P014", message, where="-r", help="leave out -r, or name another --format")
    value = form.model_dump() if isinstance(form, FormatSpec) else form
    return FormatInUse(value, reader.usual_metric, gold, bool(getattr(reader, "holds_systems", False)), told, columns or {})


def _recognise(path: Path, compared: bool) -> tuple[FormatSpec, str]:
    """Recognise a file; whether what it is compared with is a gold or references is for its format to say: both are offered."""
    try:
        return recognise_file(path, gold=compared, references=compared)
    except DataError as error:
        if compared or error.problems[0].code != "P259":
            raise
    return recognise_file(path, gold=True, references=True)  # one that lacks what it is compared with is told so
