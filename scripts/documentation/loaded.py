"""List what the pages of a site would load from another host; nothing may.

python scripts/documentation/loaded.py FOLDER
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

LOADING = {"src", "srcset", "poster", "data", "action"}
"""Attributes whose address a browser loads, whichever element has them; ``href`` is loaded by ``link`` and in SVG."""
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)")


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        values = dict(attrs)
        # An address of its own for search engines is not loaded.
        followed = {"href"} if tag in {"link", "use", "image"} and values.get("rel") not in {"canonical", "alternate"} else set()
        for name, value in attrs:
            if value and name in LOADING | followed and re.match(r"\s*(https?:)?//", value):
                self.found.append(value.strip())
            if value and name == "style":
                self.found += IN_STYLE.findall(value)

    def handle_data(self, data: str) -> None:
        if self._style:
            self.found += IN_STYLE.findall(data)


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Return ``page: address`` of all that the pages and styles below a folder load from a host."""
    result = []
    for path in sorted(site.rglob("*")):
        if path.suffix == ".html":
            page = _Loads()
            page.feed(path.read_text(encoding="utf-8"))
            found = page.found
        elif path.suffix == ".css":
            found = IN_STYLE.findall(path.read_text(encoding="utf-8"))
        else:
            continue
        result += [f"{path.relative_to(site)}: {address}" for address in found]
    return result


if __name__ == "__main__":
    lines = loaded_from_elsewhere(Path(sys.argv[1]))
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(bool(lines))
