"""From source tokens to translations: beam search, unknown words, text."""
