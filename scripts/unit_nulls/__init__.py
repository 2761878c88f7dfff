"""What `scripts/units` runs: true nulls whose items lie in documents, through the package's own resampling and p-values."""
