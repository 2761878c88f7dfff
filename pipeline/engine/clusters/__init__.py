"""Clusters: made as a profile says, encrypted, waited for, and what batch systems and workers say."""
