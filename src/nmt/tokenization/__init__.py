"""Splitting sentences into tokens: words by spaCy, pieces of words by sentencepiece."""
