"""The shapes of simple figures as SVG text: lines of a table with dots and bars need no plotting library."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from pipeline.interfaces.figures import INK
from pipeline.interfaces.wording import set_minus

__all__ = ["NARROW", "bar", "dot", "escape_text", "line", "picture", "rule", "ticks", "width_of", "words"]

SIZE = 12
"""Of the letters, in the units of the figure, which are pixels where there is room."""
NARROW = 344.0
"""The width of a figure for a phone."""


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_text(text: str) -> str:
    """Return text as XML can hold it: escaped, with U+FFFD for control characters, which no file of XML may have.

    Examples
    --------
    >>> escape_text("a<b" + chr(27))
    'a&lt;b�'
    """
    return escape(_NOT_IN_XML.sub("\ufffd", text))


def picture(width: float, height: float, parts: Iterable[str], *, title: str, alt: str) -> str:
    """Return a whole figure; `pipeline.report.drawing.svg.inline_svg` fits it into a page."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'class="drawn" font-family="system-ui, sans-serif" font-size="{SIZE}" fill="{INK}" '
        f'role="img" style="background: #ffffff" ><title>{escape_text(title)}</title><desc>{escape_text(alt)}</desc>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def words(
    x: float, y: float, text: str, *, anchor: str = "start", quiet: bool = False, bold: bool = False, size: float = SIZE
) -> str:
    """Return text whose middle is at the height ``y``."""
    style = ' opacity=".75"' * quiet + ' font-weight="650"' * bold + f' font-size="{size:g}"' * (size != SIZE)
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y + 0.36 * size:.1f}"{side}{style}>{escape_text(text)}</text>'


def line(x: float, y: float, to_x: float, to_y: float, *, colour: str = INK, width: float = 1.0, opacity: float = 1.0) -> str:
    """Return a straight line."""
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width:g}" stroke-opacity="{opacity:g}"/>'


def rule(x: float, y: float, to_x: float) -> str:
    """Return the line between two groups of systems."""
    return f'<line class="rule" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{y:.1f}" stroke="{INK}" stroke-width="1.5"/>'


def bar(x: float, y: float, width: float, height: float, *, colour: str, opacity: float = 1.0, round_by: float = 0.0) -> str:
    """Return a filled rectangle."""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round_by:g}"'
    return f'<rect {shape} fill="{colour}" fill-opacity="{opacity:g}"/>'


def dot(x: float, y: float, *, colour: str, radius: float = 4.0) -> str:
    """Return a filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>'


def width_of(texts: Iterable[str]) -> float:
    """Return a width that holds the longest of some texts: how wide the reader's letters are is known only roughly."""
    columns = (sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) for text in texts)
    return 0.66 * SIZE * max(columns, default=0)


def ticks(low: float, high: float, *, most: int = 7) -> Sequence[tuple[float, str]]:
    """Return round numbers from ``low`` to ``high``, at most ``most``, each as a number and as text.

    Examples
    --------
    >>> [text for _, text in ticks(35.2, 38.9)]
    ['36', '37', '38']
    >>> [text for _, text in ticks(1, 9)]
    ['2', '4', '6', '8']
    >>> [text for _, text in ticks(-1, 0)]
    ['−1.0', '−0.8', '−0.6', '−0.4', '−0.2', '0.0']
    """
    if not high > low:
        return [(low, set_minus(f"{low:g}"))]
    if max(abs(low), abs(high)) >= 1e15:  # beyond it, numbers in full are wider than a figure; near 1e308 differences overflow
        unit = 10.0 ** (math.floor(math.log10(max(abs(low), abs(high)))) - 3)
        return [(number * unit, set_minus(f"{number * unit:g}")) for number, _ in ticks(low / unit, high / unit, most=most)]
    power = math.floor(math.log10((high - low) / most))
    step = next(s * 10.0**p for p in (power, power + 1) for s in (1, 2, 5) if (high - low) / (s * 10.0**p) <= most)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    numbers = [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    return [(number, set_minus(f"{number:.{digits}f}")) for number in numbers]
