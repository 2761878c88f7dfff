"""A report of odd cubes, made once."""

from __future__ import annotations

import pytest
from support.synthetic_reports import make_report, odd_cubes

from pipeline.report.facts import FailedTask, ProblemRow


@pytest.fixture(scope="session")
def odd_report():
    return make_report(
        odd_cubes(), warnings=["a <b> & c"], failures=[FailedTask("extract c", 4, [ProblemRow("P401", "x < y", None, None, None)])]
    )
