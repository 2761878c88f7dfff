"""Stored cells of every column → a cube with its p-values, intervals and corrections."""
