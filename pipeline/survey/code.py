"""The code that a study would run: commands, modules of its own, and what packages other than this one bring. None of it is run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.errors import PipelineError
from pipeline.items.recognise import AUTO
from pipeline.metrics.registry import is_own
from pipeline.plugins import describe_plugin, in_tree, list_plugins
from pipeline.study.load import load_profile
from pipeline.study.schema import Study
from pipeline.study.sets import FormatSpec
from pipeline.study.training_schema import DataFiles
from pipeline.trainers.named_code import list_named_code

__all__ = ["Code", "is_foreign", "list_code", "list_formats", "metric_kind"]

_SECRET = ("password", "token", "secret")


@dataclass(frozen=True)
class Code:
    """One piece of code.

    Parameters
    ----------
    where : str
        The key of the study that names it.
    kind : str
        ``command``, ``module``, ``plugin`` or ``cluster``.
    what : str
        The command, module or class, as the study or the entry point has it, and what it is called with.
    own : bool
        The study itself brings it or names it by its place; other code is that of packages somebody has installed here.
    """

    where: str
    kind: str
    what: str
    own: bool


def list_code(study: Study, base: Path) -> tuple[Code, ...]:
    """Return all code that a study would run beside this package's own, read off the study, its profile and the entry points.

    ``base`` is the folder that relative paths start from.
    """
    return tuple(dict.fromkeys(_list(study, base)))


def is_foreign(family: str, name: str) -> bool:
    """Tell whether another package brings what goes by a name; nothing is imported."""
    return name in list_plugins(family) and not in_tree(family, name)


def list_formats(study: Study) -> Iterator[tuple[str, FormatSpec]]:
    """Yield the formats of a study's files by the key that names them."""
    for name, test_set in study.test_sets.items():
        yield f"test_sets.{name}.format", test_set.format
    data = study.training.data if study.training else None
    if isinstance(data, DataFiles):
        form = {"name": data.format} if isinstance(data.format, str) else data.format
        yield "training.data.format", FormatSpec.model_validate(form)


def metric_kind(name: str, options: Mapping[str, Any]) -> str:
    """Return the name of the installed metric that a study's metric is, whatever it goes by there."""
    return str(options.get("metric", name))


def _list(study: Study, base: Path) -> Iterator[Code]:
    for metric in study.metrics:
        given = dict(metric.options)
        if is_own(metric.name):
            yield _of_module("metrics", metric.name, given.pop("path", None), given)
        else:
            yield from _of_plugin("metrics", "metrics", metric_kind(metric.name, given), given)
    for name, model in (study.training.models if study.training else {}).items():
        for code in list_named_code(model.trainer, model.options):
            where = f"training.models.{name}" + (f".{code.option}" if code.option else "")
            if code.kind == "trainer":
                yield from _of_plugin(where, "trainers", code.name, code.given)
            elif code.kind == "module":
                yield _of_module(where, code.name, code.folder, code.given)
            else:
                yield Code(where, code.kind, code.name + _with(code.given, "run"), own=True)
    for where, form in list_formats(study):
        # Where a format is left open, every reader there is would be asked whether a file is its own.
        for reader in list_plugins("readers") if form.name == AUTO else [form.name]:
            yield from _of_plugin(where, "readers", reader, form.options)
    for analysis in study.asked_analyses:
        yield from _of_plugin("analyses", "analyses", analysis.name, analysis.options)
    for procedure in study.resampling.procedures:
        yield from _of_plugin("resampling.procedures", "procedures", procedure, {})
    if study.preset:
        yield from _of_plugin("preset", "presets", study.preset, {})
    if study.cluster != "local":
        yield _of_profile(study.cluster, base)


def _of_module(where: str, name: str, folder: Any, given: Mapping[str, Any]) -> Code:
    place = f" in the folder {folder}" if folder else ""
    return Code(where, "module", f"{name}{place}{_with(given)}", own=True)


def _of_plugin(where: str, family: str, name: str, given: Mapping[str, Any]) -> Iterator[Code]:
    """Yield what another package brings under a name; nothing for what this one has."""
    if is_foreign(family, name):
        yield Code(where, "plugin", describe_plugin(list_plugins(family)[name]) + _with(given), own=False)


def _of_profile(name: str, base: Path) -> Code:
    """Return what a profile would start: batch systems are given commands among the options of a class."""
    try:
        profile = load_profile(name, base)
    except PipelineError:
        return Code("cluster", "cluster", f"what the profile {name} names, which cannot be read here", own=True)
    started = profile.cluster or f"the scheduler at {profile.address or profile.scheduler_file}"
    asked = {key: getattr(profile, key) for key in ("options", "adapt", "config", "environment") if getattr(profile, key)}
    given = {key: _without_secrets(value) for key, value in asked.items()}
    return Code("cluster", "cluster", f"{started} of the profile {name}{_with(given)}", own=True)


def _with(given: Mapping[str, Any], verb: str = "called") -> str:
    """Return what code is called with: an argument may be a command as well."""
    shown = ", ".join(f"{key}={json.dumps(_plain(value), ensure_ascii=False)}" for key, value in given.items())
    return f", {verb} with {shown}" if shown else ""


def _without_secrets(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a profile without what looks like a secret; of other code all are shown, whatever their names."""
    return {key: "(not shown)" if any(word in key.lower() for word in _SECRET) else value for key, value in given.items()}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
