"""Systems with several runs: nulls that permute outputs, units or runs, and the variances of runs and of units."""
