"""Scores of translations, the files they are kept in, and tests between two systems."""
