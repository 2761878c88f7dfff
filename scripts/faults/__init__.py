"""Random faults against real runs: `scripts/chaos`."""
