"""Does a small p on a drawn test set tell the sign of a gain in the population? Test sets are drawn, and right signs counted."""
