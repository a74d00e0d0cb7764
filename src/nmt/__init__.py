"""Reproducible neural machine translation: models, training, decoding, evaluation and audit."""
