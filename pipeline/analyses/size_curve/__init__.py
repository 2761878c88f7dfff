"""How do thresholds shrink as the test set grows? Points at each size, and a line through their logarithms."""

DEFAULT_PLACE = 2
