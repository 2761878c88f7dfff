"""Pairs compared on every replicate: rules decided beforehand, and kernels that count and sum gains."""
