"""Where things are: content addresses, atomic files, ledger, lease."""
