"""What a test set of some size can show, and how large one must be: power, smallest gains, units needed."""
