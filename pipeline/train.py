"""Train one model with one seed, and keep the weights of its best epoch.

Reads
    data/prepared/MODEL/tokens/{train,val}.{de,en}.jsonl, tokenizer.json
    data/prepared/MODEL/vocab/{de,en}.json; {de,en}.model and draws.json, if it draws pieces
Writes
    models/MODEL/SEED/weights.safetensors             the best epoch's weights
    models/MODEL/SEED/config.json                     all that is needed to use them
    models/MODEL/SEED/history.jsonl, iterations.csv   figures of each epoch, loss of each batch

A training that was stopped goes on after its last whole epoch, with the same result. With
compute.processes above 1 it starts the others itself, on this machine, or torchrun starts as many.

Example:
    python -m pipeline.train --model additive --seed 1
    torchrun --nproc-per-node 2 -m pipeline.train --model additive --seed 1
"""

from pathlib import Path

from nmt import script
from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.model.settings import read_model
from nmt.params import Params
from nmt.prepared import Prepared
from nmt.training.job import Job, train_model
from nmt.training.settings import read_training


def train(
    model: script.ModelOption,
    seed: script.SeedOption,
    params: script.ParamsOption = Path("params.yaml"),
    prepared: Path = Path("data/prepared"),
    out: Path = Path("models"),
    state: Path = Path(".nmt/training"),
) -> None:
    """Train one model with one seed."""
    values = Params.read(params)
    train_model(
        Job(
            name=model,
            seed=seed,
            data=values.section("data", DataSettings),
            compute=values.section("compute", ComputeSettings),
            model=read_model(values, model),
            training=read_training(values, model),
            prepared=Prepared(prepared / model),
            out=out / model / str(seed),
            state=state,
        )
    )


app = script.command(train)

if __name__ == "__main__":
    script.run(app)
