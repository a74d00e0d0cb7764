"""The `compute` section: where and how exactly. Free of torch, so that a check is quick."""

from typing import Literal

from pydantic import Field

from nmt.params import Settings


class ComputeSettings(Settings):
    """The `compute` section of params.yaml."""

    device: Literal["cpu", "cuda", "auto"] = Field(description="cpu, cuda, or auto: cuda if any")
    precision: Literal["float32", "bfloat16"] = Field(description="bfloat16 means autocast")
    threads: int = Field(ge=1, le=1024, description="threads of a torch operation")
    processes: int = Field(ge=1, le=1024, description="processes that share one training")
