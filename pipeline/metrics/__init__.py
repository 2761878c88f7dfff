"""Metrics: items to additive integer statistics, summed statistics to a score."""

from __future__ import annotations

from pipeline.metrics.registry import load_metric

__all__ = ["load_metric"]
