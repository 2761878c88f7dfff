"""Models, whose systems are runs: rows and sentences about them."""
