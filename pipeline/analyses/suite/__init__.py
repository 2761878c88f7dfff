"""Several test sets as one suite: which systems differ over all of them."""

OF_TEST_SETS = 2
