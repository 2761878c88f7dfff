"""Names of systems from the names of their files: one rule for `compare` and for studies.

The ending of a compression, and then one ending of a format, are no part of a name. Nothing else is cut off in a study: what its
files share is in its pattern, ``{system}.de-en.txt``. `compare` has no pattern, so it also leaves out

1. the time at which a harness wrote the file, where something else is left;
2. what the names of *all* files end or begin with, at dots: ``uedin.de-en.txt`` beside ``nvidia.de-en.txt`` is ``uedin``.

Files of one name are distinguished by their endings, or else by their folders. A dot before a number is part of a name, and a
shared part that ends in a number stays: ``Claude-3.5`` and ``Claude-3.7`` are whole whatever they are compared with, since half of
a model's name is often the name of another model.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import UsageError
from pipeline.items.readers.registry import known_endings

__all__ = ["COMPRESSIONS", "WORDS_FOR_A_RUN", "name_outputs", "name_without_ending", "pattern_of_files"]

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
"""Endings of the compressions that files are read in."""

WORDS_FOR_A_RUN = "opt|replica|rep|run|seed|trial"
"""What stands before the number of a run in names, as a part of a regular expression: ``sys1.opt0``, ``bert-seed-3``."""

_TIME = re.compile(r"(?P<before>_?)\d{4}-\d{2}-\d{2}T[-:\d]{8}(\.\d+)?(Z|[+-]\d\d[-:]\d\d)?(?P<after>_?)")
_DOT = re.compile(r"\.(?!v?\d)", re.IGNORECASE)
"""Where a name may be cut: not before a number or a version, as in ``gpt-4.1`` and ``llama.v2``."""
_YEAR = re.compile(r"(?<=[A-Za-z])(19|20)\d\d$")


def name_without_ending(file: str) -> str:
    """Return the name of a file without the ending of its compression and then that of its format; never an empty one.

    Endings are those that installed readers know, in upper or lower case. Nothing else is cut off.

    Examples
    --------
    >>> [name_without_ending(file) for file in ("GPT-4.1.txt", "uedin.conllu.gz", "Claude-3.5", "news.de-en.TXT", ".txt")]
    ['GPT-4.1', 'uedin', 'Claude-3.5', 'news.de-en', '.txt']
    """
    return _cut(_cut(file, COMPRESSIONS), known_endings())


def name_outputs(paths: Sequence[str | Path]) -> dict[str, str]:
    """Name the systems of several files, as the first lines of this module say; the same paths have the same names in any order.

    Raises
    ------
    UsageError
        P013 where a path is there twice.

    Examples
    --------
    >>> name_outputs(["a/uedin.txt.gz", "a/nvidia.txt"])
    {'uedin': 'a/uedin.txt.gz', 'nvidia': 'a/nvidia.txt'}
    >>> [*name_outputs(["gpt-4.1.txt"]), *name_outputs(["gpt-4.5.txt", "gpt-4.1.txt"])]
    ['gpt-4.1', 'gpt-4.5', 'gpt-4.1']
    >>> sorted(name_outputs(["runs/one/x/out.txt", "runs/two/x/out.txt"]))
    ['one', 'two']
    >>> sorted(name_outputs(["one/samples_2026-11-22T08-47-11.849806.jsonl", "two/samples_2026-11-22T08-47-28.282321.jsonl"]))
    ['one', 'two']
    """
    given = [str(path) for path in paths]
    places = [os.path.normpath(path) for path in given]
    if len(set(places)) != len(places):
        doubled = sorted({path for path, place in zip(given, places, strict=True) if places.count(place) > 1})
        raise UsageError.of("P013", f"an output is given twice: {', '.join(doubled)}", help="give each file once")
    timeless = [_TIME.sub(lambda time: "_" if time["before"] and time["after"] else "", path) for path in given]
    for told in (timeless, given):
        files = [path.rpartition("/")[2] for path in told]
        plain = [name_without_ending(file) for file in files]
        whole = [path.removesuffix(file) + name for path, file, name in zip(told, files, plain, strict=True)]
        for names in (_without_shared_parts(plain), files, _differing_parts(whole), _differing_parts(told)):
            nothing_left = told is timeless and any(name.startswith(".") or name in {"", "_"} for name in names)
            if len(set(names)) == len(names) == len(given) and not nothing_left:
                return dict(zip(names, given, strict=True))
    return {path: path for path in given}


def pattern_of_files(files: Sequence[str]) -> str:
    """Return the pattern with ``{system}`` that finds all of several files of one folder, with what they share written out.

    Endings that differ are left open: then they are no part of the names.

    Examples
    --------
    >>> pattern_of_files(["uedin.de-en.txt", "nvidia.de-en.txt"]), pattern_of_files(["hyps.a.gz", "hyps.b.gz"])
    ('{system}.de-en.txt', 'hyps.{system}.gz')
    >>> pattern_of_files(["a.txt", "b.txt.gz"]), pattern_of_files(["gpt-4.1.jsonl"])
    ('{system}', '{system}.jsonl')
    """
    plain = [name_without_ending(file) for file in files]
    endings = {file.removeprefix(name) for file, name in zip(files, plain, strict=True)}
    if len(endings) > 1:
        return "{system}"
    names = _without_shared_parts(plain)
    before, _, behind = plain[0].partition(names[0])
    if any(one != before + name + behind for one, name in zip(plain, names, strict=True)):
        before = behind = ""
    return f"{before}{{system}}{behind}{endings.pop()}"


def _cut(name: str, endings: Sequence[str]) -> str:
    """Leave out the longest ending that a name has, where something is left."""
    found = [ending for ending in endings if name.lower().endswith(ending) and len(name) > len(ending)]
    return name[: -len(max(found, key=len))] if found else name


def _without_shared_parts(names: Sequence[str]) -> list[str]:
    """Leave out what all names end in and begin with, dot by dot; something is left of each, and no shared part is a version.

    Examples
    --------
    >>> _without_shared_parts(["uedin.de-en", "nvidia.de-en"]), _without_shared_parts(["hyps.base.x", "hyps.sys1.x"])
    (['uedin', 'nvidia'], ['base', 'sys1'])
    >>> _without_shared_parts(["gpt-4.turbo", "gpt-4.mini"]), _without_shared_parts(["newstest2019.a", "newstest2019.b"])
    (['gpt-4.turbo', 'gpt-4.mini'], ['a', 'b'])
    """
    if len(names) < 2:
        return list(names)
    parts = [_DOT.split(name) for name in names]
    for end, rest in ((-1, slice(-1)), (0, slice(1, None))):
        while all(len(one) > 1 for one in parts) and len({one[end] for one in parts}) == 1 and not _is_version(parts[0][end]):
            parts = [one[rest] for one in parts]
    return [".".join(one) for one in parts]


def _is_version(part: str) -> bool:
    """Say whether a part may be half of a model's name: it begins or ends in a number that is no year."""
    plain = _YEAR.sub("", part)
    return plain[:1].isdigit() or plain[-1:].isdigit()


def _differing_parts(paths: Sequence[str]) -> list[str]:
    """Return paths without the folders that all begin with, and without what all end in."""
    parts = [list(Path(path).parts) for path in paths]
    while all(len(one) > 1 for one in parts) and len({one[0] for one in parts}) == 1:
        parts = [one[1:] for one in parts]
    while all(len(one) > 1 for one in parts) and len({one[-1] for one in parts}) == 1:
        parts = [one[:-1] for one in parts]
    return ["/".join(one) for one in parts]
