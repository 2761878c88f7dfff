"""What `scripts/replicas` runs: how often each null of replicas is rejected where it is true, by source of noise."""
