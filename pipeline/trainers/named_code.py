"""Which options of this package's trainers are code: commands, modules, classes. Read off a study; none of it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.dataclass import dataclass

__all__ = ["NamedCode", "list_named_code"]

_COMMANDS = ("fit", "predict", "version_command")


@dataclass(frozen=True)
class NamedCode:
    """One piece of code that the options of a trainer name.

    Parameters
    ----------
    option : str
        The option that names it, with a dot before what is within; nothing where it is the trainer itself.
    kind : str
        ``command``, ``module`` or ``trainer``.
    name : str
        The command, ``module:name``, the import path, or the name of an installed trainer.
    given : mapping
        What it is called with.
    folder : str, optional
        Where a module is looked for.
    """

    option: str
    kind: str
    name: str
    given: Mapping[str, Any]
    folder: str | None = None


def list_named_code(trainer: str, options: Mapping[str, Any]) -> Iterator[NamedCode]:
    """Yield the code that a model's options name.

    Of a trainer of another package nobody knows which of its options are code before it is imported: it is one piece of code,
    called with all of them.

    Examples
    --------
    >>> [code.name for code in list_named_code("command", {"predict": "sort {input} > {output}", "suffix": ".txt"})]
    ['sort {input} > {output}']
    """
    if trainer == "command":
        yield from _of_command(options)
    elif trainer == "python":
        yield from _of_object(options)
    elif trainer == "sklearn":
        yield from _of_estimators(options)
    else:
        yield NamedCode("", "trainer", trainer, options)


def _of_command(options: Mapping[str, Any]) -> Iterator[NamedCode]:
    for key in _COMMANDS:
        if isinstance(options.get(key), str):
            # Variables and the folder decide which programs the words of a command are.
            yield NamedCode(key, "command", options[key], {k: options[k] for k in ("path", "environment") if options.get(k)})


def _of_object(options: Mapping[str, Any]) -> Iterator[NamedCode]:
    named, given, path = options.get("object"), options.get("options"), options.get("path")
    given = given if isinstance(given, Mapping) else {}
    if not isinstance(named, str):
        return
    if ":" in named:
        yield NamedCode("object", "module", named, given, path if isinstance(path, str) else None)
        return
    for code in list_named_code(named, given):
        yield NamedCode(f"options.{code.option}" if code.option else "object", code.kind, code.name, code.given, code.folder)


def _of_estimators(options: Mapping[str, Any]) -> Iterator[NamedCode]:
    steps = options.get("steps")
    listed = enumerate(steps) if isinstance(steps, Sequence) and not isinstance(steps, str) else ()
    wanted = [("", options), *((f"steps[{number}].", step) for number, step in listed if isinstance(step, Mapping))]
    for above, step in wanted:
        named, given = step.get("estimator"), step.get("options")
        if isinstance(named, str) and named.partition(".")[0] != "sklearn":
            yield NamedCode(f"{above}estimator", "module", named, given if isinstance(given, Mapping) else {})
