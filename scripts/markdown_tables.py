"""Tables in Markdown, and the marked parts of pages that scripts write anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

__all__ = ["fill_marked", "render_table"]


def render_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int | None = None) -> str:
    """Return a table; with ``words``, so many columns stand to the left and the others, which hold numbers, to the right.

    Examples
    --------
    >>> print(render_table(["job", "seconds"], [["J1", "2.5"]], words=1))
    | job | seconds |
    | --- | ---: |
    | J1 | 2.5 |
    """
    left = len(head) if words is None else words
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def fill_marked(page: str, mark: str, make: Callable[[str], str]) -> str:
    """Return a page with each part between its mark and ``<!-- end -->`` written anew.

    Parameters
    ----------
    page : str
    mark : str
        Parts begin with ``<!-- mark: NAME -->``, or with ``<!-- mark -->`` where a page has only one.
    make : callable
        Takes the name, which is empty where there is none, and returns the part.

    Examples
    --------
    >>> fill_marked("before <!-- sizes: small -->\\nold\\n<!-- end --> after", "sizes", lambda name: f"{name}: 3")
    'before <!-- sizes: small -->\\nsmall: 3\\n<!-- end --> after'
    """
    begin = rf"(<!-- {re.escape(mark)}(?:: ([\w-]+))? -->\n)"
    return re.sub(
        rf"{begin}.*?<!-- end -->", lambda found: f"{found[1]}{make(found[2] or '')}\n<!-- end -->", page, flags=re.DOTALL
    )
