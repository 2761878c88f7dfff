"""Turn a validator's errors into problems that say what is wrong with a document and what to do.

A validator tries every branch of a union and complains for each. Here one place gets one message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from pipeline.errors import Problem
from pipeline.options import KINDS, OTHER_WORDS, meant, nearest, suggest
from pipeline.study.marks import Document, KeyPath, dotted, look_up

__all__ = ["complain", "keys_at", "meant_number"]

_KINDS = {**KINDS, "list_type": "a list", "model_type": "a mapping", "model_attributes_type": "a mapping"}

_LIMITS = {
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "needs at least {min_length}",
    "too_long": "takes at most {max_length}",
    "string_too_short": "must not be empty",
    "string_too_long": "takes at most {max_length} characters",
}


def complain(error: ValidationError, document: Document, model: type[BaseModel]) -> list[Problem]:
    """Return one problem for each place that is wrong."""
    places: dict[KeyPath, list[tuple[ErrorDetails, KeyPath]]] = {}
    for detail in error.errors(include_url=False):
        followed, _, passed = look_up(document.value, detail["loc"])
        places.setdefault(followed, []).append((detail, passed))
    problems: list[Problem] = []
    around = {path[:length] for path in places for length in range(len(path))}
    for path, details in places.items():
        # A complaint deeper within this value comes from the branch the user meant.
        problems += _at(path, details, document, model, deeper=path in around)
    return problems


_LIMIT_HELP: Mapping[KeyPath, str] = {
    ("resampling", "replicates"): "b = 1,000,000 finds p-values down to 1e-6; smaller ones are computed (`tails`), not counted",
    ("resampling", "alpha"): "a significance level is a share: 0.05 is 5 %",
}
"""What to do about a limit, by key."""


_BEGINNINGS = {
    "schema": "begin the file with `schema: 1`",
    "test_sets": "`pipeline init` writes a study from your files, with its test set",
    "metrics": "name one or more, such as `metrics: [bleu]`",
}
"""What to do about a key that every study has, where it is missing."""


def _at(
    path: KeyPath, details: Sequence[tuple[ErrorDetails, KeyPath]], document: Document, model: type[BaseModel], *, deeper: bool
) -> list[Problem]:
    problems: list[Problem] = []
    wanted: list[str] = []
    value = look_up(document.value, path)[1]
    certain = any(detail["type"] in _LIMITS for detail, _ in details)
    for detail, passed in details:
        kind, context = detail["type"], detail.get("ctx", {})
        if kind == "extra_forbidden":
            problems.append(_unknown_key(path, detail["loc"], document, model))
        elif kind == "missing":
            if not _is_other_branch(value, passed):
                problems.append(_missing_key(path, str(passed[-1]), document))
        elif kind in {"union_tag_not_found", "union_tag_invalid"}:
            problems.append(_wrong_tag(path, context, value, document))
        elif kind in _KINDS or kind == "literal_error":
            wanted.append(_KINDS.get(kind) or str(context["expected"]))
        elif kind in _LIMITS:
            if not (kind == "too_short" and isinstance(value, (list, dict)) and len(value) >= context["min_length"]):
                message = f"{dotted(path)} {_LIMITS[kind].format(**context)}, not {_shown(value)}"
                problems.append(Problem("P104", message, document.where(path), _LIMIT_HELP.get(path)))
        elif isinstance(context.get("error"), ValueError):
            problems += _disagreements(path, context["error"], document)
        else:
            problems.append(Problem("P104", f"{dotted(path)}: {detail['msg']}", document.where(path)))
    if wanted and not (certain or deeper or problems):
        message = f"{dotted(path)}: expected {' or '.join(dict.fromkeys(wanted))}, found {_shown(value)}"
        problems.append(Problem("P103", message, document.where(path), _type_help(path, value, details, document)))
    return problems


def _is_other_branch(value: Any, passed: KeyPath) -> bool:
    """Say whether a missing key is missed in a mapping that the user did not write."""
    return not isinstance(value, Mapping) or not passed


def _unknown_key(path: KeyPath, location: KeyPath, document: Document, model: type[BaseModel]) -> Problem:
    key, parent = str(path[-1]), path[:-1]
    inside = f" in {dotted(parent)}" if parent else ""
    known = sorted(keys_at(model, location[:-1]))
    help_ = _elsewhere(key, parent, model) or meant(key, known) or _like_elsewhere(key, parent, model) or suggest(key, known)
    return Problem("P101", f"unknown key {key!r}{inside}", document.where(path, key=True), help_)


def _elsewhere(key: str, parent: KeyPath, model: type[BaseModel]) -> str | None:
    """Return the help for a key, or for another tool's word for it, that has its place in another part of the study."""
    word = OTHER_WORDS.get(key.casefold().replace("-", "_"), key)
    parts = {name: {*keys_at(model, (name,))} for name in keys_at(model, ())}
    if parent or word in parts:  # known where it stands, or one level too deep
        return f"write `{word}:` at the top level of the study, not in {dotted(parent)}" if parent and word in parts else None
    if word in keys_at(model, ("test_sets", "NAME")):
        return f"write it in a test set, `test_sets: {{NAME: {{{word}: …}}}}`"
    holders = [name for name, keys in parts.items() if word in keys]
    return f"write it below `{holders[0]}:`, `{holders[0]}: {{{word}: …}}`" if len(holders) == 1 else None


