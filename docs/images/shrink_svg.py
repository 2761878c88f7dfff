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

POINT = re.compile(
    r'\s*<g clip-path="(?P<clip>[^"]+)">\s*<use xlink:href="(?P<mark>[^"]+)" x="(?P<x>[^"]+)" y="(?P<y>[^"]+)" '
    r'style="(?P<style>[^"]+)"/>\s*</g>'
)


def shrink(svg: str) -> str:
    """Give the same picture with fewer bytes."""

    def regroup(run: re.Match[str]) -> str:
        points = list(POINT.finditer(run[0]))
        groups = []
        for (clip, style), members in groupby(points, key=lambda point: (point["clip"], point["style"])):
            uses = "\n".join(f'<use xlink:href="{p["mark"]}" x="{float(p["x"]):.2f}" y="{float(p["y"]):.2f}"/>' for p in members)
            groups.append(f'\n<g clip-path="{clip}" style="{style}">\n{uses}\n</g>')
        return "".join(groups)

    return re.sub(f"(?:{POINT.pattern.replace('?P<', '?P<_')})+", regroup, svg)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(shrink(source.read_text(encoding="utf-8")), encoding="utf-8")
