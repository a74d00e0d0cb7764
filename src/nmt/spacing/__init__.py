"""The space between two tokens: learned from the training text, applied to translations."""

from nmt.spacing.spacing import Spacing, exact_share

__all__ = ["Spacing", "exact_share"]
