"""The record of a run: its study and inputs in `plan.json`, its receipts and failures in its ledger."""
