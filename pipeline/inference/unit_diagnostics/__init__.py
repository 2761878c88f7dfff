"""What a verdict owes to its units: too few of them, units that are alike, units that a gain rests on."""
