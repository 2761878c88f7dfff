"""How often each test rejects true nulls, made from real systems."""
