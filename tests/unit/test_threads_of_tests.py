"""Tests compute on one thread: two processes of them share two cores, and threads of a BLAS that wait use up the other's."""

from __future__ import annotations

import os

import numpy as np
from threadpoolctl import threadpool_info


def test_every_blas_has_the_threads_that_tests_may_use() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    loaded = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert {pool["num_threads"] for pool in loaded} == {int(os.environ["OPENBLAS_NUM_THREADS"])}
