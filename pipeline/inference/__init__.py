"""Inference from counts: p-values with their Monte-Carlo error, and adjustment for many pairs. Arrays only."""
