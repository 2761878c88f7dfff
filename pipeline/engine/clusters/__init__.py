"""Clusters: start one from a profile, encrypt it, wait for its workers, and report what its batch system says."""
