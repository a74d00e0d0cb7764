"""The README's commands, run in the order in which they stand, in the small world."""

import re
import shlex

from tests.world.project import ROOT, World

NOT_HERE = {
    "make repro": "installs for minutes; its stages are run here by dvc repro",
    "make test": "is what runs this test",
    "make ui": "serves until it is stopped",
    "source .venv/bin/activate": "the tests run in an environment already",
}


def commands() -> list[str]:
    """Return the commands of the README's shell blocks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def test_each_command_works(world: World) -> None:
    # In a folder with a plain name: DVC 3.67's `exp run --temp` fails on a path beyond ASCII.
    world = world.rename("translation")
    for command in commands():
        if command not in NOT_HERE:
            done = world.try_run(*shlex.split(command))
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_each_command_left_out_is_in_the_makefile_or_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(NOT_HERE) <= set(commands())
    for command in NOT_HERE:
        if command.startswith("make "):
            assert re.search(rf"^{command.removeprefix('make ')}:", makefile, re.MULTILINE)


def test_each_path_named_in_the_readme_is_one_of_the_project() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / link).exists(), link
