"""Which gains are usually significant: from pairs near borderline, and from standard errors; what kinship of systems changes."""

DEFAULT_PLACE = 1
OF_COMPARE = True
