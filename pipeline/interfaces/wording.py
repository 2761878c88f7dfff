"""How numbers and metrics are written, the same way in every table, sentence and figure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

__all__ = [
    "MISSING",
    "call_metrics",
    "format_end",
    "format_gain",
    "format_interval",
    "format_level",
    "format_number",
    "format_p",
    "format_share",
    "name_metric",
    "set_minus",
    "shorten",
    "write_p_at",
]

MISSING = "–"

METRICS: Mapping[str, str] = {
    "aer": "AER",
    "bleu": "BLEU",
    "bracket-f1": "bracket F1",
    "bracket-precision": "bracket precision",
    "bracket-recall": "bracket recall",
    "cer": "CER",
    "chrf": "chrF",
    "chrf+": "chrF+",
    "chrf++": "chrF++",
    "chunk-f1": "chunk F1",
    "chunk-precision": "chunk precision",
    "chunk-recall": "chunk recall",
    "f1": "F1",
    "las": "LAS",
    "meteor": "METEOR",
    "ndcg": "nDCG",
    "nist": "NIST",
    "rouge-1": "ROUGE-1",
    "rouge-2": "ROUGE-2",
    "rouge-l": "ROUGE-L",
    "rouge-lsum": "ROUGE-Lsum",
    "tag-accuracy": "tag accuracy",
    "ter": "TER",
    "uas": "UAS",
    "wer": "WER",
    "win-rate": "win rate",
}
"""What people call metrics, by what studies, files and flags call them. Any other metric has one name."""

_TITLES: ContextVar[Mapping[str, str]] = ContextVar("titles of metrics", default=MappingProxyType({}))

SMALLEST_NORMAL = 2.0**-1022
"""Floats below it have lost digits."""


def format_number(value: float | None, digits: int = 3) -> str:
    """Return a number with fixed digits.

    Examples
    --------
    >>> format_number(12.3456), format_number(None), format_number(-0.0001)
    ('12.346', '–', '0.000')
    """
    if value is None:
        return MISSING
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def format_gain(value: float | None, digits: int = 3) -> str:
    """Return a gain, or its standard error, with fixed digits: one that is not 0 is never written as 0.

    It has its first digit, up to two more than asked for; a smaller one is said to be below the last of them.

    Examples
    --------
    >>> format_gain(12.3456), format_gain(0.00057, 2), format_gain(0.00006, 2), format_gain(0.0)
    ('12.346', '0.0006', '0.0001', '0.000')
    >>> format_gain(-2e-7, 2), format_gain(2e-7, 2)
    ('> -0.0001', '< 0.0001')
    """
    if not value:
        return format_number(value, digits)
    written = format_end(value, digits)
    if abs(value) >= 10.0**-digits or float(written):
        return written
    least = f"{10.0 ** -(digits + 2):.{digits + 2}f}"
    return f"< {least}" if value > 0 else f"> -{least}"


_LEVELS: ContextVar[tuple[float, ...]] = ContextVar("levels", default=(0.1, 0.05, 0.01, 0.001))
"""Levels, the usual ones by default: a verdict hangs on which side of one p is."""

_BESIDE, _NEAR = 1e-9, 0.05  # share of a level by which p is off it, and no longer rounded to it


def format_p(value: float | None, replicates: int | None = None, *, log10: float | None = None) -> str:
    """Return a p-value: four decimals, or a power of ten when small, and more where it would be rounded to a usual level.

    Within `write_p_at` no p is rounded to the other side of that level either.

    Where none of b replicates counted, what is known is the upper end of Clopper and Pearson's 95 % interval, 1 − .025^(1/b).
    Where the number was computed and is below the smallest float, its decimal logarithm says what it is.

    Examples
    --------
    >>> format_p(0.04211), format_p(0.0000123), format_p(0.0, 50_000), format_p(None)
    ('0.0421', '1.2e-05', '< 7.4e-05', '–')
    >>> format_p(5e-324, log10=-412.4), format_p(5e-324), format_p(0.0)
    ('4.0e-413', '< 2.2e-308', '0')
    >>> format_p(0.05), format_p(0.050004), format_p(0.04996), format_p(0.0009999)
    ('0.0500', '0.050004', '0.04996', '9.999e-04')
    """
    if value is None:
        return MISSING
    if value < SMALLEST_NORMAL and log10 is not None:
        digits = 10 ** (log10 - math.floor(log10))
        # 9.96 is 10 with two digits.
        return f"{digits:.1f}e{math.floor(log10)}" if digits < 9.95 else f"1.0e{math.floor(log10) + 1}"
    if 0 < value < SMALLEST_NORMAL:
        return f"< {SMALLEST_NORMAL:.1e}"
    if value == 0:
        return f"< {format_p(_round_up(-math.expm1(math.log(0.025) / replicates)))}" if replicates else "0"
    digits, kind = (4, "f") if value >= 0.001 else (1, "e")
    for level in _LEVELS.get():
        if _BESIDE < abs(value / level - 1) < _NEAR:
            while (written := float(f"{value:.{digits}{kind}}")) == level or (written > level) != (value > level):
                digits += 1
    return f"{value:.{digits}{kind}}"


@contextmanager
def write_p_at(level: float) -> Iterator[None]:
    """Let `format_p` keep p on its own side of this level too, such as a study's α, until the block ends.

    Examples
    --------
    >>> with write_p_at(0.02):
    ...     format_p(0.02003), format_p(0.01998)
    ('0.02003', '0.01998')
    """
    levels = _LEVELS.get()
    token = _LEVELS.set(levels if level in levels else (*levels, level))
    try:
        yield
    finally:
        _LEVELS.reset(token)


def format_level(value: float) -> str:
    """Return a level that p is held to, which may be a part of α: with the digits that tell it from p.

    Examples
    --------
    >>> format_level(0.05), format_level(0.05 / 30)
    ('0.05', '0.0016667')
    """
    return f"{value:.5g}"


def _round_up(value: float) -> float:
    """Return the next number with two digits that is not smaller: a bound must not be rounded down."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / step) * step


