"""What every script shares: --help as its docstring was written, errors as one message."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from nmt import script
from tests.unit.fake_project import ROOT, clean

SCRIPT = '''
"""Count the words of {train,val}.{de,en}.

Reads
    data/[raw]/SPLIT.LANGUAGE     one sentence a line
Writes
    data/counts.json              words of each file

What a paragraph says
keeps its lines.

Example:
    python -m pipeline.count --model additive --seed 1
"""
from pathlib import Path
from nmt import script
from nmt.errors import DataError

def count(model: script.ModelOption, seed: script.SeedOption,
          params: script.ParamsOption = Path("params.yaml")) -> None:
    """Count."""
    if model == "none":
        raise DataError("x.de, line 3: byte 0xE4 is not UTF-8")
    print(model, seed, params)

app = script.command(count)
if __name__ == "__main__":
    script.run(app)
'''

HELP = """\
Usage: count.py [OPTIONS]

  Count the words of {train,val}.{de,en}.

  Reads
      data/[raw]/SPLIT.LANGUAGE     one sentence a line
  Writes
      data/counts.json              words of each file

  What a paragraph says
  keeps its lines.

  Example:
      python -m pipeline.count --model additive --seed 1

Options:
"""


@pytest.fixture
def count(tmp_path: Path) -> Path:
    (tmp_path / "count.py").write_text(SCRIPT)
    return tmp_path / "count.py"


def run(path: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(path), *arguments]
    environment = clean({"PYTHONPATH": str(ROOT / "src")})
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_help_is_the_docstring_as_written(count: Path) -> None:
    shown = run(count, "--help")
    assert shown.stdout.startswith(HELP)
    for option in ("--model", "--seed", "--params", "[default: params.yaml]"):
        assert option in shown.stdout[len(HELP) :]


@pytest.mark.parametrize(
    ("arguments", "code", "output", "error"),
    [
        (["--model", "a", "--seed", "1"], 0, "a 1 params.yaml\n", ""),
        (["--model", "none", "--seed", "1"], 1, "", "error: x.de, line 3: byte 0xE4 is not UTF-8"),
        (["--model", "a"], 2, "", "Missing option '--seed'"),
        (["--model", "a", "--seed", "-1"], 2, "", "Invalid value for '--seed'"),
        (["--modle", "a"], 2, "", "No such option: --modle"),
    ],
)
def test_calls(count: Path, arguments: list[str], code: int, output: str, error: str) -> None:
    done = run(count, *arguments)
    assert (done.returncode, done.stdout) == (code, output)
    assert error in done.stderr
    assert "Traceback" not in done.stderr


def test_the_log_is_quiet_about_libraries() -> None:
    script.configure_logging()
    assert not logging.getLogger("httpx").isEnabledFor(logging.INFO)


@pytest.mark.parametrize("path", sorted((ROOT / "pipeline").glob("*.py")), ids=lambda p: p.stem)
def test_scripts_tell_purpose_and_example(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""')
    if path.stem != "__init__":
        example = text.partition('"""\n\n')[0].partition("\nExample:\n")[2]
        assert f"python -m pipeline.{path.stem}" in example
        assert text.count("\n") <= 60, "a script holds no logic: parse, load, call, write"
