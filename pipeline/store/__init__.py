"""The store: content addresses, atomic files, ledger, lease."""
