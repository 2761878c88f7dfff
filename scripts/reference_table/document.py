"""The page of figures and its records: take Markdown tables apart, put them together, fill marked parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Block", "fill_parts", "parse_blocks", "render_blocks"]

Block = str | Mapping[str, Any]
"""A paragraph, or a table: ``{"columns": […], "rows": [[…], …]}``, with ``rule`` for the line that aligns the columns."""


def parse_blocks(text: str) -> list[Block]:
    """Take Markdown apart: paragraphs as they stand, tables by columns and rows.

    Examples
    --------
    >>> parse_blocks("Said first.\\n\\n| a | b |\\n|---|---:|\\n| 1 | 2 |")
    ['Said first.', {'columns': ['a', 'b'], 'rule': ['---', '---:'], 'rows': [['1', '2']]}]
    """
    return [_parse_block(block) for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]


def _parse_block(block: str) -> Block:
    lines = [line.strip() for line in block.strip().splitlines()]
    if len(lines) < 2 or not all(line.startswith("|") and line.endswith("|") for line in lines):
        return block.strip()
    head, rule, *rows = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:-1])] for line in lines)
    if not all(re.fullmatch(r":?-+:?", cell) for cell in rule) or any(len(row) != len(head) for row in (rule, *rows)):
        raise ValueError(f"not a table: the rows under {lines[0]!r} need a line of dashes and {len(head)} cells each")
    return {"columns": head, "rule": rule, "rows": rows}


def render_blocks(blocks: Sequence[Block]) -> str:
    """Put together what `parse_blocks` took apart."""
    return "\n\n".join(block if isinstance(block, str) else _render_table(block) for block in blocks)


def _render_table(table: Mapping[str, Any]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (table["columns"], table["rule"], *table["rows"]))


def fill_parts(text: str, parts: Mapping[str, Sequence[Block]]) -> str:
    """Return a page with what lies between the marks of each family written anew; a family without marks is refused."""
    for family, blocks in parts.items():
        mark = f"<!-- made by scripts/reference {family} -->"
        pattern = re.compile(re.escape(mark) + r"\n.*?<!-- end -->", flags=re.DOTALL)
        filled = f"{mark}\n{render_blocks(blocks)}\n<!-- end -->"
        text, found = pattern.subn(filled.replace("\\", r"\\"), text)
        if found != 1:
            raise ValueError(f"the page has {found} parts that begin with {mark} and end with <!-- end -->, one is needed")
    return text
