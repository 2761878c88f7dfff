"""What `scripts/thresholds` runs: systems from populations whose thresholds are known, and how often intervals contain them."""
