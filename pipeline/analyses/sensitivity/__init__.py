"""Which metric tells more systems apart, and which agrees with a reference? The same pairs by several measures."""
