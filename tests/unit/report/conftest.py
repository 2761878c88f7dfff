"""A report of odd cubes, made once."""

from __future__ import annotations

import pytest
from support.synthetic_reports import make_report, odd_cubes


@pytest.fixture(scope="session")
def odd_report():
    return make_report(odd_cubes(), warnings=["a <b> & c"], failures=[{"code": "P401", "message": "x < y"}])
