"""Write a report: decide which files there are; each appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path

from pipeline.interfaces.wording import call_metrics, write_p_at
from pipeline.report.build import build_report
from pipeline.report.document import FullReport, Report, encode_document, to_document
from pipeline.report.held import hand_over
from pipeline.report.input import ReportInput
from pipeline.report.layout.files import Files
from pipeline.report.layout.tables import make_tables
from pipeline.report.layout.views import view_all
from pipeline.report.pairs.pair_json import encode_rows
from pipeline.store.files import replacing, sweep_temporaries
from pipeline.store.seals import read_list, write_list

__all__ = ["encode_report", "render_report", "write_report"]


def render_report(given: ReportInput, report: Report) -> Files:
    """Return every file of a report by its path below the report's directory; figures only where a page shows them."""
    formats = given.study.report.formats
    tables = make_tables(report, given.cubes, given.findings)
    files: dict[str, Callable[[], Iterable[bytes]]] = {f"tables/{name}": partial(tables.stream, name) for name in tables}
    if "json" in formats:
        files["report.json"] = lambda: [encode_report(report)]
    if {"markdown", "html"} & {*formats}:
        for name, content in _render_pages(given, report, [*files]).items():
            files[name] = partial(iter, [content])
    return Files(files)


def encode_report(report: Report) -> bytes:
    """Return the bytes of ``report.json``: those of a newly made report are written from the columns of its pairs."""
    if not isinstance(report, FullReport):
        return encode_document(to_document(report))
    document = to_document(replace(report, pairs=()))
    return encode_document(document, pairs=[*chain.from_iterable(map(encode_rows, report.listed))])


def _render_pages(given: ReportInput, report: Report, beside: Sequence[str]) -> dict[str, bytes]:
    # A comparison without a page draws nothing: matplotlib is half of what it would load.
    from pipeline.report.drawing.figures import draw_all
    from pipeline.report.layout.pages import render_html, render_markdown

    formats = given.study.report.formats
    with call_metrics(report.titles), write_p_at(report.alpha):
        views, drawings = view_all(report), draw_all(given, report)
        files = {f"figures/{drawing.file}": drawing.svg.encode() for drawing in drawings}
        if "markdown" in formats:
            files["report.md"] = render_markdown(report, views, drawings, given.provenance).encode()
        if "html" in formats:
            files["index.html"] = render_html(report, views, drawings, [*beside, *files], given.provenance, given.items).encode()
    return files


def write_report(given: ReportInput, out_dir: Path, *, replaces: bool = False) -> Path:
    """Write a report into a directory and give the path of its page, or of the directory where no page was asked for.

    The same input gives the same bytes. Files are replaced one by one, the page last, so that a reader never meets half a file.

    Parameters
    ----------
    given : ReportInput
    out_dir : Path
    replaces : bool
        Whether the directory is a run's own: files of an earlier report that this one does not have are removed from it.
    """
    report = build_report(given)
    if report.held_to is not None:
        given = replace(given, findings=(*given.findings, report.held_to))
    files = render_report(given, report)
    for folder in {(out_dir / name).parent for name in files}:
        sweep_temporaries(folder, deep=False)  # of a writer that was killed; the folder may be anybody's, and hold much else
    digests: dict[str, str] = {}
    for name in files:
        found = sha256()
        with replacing(out_dir / name) as file:
            for part in files.stream(name):
                file.write(part)
                found.update(part)
        digests[name] = found.hexdigest()
    if replaces:
        _replace_list(out_dir, digests)
    hand_over(report, out_dir)
    return out_dir / "index.html" if "html" in given.study.report.formats else out_dir


def _replace_list(out_dir: Path, digests: Mapping[str, str]) -> None:
    """List the files of a report, and remove what an earlier one left: beside this one it would be taken for a part of it.

    Nobody else's files are touched.
    """
    for name in {*read_list(out_dir)} - {*digests}:
        path = out_dir / name
        if path.resolve().is_relative_to(out_dir.resolve()):
            path.unlink(missing_ok=True)
    write_list(out_dir, digests)
