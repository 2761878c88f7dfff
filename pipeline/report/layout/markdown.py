"""Escape text for Markdown; separate from pages, whose imports are heavy."""

from __future__ import annotations

import re

__all__ = ["escape", "unescape"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$])")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|#~$])")


def escape(text: str) -> str:
    r"""Escape text so that Markdown shows it as it is, also inside a table.

    Examples
    --------
    >>> print(escape("a|b <i> *c*"))
    a\|b \<i\> \*c\*
    """
    return _SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("\n", " "))


def unescape(text: str) -> str:
    r"""Return Markdown as a terminal shows it: what `escape` put before characters is gone.

    Examples
    --------
    >>> print(unescape(escape("a|b <i> & *c*")))
    a|b <i> & *c*
    """
    return _ESCAPED.sub(r"\1", text).replace("&amp;", "&")
