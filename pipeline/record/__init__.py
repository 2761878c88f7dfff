"""What a run is and what is done of it: its study and inputs in `plan.json`, receipts and failures in its ledger."""
