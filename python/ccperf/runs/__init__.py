"""A run: who makes it, what it records, and what is computed of that."""
