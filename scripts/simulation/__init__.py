"""What `scripts/scaling` runs: rates measured on one machine, and a simulation of many workers that is made from them."""
