"""Does a small p on one test set predict the sign on another? Pairs are binned by their p, and signs that are kept are counted."""

DEFAULT_PLACE = 3
OF_TEST_SETS = 5
"""Systems in common, ten pairs, of which to ask what their p says of another test set."""
