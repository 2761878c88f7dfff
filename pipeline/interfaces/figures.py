"""Figures that an analysis brings: what is drawn, the words beside it, and what it adds to the figures of the report.

Nothing here imports matplotlib. A function that draws is handed matplotlib's axes by the report, and only where a page is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pipeline.dataclass import dataclass, field

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GRID", "INK", "MOST_POINTS", "PALETTE", "SHAPES", "Figure", "Mark", "tidy_axes"]

INK = "#1f2933"
GRID = "#9aa5b1"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours, in an order that also differs in lightness; shapes always differ too. Pages know them: with these and
`INK` a figure is readable on light and dark."""

SHAPES = "o^sDvP"
"""Shapes of points, one for each colour of `PALETTE`."""

MOST_POINTS = 4000
"""Points of one shape and colour in a figure. Of more, the report leaves out those that lie on others, since a page holds every
figure; an analysis lists and draws single pairs of a test set only up to this number."""


@dataclass(frozen=True)
class Figure:
    """One figure of a finding.

    Parameters
    ----------
    name : str
        Small letters, digits and hyphens: the report numbers the figures of one name and calls their files ``name-01.svg``.
    title, alt, caption : str
        What stands beside it; ``alt`` says in words what is to be seen.
    draw : callable
        Takes empty axes of matplotlib, in the package's style; with ``panels`` a matplotlib figure without axes; with ``plain`` an
        empty `pipeline.interfaces.charts.Chart`, which is drawn without matplotlib, in a hundredth of the time; with both empty
        `pipeline.interfaces.charts.Panels`.
    table : str
        Which of the finding's ``csv`` has the rows behind it.
    section : str
        Where it stands: a section of the finding or a chapter of the report.
    size : tuple of float
        Width and height in inches.
    panels, plain : bool
        What `draw` takes.
    """

    name: str
    title: str
    alt: str
    caption: str
    draw: Callable[[Any], None] = field(compare=False)
    table: str
    section: str = "findings"
    size: tuple[float, float] = (7.2, 4.0)
    panels: bool = False
    plain: bool = False


@dataclass(frozen=True)
class Mark:
    """A line, a band or a class of pairs that an analysis adds to the report's scatter of confidence against gain.

    Parameters
    ----------
    where : mapping
        ``test_set``, ``metric`` and ``procedure`` of the scatter.
    axis : {"gain", "p"}
        A line stands at a gain; a band lies between two p.
    at : float or tuple of float, optional
        The gain, or both ends of the band; None where the class of pairs is to be seen and nothing else.
    label : str
        Written at a line.
    alt : str
        Added to the alternative text.
    caption : str
        Added to the caption, once where several marks say the same.
    pairs : str
        Of which class of pairs: ``all``, ``same``, ``different`` or another name, with its ``values``.
    relation : str, optional
        The coordinate that says which systems are the same: points are drawn by it.
    values : tuple of (str, str)
        What the coordinate says of the two systems of such pairs, ``*`` for anything; empty for ``all``, ``same``, ``different``.
    """

    where: Mapping[str, str]
    axis: Literal["gain", "p"]
    at: float | tuple[float, float] | None
    label: str = ""
    alt: str = ""
    caption: str = ""
    pairs: str = "all"
    relation: str | None = None
    values: tuple[tuple[str, str], ...] = ()


def tidy_axes(axes: Axes, *, x: str, y: str) -> None:
    """Label the axes and draw a quiet grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, color=GRID, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=3, color=GRID)
