"""What `scripts/levels` runs: true nulls, and how often each procedure rejects them at .01, .05 and .10."""
