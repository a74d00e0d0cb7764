"""Invented captions in German and English, for a corpus small enough for tests.

Each sentence is a number in a mixed radix, one digit a slot; a corpus takes every so many-th
number. So there is no random draw, all sentences differ, and any Python gives the same text.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Noun:
    """A German noun with its gender (m, f, n) and plural, and the English one."""

    de: str
    gender: str
    de_plural: str
    en: str
    en_plural: str


NOUNS = (
    Noun("Hund", "m", "Hunde", "dog", "dogs"),
    Noun("Frau", "f", "Frauen", "woman", "women"),
    Noun("Mädchen", "n", "Mädchen", "girl", "girls"),
    Noun("Junge", "m", "Jungen", "boy", "boys"),
    Noun("Katze", "f", "Katzen", "cat", "cats"),
    Noun("Bäcker", "m", "Bäcker", "baker", "bakers"),
    Noun("Pferd", "n", "Pferde", "horse", "horses"),
)
ADJECTIVES = (
    ("klein", "small"),
    ("groß", "tall"),
    ("jung", "young"),
    ("fröhlich", "cheerful"),
    ("braungebrannt", "sun-tanned"),
)
DRESS = (
    ("", ""),
    (" mit einem roten Hut", " with a red hat"),
    (" in einer grünen Jacke", " in a green jacket"),
)
VERBS = (
    ("schläft", "schlafen", "sleeps", "sleep"),
    ("wartet", "warten", "waits", "wait"),
    ("tanzt", "tanzen", "dances", "dance"),
    ("sitzt", "sitzen", "sits", "sit"),
    ("läuft", "laufen", "runs", "run"),
)
PLACES = (
    ("auf einer Wiese", "on a meadow"),
    ("vor einem alten Haus", "in front of an old house"),
    ("am Fluss", "by the river"),
    ("im Schnee", "in the snow"),
    ("unter einem Baum", "under a tree"),
)
ENDS = (
    (".", "."),
    (", während es regnet.", ", while it rains."),
    (" und lacht.", " and laughs."),
    (", es ist Peters Geburtstag.", ", it is Peter's birthday."),
)
UNSEEN = ("neben einem Leuchtturm", "next to a lighthouse")  # stands in no training pair

SPLITS = {"train": 240, "val": 16, "test_one": 12, "test_two": 8}
STEP = 4999  # a prime: it meets all sentences before any comes again

ARTICLE = {"m": "Ein", "f": "Eine", "n": "Ein"}
ENDING = {"m": "er", "f": "e", "n": "es"}


def pairs(split: str) -> list[tuple[str, str]]:
    """Return the pairs (German, English) of a split of `SPLITS`; no two splits share one."""
    names = list(SPLITS)
    first = sum(SPLITS[name] for name in names[: names.index(split)])
    found = []
    for i in range(SPLITS[split]):
        unseen = split.startswith("test") and i % 4 == 3
        found.append(_pair((first + i) * STEP, unseen))
    if split == "train":  # what real corpora have too: space doubled, and at a line's end
        found[10] = (found[10][0].replace(" ", "  ", 1), found[10][1] + " ")
    return found


def _pair(number: int, unseen: bool) -> tuple[str, str]:
    slots = (("one", "two"), NOUNS, ADJECTIVES, DRESS, VERBS, PLACES, ENDS)
    digits = []
    for slot in slots:
        number, digit = divmod(number, len(slot))
        digits.append(digit)
    two, noun = digits[0] == 1, NOUNS[digits[1]]
    (adj_de, adj_en), (dress_de, dress_en) = ADJECTIVES[digits[2]], DRESS[digits[3]]
    verb, place, (end_de, end_en) = VERBS[digits[4]], PLACES[digits[5]], ENDS[digits[6]]
    place_de, place_en = UNSEEN if unseen else place
    if two:
        end_de, end_en = end_de.replace("lacht", "lachen"), end_en.replace("laughs", "laugh")
        return (
            f"Zwei {adj_de}e {noun.de_plural}{dress_de} {verb[1]} {place_de}{end_de}",
            f"Two {adj_en} {noun.en_plural}{dress_en} {verb[3]} {place_en}{end_en}",
        )
    article, ending = ARTICLE[noun.gender], ENDING[noun.gender]
    return (
        f"{article} {adj_de}{ending} {noun.de}{dress_de} {verb[0]} {place_de}{end_de}",
        f"A {adj_en} {noun.en}{dress_en} {verb[2]} {place_en}{end_en}",
    )


def text(split: str, language: str) -> bytes:
    """Return one side of a split as the bytes of its file."""
    side = ("de", "en").index(language)
    return "".join(f"{pair[side]}\n" for pair in pairs(split)).encode()


def packed(content: bytes) -> bytes:
    """Return a gzip file of less than 64 KiB, stored uncompressed: no zlib makes it differ."""
    size = len(content)
    block = b"\x01" + struct.pack("<HH", size, size ^ 0xFFFF) + content
    return (
        b"\x1f\x8b\x08" + bytes(6) + b"\xff" + block + struct.pack("<LL", zlib.crc32(content), size)
    )


def write_mirror(folder: Path) -> None:
    """Write SPLIT.LANGUAGE.gz of all splits and both languages."""
    folder.mkdir(parents=True)
    for split in SPLITS:
        for language in ("de", "en"):
            (folder / f"{split}.{language}.gz").write_bytes(packed(text(split, language)))
