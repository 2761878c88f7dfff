"""Which items drive a gain, and which tell nothing? The items of a few pairs, largest contributions first."""
