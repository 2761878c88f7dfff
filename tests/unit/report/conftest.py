"""The synthetic cubes of the analyses serve the reports too."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analysis"))


@pytest.fixture(scope="session")
def odd_report():
    from synthetic_reports import make_report, odd_cubes

    return make_report(odd_cubes(), warnings=["a <b> & c"], failures=[{"code": "P401", "message": "x < y"}])
