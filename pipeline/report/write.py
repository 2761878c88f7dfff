"""Write a report: decide which files there are; each appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

from pipeline.report.build import build_report
from pipeline.report.document import Report, encode_document, to_document
from pipeline.report.input import ReportInput
from pipeline.report.tables import make_tables
from pipeline.report.views import view_all
from pipeline.store.files import write_bytes

__all__ = ["ReportInput", "render_report", "write_report"]


def render_report(given: ReportInput, report: Report) -> dict[str, bytes]:
    """Return the bytes of every file of a report by its path below the report's directory; figures only where a page shows them."""
    formats = given.study.report.formats
    files = {f"tables/{name}": content for name, content in make_tables(report, given.cubes, given.findings).items()}
    if "json" in formats:
        files["report.json"] = encode_document(to_document(report))
    return files | _render_pages(given, report) if {"markdown", "html"} & {*formats} else files


def _render_pages(given: ReportInput, report: Report) -> dict[str, bytes]:
    # A comparison without a page draws nothing: matplotlib is half of what it would load.
    from pipeline.report.figures import draw_all
    from pipeline.report.pages import render_html, render_markdown

    formats = given.study.report.formats
    views, drawings = view_all(report), draw_all(given, report)
    files = {f"figures/{drawing.file}": drawing.svg.encode() for drawing in drawings}
    if "markdown" in formats:
        files["report.md"] = render_markdown(report, views, drawings).encode()
    if "html" in formats:
        files["index.html"] = render_html(report, views, drawings).encode()
    return files


def write_report(given: ReportInput, out_dir: Path) -> Path:
    """Write a report into a directory and give the path of its page, or of the directory where no page was asked for.

    The same input gives the same bytes. Files are replaced one by one, the page last, so that a reader never meets half a file.
    """
    for name, content in render_report(given, build_report(given)).items():
        write_bytes(out_dir / name, content)
    return out_dir / "index.html" if "html" in given.study.report.formats else out_dir
