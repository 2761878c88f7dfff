"""Pairs of systems: as columns, as rows, as tables and files."""
