"""Looking again and again: e-values, betting, and levels spent over looks."""
