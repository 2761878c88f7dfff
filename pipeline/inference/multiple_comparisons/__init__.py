"""Many pairs judged together: families, adjusted p-values, max-T, and the ranks that remain possible."""
