"""Splitting sentences into tokens with spaCy."""
