"""Power analysis without any outputs: how likely a gain is to be found, how many items it takes, and how far to believe one."""
