"""What is done to a line before it is split, of whatever kind the tokenizer is."""


def cleaned(text: str, normalize_spaces: bool) -> str:
    """Return a line as it is split: "" for a blank one.

    Args:
        text: the line.
        normalize_spaces: whether each run of white space becomes one space, none at the ends.
    """
    if not text.strip():
        return ""
    return " ".join(text.split()) if normalize_spaces else text
