"""The four special symbols; their ids are the same in every vocabulary."""

from typing import Final

UNK: Final = 0
"""Stands for any token that the vocabulary lacks."""
PAD: Final = 1
"""Fills a batch to a rectangle; never counted, never attended to."""
SOS: Final = 2
"""Start of a target sentence: the decoder's first input."""
EOS: Final = 3
"""End of a sentence: the last token of each source and target."""

SPECIALS: Final = ("<unk>", "<pad>", "<sos>", "<eos>")
"""Their written forms, in the order of their ids."""
