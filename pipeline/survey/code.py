"""The code that a study would run: commands, modules of its own, and what packages other than this one bring. None of it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.metrics.registry import is_own
from pipeline.plugins import list_plugins
from pipeline.study.schema import Study

__all__ = ["Code", "list_code"]


@dataclass(frozen=True)
class Code:
    """One piece of code.

    Parameters
    ----------
    where : str
        The key of the study that names it.
    what : str
        The command, module or class, as the study or the entry point has it.
    own : bool
        The study itself brings it or gives it its commands; other code is that of packages somebody has installed here.
    """

    where: str
    what: str
    own: bool


def list_code(study: Study) -> tuple[Code, ...]:
    """Return all code that a study would run beside this package's own, read off the study and the entry points alone."""
    return tuple(_list(study))


def _list(study: Study) -> Iterator[Code]:
    for metric in study.metrics:
        if is_own(metric.name):
            folder = dict(metric.options).get("path")
            yield Code("metrics", f"module {metric.name}" + (f" in the folder {folder}" if folder else ""), own=True)
        else:
            yield from _of_plugin("metrics", "metrics", metric.name)
    for name, model in (study.training.models if study.training else {}).items():
        where = f"training.models.{name}"
        yield from _of_plugin(where, "trainers", model.trainer)
        # Which of them are commands, modules or classes is the trainer's business: all are shown, so that none is missed.
        yield from (Code(f"{where}.{key}", text, own=True) for key, text in _texts(model.options))
    for name, test_set in study.test_sets.items():
        yield from _of_plugin(f"test_sets.{name}.format", "readers", test_set.format.name)
    for analysis in study.asked_analyses:
        yield from _of_plugin("analyses", "analyses", analysis.name)
    for procedure in study.resampling.procedures:
        yield from _of_plugin("resampling.procedures", "procedures", procedure)
    if study.preset:
        yield from _of_plugin("preset", "presets", study.preset)
    if study.cluster != "local":
        yield Code("cluster", f"the cluster class of the profile {study.cluster}", own=True)


def _of_plugin(where: str, family: str, name: str) -> Iterator[Code]:
    """Yield what another package brings under a name; nothing for what this one has."""
    point = list_plugins(family).get(name)
    if point is not None and point.module.partition(".")[0] != "pipeline":
        package = f" of the package {point.dist.name} {point.dist.version}" if point.dist else ""
        yield Code(where, f"{point.value}{package}", own=False)


def _texts(options: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in options.items():
        name = f"{above}{key}"
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, Mapping):
            yield from _texts(value, f"{name}.")
        elif isinstance(value, (list, tuple)):
            yield from _texts({str(number): each for number, each in enumerate(value)}, f"{name}.")
