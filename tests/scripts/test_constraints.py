"""The versions of `constraints.txt` can be installed by every Python that `pyproject.toml` promises, its first release included."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]


def lowest_python() -> str:
    """Return the first release that `pyproject.toml` promises to support."""
    (floor,) = SpecifierSet(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"])
    return f"{floor.version}.0"


def asked_of(release: str) -> Iterator[Requirement]:
    """Yield the lines that hold for a release of Python."""
    here = {"python_full_version": release, "python_version": release.rpartition(".")[0]}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate(here):
                yield wanted


def test_the_lowest_python_may_install_every_version_that_is_asked_of_it():
    lowest, looked, refused = lowest_python(), 0, []
    for wanted in asked_of(lowest):
        try:
            found = metadata.distribution(wanted.name)
        except metadata.PackageNotFoundError:
            continue
        if found.version in wanted.specifier:  # otherwise the line is for an older Python than this one
            looked += 1
            needs = found.metadata.get("Requires-Python")  # `importlib_metadata`, where something has imported it, raises KeyError
            if needs and lowest not in SpecifierSet(needs):
                refused.append(f"{wanted} needs Python {needs}")
    assert not refused, f"`./scripts/quickstart` cannot install these with Python {lowest}"
    if looked < 50:
        pytest.skip(f"only {looked} of these versions are installed here")


@pytest.mark.parametrize("release", ["3.11.0", "3.11.5", "3.12.0", "3.13.1"])
def test_no_python_is_asked_for_two_versions_of_a_package(release):
    names = [wanted.name.lower() for wanted in asked_of(release)]
    assert len(names) == len(set(names))
