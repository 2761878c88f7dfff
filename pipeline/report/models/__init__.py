"""Models, whose systems are runs: rows about them, and what is said of them."""
