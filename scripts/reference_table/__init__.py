"""What `scripts/reference` runs: reference systems trained on real data, and their figures beside those of other tools."""
