"""Runs tasks: serial or on Dask, driven by one coordinator. Sees only functions, specs and receipts."""
