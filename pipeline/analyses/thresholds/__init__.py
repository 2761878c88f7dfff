"""Which gains are usually significant: from borderline pairs, and from standard errors; and the effect of kinship of systems."""

DEFAULT_PLACE = 1
OF_COMPARE = True
