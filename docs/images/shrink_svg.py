"""Make a scatter of a report smaller for the documentation. This module moves what all points of a kind share to one group.

::

    python docs/images/shrink_svg.py RUN/report/figures/confidence-01.svg docs/images/quickstart-confidence.svg

The picture stays the same; coordinates are rounded to a hundredth of a point.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

NUMBER = re.compile(r"-?\d+\.\d{3,}")
PATTERNS = (
    # A point that stands as the use of a mark, in a group of its own.
    r'\s*<g clip-path="([^"]+)">\s*<use (xlink:href="[^"]+" x="[^"]+" y="[^"]+") style="([^"]+)"/>\s*</g>',
    # A point that stands as a path.
    r'\s*<path (d="M[^"]+") clip-path="([^"]+)" style="(fill: none; stroke: #[0-9a-f]{6}; stroke-opacity: [^"]+)"/>',
)


def shrink(svg: str) -> str:
    """Give the same picture with fewer bytes."""
    for element, pattern in zip(("use", "path"), PATTERNS, strict=True):
        point = re.compile(pattern)
        runs = re.compile(f"(?:{pattern}){{2,}}")
        svg = runs.sub(lambda found, element=element, point=point: group(element, point, found[0]), svg)
    return svg


def group(element: str, point: re.Pattern[str], text: str) -> str:
    """Give a run of points as groups, one for each look."""
    places = {"use": (1, 0, 2), "path": (0, 1, 2)}[element]
    points = [[found[place] for place in places] for found in point.findall(text)]
    groups = []
    for (clip, style), members in groupby(points, key=lambda of: (of[1], of[2])):
        drawn = "\n".join(f"<{element} {re.sub(NUMBER, round_off, of[0]).replace(chr(10), '')}/>" for of in members)
        groups.append(f'\n<g clip-path="{clip}" style="{style}">\n{drawn}\n</g>')
    return "".join(groups)


def round_off(number: re.Match[str]) -> str:
    """Give a number with two decimals."""
    return f"{float(number[0]):.2f}"


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(shrink(source.read_text(encoding="utf-8")), encoding="utf-8")
