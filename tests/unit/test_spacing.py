"""Tokens become text again as the training text had it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.errors import DataError
from nmt.spacing import Spacing, exact_share

PROJECT = Path(__file__).parents[2]

# The text, and its tokens set apart by "|".
CORPUS = [
    ("A man, alone.", "a|man|,|alone|."),
    ("A dog runs.", "a|dog|runs|."),
    ("The dog sits.", "the|dog|sits|."),
    ("A red-haired woman.", "a|red|-|haired|woman|."),
    ("A well-dressed man.", "a|well|-|dressed|man|."),
    ("The man's dog.", "the|man|'s|dog|."),
    ("The woman's hat.", "the|woman|'s|hat|."),
    ("They don't run.", "they|do|n't|run|."),
    ('A sign says "stop" here.', 'a|sign|says|"|stop|"|here|.'),
    ('A man says "hello" there.', 'a|man|says|"|hello|"|there|.'),
    ('"Go," she says.', '"|go|,|"|she|says|.'),
    ("A man (left) sits.", "a|man|(|left|)|sits|."),
    ("A woman (right) sits.", "a|woman|(|right|)|sits|."),
    ("They cannot run.", "they|can|not|run|."),
    ("They can run.", "they|can|run|."),
    ("They can sit.", "they|can|sit|."),
    ("They do not run.", "they|do|not|run|."),
    ("He is not here.", "he|is|not|here|."),
    ("He does not sit.", "he|does|not|sit|."),
]
LINES = [line for line, _ in CORPUS]
TOKENS = [tokens.split("|") for _, tokens in CORPUS]


@pytest.fixture(scope="module")
def spacing() -> Spacing:
    return Spacing.learn(LINES, TOKENS)


def test_the_training_text_comes_back(spacing: Spacing) -> None:
    assert [spacing.join(tokens) for tokens in TOKENS] == [line.lower() for line in LINES]
    assert exact_share(spacing.join, [line.lower() for line in LINES], TOKENS) == 1.0


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("the|hat|,|the|dog|.", "the hat, the dog."),
        ("a|red|-|dressed|dog|.", "a red-dressed dog."),
        ("a|zebra|'s|yak|.", "a zebra's yak."),
        # A word seen before nothing but a full stop keeps its space before other words.
        ("alone|dog|haired|man", "alone dog haired man"),
        ("a|xylophone|yodels", "a xylophone yodels"),
        ('the|dog|says|"|run|here|"|.', 'the dog says "run here".'),
        # The pair "can not" has its own count; "not" alone stands apart.
        ("dog|can|not|sit", "dog cannot sit"),
        ("they|are|not|here", "they are not here"),
    ],
)
def test_new_sentences_follow_the_habits(spacing: Spacing, tokens: str, text: str) -> None:
    assert spacing.join(tokens.split("|")) == text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([], ""),
        ([""], ""),
        ([" ", "\t"], ""),
        (["a", " ", "dog", "\u00a0"], "a dog"),
        (["."], "."),
        ([".", ".", "."], "..."),
        (['"'], '"'),
        (['"', '"', '"'], None),
        (["-", "-", "-", "a"], None),
        (["<unk>", "<unk>", "."], "<unk> <unk>."),
        (["a\u2028b", "dog"], "a\u2028b dog"),
    ],
)
def test_whatever_a_model_emits_becomes_text(
    spacing: Spacing, tokens: list[str], text: str | None
) -> None:
    joined = spacing.join(tokens)
    assert joined.replace(" ", "") == "".join(tokens).replace(" ", "").strip("\t\u00a0")
    assert joined == joined.strip()
    assert "  " not in joined
    if text is not None:
        assert joined == text


def test_cased_tokens_are_told_apart_from_lower_cased() -> None:
    spacing = Spacing.learn(
        ["Mr. Bean", "No. Bean."], [["Mr", ".", "Bean"], ["No", ".", "Bean", "."]]
    )
    assert spacing.join(["Mr", ".", "Bean", "."]) == "Mr. Bean."


def test_white_space_in_the_text_counts_as_one_space() -> None:
    lines = [" a\u00a0 dog .", "a  cat  ."]
    spacing = Spacing.learn(lines, [[" ", "a", "\u00a0 ", "dog", "."], ["a", " ", "cat", " ", "."]])
    assert spacing.join(["a", "dog", "."]) == "a dog ."
    assert exact_share(spacing.join, lines, [["a", "dog", "."], ["a", "cat", "."]]) == 1.0


def test_nothing_to_learn_from_gives_spaces() -> None:
    assert Spacing.learn([], []).join(["a", "."]) == "a ."
    assert exact_share(Spacing.learn([], []).join, [], []) == 0.0


def test_a_few_lines_that_tokens_do_not_spell_are_left_out() -> None:
    lines, tokens = [*LINES, "Other words."], [*TOKENS, ["tokens", "of", "a", "line"]]
    assert Spacing.learn(lines, tokens) == Spacing.learn(LINES, TOKENS)


def test_text_and_tokens_of_other_corpora_are_an_error() -> None:
    with pytest.raises(DataError, match="19 of 19 lines are not spelled by their tokens; run the"):
        Spacing.learn(LINES, [["other"]] * len(LINES))
    with pytest.raises(DataError, match="19 lines of text and 18 lines of tokens; run the token"):
        Spacing.learn(LINES, TOKENS[1:])


def test_the_file_is_read_back_the_same(spacing: Spacing, tmp_path: Path) -> None:
    path = tmp_path / "spacing.json"
    spacing.save(path)
    assert Spacing.load(path) == spacing
    value = json.loads(path.read_text(encoding="utf-8"))
    assert sorted(value) == ["left", "pairs", "right"]
    assert [",", 2, 2] in value["left"]
    assert ["can", "not", 1, 1] in value["pairs"]
    assert path.read_text(encoding="utf-8").endswith("]\n}\n")


@pytest.mark.parametrize("text", ["[]", "{}", '{"left": [1], "right": [], "pairs": []}'])
def test_a_damaged_file_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spacing.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"spacing\.json: expected lists named left, right and pa"):
        Spacing.load(path)


def test_the_file_is_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.unit import test_spacing as t; "
        "t.Spacing.learn(t.LINES, t.TOKENS).save(Path(sys.argv[1]))"
    )
    files = []
    for seed in ("0", "1"):
        files.append(tmp_path / seed)
        subprocess.run(
            [sys.executable, "-c", code, str(files[-1])],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{PROJECT / 'src'}:{PROJECT}"},
            check=True,
        )
    assert files[0].read_bytes() == files[1].read_bytes()
