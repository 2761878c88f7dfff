"""Find the outputs in a folder, and what they are compared with, by the names of its files."""

from __future__ import annotations

import os
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import UsageError, name_some
from pipeline.items.names import WORDS_FOR_A_RUN, name_without_ending
from pipeline.items.readers.registry import known_endings

__all__ = ["FolderFiles", "expand_folders", "find_reference", "find_test_sets", "look_into"]

_REFERENCE = re.compile(r"(ref|refs|reference|references|gold|truth|labels?|qrels)\w{0,2}([-_.]\w{0,2}){0,2}", re.IGNORECASE)
"""Also ``ref.B.de``: which one, and of which language."""
_SOURCE = re.compile(r"(src|source)[-_.]\w{2,3}", re.IGNORECASE)
_RUN_ENDS = re.compile(rf"(\.({WORDS_FOR_A_RUN}))\d+$", re.IGNORECASE)
"""How the name of a run ends where it has no ending of a format, ``hyps.sys1.opt0``; references beside it are numbered."""
_NUMBERED_REFERENCE = re.compile(r"(ref|refs|reference|references)\.(.*\.)?\d", re.IGNORECASE)
_SAMPLES = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d{2}-\d{2}T[-\d.]+)?\.jsonl", re.IGNORECASE)
"""What lm-evaluation-harness calls the file of one task."""

_ASIDE = frozenset(
    {"readme", "license", "licence", "study", "study.schema", "requirements", "notes", "src", "source", "doc", "docs", "documents"}
)
"""Names, without their endings, of files that are no output of a system."""

_PLAN = "plan.json"
"""What the directory of every run has."""

_DEEPEST = 3
"""How many folders deep the file of a system is looked for: results/results.json of a submission is two."""


class FolderFiles(NamedTuple):
    """Paths of outputs and of references or gold, as they were named, and a sentence on what was taken."""

    outputs: list[str]
    references: list[str]
    told: str = ""


def expand_folders(arguments: Sequence[str], references: Sequence[str], *, base: Path, command: str = "compare") -> FolderFiles:
    """Return arguments with the outputs of each folder in its place, and its references where none are given.

    ``command`` is the one that was typed.

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
        files = look_into(argument, base=base, command=command, alone=len(arguments) == 1)
        outputs += files.outputs
        found += files.references
        told.append(files.told)
    return FolderFiles(outputs, [*references] or found, "; ".join(told))


def find_test_sets(folders: Sequence[str], *, base: Path) -> dict[str, FolderFiles]:
    """Return the files of each test set, by its name, where folders hold several of them.

    They are the folders that are named, where each has outputs of several systems, or those below the only one that is named, or
    the tasks of a harness in it. Nothing is returned of what is one test set, or leaves open what it is.
    """
    if not all((base / folder).is_dir() for folder in folders):
        return {}
    if len(folders) > 1:
        several = all(any(len(paths) > 1 for paths in _sort_files(folder, base)[0].values()) for folder in folders)
        beside = {folder: _sort_files(os.path.dirname(os.path.normpath(folder)), base)[1] for folder in folders if several}
        return _named({os.path.normpath(folder): _look_with(folder, beside[folder], base) for folder in beside})
    (folder,) = folders
    samples = _find_samples(base / folder)
    if samples:
        tasks = {
            task: FolderFiles(
                [os.path.normpath(os.path.join(folder, path)) for path in paths], [], f"{task}: {_count(len(paths), 'file')}"
            )
            for task, paths in sorted(samples.items())
        }
        return tasks if len(tasks) > 1 else {}
    kinds, references = _sort_files(folder, base)
    if any(len(paths) > 1 for paths in kinds.values()):
        return {}
    below = _outputs_below(folder, references, base)
    if len(below) < 2:
        return {}
    return _named({os.path.relpath(name, folder): _look_with(name, above, base) for name, above in below})


def _look_with(folder: str, above: Sequence[str], base: Path) -> FolderFiles:
    """Return the files of a test set, with the references from above where it has none of its own."""
    files = look_into(folder, base=base, alone=False)
    return files if files.references else files._replace(references=[*map(os.path.normpath, above)])


def _named(found: dict[str, FolderFiles]) -> dict[str, FolderFiles]:
    """Return the files of folders by the shortest names that tell them apart: of news/out and talks/out those above."""
    shorter = {os.path.basename(name) for name in found}
    if len(shorter) == len(found):
        return {os.path.basename(name): files for name, files in found.items()}
    if len(shorter) == 1 and all(map(os.path.dirname, found)):
        return _named({os.path.dirname(name): files for name, files in found.items()})
    return {name.replace("/", "-"): files for name, files in found.items()}


def find_reference(outputs: Sequence[str], *, base: Path) -> str | None:
    """Return what is called like a reference beside the first output or in the folder above, as it would be named."""
    first = Path(outputs[0])
    for folder in dict.fromkeys([first.parent, first.parent.parent]):
        if os.path.isdir(base / folder) and os.access(base / folder, os.R_OK | os.X_OK):
            references = _sort_files(str(folder), base)[1]
            if references:
                return os.path.normpath(references[0])
    return None


def _refuse_addresses(arguments: Sequence[str]) -> None:
    """Refuse addresses of the network, which would be looked for as files."""
    address = next((argument for argument in arguments if re.match(r"([^/=]+=)?[a-z][a-z0-9+.-]*://", argument)), None)
    if address is not None:
        help_ = "fetch it first, and name the file; only studies name objects, `s3://…`, `gs://…` or `az://…`"
        raise UsageError.of("P005", f"outputs are files, and {address} is an address", help=help_)


def look_into(folder: str, *, base: Path, command: str = "compare", alone: bool = True) -> FolderFiles:
    """Return what a folder holds: the samples of a harness from anywhere below it, or the files of one kind directly in it.

    Files called ``ref``, ``gold`` and the like are what outputs are compared with. One output is enough where the folder is not all
    that was named, ``alone``.

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
    if all(len(paths) < 2 for paths in kinds.values()) and (alone or len(kinds) != 1):
        _refuse_outputs_below(folder, references, base, command)
    if not kinds:
        _refuse_results_below(folder, base, command)
        raise UsageError.of(
            "P020",
            "the folder has no file that may be an output",
            where=folder,
            help="name the outputs themselves: `pipeline formats` lists what is read",
        )
    if len(kinds) > 1:
        listed = ", ".join(_count(len(paths), f"{ending} file") for ending, paths in sorted(kinds.items()))
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
        if path.name.startswith(".") or not path.is_file() or name.lower() in _ASIDE or _SOURCE.fullmatch(name):
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


