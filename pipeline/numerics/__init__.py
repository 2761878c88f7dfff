"""SciPy's functions that this package calls, found without the packages around them, which take long to import."""
