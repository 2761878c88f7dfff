"""The source that a kernel is compiled from: its own file and every file that it imports from, directly or through others.

Numba looks at the kernel's own file alone: it would go on with the old code of a helper, a constant or a named tuple that stands in
another one. Here imports are followed, so that a change of anything that may enter the machine code is another digest, and a change
of anything else compiles nothing anew. What is installed beside Python enters by its version; the kernel's own package and this one
are read wherever they are.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import re
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

__all__ = ["digest_sources", "forget_sources"]

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+(\w[\w., \t]*))", re.MULTILINE)
_INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


class _Source(NamedTuple):
    """A file as this process first found it: when it was written, a digest of it, and the modules it imports."""

    stamp: tuple[int, int]
    digest: bytes
    imports: tuple[str, ...]


def digest_sources(module: str, file: str) -> bytes | None:
    """Return a digest of all source that kernels of a module can be made of; None where it cannot be read, as in a zip or a shell.

    A file is read once a process, when a module with kernels first needs it. A module that is loaded after its file has changed
    once more is not what was read: None.
    """
    try:
        path = Path(file)
        found = _digest(path, module.partition(".")[0])
        return found if _stamp(path) == _read(path).stamp else None
    except (OSError, UnicodeDecodeError):
        return None


def forget_sources() -> None:
    """Read every file again, as another process would."""
    for cached in (_read, _files, _place, _digest):
        cached.cache_clear()


@functools.cache
def _digest(file: Path, top: str) -> bytes:
    digest = hashlib.sha256()
    waiting, seen = [file], {file}
    while waiting:
        path = waiting.pop()
        source = _read(path)
        digest.update(source.digest)
        for name in source.imports:
            version, files = _files(name, path.parent if name.startswith(".") else None, top)
            digest.update(f"{name} {version}".encode())
            waiting += [each for each in files if each not in seen]
            seen.update(files)
    return digest.digest()


@functools.cache
def _read(path: Path) -> _Source:
    stamp, content = _stamp(path), path.read_bytes()
    found = (name for match in _IMPORT.findall(content.decode()) for name in "".join(match).split(","))
    return _Source(stamp, hashlib.sha256(content).digest(), tuple(sorted({name.split()[0] for name in found if name.strip()})))


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@functools.cache
def _files(name: str, beside: Path | None, top: str) -> tuple[str, tuple[Path, ...]]:
    """Return the version of what is installed, or the files that an import may mean: of a package all that lie in its folder."""
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
    """Return the version of an installed package, or the folder or file of one that is followed."""
    known = sys.modules.get(top)
    spec = known.__spec__ if known is not None else importlib.util.find_spec(top)
    if top in sys.stdlib_module_names or spec is None or spec.origin is None:
        return "", None
    path = Path(spec.origin)
    if not follow and any(path.is_relative_to(place) for place in _INSTALLED):
        return str(getattr(known, "__version__", "")), None
    return "", path.parent if path.name == "__init__.py" else path