def _like_elsewhere(key: str, parent: KeyPath, model: type[BaseModel]) -> str | None:
    """Return the help for a misspelt key at the top level that one part of the study has."""
    near = {name: nearest(key, keys_at(model, (name,)), cutoff=0.75) for name in ([] if parent else keys_at(model, ()))}
    found = [(name, word) for name, word in near.items() if word is not None]
    if len(found) != 1:
        return None
    ((name, word),) = found
    return f"did you mean '{word}' below `{name}:`?"


def _wrong_tag(path: KeyPath, context: Mapping[str, Any], value: Any, document: Document) -> Problem:
    """Tell of the key by which one of several mappings is chosen."""
    key = str(context["discriminator"]).strip("'")
    if not isinstance(value, Mapping) or key not in value:
        return _missing_key(path, key, document)
    place = (*path, key)
    choices = str(context["expected_tags"]).split("'")[1::2]
    expected = " or ".join([", ".join(map(repr, choices[:-1])), repr(choices[-1])]).removeprefix(" or ")
    message = f"{dotted(place)}: expected {expected}, found {_shown(value[key])}"
    return Problem("P103", message, document.where(place), meant(str(value[key]), choices))


def _missing_key(path: KeyPath, key: str, document: Document) -> Problem:
    inside = f" in {dotted(path)}" if path else ""
    help = _BEGINNINGS.get(key) if not path else None
    return Problem("P105", f"the key {key!r} is missing{inside}", document.where(path, key=True), help)


def _disagreements(path: KeyPath, error: ValueError, document: Document) -> list[Problem]:
    found = getattr(error, "found", None)
    if found:
        places = [document.where(look_up(document.value, part)[0], key=True) for part, *_ in found]
        return [
            Problem("P110", f"{dotted(part)}: {text}", place, *help_)
            for (part, text, *help_), place in zip(found, places, strict=True)
        ]
    message = f"{dotted(path)}: {error}" if path else str(error)
    return [Problem("P110", message, document.where(path))]


