"""Conclusions across many test sets, systems or measures: suites, agreement, correlation, labels."""
