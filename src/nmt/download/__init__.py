"""Getting the corpus: whole and checked, or not at all."""
