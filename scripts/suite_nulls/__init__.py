"""What `scripts/suites` runs: suites of true nulls, through the package's own resampling, p-values and conclusions."""
