"""Answers of a gate, and what one slot of a history found."""