def format_share(value: float | None) -> str:
    """Return a share in percent."""
    return MISSING if value is None else f"{100 * value:.1f} %"


def format_interval(interval: Mapping[str, Any] | None, digits: int = 3, *, percent: bool = False) -> str:
    """Return the two ends of an interval in brackets; one that digits would round to 0 has its first one, up to two more.

    Examples
    --------
    >>> format_interval({"lo": 0.0001, "hi": 0.0819}), format_interval({"lo": -0.00002, "hi": 0.0})
    ('[0.0001, 0.082]', '[-0.00002, 0.000]')
    >>> format_interval({"lo": 0.00006, "hi": 0.5}, 2), format_interval({"lo": 0.00004, "hi": 0.5}, 2)
    ('[0.0001, 0.50]', '[0.00, 0.50]')
    """
    if interval is None:
        return MISSING
    ends = [interval["lo"], interval["hi"]]
    if percent:
        return f"[{100 * ends[0]:.1f}, {100 * ends[1]:.1f}] %"
    return f"[{format_end(ends[0], digits)}, {format_end(ends[1], digits)}]"


def format_end(value: float, digits: int) -> str:
    """Return an end of an interval or a gain: that it is not 0 decides whether a difference is shown.

    Examples
    --------
    >>> format_end(0.0819, 3), format_end(-0.0001, 3), format_end(0.00004, 2)
    ('0.082', '-0.0001', '0.00')
    """
    if abs(value) >= 10.0**-digits:  # nearly all of them: one digit at least is not 0
        return f"{value:.{digits}f}"
    written = format_number(value, digits)
    if not value or written.strip("0."):
        return written
    # The last digit that may be shown can be one after rounding: 0.00006 is 0.0001.
    longer = format_number(value, min(-math.floor(math.log10(abs(value))), digits + 2))
    return longer if longer.strip("-0.") else written


_HYPHEN = re.compile(r"((?<![\w-])--?[^\W\d_][\w-]*[ =])-(?=\.?\d)|(?<![\w.\-–)])-(?=\.?\d)")
"""Before a number, and neither within a word, a range or a date, nor the power of ten of another; or after an option."""


def set_minus(text: str) -> str:
    """Return text with a true minus before negative numbers, as the page has them; files and terminals have a hyphen.

    The value of an option keeps its hyphen: a command is there to be copied.

    Examples
    --------
    >>> set_minus("-0.5 [-1.2, -.3] by gpt-4 on 2026-11-28, p = 1.0e-04")
    '−0.5 [−1.2, −.3] by gpt-4 on 2026-11-28, p = 1.0e-04'
    """
    return _HYPHEN.sub(lambda found: f"{found[1]}-" if found[1] else "−", text)


@contextmanager
def call_metrics(titles: Mapping[str, str]) -> Iterator[None]:
    """Let `name_metric` call the metrics of a study by their titles, until the block ends.

    Hundreds of tables, figures and sentences name a metric, many of them of rows that hold its key alone: who makes or shows a
    report says here, once, what its study calls them.

    Examples
    --------
    >>> with call_metrics({"chrf": "chrF++"}):
    ...     name_metric("chrf"), name_metric("bleu")
    ('chrF++', 'BLEU')
    """
    token = _TITLES.set(titles)
    try:
        yield
    finally:
        _TITLES.reset(token)


def name_metric(name: str) -> str:
    """Return what people call a metric; one that has no other name, such as one of the user's own, keeps that of the study.

    Within `call_metrics` a metric has the title that it has there.

    Examples
    --------
    >>> name_metric("bleu"), name_metric("chrf"), name_metric("accuracy"), name_metric("my_metrics:BLEU")
    ('BLEU', 'chrF', 'accuracy', 'my_metrics:BLEU')
    """
    return _TITLES.get().get(name) or METRICS.get(name, name)


def shorten(name: str, longest: int) -> str:
    """Return a name that fits: one that is too long ends in an ellipsis.

    Examples
    --------
    >>> shorten("newstest2021", 8)
    'newstes…'
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"