def _type_help(path: KeyPath, value: Any, details: Sequence[tuple[ErrorDetails, KeyPath]], document: Document) -> str | None:
    kinds = {detail["type"] for detail, _ in details}
    if path == ("schema",):
        return "write `schema: 1`, the only version there is"
    if value is None:
        return "leave the key out for its default"
    if "string_type" in kinds and isinstance(value, (bool, int, float)):
        return "put it in quotes"
    if isinstance(value, str) and kinds & {"int_type", "float_type", "int_from_float"} and (number := meant_number(value)):
        return f"write {number}"
    if isinstance(value, str) and kinds & {"tuple_type", "list_type"}:
        return f"put it in brackets: [{value}]"
    if isinstance(value, (int, float)) and path == ("resampling", "margin"):
        return f"a margin is in points of a metric: `margin: {{{_first_metric(document)}: {value}}}`"
    if isinstance(value, str) and "literal_error" in kinds:
        expected = " ".join(str(detail.get("ctx", {}).get("expected", "")) for detail, _ in details)
        choices = expected.split("'")[1::2]
        ours = next(filter(None, (detail.get("ctx", {}).get("meant") for detail, _ in details)), None)
        return meant(value, choices, others={value: ours} if ours else None)
    return None


def _first_metric(document: Document) -> str:
    """Return the name of a metric of the study, or what stands for one."""
    metrics = document.value.get("metrics") if isinstance(document.value, Mapping) else None
    first = metrics[0] if isinstance(metrics, list) and metrics else metrics
    name = first.get("name") if isinstance(first, Mapping) else first
    return name if isinstance(name, str) else "METRIC"


def meant_number(text: str) -> str | None:
    """Return a number that is written with a letter, a percent sign or commas as YAML takes it; None for any other text.

    Examples
    --------
    >>> [meant_number(text) for text in ("100k", "1.5M", "5%", "1,000,000", "0,05", "many", "k")]
    ['100_000', '1_500_000', '0.05', '1_000_000', None, None, None]
    """
    if re.fullmatch(r"\d{1,3}(,\d{3})+", text):
        return text.replace(",", "_")
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kKmM%])", text)
    if found is None:
        return None
    factor = {"k": Decimal(1_000), "m": Decimal(1_000_000), "%": Decimal("0.01")}[found[2].lower()]
    number = Decimal(found[1]) * factor
    return f"{int(number):_}" if number == int(number) else str(number.normalize())


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {len(value)}"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 60 else value[:60] + '…'!r}"
    return str(value)


_Branch = tuple[Any, frozenset[str]]
"""A type that a value may have, and the names by which a validator tells that this branch of a union was taken."""


def keys_at(model: type[BaseModel], location: KeyPath) -> set[str]:
    """Return the keys that the models at a place know; the location names the branches of unions that led there."""
    branches = _flat(model)
    for part in location:
        taken = [branch for branch in branches if part in branch[1]]
        branches = taken or [inner for kind, _ in branches for inner in _step(kind, part)]
    return {field.alias or name for kind, _ in branches if isinstance(kind, type) for name, field in _fields(kind).items()}


def _step(kind: Any, part: str | int) -> list[_Branch]:
    if isinstance(part, str) and isinstance(kind, type) and issubclass(kind, BaseModel):
        return [
            plain for name, field in _fields(kind).items() if (field.alias or name) == part for plain in _flat(field.annotation)
        ]
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(part, int) and origin in (tuple, list):
        return _flat(arguments[0])
    if isinstance(part, str) and isinstance(origin, type) and issubclass(origin, Mapping):
        return _flat(arguments[1])
    return []


def _flat(kind: Any, tags: frozenset[str] = frozenset()) -> list[_Branch]:
    """Return the alternatives of a type, without annotations."""
    if get_origin(kind) is Annotated:
        inner, *notes = get_args(kind)
        return _flat(inner, tags | {note.tag for note in notes if isinstance(note, Tag)})
    if get_origin(kind) in (Union, UnionType):
        return [plain for choice in get_args(kind) for plain in _flat(choice, tags)]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        # A union without tags is told by the class, one with a discriminator by the value of that key.
        literals = [get_args(field.annotation) for field in _fields(kind).values() if get_origin(field.annotation) is Literal]
        tags = tags | {kind.__name__, *(value for values in literals if len(values) == 1 for value in values)}
    return [(kind, tags)]


def _fields(kind: type) -> dict[str, Any]:
    return dict(kind.model_fields) if issubclass(kind, BaseModel) else {}
