"""Import what a study names as ``module:name``, code of the user's own, with a digest of that code.

The digest is part of what is computed: results are kept under it, and computed again after the code has changed.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import PluginError
from pipeline.foreign_code import refuse_foreign_code

__all__ = ["ImportedObject", "every_file", "import_object", "packaged_files"]

_IMPORTED: dict[str, str] = {}
"""Digest of the code of each module at the time it was imported: a process goes on with that one."""

FilesBelow = Callable[[Path, str], Iterable[Path]]
"""Which files of a folder are the code of an object, by the name of its module."""


class ImportedObject(NamedTuple):
    """A class, or a function that makes an object, and a digest of its code that knows no places."""

    made: Callable[..., Any]
    code: str


def every_file(folder: Path, module_name: str) -> list[Path]:
    """Return all Python files below a folder."""
    return sorted(folder.rglob("*.py"))


def packaged_files(folder: Path, module_name: str) -> list[Path]:
    """Return the Python files in a folder and in its packages, those of other folders left out: it may be anybody's home."""

    def packages() -> Iterator[Path]:
        for entry in folder.iterdir():
            if entry.is_dir() and (entry.name == module_name.partition(".")[0] or (entry / "__init__.py").is_file()):
                yield entry

    return sorted([*folder.glob("*.py"), *(file for package in packages() for file in package.rglob("*.py"))])


def import_object(path: str, folder: Path | None, *, files: FilesBelow = every_file) -> ImportedObject:
    """Return what ``module:name`` names, and a digest of its code.

    Parameters
    ----------
    path : str
        ``module:name`` of a class, or of a function that makes the object.
    folder : Path, optional
        Folder of the module, as an absolute path; without it the module is one that is installed.
    files : callable
        Which files of the folder are part of the digest; without a folder it is the module's own.

    Raises
    ------
    PluginError
        P309 where it cannot be imported, is another folder's, or changed since this process imported it; P315 where code of a
        study is not to be run.
    """
    refuse_foreign_code(f"the module of {path!r}")
    module_name, _, name = path.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *name.split(".")]):
        raise PluginError.of(
            "P309", f"{path!r} is not the path of an object", help="write module:name, for example models:Baseline"
        )
    if folder is not None:
        if not folder.is_dir():
            raise PluginError.of("P309", f"there is no folder {folder}", help="`path:` is the folder of the module")
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
            importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # foreign code runs here: whatever it raises, the object cannot be had
        raise PluginError.of(
            "P309",
            f"object {path!r} cannot be imported: {type(error).__name__}: {error}",
            help="install its package, or name its folder as `path:`",
        ) from error
    if not callable(found):
        raise PluginError.of(
            "P309", f"{path!r} is a {type(found).__name__}", help="name a class, or a function that makes the object"
        )
    return ImportedObject(found, _digest_code(module_name, module, folder, files))


def _digest_code(module_name: str, module: Any, folder: Path | None, files: FilesBelow) -> str:
    file = getattr(module, "__file__", None)
    if file is None:
        raise PluginError.of("P309", f"module {module_name} has no file", help="give it one: its code is part of what is computed")
    if folder is not None and not Path(file).resolve().is_relative_to(folder.resolve()):
        raise PluginError.of(
            "P309",
            f"module {module_name} is imported from {file}, and not from {folder}",
            help="another module has this name: rename one of them",
        )
    content = hashlib.sha256()
    for source in [Path(file)] if folder is None else files(folder, module_name):
        content.update((source.name if folder is None else source.relative_to(folder).as_posix()).encode() + b"\0")
        content.update(hashlib.sha256(source.read_bytes()).digest())
    digest = content.hexdigest()[:32]
    if _IMPORTED.setdefault(f"{module_name}|{folder or ''}", digest) != digest:
        raise PluginError.of(
            "P309",
            f"the code of {module_name} changed since this process imported it",
            help="start the study in a new process",
        )
    return digest + _version(module_name.split(".")[0])


def _version(package: str) -> str:
    try:
        return f"|{package}:{version(package)}"
    except PackageNotFoundError:
        return ""
