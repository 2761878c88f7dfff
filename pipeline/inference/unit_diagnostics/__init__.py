"""How a verdict depends on its units: too few of them, units that are alike, units that a gain rests on."""
