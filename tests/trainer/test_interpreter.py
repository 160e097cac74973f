"""What a Python installation tells of itself."""

from __future__ import annotations

import venv
from typing import TYPE_CHECKING

import pytest

from analyzer.trainer.jobs.interpreter import InterpreterError, ask

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.processes


def installation(folder: Path, *packages: str) -> Path:
    """Make a Python whose packages lie in a directory that a `.pth` file names; return its path."""
    venv.create(folder / "venv", symlinks=True)
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    added = folder / "added"
    (site / "added.pth").write_text(f"{added}\n")
    for package in packages:
        name, version = package.split("==")
        told = added / f"{name}-{version}.dist-info/METADATA"
        told.parent.mkdir(parents=True)
        told.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder / "venv/bin/python"


def test_directories_of_pth_files_are_known(tmp_path: Path) -> None:
    """So that no recording shows them."""
    found = ask(installation(tmp_path, "tensorflow_cpu==2.15.1", "tensorboard==2.15.2"))
    assert str(tmp_path / "added") in found.site_packages
    assert (found.tensorflow, found.needs_legacy_keras) == ("2.15.1", False)


@pytest.mark.parametrize(
    ("packages", "lacks"),
    [
        ([], "TensorFlow is not installed"),
        (["tensorflow==2.21.0", "tensorboard==2.21.0"], "tf-keras"),
        (["tensorflow==2.15.1"], "tensorboard"),
    ],
)
def test_a_python_without_what_the_program_needs_is_refused(
    tmp_path: Path, packages: list[str], lacks: str
) -> None:
    """Before a job runs, for the workers of such a job would all fail at their first step."""
    with pytest.raises(InterpreterError, match=lacks):
        ask(installation(tmp_path, *packages))


def test_a_tensorflow_that_cannot_be_imported_is_refused(tmp_path: Path) -> None:
    """Else every worker would fail alike, and the recording would be labelled with a fault that never struck."""
    found = ask(installation(tmp_path, "tensorflow==2.15.1", "tensorboard==2.15.2"))
    with pytest.raises(
        InterpreterError, match="cannot be imported: ModuleNotFoundError: No module named 'tens"
    ):
        found.require_import()
