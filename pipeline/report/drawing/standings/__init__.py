"""Figures of the standings: scores with intervals and ranks, and all pairs as a matrix."""