def _refuse_outputs_below(folder: str, references: Sequence[str], base: Path, command: str) -> None:
    """Refuse a folder of which folders below have the outputs, and say how one is named with the references beside it."""
    found = _outputs_below(folder, references, base)
    if not found:
        return
    named, beside = found[0]
    compared = "".join(f" -r {shlex.quote(os.path.normpath(path))}" for path in beside)
    one = "the folder" if len(found) == 1 else "one of the folders"
    raise UsageError.of(
        "P021",
        f"the outputs are not in this folder but in {'one' if len(found) == 1 else f'{len(found)} folders'} below it"
        + (f": {name_some([name for name, _ in found])}" if len(found) > 1 else ""),
        where=folder,
        help=f"name {one} that has them: `pipeline {command} {shlex.quote(named)}{compared}`",
        note=f"`pipeline init {shlex.quote(folder)}` writes one study of them all, each a test set" if len(found) > 1 else None,
    )


def _refuse_results_below(folder: str, base: Path, command: str) -> None:
    """Refuse a folder of which every folder below has a file of one name, as agents and harnesses write one for each system."""
    below = [Path(name) for name in _list_folders(folder, base)]
    there = [{path.relative_to(base / name) for path in _walk(base / name)} for name in below]
    shared = sorted(set.intersection(*there), key=lambda path: (len(path.parts), path)) if len(below) > 1 else []
    if not shared:
        return
    pattern = f"{shlex.quote(os.path.normpath(folder))}/*/{shlex.quote(shared[0].as_posix())}"
    raise UsageError.of(
        "P021",
        f"the outputs are not in this folder; each of the {len(below)} in it has {name_some(list(map(str, shared)))}",
        where=folder,
        help=f"name the file of each system: `pipeline {command} {pattern}`",
    )


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files that may be outputs in a folder or in one below it, some folders deep, that this user may look into."""
    for depth in range(_DEEPEST):
        for path in folder.glob("*/" * depth + "*"):
            name = name_without_ending(path.name)
            if _is_known(path.name.removeprefix(name)) and name.lower() not in _ASIDE and path.is_file():
                yield path


def _outputs_below(folder: str, references: Sequence[str], base: Path) -> list[tuple[str, Sequence[str]]]:
    """Return the folders below one that hold outputs, each with the references to name."""
    below = _list_folders(folder, base)
    # Or it is a folder of test sets, each with a folder of its own for outputs.
    return _with_outputs(below, references, base) or [
        one for name in below for one in _with_outputs(_list_folders(name, base), _sort_files(name, base)[1], base)
    ]


def _list_folders(folder: str, base: Path) -> list[str]:
    """Return the folders in a folder that this user may look into, as they would be named; runs of studies hold no outputs."""
    there = [path for path in sorted((base / folder).iterdir()) if path.is_dir() and not path.name.startswith(".")]
    there = [path for path in there if not (path / _PLAN).is_file()]
    return [os.path.normpath(os.path.join(folder, path.name)) for path in there if os.access(path, os.R_OK | os.X_OK)]


def _with_outputs(folders: Sequence[str], beside: Sequence[str], base: Path) -> list[tuple[str, Sequence[str]]]:
    """Return those of some folders that hold outputs, each with the references to name: none where it has its own."""
    found = []
    for name in folders:
        kinds, own = _sort_files(name, base)
        if any(len(paths) > 1 for paths in kinds.values()):
            found.append((name, [] if own else beside))
    return found


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
