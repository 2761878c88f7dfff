"""Published procedures and tools, number for number, and where each of them misleads. Arrays and one table."""
