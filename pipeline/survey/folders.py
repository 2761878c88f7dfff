"""What a folder holds for a comparison: outputs, and what they are compared with, by the names of its files."""

from __future__ import annotations

import os
import re
import shlex
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import UsageError, name_some
from pipeline.items.names import WORDS_FOR_A_RUN, name_without_ending
from pipeline.items.readers.registry import known_endings

__all__ = ["FolderFiles", "expand_folders", "look_into"]

_REFERENCE = re.compile(r"(ref|refs|reference|references|gold|truth|labels?|qrels)([-_.]?\w{0,2})?", re.IGNORECASE)
_RUN_ENDS = re.compile(rf"(\.({WORDS_FOR_A_RUN}))\d+$", re.IGNORECASE)
"""How the name of a run ends where it has no ending of a format, ``hyps.sys1.opt0``; references beside it are numbered."""
_NUMBERED_REFERENCE = re.compile(r"(ref|refs|reference|references)\.(.*\.)?\d", re.IGNORECASE)
_SAMPLES = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d{2}-\d{2}T[-\d.]+)?\.jsonl", re.IGNORECASE)
"""What lm-evaluation-harness calls the file of one task."""

_ASIDE = frozenset(
    {"readme", "license", "licence", "study", "study.schema", "requirements", "notes", "src", "source", "doc", "docs", "documents"}
)
"""Names, without their endings, of files that are no output of a system."""


class FolderFiles(NamedTuple):
    """Paths of outputs and of references or gold, as they were named, and a sentence on what was taken."""

    outputs: list[str]
    references: list[str]
    told: str = ""


def expand_folders(arguments: Sequence[str], references: Sequence[str], *, base: Path) -> FolderFiles:
    """Return arguments with the outputs of each folder in its place, and its references where none are given.

    Raises
    ------
    UsageError
        As `look_into` does.
    """
    outputs: list[str] = []
    found: list[str] = []
    told: list[str] = []
    _refuse_addresses([*arguments, *references])
    for argument in arguments:
        if not (base / argument).is_dir():
            outputs.append(argument)
            continue
        files = look_into(argument, base=base)
        outputs += files.outputs
        found += files.references
        told.append(files.told)
    return FolderFiles(outputs, [*references] or found, "; ".join(told))


def _refuse_addresses(arguments: Sequence[str]) -> None:
    """Refuse addresses of the network, which would be looked for as files."""
    address = next((argument for argument in arguments if re.match(r"([^/=]+=)?[a-z][a-z0-9+.-]*://", argument)), None)
    if address is not None:
        help_ = "fetch it first, and name the file; only studies name objects, `s3://…`, `gs://…` or `az://…`"
        raise UsageError.of("P005", f"what is compared are files, and {address} is an address", help=help_)


def look_into(folder: str, *, base: Path) -> FolderFiles:
    """Return what a folder holds: the samples of a harness from anywhere below it, or the files of one kind directly in it.

    Files called ``ref``, ``gold`` and the like are what outputs are compared with.

    Raises
    ------
    UsageError
        P020 where there is nothing that may be an output, P021 where it stays open which files are outputs.
    """
    samples = _find_samples(base / folder)
    if len(samples) > 1:
        tasks = sorted(samples)
        raise UsageError.of(
            "P021",
            f"the folder has samples of {len(tasks)} tasks: {name_some(tasks)}",
            where=folder,
            help=f"name the files of one task: {folder.rstrip('/')}/*/samples_{tasks[0]}_*.jsonl",
        )
    if samples:
        ((task, paths),) = samples.items()
        outputs = [os.path.normpath(os.path.join(folder, path)) for path in paths]
        return FolderFiles(outputs, [], f"{_say(folder)}: {_count(len(outputs), 'file')} with samples of {task}")
    kinds, references = _sort_files(folder, base)
    if all(len(paths) < 2 for paths in kinds.values()):
        _refuse_outputs_below(folder, references, base)
    if not kinds:
        raise UsageError.of(
            "P020",
            "the folder has no file that may be an output",
            where=folder,
            help="name the outputs themselves: `pipeline formats` lists what is read",
        )
    if len(kinds) > 1:
        listed = ", ".join(f"{_count(len(paths), 'file')} {ending}" for ending, paths in sorted(kinds.items()))
        raise UsageError.of(
            "P021",
            f"the folder has files of several kinds: {listed}",
            where=folder,
            help=f"name those of one kind: {folder.rstrip('/')}/*{max(kinds, key=lambda kind: len(kinds[kind]))}",
        )
    ((_, outputs),) = kinds.items()
    outputs, references = ([os.path.normpath(path) for path in paths] for paths in (outputs, references))
    compared = f", compared with {' and '.join(map(os.path.basename, references))}" if references else ""
    return FolderFiles(outputs, references, f"{_say(folder)}: {_count(len(outputs), 'output')}{compared}")


def _sort_files(folder: str, base: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the files directly in a folder that may be outputs, by their endings, and those they are compared with."""
    kinds: dict[str, list[str]] = defaultdict(list)
    references: list[str] = []
    runs: dict[str, list[str]] = defaultdict(list)
    numbered: list[str] = []
    for path in sorted((base / folder).iterdir()):
        name = name_without_ending(path.name)
        ending = path.name.removeprefix(name)
        if path.name.startswith(".") or not path.is_file() or name.lower() in _ASIDE:
            continue
        if not _is_known(ending):
            if run := _RUN_ENDS.search(name):
                runs[f"{run[1]}*{ending}"].append(os.path.join(folder, path.name))
            elif _NUMBERED_REFERENCE.fullmatch(name):
                numbered.append(os.path.join(folder, path.name))
        elif _REFERENCE.fullmatch(name):
            references.append(os.path.join(folder, path.name))
        else:
            kinds[ending.lower()].append(os.path.join(folder, path.name))
    return (kinds, references) if kinds else (runs, references + numbered)


def _refuse_outputs_below(folder: str, references: Sequence[str], base: Path) -> None:
    """Refuse a folder of which a folder below has the outputs, and say how they are named with the references that are here."""
    below = [path.name for path in sorted((base / folder).iterdir()) if path.is_dir() and not path.name.startswith(".")]
    sorted_ = {name: _sort_files(os.path.join(folder, name), base) for name in below}
    found = [name for name, (kinds, _) in sorted_.items() if any(len(paths) > 1 for paths in kinds.values())]
    if not found:
        return
    named = [os.path.normpath(os.path.join(folder, name)) for name in found]
    beside = [] if sorted_[found[0]][1] else references  # those in the folder itself are found there
    compared = "".join(f" -r {shlex.quote(os.path.normpath(path))}" for path in beside)
    one = "the folder" if len(found) == 1 else "one of the folders"
    raise UsageError.of(
        "P021",
        f"the outputs are not in this folder but in {'one' if len(found) == 1 else f'{len(found)} folders'} below it",
        where=folder,
        help=f"name {one} that has them: `pipeline compare {shlex.quote(named[0])}{compared}`",
    )


def _find_samples(folder: Path) -> dict[str, list[str]]:
    """Return the paths of a harness's samples from a folder on, by task."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("samples_*.jsonl")):
        name = _SAMPLES.fullmatch(path.name)
        if name is not None and path.is_file():
            found[name["task"]].append(path.relative_to(folder).as_posix())
    return dict(found)


def _say(folder: str) -> str:
    return "this folder" if os.path.normpath(folder) == "." else folder


def _is_known(ending: str) -> bool:
    return bool(ending) and any(ending.lower().startswith(known) for known in known_endings())


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
