"""Is the gain that is usually significant the same on test sets of one size? Thresholds side by side, and a test."""
