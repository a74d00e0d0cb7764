"""Fixtures of several tests: a tiny project with an empty MLflow database."""

import shutil
from pathlib import Path

import pytest

from tests.unit.fake_project import Project


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty database of the project `toy`; making one takes seconds."""
    from nmt.tracking import open_store

    folder = tmp_path_factory.mktemp("database")
    (folder / "pyproject.toml").write_text('[project]\nname = "toy"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        open_store(folder)
    return folder / "mlflow.db"


@pytest.fixture
def tracked(tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a tiny project with an empty database of runs."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    project = Project.make(tmp_path / "project")
    shutil.copy(database, project.root)
    return project
