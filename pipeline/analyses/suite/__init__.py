"""Several test sets as one suite: which systems differ over all of them."""
