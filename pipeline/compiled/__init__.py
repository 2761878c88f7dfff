"""Kernels: functions that are compiled when they are first called, and kept on disk. Numba and its cache are known here alone."""

from pipeline.compiled.decorator import kernel

__all__ = ["kernel"]
