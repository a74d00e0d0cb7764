"""Translations on disk: hypotheses, attention weights, and what made them.

Reading needs no torch, so that scores and pictures can be made without it.
"""

from nmt.translations.attention import read_attention, write_attention
from nmt.translations.hypotheses import Hypothesis, read_hypotheses, write_hypotheses
from nmt.translations.record import Record, read_record, write_record

__all__ = [
    "Hypothesis",
    "Record",
    "read_attention",
    "read_hypotheses",
    "read_record",
    "write_attention",
    "write_hypotheses",
    "write_record",
]
