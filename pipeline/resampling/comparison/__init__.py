"""Comparing pairs on every replicate: rules chosen beforehand, and kernels that count and sum gains."""
