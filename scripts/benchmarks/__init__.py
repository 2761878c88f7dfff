"""What `scripts/bench` runs: the package beside plain NumPy on the same jobs."""
