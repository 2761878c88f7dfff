"""Tables for a paper: LaTeX with booktabs, from the very cells that the page shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.report.layout.view import View

__all__ = ["escape_latex", "latex_of_number", "render_latex"]

_WRITTEN = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "·": r"$\cdot$",
    "α": r"$\alpha$",
    "δ": r"$\delta$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "∞": r"$\infty$",
    "…": r"\dots{}",
    "\u202f": r"\,",
    "\u00a0": "~",
}


def escape_latex(text: str) -> str:
    r"""Escape text so that LaTeX prints it as it is.

    Examples
    --------
    >>> escape_latex("50 % of a_b ≤ .05")
    '50 \\% of a\\_b $\\leq$ .05'
    """
    return "".join(_WRITTEN.get(character, character) for character in " ".join(text.split()))


_NUMBER = re.compile(r"(?<![\w.-])(-?)(\d[\d.,]*)(?:e([+-])0*(\d+))?")


def _set_number(found: re.Match[str]) -> str:
    sign, digits, power_sign, power = found.groups()
    if power is None:
        return f"$-${digits}" if sign else digits
    return f"${sign}{digits} \\times 10^{{{power_sign.removeprefix('+')}{power}}}$"


def latex_of_number(text: str) -> str:
    r"""Return a cell of numbers as LaTeX, with true minus signs and powers of ten.

    Examples
    --------
    >>> latex_of_number("[-0.566, 1.450]"), latex_of_number("1.0e-04"), latex_of_number("1–3")
    ('[$-$0.566, 1.450]', '$1.0 \\times 10^{-4}$', '1--3')
    """
    return _NUMBER.sub(_set_number, escape_latex(text))


def render_latex(tables: Sequence[tuple[View, str]]) -> str:
    r"""Return tables as LaTeX, one ``table`` environment each; numbers are set right, words left.

    Parameters
    ----------
    tables : sequence of (View, str)
        Each with its caption.
    """
    return "\n".join(["% needs \\usepackage{booktabs}", *(_table(view, caption) for view, caption in tables)])


def _table(view: View, caption: str) -> str:
    sides = "".join("l" if column in view.text else "r" for column in view.columns)
    lines = [
        "\\begin{table}",
        "  \\centering",
        f"  \\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
        "    \\toprule",
        f"    {' & '.join(map(escape_latex, view.columns))} \\\\",
        "    \\midrule",
        *(f"    {_row(view, row)} \\\\" for row in view.rows),
        "    \\bottomrule",
        "  \\end{tabular}",
        f"  \\caption{{{escape_latex(caption)}}}",
        "\\end{table}",
    ]
    return "\n".join([*lines, ""])


def _row(view: View, cells: Sequence[str]) -> str:
    """Return a row, protected where it begins with what the end of the row before would take for an option of its own."""
    written = (
        escape_latex(cell) if column in view.text else latex_of_number(cell)
        for column, cell in zip(view.columns, cells, strict=True)
    )
    row = " & ".join(written)
    return f"{{{row[0]}}}{row[1:]}" if row[:1] in {"[", "*"} else row
