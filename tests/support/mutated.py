"""Files that are nearly what they should be: bytes and JSON with something changed, for tests that no reader is surprised."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from pipeline.errors import DataError

_ODD = [
    None,
    True,
    0,
    -1,
    10**400,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "C",
    "1e999",
    [],
    [1, "x"],
    {},
    {"value": 1},
]
odd_values = st.sampled_from(_ODD)


@st.composite
def mutated_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Return bytes of which some are others, some are gone, or some came in."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(len(data) - 1, 0)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 1, 2, 30, 4000])))
        data = data[:start] + draw(st.binary(max_size=3)) + data[end:]
    return data


@st.composite
def mutated_json(draw: st.DrawFn, value: Any) -> Any:
    """Return a value of which one part, at any depth, is another, is gone, or has another name."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        at = value
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(at[key], (dict, list)) and at[key] and draw(st.integers(0, 3)):
                at = at[key]
                continue
            if isinstance(at, dict) and draw(st.integers(0, 3)) == 0:
                old = at.pop(key)
                if draw(st.booleans()):
                    at[draw(st.sampled_from(["x", "content", "\ud800"]))] = old
            else:
                at[key] = copy.deepcopy(draw(odd_values))
            break
    return value


def dumped(value: Any) -> str:
    """Return JSON as Python writes it: half characters as escapes, numbers of any length."""
    return json.dumps(value)


def trouble(call: Callable[[], object]) -> DataError | None:
    """Return the data error that a call raises, None where it raises nothing; anything else goes on."""
    try:
        call()
    except DataError as error:
        return error
    return None
