"""Turn the options of a study file into the frozen options of an analysis. This module says what is wrong with them."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pipeline.errors import Problem, StudyError

__all__ = ["read_options"]

T = TypeVar("T")


def read_options(kind: type[T], options: Mapping[str, Any], *, analysis: str) -> T:
    """Build ``kind``, a frozen dataclass that validates itself, from the keys of a study file.

    Raises
    ------
    StudyError
        P101 for each key that ``kind`` does not have, P104 for a value it refuses.
    """
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]  # T is a dataclass by contract
    problems = []
    for key in options:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            problems.append(
                Problem(
                    "P101",
                    f"the analysis {analysis!r} has no option {key!r}",
                    where=f"analyses.{analysis}.{key}",
                    help=f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(known)}",
                )
            )
    if problems:
        raise StudyError(*problems)
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise StudyError.of("P104", f"an option of the analysis {analysis!r}: {error}", where=f"analyses.{analysis}") from error
