"""Families of tests: adjusted p-values, verdicts and ranks."""
