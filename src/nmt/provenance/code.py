"""Which of the project's files a stage runs, found by reading its imports."""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from nmt.errors import NmtError
from nmt.files import sha256

PACKAGES = ("nmt", "pipeline")  # top-level names that are the project's own


def import_closure(root: Path, module: str) -> set[Path]:
    """Return the Python files that importing `module` can run, relative to the project's root.

    Found by reading the source, so nothing is run. Imports inside functions and under
    TYPE_CHECKING count too, and so does the `__init__.py` of each package on the way.

    Args:
        root: the project's folder; `nmt` is looked for in its src/, `pipeline` in itself.
        module: dotted name, such as "pipeline.train".

    Raises:
        NmtError: there is no such module, or a file on the way can't be parsed.
    """
    start = _locate(root, module)
    if start is None:
        raise NmtError(f"{module}: no such module under {root}; expected {_path(module)}")
    found: set[Path] = set()
    waiting = [*_ancestors(module), module]
    while waiting:
        name = waiting.pop()
        file = _locate(root, name)
        if file is None or file in found:
            continue
        found.add(file)
        waiting += _imported(root, file, name)
    return found


def code_units(root: Path, stage: str) -> list[Path]:
    """Return what a stage's deps have to name so that every change to its code is seen.

    Its script, each module that lies directly in src/nmt and is imported, and as a folder each
    package of src/nmt of which anything is imported. The two `__init__.py` on the way to them
    are listed as well.
    """
    library = Path("src/nmt")
    units = set()
    for file in import_closure(root, f"pipeline.{stage}"):
        if file.is_relative_to(library):
            units.add(library / file.relative_to(library).parts[0])
        else:
            units.add(file)
    return sorted(units)


def code_digests(root: Path, stage: str) -> dict[str, str]:
    """Return the SHA-256 of each file of a stage's code units, by path relative to the root."""
    return {
        file.as_posix(): sha256(root / file)
        for unit in code_units(root, stage)
        for file in files_below(root, unit)
    }


def files_below(root: Path, path: Path) -> Iterator[Path]:
    """Yield a file, or all files of a folder in order, relative to the root.

    Byte code, hidden files and editors' backups are passed over: none of them is run.
    """
    if not (root / path).is_dir():
        yield path
        return
    for item in sorted((root / path).iterdir()):
        if item.name != "__pycache__" and not item.name.startswith(".") and item.name[-1] != "~":
            yield from files_below(root, path / item.name)


def combined(digests: dict[str, str]) -> str:
    """Return one SHA-256 for many: that of the lines `sha256sum` would print, by path."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _path(module: str) -> str:
    return ("src/" if module.startswith("nmt") else "") + module.replace(".", "/") + ".py"


def _locate(root: Path, module: str) -> Path | None:
    """Return the file of a module or package of the project, relative to the root."""
    if module.split(".")[0] not in PACKAGES:
        return None
    file = Path(_path(module))
    for candidate in (file.with_suffix("") / "__init__.py", file):
        if (root / candidate).is_file():
            return candidate
    return None


def _ancestors(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def _imported(root: Path, file: Path, module: str) -> list[str]:
    """Return the dotted names that a file may import, the packages above each included.

    In `from a import b`, b may be a module or a name in one: both are returned.
    """
    try:
        tree = ast.parse((root / file).read_bytes())
    except SyntaxError as error:
        raise NmtError(f"{file}, line {error.lineno}: not valid Python: {error.msg}") from None
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return sorted(_with_ancestors(names))


def _base(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _with_ancestors(names: Iterable[str]) -> set[str]:
    return {each for name in names for each in (name, *_ancestors(name))}
