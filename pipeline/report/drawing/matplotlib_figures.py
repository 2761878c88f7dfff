"""Figures by matplotlib as SVG: reproducible bytes, selectable text. Imported only for figures that need its axes."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from pipeline.interfaces.figures import GRID, INK

__all__ = ["canvas", "finish"]

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
