"""Reference systems: learners of the literature, written for this package, good enough to be worth comparing."""
