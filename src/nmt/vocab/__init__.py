"""The build_vocab stage: vocabularies, what they cover, and the spacing of the target side."""
