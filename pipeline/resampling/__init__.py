"""Numbers from arrays: draws, products, influence values, comparisons. This package knows no files, systems or tasks by name."""
