"""Read figures back: what an SVG shows, in the units of its axes, found from the marks of the axes alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
PIXEL = 0.16
"""How far off a place may be: places and marks of axes are written to a tenth of a pixel."""

Place = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """Values by the place along a panel, from 0 to 1; a logarithmic one has their logarithms."""

    start: float
    slope: float
    log: bool

    def value(self, share: float) -> float:
        at = self.start + self.slope * share
        return float(10.0**at) if self.log else float(at)

    def share(self, value: float) -> float:
        at = np.log10(value) if self.log and value > 0 else -np.inf if self.log else value
        return float((at - self.start) / self.slope)


@dataclass
class Panel:
    """A pair of axes: marks of points, corners of lines and areas, and words, by their places in pixels."""

    left: float
    top: float
    width: float
    height: float
    across: list[tuple[float, str]] = field(default_factory=list)
    up: list[tuple[float, str]] = field(default_factory=list)
    marks: list[Place] = field(default_factory=list)
    corners: list[Place] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    x: Axis | None = None
    y: Axis | None = None

    def shares(self, places: Sequence[Place]) -> list[Place]:
        return [((x - self.left) / self.width, (y - self.top) / self.height) for x, y in places]


def read_figure(text: str) -> tuple[str, list[Panel]]:
    """Return the title of a figure and its panels; panels without numbers at an axis have that of another panel."""
    root = ElementTree.fromstring(text)
    drawn = list(_matplotlib_panels(root)) if root.find(f".//{SVG}g[@id='axes_1']") is not None else list(_plain_panels(root))
    words = [text.text or "" for text in root.iter(f"{SVG}text")]
    logarithmic = any("(log)" in word for word in words)
    for panel in drawn:
        panel.x = _fit([((x - panel.left) / panel.width, word) for x, word in panel.across], logarithmic=logarithmic)
        panel.y = _fit([((y - panel.top) / panel.height, word) for y, word in panel.up], logarithmic=logarithmic)
    for panel in drawn:
        panel.x = panel.x or next((other.x for other in drawn if other.x), None)
        panel.y = panel.y or next((other.y for other in drawn if other.y), None)
    return root.findtext(f"{SVG}title") or "", drawn


def _fit(marks: Sequence[tuple[float, str]], *, logarithmic: bool) -> Axis | None:
    """Return the axis with these numbers at it: straight in them or in their logarithms, whichever fits."""
    numbers = [(place, word.replace(",", "").replace("−", "-")) for place, word in marks]
    known = [(place, float(word)) for place, word in numbers if re.fullmatch(r"-?\d*\.?\d+(e-?\d+)?", word)]
    if len(known) < 2 or len(known) < len(marks):
        return None
    places, values = (np.array(column) for column in zip(*known, strict=True))
    found = []
    for log in (False, True) if (values > 0).all() and (len(known) > 2 or logarithmic) else (False,):
        heights = np.log10(values) if log else values
        slope, start = np.polyfit(places, heights, 1)
        off = float(np.abs((heights - start) / slope - places).max())
        found.append((off if len(known) > 2 else float(not log), Axis(float(start), float(slope), log)))
    return min(found, key=lambda one: one[0])[1]


def _plain_panels(root: ElementTree.Element) -> Iterator[Panel]:
    groups = [group for group in root.iter(f"{SVG}g") if (group.get("transform") or "").startswith("translate")]
    for group in groups or [root]:
        frame = group.find(f"{SVG}clipPath/{SVG}rect")
        assert frame is not None
        panel = Panel(*(float(frame.get(key, "")) for key in ("x", "y", "width", "height")))
        parts = list(group)
        inside = [part for clipped in parts if clipped.tag == f"{SVG}g" for part in clipped]
        for place, part in enumerate([*parts, *inside]):
            after = parts[place + 1] if place + 1 < len(parts) else None
            if part.tag == f"{SVG}text":
                _read_words(part, panel)
            elif part.tag == f"{SVG}path":
                found = [(float(x), float(y)) for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", part.get("d", ""))]
                panel.marks += [] if _is_entry(found, after) else found
            elif part.tag in (f"{SVG}polyline", f"{SVG}polygon"):
                panel.corners += [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", part.get("points", ""))]
        yield panel


def _read_words(part: ElementTree.Element, panel: Panel) -> None:
    word, small = part.text or "", part.get("font-size") == "11"
    x, y = float(part.get("x", "nan")), float(part.get("y", "nan")) - 0.36 * 11
    if small and part.get("text-anchor") == "middle" and abs(y - (panel.top + panel.height + 13)) < 0.2:
        panel.across.append((x, word))
    elif small and part.get("text-anchor") == "end" and abs(x - (panel.left - 7)) < 0.2:
        panel.up.append((y, word))
    else:
        panel.words.append(word)


def _is_entry(found: Sequence[Place], after: ElementTree.Element | None) -> bool:
    """Say whether a mark is that of a legend: its words follow at once, at a fixed distance."""
    if len(found) != 1 or after is None or after.tag != f"{SVG}text":
        return False
    right, below = float(after.get("x", "nan")) - found[0][0], float(after.get("y", "nan")) - found[0][1]
    return abs(right - 14) < 0.2 and abs(below - 0.36 * 12) < 0.2


def _matplotlib_panels(root: ElementTree.Element) -> Iterator[Panel]:
    for group in root.iter(f"{SVG}g"):
        if not re.fullmatch(r"axes_\d+", group.get("id") or ""):
            continue
        frame = np.array(_corners(next(group.iter(f"{SVG}path"))))
        (left, top), (right, bottom) = frame.min(axis=0), frame.max(axis=0)
        panel = Panel(float(left), float(top), float(right - left), float(bottom - top))
        for part in group:
            name = part.get("id") or ""
            if name.startswith("matplotlib.axis"):
                for tick in part:
                    used = next(tick.iter(f"{SVG}use"), None)
                    word = next(tick.iter(f"{SVG}text"), None)
                    if used is not None and word is not None and word.text:
                        along = "x" if (tick.get("id") or "").startswith("xtick") else "y"
                        marks = panel.across if along == "x" else panel.up
                        marks.append((float(used.get(along, "")), word.text))
                continue
            used_at = [(float(used.get("x", "")), float(used.get("y", ""))) for used in part.iter(f"{SVG}use")]
            # A filled area is a shape that is defined below the picture's lower end, and used there once.
            height = float(root.get("viewBox", "").split()[3])
            panel.marks += [place for place in used_at if place != (0, height)]
            panel.corners += [corner for path in part.iter(f"{SVG}path") for corner in _corners(path)]
            if (0, height) in used_at:
                panel.corners += [(x, y + height) for path in part.iter(f"{SVG}path") for x, y in _corners(path)]
            panel.words += [word.text or "" for word in part.iter(f"{SVG}text")]
        yield panel


def _corners(path: ElementTree.Element) -> list[Place]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML] ?(-?[\d.]+) (-?[\d.]+)", path.get("d", ""))]
