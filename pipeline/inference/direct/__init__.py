"""Procedures without draws of their own: p-values computed from the unit statistics, and tails that no count can reach."""
