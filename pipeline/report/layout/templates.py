"""Where the templates of pages come from: Jinja translates them into Python once, and the bytecode is kept beside them."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket

__all__ = ["make_environment"]

FOLDER = Path(__file__).parents[1] / "templates"


class _Kept(FileSystemBytecodeCache):
    """Bytecode in the folder where Python keeps that of modules; what cannot be written is translated again next time."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            os.makedirs(self.directory, exist_ok=True)
            super().dump_bytecode(bucket)


def make_environment() -> Environment:
    """Return the environment of all pages: names of a study are escaped, and an unknown variable is an error.

    Bytecode is kept where and when Python keeps its own, so not with ``PYTHONDONTWRITEBYTECODE``. Jinja holds it to the text of
    the template and to the version of Python; the version of Jinja stands in the names of the files.
    """
    folder = os.path.dirname(importlib.util.cache_from_source(str(FOLDER / "page.py")))
    return Environment(
        loader=PackageLoader("pipeline.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=None if sys.dont_write_bytecode else _Kept(folder, f"jinja-{jinja2.__version__}-%s.cache"),
    )
