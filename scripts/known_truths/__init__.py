"""What `scripts/truths` runs: simulated studies whose answers are known, and whether the functions behind analyses find them."""
