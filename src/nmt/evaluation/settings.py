"""The `evaluation` section."""

from typing import Literal

from pydantic import Field

from nmt.params import Settings


class EvaluationSettings(Settings):
    """How translations are scored."""

    tokenizer: str = Field(
        description="tokenizer of kind spacy that splits references and other tokenizers' output"
    )
    bleu_tokenizer: Literal["13a", "intl", "zh", "char", "none"] = Field(
        description="sacreBLEU's tokenizer for detokenised text"
    )
    chrf_word_order: Literal[0, 2] = Field(description="order of words in chrF; 2 is chrF++")
