"""What is installed beside Python enters the digest of a kernel by what it is, and not by when or where it was installed."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.compiled import sources
from pipeline.compiled.sources import digest_sources, forget_sources

FILES = {"odd_lib/__init__.py": "N = 1\n", "odd_lib/inner.py": "M = 1\n"}
OF_ONE_ENVIRONMENT = {"../../../bin/odd": "#!/here/python\n", "Odd.Lib-1.0.dist-info/INSTALLER": "pip\n"}


def record(files: dict[str, str]) -> str:
    """Return a list of files as installers write it."""
    digests = {
        name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode() for name, text in files.items()
    }
    lines = [f"{name},sha256={digest},{len(files[name])}" for name, digest in digests.items()]
    return "\n".join([*lines, "odd_lib/__pycache__/inner.cpython-311.pyc,,", "Odd.Lib-1.0.dist-info/RECORD,,", ""])


Install = Callable[..., bytes]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package in an environment of its own; gives the digest of a kernel's module that imports it."""
    hot = tmp_path / "hot.py"
    hot.write_text("import odd_lib\n")

    def install_in(
        environment: str, *, files: dict[str, str] = FILES, notes: dict[str, str] = OF_ONE_ENVIRONMENT, version: str = "1.0"
    ) -> bytes:
        folder = tmp_path / environment
        listed = folder / f"Odd.Lib-{version}.dist-info" / "RECORD"
        for path, text in [*((folder / name, text) for name, text in files.items()), (listed, record(files | notes))]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return digest_in(folder)

    def digest_in(folder: Path) -> bytes:
        with monkeypatch.context() as patch:
            patch.syspath_prepend(folder)
            patch.setattr(sources, "_INSTALLED", (folder,))
            patch.delitem(sys.modules, "odd_lib", raising=False)
            forget_sources()
            found = digest_sources("hot", str(hot))
        assert found is not None
        return found

    install_in.digest = digest_in  # type: ignore[attr-defined]
    return install_in


def test_the_same_package_in_a_fresh_environment_compiles_nothing_anew(install: Install) -> None:
    here = install("here")
    elsewhere = {"../../../bin/odd": "#!/elsewhere/python\n", "Odd.Lib-1.0.dist-info/INSTALLER": "another\n"}
    assert install("elsewhere", notes=elsewhere) == here
    assert install("here") == here, "installed again, at another time"


@pytest.mark.parametrize(
    "changed",
    [
        {"version": "1.1"},
        {"files": FILES | {"odd_lib/inner.py": "M = 2\n"}},
        {"files": FILES | {"odd_lib/__init__.py": "N = 2\n"}},
        {"files": FILES | {"odd_lib.libs/fast.so": "code"}},
    ],
    ids=["version", "module of the same version", "first module", "library"],
)
def test_another_package_is_compiled_anew(install: Install, changed: dict[str, object]) -> None:
    assert install("here") != install("there", **changed)


def test_a_package_in_which_somebody_wrote_is_another_one(install: Install, tmp_path: Path) -> None:
    before = install("here")
    (tmp_path / "here" / "odd_lib" / "__init__.py").write_text("N = 3\n")
    assert install.digest(tmp_path / "here") != before  # type: ignore[attr-defined]


@pytest.mark.parametrize("why", ["no list", "two lists", "list of others"])
def test_a_package_that_nobody_wrote_down_counts_by_its_time(install: Install, tmp_path: Path, why: str) -> None:
    install("here")
    folder = tmp_path / "here"
    listed = folder / "Odd.Lib-1.0.dist-info" / "RECORD"
    if why == "no list":
        listed.unlink()
    elif why == "two lists":
        (folder / "odd_lib-0.9.dist-info").mkdir()
        (folder / "odd_lib-0.9.dist-info" / "RECORD").write_text(listed.read_text())
    else:
        listed.write_text(record({"another/__init__.py": ""}))
    before = install.digest(folder)  # type: ignore[attr-defined]
    assert install.digest(folder) == before  # type: ignore[attr-defined]
    os.utime(folder / "odd_lib" / "__init__.py", ns=(1, 1))
    assert install.digest(folder) != before  # type: ignore[attr-defined]


def test_what_kernels_are_made_with_was_written_down() -> None:
    for name in ("numba", "numpy", "llvmlite"):
        version, place = sources._place(name, follow=False)
        assert (version.startswith(f"{name}-"), place) == (True, None), version
