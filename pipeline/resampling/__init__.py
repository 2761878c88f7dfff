"""Numbers from arrays: draws, products, influence values, comparisons. Knows no files, systems or tasks by name."""
