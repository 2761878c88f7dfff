"""Figures as SVG: repeatable bytes, selectable text, colours fit for light and dark."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from pipeline.interfaces.figures import GRID, INK, PALETTE

__all__ = ["Drawing", "canvas", "finish", "inline_svg"]

STYLE: Any = {
    "svg.hashsalt": "pipeline",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.parse_math": False,
    "axes.unicode_minus": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "savefig.dpi": 130,
}


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
    """

    section: str
    file: str
    title: str
    alt: str
    caption: str
    svg: str
    table: str


@contextmanager
def canvas(width: float = 7.2, height: float = 4.0) -> Iterator[tuple[Canvas, Axes]]:
    """Make an empty figure with the package's style; no state of matplotlib is touched outside."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # Text stays text: the reader's own fonts draw it, so a glyph that this machine lacks does no harm.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font", category=UserWarning)
        figure = Canvas(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, figure.add_subplot()


def finish(figure: Canvas, *, title: str, alt: str) -> str:
    """Return the SVG of a figure with its title and description inside; the same figure gives the same text."""
    buffer = io.StringIO()
    nothing: dict[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(buffer, format="svg", metadata=nothing)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"font-family:[^;\"]+", "font-family: system-ui, sans-serif", text)
    text = re.sub(r"font: ([\d.]+)px [^;\"]+", r"font: \1px system-ui, sans-serif", text)
    words = f'role="img" style="background: #ffffff" ><title>{escape(title)}</title><desc>{escape(alt)}</desc>'
    return re.sub(r"(<svg[^>]*?)>", lambda m: f"{m[1]} {words}", text, count=1)


def inline_svg(svg: str, prefix: str) -> str:
    """Fit an SVG into a page: ids of its own, colours that follow the page, no size but the page's."""
    text = svg.replace(' style="background: #ffffff" ', " ")
    text = re.sub(r'(<svg[^>]*?) width="[\d.]+pt"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[\d.]+pt"', r"\1", text, count=1)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    text = text.replace(INK, "currentColor")
    for number, colour in enumerate(PALETTE, start=1):
        text = text.replace(colour, f"var(--c{number}, {colour})")
    return text
