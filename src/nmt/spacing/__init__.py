"""The space between two tokens: learned from the training text, applied to translations."""

from nmt.spacing.spacing import Spacing

__all__ = ["Spacing"]
