"""Pieces of words, by sentencepiece: learned from text, and how text is split into them."""
