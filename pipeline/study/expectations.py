"""Known answers that the results of a study are held to: a paper's numbers, or what last night's run found."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from pipeline.study.frozen import Frozen

__all__ = ["COMPARISON", "Expectation"]

COMPARISON = re.compile(r"\s*(<=|>=|<|>|≤|≥)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
"""A text that compares, in place of one that a row has: the operator and the number."""
_LIKE_ONE = re.compile(r"\s*(==|!=|=|<>|(<=|>=|<|>|≤|≥)\s*[-+.]?\d)")
"""Text that begins like a comparison."""
_ROUNDING = 1e-12
"""Of a limit: one is written with a few digits, and what is equal to it but for rounding agrees."""
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%")

Scalar = str | bool | int | float


def _distance(value: Any) -> Any:
    """Take a number that is not negative, or a share of what is expected such as ``5 %``."""
    said = f"a distance is a number such as 0.05, or a share of what is expected such as 5 %, not {value!r}"
    if isinstance(value, str) and _PERCENT.fullmatch(value.strip()) is None:
        raise ValueError(said)
    if isinstance(value, bool) or (isinstance(value, int | float) and not 0 <= value < math.inf):
        raise ValueError(said)
    return value


def _size(limit: float) -> float:
    return abs(limit) if math.isfinite(limit) else 0.0


_DISTANCE_IN_JSON = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*(\d+(\.\d*)?|\.\d+)\s*%\s*$"}]}


class Expectation(Frozen):
    """One number of a table, and what it should be."""

    name: str | None = Field(default=None, description="What it is called; made of the rest where nothing is said.")
    table: str = Field(description="A table of the report: the name of its file in tables/, without .csv.")
    where: Mapping[str, Scalar] = Field(
        default={},
        description="By column: the value of the row; a text such as '<= 0.05' compares.",
    )
    column: str | None = Field(default=None, description="Whose number is meant, of the one row that is left.")
    count: bool = Field(default=False, description="In place of a column: how many rows are left.")
    value: float | None = Field(default=None, description="What is expected, such as a paper's number.")
    within: Annotated[float | str | None, BeforeValidator(_distance), WithJsonSchema(_DISTANCE_IN_JSON)] = Field(
        default=None, description="How far from the value is near enough: a number, or a share of it such as 5 %."
    )
    at_least: float | None = None
    at_most: float | None = None
    source: str | None = Field(default=None, description="Where the value comes from.")
    differs: str | None = Field(
        default=None, description="Why ours need not agree, as with other data: it is shown, and never counts as turned."
    )

    @field_validator("where")
    @classmethod
    def _compares(cls, where: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
        for value in where.values():
            if isinstance(value, str) and _LIKE_ONE.match(value) and not COMPARISON.fullmatch(value):
                raise ValueError(f"a comparison is <, <=, > or >= and a number, such as '<= 0.05', not {value!r}")
        return where

    @model_validator(mode="after")
    def _is_whole(self) -> Expectation:
        if (self.column is None) == (not self.count):
            raise ValueError("name a column, or say count: true")
        if self.value is None and self.at_least is None and self.at_most is None:
            raise ValueError("say what is expected: value and within, at_least or at_most")
        if (self.within is not None) and self.value is None:
            raise ValueError("within needs a value")
        if (
            self.value is not None
            and self.within is None
            and self.differs is None
            and self.at_least is None
            and self.at_most is None
        ):
            raise ValueError("say how near to the value is near enough: within")
        if any(number is not None and not math.isfinite(number) for number in (self.value, self.at_least, self.at_most)):
            raise ValueError("numbers must be finite")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least:g} is above at_most {self.at_most:g}")
        low, high = self.limits
        if low > high:
            raise ValueError(f"nothing can agree: value and within leave no number between {low:g} and {high:g}")
        if self.count and (high < 0 or (math.isfinite(low) and high < math.ceil(low))):
            raise ValueError(f"rows are counted in whole numbers, and none lies between {low:g} and {high:g}")
        if self.value == 0 and isinstance(self.within, str):
            raise ValueError(f"{self.within} of 0 is 0: say how near to 0 is near enough by a number")
        return self

    @property
    def limits(self) -> tuple[float, float]:
        """The limits within which the number agrees, both ends included."""
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        if self.value is not None and self.within is not None:
            share = _PERCENT.fullmatch(self.within.strip()) if isinstance(self.within, str) else None
            reach = float(self.within) if share is None else float(share[1]) / 100 * abs(self.value)
            low, high = max(low, self.value - reach), min(high, self.value + reach)
        return low, high

    def agrees(self, number: float) -> bool | None:
        """Say whether a number is within the limits; None where there are none."""
        low, high = self.limits
        if math.isinf(low) and math.isinf(high):
            return None
        return low - _ROUNDING * _size(low) <= number <= high + _ROUNDING * _size(high)

    def label(self) -> str:
        """Return its name."""
        if self.name is not None:
            return self.name
        what = "rows" if self.count else str(self.column)
        some = ", ".join(f"{key} {value}" for key, value in self.where.items())
        return f"{self.table}: {what}" + (f" of {some}" if some else "")
