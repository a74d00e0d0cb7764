"""The corpus as models see it: special symbols, token files, vocabularies."""
