"""How a verdict depends on its units: too few of them, units that are alike, units on which a gain depends."""
