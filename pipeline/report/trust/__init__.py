"""How far the numbers can be trusted, check by check."""
