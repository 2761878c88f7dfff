"""The source that a kernel is compiled from: its own file and every file that it imports from, directly or through others.

Numba looks at the kernel's own file alone: it would go on with the old code of a helper, a constant or a named tuple that stands
in another one. Here import statements are followed, so that a change of anything that may enter the machine code is another
digest, and a change of anything else compiles nothing anew. What is installed beside Python enters by the digests of its files
that its installer wrote down, so that the same packages in another environment, or installed again, are the same; the kernel's own
package and this one are read wherever they are. What a statement does not name cannot be followed: `importlib.import_module`, and
constants that are read from data files.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import os
import re
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["digest_sources", "forget_sources"]

_GAP = r"(?:[ \t]|\\\n)"
_IMPORT = re.compile(rf"(?:^|[;:]){_GAP}*((?:from{_GAP}*[.\w]+{_GAP}*import|import)\b(?:\([^)]*\)|\\\n|[^\n\\;#(])*)", re.MULTILINE)
"""An import statement. Parsing these alone takes a tenth of the time of a whole file, and processes wait for it."""

_INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


class _Source(NamedTuple):
    """A file as this process first found it: when it was written and put there, a digest of it, and the modules it imports."""

    stamp: tuple[int, int, int]
    digest: bytes
    imports: tuple[str, ...]


def digest_sources(module: str, file: str) -> bytes | None:
    """Return a digest of all source that kernels of a module can be made of; None where it cannot be read, as in a zip or a shell.

    A file is read once a process, when a kernel that is called first needs it. One that was written since this process began may
    have been imported before it changed, and a module that is loaded after its file has changed once more is not what was read:
    None.
    """
    try:
        path = Path(file)
        found, latest = _digest(path, module.partition(".")[0])
        return found if _stamp(path) == _read(path).stamp and latest <= _began[-1] else None
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None


def forget_sources() -> None:
    """Read every file again, as another process would."""
    for cached in (_read, _files, _place, _installed, _records, _digest):
        cached.cache_clear()
    _began.append(time.time_ns())


_began = [time.time_ns()]
"""When this process, or what is to look like another one, began to import kernels."""


@functools.cache
def _digest(file: Path, top: str) -> tuple[bytes, int]:
    """Return the digest of a file and all that it imports, and when the last of them was written."""
    digest = hashlib.sha256()
    waiting, seen, latest = [file], {file}, 0
    while waiting:
        path = waiting.pop()
        source = _read(path)
        latest = max(latest, *source.stamp[:2])
        digest.update(source.digest)
        for name in source.imports:
            version, files = _files(name, path.parent if name.startswith(".") else None, top)
            digest.update(f"{name} {version}".encode())
            waiting += [each for each in files if each not in seen]
            seen.update(files)
    return digest.digest(), latest


@functools.cache
def _read(path: Path) -> _Source:
    stamp, content = _stamp(path), path.read_bytes()
    return _Source(stamp, hashlib.sha256(content).digest(), tuple(sorted(set(_imports(content.decode())))))


def _imports(text: str) -> Iterator[str]:
    """Go through the modules that import statements may mean: what is taken from a package may be a module, or a package, in it."""
    try:
        tree = ast.parse("\n".join(_IMPORT.findall(text)))
    except SyntaxError:  # prose that begins as a statement does, or a comment with a parenthesis within one
        tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield module
            if not node.level:
                yield from (f"{module}.{alias.name}" for alias in node.names)


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    # Some ways of copying keep the time of the content, and none that of the copy.
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size


@functools.cache
def _files(name: str, beside: Path | None, top: str) -> tuple[str, tuple[Path, ...]]:
    """Return what a package was installed as, or the files that an import may mean: of one that is followed all in its folder."""
    if beside is not None:  # a relative import: anything from there on
        return "", tuple(sorted([beside, *beside.parents][len(name) - len(name.lstrip(".")) - 1].rglob("*.py")))
    first, *parts = name.split(".")
    version, place = _place(first, follow=first in (top, __name__.partition(".")[0]))
    if place is None or place.is_file():
        return version, () if place is None else (place,)
    path = place.joinpath(*parts)
    module = path.with_name(f"{path.name}.py")
    return "", (module,) if parts and module.is_file() else tuple(sorted(path.glob("*.py")))


@functools.cache
def _place(top: str, *, follow: bool) -> tuple[str, Path | None]:
    """Return what a package was installed as, or the folder or file of one that is followed."""
    known = sys.modules.get(top)
    spec = known.__spec__ if known is not None else importlib.util.find_spec(top)
    if top in sys.stdlib_module_names or spec is None or spec.origin is None:
        return "", None
    path = Path(spec.origin)
    if not follow and any(path.is_relative_to(place) for place in _INSTALLED):
        return _installed(top, path), None
    return "", path.parent if path.name == "__init__.py" else path


@functools.cache
def _installed(top: str, path: Path) -> str:
    """Return a digest of an installed package; where no installer wrote down what it put there, when that was."""
    root = path.parent.parent if path.name == "__init__.py" else path.parent
    records = _records(root).get(_as_module(top), [])
    if len(records) == 1 and records[0].is_file():  # there are two where an installation was interrupted
        info, lines = records[0].parent.name, records[0].read_text(encoding="utf-8").splitlines()
        # Not what is made for one environment, as scripts and notes of the installer, nor compiled Python, which has no digest.
        files = sorted(line for line in lines if ",sha256=" in line and not line.startswith(("..", "/", info)))
        if any(line.startswith(f"{path.relative_to(root).as_posix()},") for line in files):
            written = hashlib.sha256("\n".join(files).encode()).hexdigest()
            return f"{info} {written} {hashlib.sha256(path.read_bytes()).hexdigest()}"  # somebody may have changed it since
    changed, _, size = _stamp(path)
    return str((changed, size))


@functools.cache
def _records(root: Path) -> dict[str, list[Path]]:
    """Return the lists of installed files in a folder, by the names of their packages as modules have them."""
    found: dict[str, list[Path]] = {}
    for name in os.listdir(root):
        if name.endswith(".dist-info"):
            found.setdefault(_as_module(name.partition("-")[0]), []).append(root / name / "RECORD")
    return found


def _as_module(name: str) -> str:
    """Return the name of a package as that of its module mostly is."""
    return re.sub(r"[-_.]+", "_", name).lower()
