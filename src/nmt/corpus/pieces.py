"""Pieces of words as text: what sentencepiece splits is put together again exactly."""

from collections.abc import Sequence

PIECES = "sentencepiece"
"""The kind of a tokenizer, by its description, whose tokens are pieces of words."""

SPACE = "\u2581"
"""Stands for a space in a piece; each sentence is split as if a space preceded it."""


def are_pieces(tokenizer: dict[str, str]) -> bool:
    """Tell by a tokenizer's description whether its tokens are pieces of words."""
    return tokenizer.get("kind") == PIECES


def join_pieces(pieces: Sequence[str]) -> str:
    """Return pieces as text: the very text that was split, of whatever pieces."""
    return "".join(pieces).replace(SPACE, " ").removeprefix(" ")
