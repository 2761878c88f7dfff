"""Load the templates of pages: Jinja translates them into Python once, and their bytecode is kept."""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sys
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket, bc_magic

from pipeline.errors import StoreError
from pipeline.interfaces.wording import set_minus
from pipeline.store.files import replacing

__all__ = ["make_environment"]

FOLDER = Path(__file__).parents[1] / "templates"


class _Kept(BytecodeCache):
    """Bytecode in the folder where Python keeps that of modules, sealed; what is damaged or missing is translated again.

    The one that Jinja brings reads a pickle, and ends with an error where a file is cut.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            kept = self._file(bucket).read_bytes()
            seal, code = kept[:_SEAL], kept[_SEAL:]
            if seal == _seal(bucket, code):
                bucket.code = marshal.loads(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        code = marshal.dumps(bucket.code)
        with suppress(OSError, StoreError):
            os.makedirs(self._folder, exist_ok=True)
            with replacing(self._file(bucket), private=False) as file:
                file.write(_seal(bucket, code) + code)

    def _file(self, bucket: Bucket) -> Path:
        return Path(self._folder, f"jinja-{jinja2.__version__}-{bucket.key}.cache")


_SEAL = 32


def _seal(bucket: Bucket, code: bytes) -> bytes:
    """Return what holds bytecode to the text of its template and to the version of Python."""
    return hashlib.sha256(bc_magic + bucket.checksum.encode() + code).digest()


def make_environment() -> Environment:
    """Return the environment of all pages: names of a study are escaped, and an unknown variable is an error.

    Bytecode is kept where and when Python keeps its own, so not with ``PYTHONDONTWRITEBYTECODE``. It is held to the text of the
    template and to the version of Python; the version of Jinja stands in the names of the files.
    """
    folder = os.path.dirname(importlib.util.cache_from_source(str(FOLDER / "page.py")))
    environment = Environment(
        loader=PackageLoader("pipeline.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=None if sys.dont_write_bytecode else _Kept(folder),
    )
    environment.filters["minus"] = set_minus
    return environment
