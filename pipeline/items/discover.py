"""Where the outputs are: `outputs:` of a test set as named files, or as one table."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pipeline.dataclass import dataclass, field
from pipeline.errors import Problem
from pipeline.inputs import locate_input
from pipeline.items.names import COMPRESSIONS, name_without_ending, pattern_of_files

__all__ = [
    "Found",
    "as_pattern",
    "find_outputs",
    "folders_without_output",
    "is_excluded",
    "is_table",
    "names_left_out",
    "pattern_of_names",
]

_PLACEHOLDER = re.compile(r"\{([^{}/]*)\}")
_NAMED = re.compile(r"\{(system|replica)\}")
_KNOWN = ("system", "replica")
_OPEN = re.compile(rf"\.?\*?({'|'.join(map(re.escape, COMPRESSIONS))})?")
"""What may follow the last placeholder of a pattern that leaves open how names of files end."""


@dataclass(frozen=True)
class Found:
    """A file and the system it holds; ``system`` is None for a table of all systems.

    ``coordinates`` has ``model`` and ``replica`` where the path tells both: the system is then ``model/replica``. ``written`` is
    the name with the ending of the file that was left out of it; empty where none was.
    """

    system: str | None
    path: Path
    coordinates: Mapping[str, str] = field(default_factory=dict)
    written: str = ""


def is_table(outputs: str | Mapping[str, str] | None) -> bool:
    """Tell whether one file holds all systems."""
    return isinstance(outputs, str) and "{system}" not in outputs


def is_excluded(system: str, patterns: Iterable[str]) -> bool:
    """Tell whether a system is named in `systems.exclude`, literally or by a shell pattern."""
    return any(system == pattern or fnmatch.fnmatchcase(system, pattern) for pattern in patterns)


def find_outputs(
    outputs: str | Mapping[str, str] | None, *, base: Path, exclude: Iterable[str] = ()
) -> tuple[list[Found], list[Problem]]:
    """Return the files of outputs, sorted by system where a pattern finds them, and what is wrong with them.

    Parameters
    ----------
    outputs : str, mapping or None
        A pattern with ``{system}``, and ``{replica}`` where there are several runs of each, in which ``*`` and ``?`` match within
        one folder name; the path of a table; or paths by system. Where a pattern leaves open how files end, ``systems/{system}``,
        their endings are no part of the names.
    base : Path
        The folder relative paths start from.
    exclude : iterable of str
        Systems that are left out, before their files are opened.
    """
    if outputs is None:
        return [], []
    if not isinstance(outputs, str):
        named = [Found(system, locate_input(base, path)) for system, path in outputs.items() if not is_excluded(system, exclude)]
        return named, [problem for found in named for problem in _placeholders_of_one(found)]
    unknown = sorted({*_PLACEHOLDER.findall(outputs)} - {*_KNOWN}, key=lambda name: (name == "test_set", name))
    if unknown == ["test_set"]:
        message = "{test_set} stands for each of several test sets, and one is compared here"
        help_ = f"write the name of one in its place; `pipeline init '{outputs}'` makes a study of all"
        return [], [Problem("P219", message, outputs, help_)]
    if unknown:
        message = f"the outputs have the placeholder {{{unknown[0]}}}; known are {{system}} and {{replica}}"
        return [], [
            Problem("P219", message, outputs, "{system} stands for the name of a system or model, {replica} for its run or seed")
        ]
    if "{replica}" in outputs and "{system}" not in outputs:
        return [], [Problem("P219", "the outputs name {replica} and no {system}: of which system?", outputs, "name both")]
    if is_table(outputs):
        path = locate_input(base, outputs)
        if os.path.isdir(path):  # no error for a name that is too long: its reader tells of that
            hint = f'name its files: `outputs: "{outputs.rstrip("/")}/{_name_files(path)}"`'
            return [], [Problem("P219", "the outputs are a folder", str(path), hint)]
        return [Found(None, path)], []
    place = locate_input(base, outputs)
    matches = _match(str(place))
    if not matches:
        return [], [Problem("P207", "no file matches the pattern of the outputs", str(place), _suggest(place))]
    kept = [
        found
        for found in matches
        if not (is_excluded(str(found.system), exclude) or (found.written and is_excluded(found.written, exclude)))
    ]
    return kept, _duplicates(kept)


def as_pattern(outputs: Mapping[str, str], *, base: Path) -> str | None:
    """Return a pattern that finds the same files under the same names, and no other file; None where there is none.

    Parameters
    ----------
    outputs : mapping of str to str
        Paths by system.
    base : Path
        The folder relative paths start from.
    """
    system, path = next(iter(outputs.items()))
    before, found, behind = path.rpartition(system)
    if not found or any(character in before + behind for character in "*?{}"):
        return None
    if any(one != f"{before}{name}{behind}" for name, one in outputs.items()):
        return None
    pattern = f"{before}{{system}}{behind}"
    there, problems = find_outputs(pattern, base=base)
    same = {one.system: one.path for one in there} == {name: locate_input(base, one) for name, one in outputs.items()}
    return pattern if same and not problems and not any(one.written for one in there) else None


def _name_files(folder: Path) -> str:
    """Return what to write behind the name of a folder for the files in it: those of the commonest ending, or of its folders."""
    there = _seen_in(folder)
    kinds: dict[str, list[str]] = {}
    for path in there:
        if path.is_file():
            kinds.setdefault(path.name.removeprefix(name_without_ending(path.name)).lower(), []).append(path.name)
    known = {ending: files for ending, files in kinds.items() if ending} or kinds
    files = max(known.values(), key=len, default=[])
    if files:
        return pattern_of_files(files) if len(files) > 1 else files[0]
    below = [{path.name for path in _seen_in(inner) if path.is_file()} for inner in there if _is_open(inner)]
    shared = sorted(set.intersection(*below)) if below else []
    return f"{{system}}/{shared[0]}" if shared else "{system}/*" if any(below) else "{system}.txt"


def _seen_in(folder: Path) -> list[Path]:
    """Return what is in a folder and not hidden; nothing of a folder that cannot be read."""
    try:
        return [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    except OSError:  # of another user
        return []


def _is_open(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)


def names_left_out(outputs: str | Mapping[str, str] | None, *, base: Path, exclude: Iterable[str]) -> list[str]:
    """Return the names by which systems that have files of their own are left out."""
    there, _ = find_outputs(outputs, base=base)
    return [name for found in there for name in (found.system, found.written) if name and is_excluded(name, exclude)]


def folders_without_output(outputs: str | Mapping[str, str] | None, *, base: Path, exclude: Iterable[str] = ()) -> list[str]:
    """Return the folders that a pattern takes for those of systems or replicas and that hold no file of it, from the base, sorted.

    Of a pattern that begins with a system nothing is given: what else lies beside the study would be told.
    """
    if not isinstance(outputs, str) or "{system}" not in outputs:
        return []
    parts = outputs.split("/")[:-1]
    while parts and not _NAMED.search(parts[-1]):
        parts.pop()
    if not parts or parts == ["{system}"]:
        return []
    depth = len((base / "/".join(parts)).parts)
    full = {Path(*found.path.parts[:depth]) for found in _match(str(base / outputs))}
    empty = []
    for match, path in _paths(str(base / "/".join(parts))):
        if os.path.isdir(path) and Path(path) not in full and not Path(path).name.startswith((".", "__")):
            named = "/".join(match.groupdict()[name] for name in _KNOWN if name in match.groupdict())
            if not is_excluded(named, exclude) and not is_excluded(match.groupdict().get("system", named), exclude):
                empty.append(os.path.relpath(path, base) + ("" if os.access(path, os.R_OK | os.X_OK) else " (cannot be read)"))
    return sorted(empty)


def _placeholders_of_one(found: Found) -> list[Problem]:
    """Tell of placeholders where systems have their paths: nothing is put in their place, and a file may well have such a name."""
    named = _NAMED.search(str(found.path))
    if named is None or os.path.exists(found.path):
        return []
    message = f"the path of '{found.system}' has the placeholder {named[0]}, and a mapping of systems to paths has none"
    help_ = 'write one pattern for all systems, outputs: "{system}.{replica}.txt", or a path for each run'
    return [Problem("P219", message, str(found.path), help_)]


def _match(pattern: str) -> list[Found]:
    open_at = _open_placeholder(pattern)
    matched = [_name(match, path, open_at) for match, path in _paths(pattern) if os.path.isfile(path)]
    return sorted(matched, key=lambda f: (_in_order(f), str(f.path)))


def _paths(pattern: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield what is there and matches a pattern, with its names."""
    parts = _NAMED.split(pattern)  # what is between placeholders, and at odd places their names
    # Only * and ? are wild: a bracket in a folder's name is a bracket.
    named = pattern_of_names(pattern)
    for path in glob.glob("*".join(part.replace("[", "[[]") for part in parts[::2])):
        if match := named.fullmatch(path):
            yield match, path


