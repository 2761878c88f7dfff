"""Gather what the site shows: the pages of the repository, with links that hold on the site.

python scripts/documentation/pages.py FOLDER
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ABOVE = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages of the repository that are not in docs/, and their names on the site."""
FAMILIES = {
    "tools.md": "tools/*",
    "formats.md": "formats/*",
    "metrics.md": "metrics/*",
    "procedures.md": "procedures/*",
    "design/README.md": "design/*",
}
"""Pages below which the navigation shows a folder of others."""
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
CODE_ROW = re.compile(r"^\| (P\d{3}) \|", re.MULTILINE)
"""A row of the table of errors begins with its code."""
LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)")


def gather(folder: Path) -> None:
    """Write all pages below a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for source in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ABOVE)]:
        path = source.relative_to(ROOT)
        there = folder / place_on_site(path.as_posix())
        there.write_text(page_for_site(source.read_text(encoding="utf-8"), path.as_posix()), encoding="utf-8")
    for page in (HERE / "pages").glob("*.md"):
        shutil.copy(page, folder)


def place_on_site(path: str) -> str:
    """Return where a page of the repository stands on the site."""
    return ABOVE.get(path) or path.removeprefix("docs/")


def page_for_site(text: str, path: str) -> str:
    """Return a page of the repository as the site has it.

    A link to another page leads to where that stands on the site. What the site does not have, such as a file of code, is named
    instead: its path in the repository, without a link.
    """
    parts = FENCED.split(text)
    parts[::2] = [
        re.sub(r"\]\((?:docs/)?images/", "](" + "../" * (place_on_site(path).count("/")) + "images/", part) for part in parts[::2]
    ]
    parts[::2] = [LINK.sub(lambda link: link_for_site(link[1], link[2], path), part) for part in parts[::2]]
    result = "".join(parts)
    if path == "docs/errors.md":  # an entry of the index comes first in a search, and leads to its row
        result = CODE_ROW.sub(r"| {index}`!\1` |", result)
    family = FAMILIES.get(place_on_site(path))
    if family:
        result += (
            f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{family.rsplit('/', 1)[1] if path.endswith('/README.md') else family}\n```\n"
        )
    return result


def link_for_site(words: str, target: str, path: str) -> str:
    """Return a link of a page as the site has it."""
    if re.match(r"[a-z]+:|#", target):
        return f"[{words}]({target})"
    name, mark, heading = target.partition("#")
    found = resolve(name, path)
    if found in ("docs/formats", "docs/metrics", "docs/procedures"):
        found += ".md"
    elif found == "docs/design":
        found += "/README.md"
    if found not in ABOVE and not (found.startswith("docs/") and (ROOT / found).is_file()):
        return words if words.strip("`") == found else f"{words} (`{found}`)"
    place = PurePosixPath(place_on_site(found))
    start = PurePosixPath(place_on_site(path)).parent
    up = "../" * len(start.parts)
    return f"[{words}]({up}{place}{mark}{heading})"


def resolve(name: str, path: str) -> str:
    """Return the path in the repository that a link of a page names."""
    parts = list(PurePosixPath(path).parent.parts)
    for part in PurePosixPath(name).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


if __name__ == "__main__":
    gather(Path(sys.argv[1]))
