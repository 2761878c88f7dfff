"""Kernels: functions that are compiled when they are first called, and kept on disk. What is Numba's own way is known here."""

from pipeline.compiled.decorator import kernel

__all__ = ["kernel"]
