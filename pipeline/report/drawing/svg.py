"""Figures as SVG: what a report keeps of them, and how they are fitted into a page in light and dark colours."""

from __future__ import annotations

import re

from pipeline.dataclass import dataclass
from pipeline.interfaces.figures import INK, PALETTE
from pipeline.report.drawing.shapes import escape_text

__all__ = ["Drawing", "inline_svg"]


@dataclass(frozen=True)
class Drawing:
    """One finished figure.

    Parameters
    ----------
    section : str
        Chapter or section of the page it belongs to.
    file : str
        File name in ``figures/``; never made from a name of the study.
    title, alt, caption : str
        What stands beside it; ``alt`` says in words what is to be seen.
    svg : str
        The file's text.
    table : str
        Name of the file in ``tables/`` with the rows behind it.
    narrow : str
        The same figure for a page of a phone's width; empty where there is none.
    """

    section: str
    file: str
    title: str
    alt: str
    caption: str
    svg: str
    table: str
    narrow: str = ""


_TALL = 560.0
"""Pixels of a figure that takes a sheet of paper for itself: letters of a smaller copy could not be read."""


_DESCRIBED = re.compile(r"<desc>.*?</desc>", re.DOTALL)


def _height_of(svg: str) -> float:
    found = re.search(r'<svg[^>]*? height="([\d.]+)"', svg)
    return float(found[1]) if found else 0.0


def inline_svg(svg: str, prefix: str, *, alt: str, narrow: bool = False) -> str:
    """Fit an SVG into a page: unique ids, the colours and width of the page, and a description for screen readers."""
    svg = _DESCRIBED.sub(lambda _: f"<desc>{escape_text(alt)}</desc>", svg, count=1)
    text = svg.replace(' style="background: #ffffff" ', " ")
    kind = " narrow" if narrow else " tall" if _height_of(svg) > _TALL else ""
    text = text.replace('class="drawn"', f'class="drawn{kind}"', 1)
    text = re.sub(r'(<svg[^>]*?) width="[\d.]+pt"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[\d.]+pt"', r"\1", text, count=1)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    text = text.replace(INK, "currentColor")
    for number, colour in enumerate(PALETTE, start=1):
        text = text.replace(colour, f"var(--c{number}, {colour})")
    return text
