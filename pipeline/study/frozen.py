"""The base class of the values of a study: complete when built, with its names checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from pipeline.options import nearest

__all__ = ["Frozen", "known_name", "name_alone"]


class Frozen(BaseModel):
    """A value that is complete when built and refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


def known_name(names: Collection[str], kind: str, *, others: Callable[[], Mapping[str, str]] = dict) -> Callable[[Any], Any]:
    """Return a validator that accepts installed names, and refuses others with the error of a literal.

    Its context has under ``meant`` what is meant by a name that others use, as ``others`` returns them with ours.
    """

    def check(name: Any) -> Any:
        if not isinstance(name, str) or name not in names:
            *some, last = map(repr, names)
            expected = f"{', '.join(some)} or {last}" if some else last
            context = {"kind": kind, "expected": expected, "meant": nearest(str(name), names, others=others())}
            raise PydanticCustomError("literal_error", "there is no such {kind}", context)
        return name

    return check


def name_alone(kind: str) -> BeforeValidator:
    """Return a validator that accepts a name in place of a mapping that holds only the name."""

    def give_mapping(value: Any) -> Any:
        if not isinstance(value, (str, Mapping, BaseModel)):
            raise ValueError(f"a {kind} is its name, or a mapping of its name and options")
        return {"name": value} if isinstance(value, str) else value

    return BeforeValidator(give_mapping)
