"""Resampling on plain arrays: draws, products, influence values, comparisons. Knows nothing of files, systems or tasks."""
