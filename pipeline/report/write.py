"""Write a report. This module decides which files there are; each appears whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.report.document import build_document
from pipeline.report.input import ReportInput
from pipeline.report.tables import make_tables
from pipeline.report.values import encode_document
from pipeline.report.views import view_all
from pipeline.store.files import write_bytes

__all__ = ["ReportInput", "render_report", "write_report"]


def render_report(report: ReportInput, document: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the bytes of every file of a report by its path below the report's directory; figures only where a page shows them."""
    formats = report.study.report.formats
    files = {f"tables/{name}": content for name, content in make_tables(document, report.cubes, report.findings).items()}
    if "json" in formats:
        files["report.json"] = encode_document(document)
    return files | _render_pages(report, document) if {"markdown", "html"} & {*formats} else files


def _render_pages(report: ReportInput, document: Mapping[str, Any]) -> dict[str, bytes]:
    # A comparison without a page draws nothing: matplotlib is half of what it would load.
    from pipeline.report.figures import draw_all
    from pipeline.report.html import render_html
    from pipeline.report.markdown import render_markdown

    formats = report.study.report.formats
    views, drawings = view_all(document), draw_all(report, document)
    files = {f"figures/{drawing.file}": drawing.svg.encode() for drawing in drawings}
    if "markdown" in formats:
        files["report.md"] = render_markdown(document, views, drawings).encode()
    if "html" in formats:
        files["index.html"] = render_html(document, views, drawings).encode()
    return files


def write_report(report: ReportInput, out_dir: Path) -> Path:
    """Write a report into a directory and give the path of its page, or of the directory where no page was asked for.

    The same input gives the same bytes. Files are replaced one by one, the page last, so that a reader never meets half a file.
    """
    document = build_document(report)
    for name, content in render_report(report, document).items():
        write_bytes(out_dir / name, content)
    return out_dir / "index.html" if "html" in report.study.report.formats else out_dir
