"""What a params key allows, in words."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from nmt.describe import Key, keys
from nmt.params import Settings


class Inner(Settings):
    """A mapping below the section."""

    rows: int = Field(ge=1, description="lines")


class Section(Settings):
    """Every kind of value that params.yaml has."""

    name: str = Field(description="any text")
    code: Annotated[str, Field(pattern="^[a-z]+$")] = Field(description="letters")
    size: int = Field(ge=1, le=9, description="a size")
    rate: float = Field(gt=0, lt=1, description="a rate")
    most: int | None = Field(ge=1, description="a limit; null: none")
    fast: bool = Field(description="a switch")
    kind: Literal["gru", "lstm", "rnn"] = Field(description="a choice")
    only: Literal["a"] = Field(description="no choice")
    tests: tuple[str, ...] = Field(min_length=1, description="names")
    orders: tuple[Literal[0, 2], ...] = Field(description="numbers")
    inner: Inner = Field(description="not shown: its keys are")
    files: dict[str, Inner] = Field(description="not shown either")
    rows: dict[str, int] = Field(description="a number for each name")


KEYS = [
    Key("s.name", "text", "any text"),
    Key("s.code", "text, like ^[a-z]+$", "letters"),
    Key("s.size", "whole number, at least 1, at most 9", "a size"),
    Key("s.rate", "number, more than 0, less than 1", "a rate"),
    Key("s.most", "whole number, at least 1, or null", "a limit; null: none"),
    Key("s.fast", "true or false", "a switch"),
    Key("s.kind", "gru, lstm or rnn", "a choice"),
    Key("s.only", "a", "no choice"),
    Key("s.tests", "list of: text, at least 1 of them", "names"),
    Key("s.orders", "list of: 0 or 2", "numbers"),
    Key("s.inner.rows", "whole number, at least 1", "lines"),
    Key("s.files.NAME.rows", "whole number, at least 1", "lines"),
    Key("s.rows.NAME", "whole number", "a number for each name"),
]


class Small(Settings):
    """One kind of entry."""

    kind: Literal["small"] = Field(description="which kind")
    size: int = Field(description="a size")
    only: bool = Field(description="a switch")


class Large(Settings):
    """Another kind, with a key of the same name."""

    kind: Literal["large"] = Field(description="which kind")
    size: int = Field(description="a size")
    extra: float = Field(description="a rate")


CHOICE = Annotated[Small | Large, Field(discriminator="kind")]
KEYS_OF_CHOICE = [
    Key("c.kind", "small or large", "which kind"),
    Key("c.size", "whole number", "a size"),
    Key("c.only", "true or false", "a switch (kind small)"),
    Key("c.extra", "number", "a rate (kind large)"),
]


@pytest.mark.parametrize(("found", "expected"), zip(keys("s", Section), KEYS, strict=True))
def test_keys(found: Key, expected: Key) -> None:
    assert found == expected


def test_keys_that_kinds_share_are_told_once() -> None:
    assert list(keys("c", CHOICE)) == KEYS_OF_CHOICE