def pattern_of_names(pattern: str) -> re.Pattern[str]:
    """Return what the paths match that a pattern of outputs finds, with groups for the names in them."""
    expression, seen = "", set()
    for place, part in enumerate(_NAMED.split(pattern)):
        if place % 2 == 0:
            expression += "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in part)
        else:
            expression += f"(?P={part})" if part in seen else f"(?P<{part}>[^/]+)"
            seen.add(part)
    return re.compile(expression, re.DOTALL)


def _open_placeholder(pattern: str) -> str | None:
    """Return the placeholder that the ending of a file's name is part of: the last one, where no ending is written behind it."""
    parts = _NAMED.split(pattern)
    last = parts[-2]
    return last if parts[1::2].count(last) == 1 and _OPEN.fullmatch(parts[-1]) else None


def _name(match: re.Match[str], path: str, open_at: str | None) -> Found:
    written = match.groupdict()
    groups = {key: name_without_ending(value) if key == open_at else value for key, value in written.items()}
    system, full = ("/".join(names[key] for key in _KNOWN if key in names) for names in (groups, written))
    coordinates = {"model": groups["system"], "replica": groups["replica"]} if "replica" in groups else {}
    return Found(system, Path(path), coordinates, full if full != system else "")


def _in_order(found: Found) -> tuple[str, int, str]:
    """Sort the tenth replica behind the ninth."""
    replica = found.coordinates.get("replica", "")
    model = found.coordinates.get("model", str(found.system))
    return (model, int(replica) if replica.isascii() and replica.isdecimal() and len(replica) < 10 else -1, str(found.system))


def _duplicates(found: list[Found]) -> list[Problem]:
    first: dict[str | None, Path] = {}
    problems = []
    for one in found:
        if one.system in first:
            problems.append(
                Problem(
                    "P208",
                    f"two files are named for the system '{one.system}'",
                    f"{first[one.system]} and {one.path}",
                    "make the pattern narrower, or map names to paths",
                )
            )
        first.setdefault(one.system, one.path)
    return problems


def _suggest(pattern: Path) -> str:
    """Look for the same names compressed, or not compressed."""
    text = str(pattern)
    suffix = next((suffix for suffix in COMPRESSIONS if text.endswith(suffix)), None)
    for other in (text.removesuffix(suffix),) if suffix else tuple(text + suffix for suffix in COMPRESSIONS):
        count = len(_match(other))
        if count:
            return f"did you mean {other}? ({count} files match)"
    folders = sum(os.path.isdir(path) for _, path in _paths(text))
    if folders:
        return f"{folders} folder{'s match' if folders > 1 else ' matches'}: name the file in each, {text}/…"
    return "paths are relative to the study file; {system} stands for one part of a file's name"
