"""How often each test rejects true nulls, made from real systems."""

DEFAULT_PLACE = 4
NULL_LABORATORY = True
