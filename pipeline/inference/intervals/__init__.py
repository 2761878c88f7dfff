"""Intervals: of gains, of rates, of quantiles over systems, one at a time and for a family at once."""
