"""Run a stage's script and write down what it reads: keys of params.yaml, modules, files.

    cd PROJECT; python …/tests/graph/recorder.py RECORD.json STAGE [options]

The script runs by itself, without the wrapper of `pipeline.run`.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

FOLDERS = ("data/", "models/", "translations/", "reports/")


class Recorder:
    """Takes note of every read, from the moment it is made."""

    def __init__(self) -> None:
        from nmt.params import Params, Settings

        self.keys: set[str] = set()
        self.files: set[str] = set()
        self._sections: dict[int, tuple[Settings, str]] = {}  # held, so that no id comes again
        self._settings = Settings
        self._watch_params(Params)
        self._watch_settings(Settings)
        sys.addaudithook(self._watch_files)

    def _watch_params(self, params: Any) -> None:
        section, overridden, value = params.section, params.overridden, params.value
        inside = 0

        def unseen(read: Any, *arguments: Any, **options: Any) -> Any:
            nonlocal inside
            inside += 1
            found = read(*arguments, **options)
            inside -= 1
            return found

        def recorded_section(this: Any, key: str, kind: Any, **options: Any) -> Any:
            found = unseen(section, this, key, kind, **options)
            self._register(found, key)
            return found

        def recorded_overridden(this: Any, key: str, by: str, kind: Any) -> Any:
            found = unseen(overridden, this, key, by, kind)
            self._register(found, key)
            self.keys.add(by)
            return found

        def recorded_value(this: Any, key: str) -> Any:
            if not inside:
                self.keys.add(key)
            return value(this, key)

        params.section, params.value = recorded_section, recorded_value
        params.overridden = recorded_overridden

    def _register(self, settings: Any, key: str) -> None:
        self._sections[id(settings)] = (settings, key)
        for name, inner in settings.__dict__.items():
            if isinstance(inner, self._settings):
                self._register(inner, f"{key}.{name}")

    def _watch_settings(self, kind: Any) -> None:
        get, dump = kind.__getattribute__, kind.model_dump

        def recorded_get(this: Any, name: str) -> Any:
            found = get(this, name)
            known = self._sections.get(id(this))
            if known and name in type(this).model_fields and not isinstance(found, kind):
                self.keys.add(f"{known[1]}.{name}")
            return found

        def recorded_dump(this: Any, *args: Any, **kwargs: Any) -> Any:
            if id(this) in self._sections:
                self.keys.add(self._sections[id(this)][1])
            return dump(this, *args, **kwargs)

        kind.__getattribute__, kind.model_dump = recorded_get, recorded_dump

    def _watch_files(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], str | Path):
            return
        path, mode = Path(arguments[0]), arguments[1]
        if path.is_absolute() and path.is_relative_to(Path.cwd()):
            path = path.relative_to(Path.cwd())
        if mode and "r" in mode and path.as_posix().startswith(FOLDERS):
            self.files.add(path.as_posix())


def modules(root: Path) -> list[str]:
    """Return the files of the project's own modules that are loaded."""
    own = [m for name, m in sys.modules.items() if name.split(".")[0] in ("nmt", "pipeline")]
    paths = [Path(m.__file__) for m in own if m.__file__]
    return sorted(path.relative_to(root).as_posix() for path in paths)


def main(record: Path, stage: str, *options: str) -> None:
    """Run the stage and write the record."""
    root = Path.cwd()
    sys.path[0] = str(root)
    importlib.import_module("pipeline")  # puts the project's src/ first
    recorder = Recorder()
    app = importlib.import_module(f"pipeline.{stage}").app
    app(list(options), standalone_mode=False)
    found = {
        "keys": sorted(recorder.keys),
        "files": sorted(recorder.files),
        "modules": modules(root),
    }
    record.write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
