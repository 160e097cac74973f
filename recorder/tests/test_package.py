"""What the package is made of: small parts, the standard library, a small wheel."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import pytest
from recorded import RECORDER, Recording, interpreters

MODULES = sorted((RECORDER / "mwms_recorder").rglob("*.py"))
MAX_WHEEL_BYTES = 60_000


def functions() -> Iterator[int]:
    """Yield the lines of each function."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.end_lineno:
                yield node.end_lineno - node.lineno + 1


def imported(path: Path) -> Iterator[str]:
    """Yield the top-level packages that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_functions_and_files_are_short() -> None:
    """As in the analyzer."""
    assert median(functions()) <= 7
    assert quantiles(functions(), n=10)[-1] <= 20
    assert [path.name for path in MODULES if len(path.read_text().splitlines()) > 350] == []
    for package in {path.parent for path in MODULES}:
        assert len([path for path in MODULES if path.parent == package and path.name != "__init__.py"]) <= 15


def test_only_the_standard_library_is_imported() -> None:
    """Neither TensorFlow, which the hook is handed, nor the analyzer."""
    own = {"mwms_recorder", "sitecustomize", "__future__"}
    assert {name for path in MODULES for name in imported(path)} - own <= sys.stdlib_module_names


@pytest.mark.processes
@pytest.mark.parametrize("python", interpreters())
def test_every_module_can_be_imported(python: str) -> None:
    """By each interpreter that is there."""
    names = [path.relative_to(RECORDER).with_suffix("").as_posix().replace("/", ".") for path in MODULES]
    program = f"import importlib\nfor name in {[name for name in names if 'bootstrap' not in name and '__main__' not in name]}: importlib.import_module(name)"
    subprocess.run([python, "-c", program], cwd=RECORDER, check=True, timeout=60)


@pytest.mark.install
def test_the_wheel_is_small(tmp_path: Path) -> None:
    """It goes into training images."""
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(RECORDER)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    (wheel,) = tmp_path.iterdir()
    assert wheel.stat().st_size < MAX_WHEEL_BYTES
    _records_from_a_directory(wheel, tmp_path)


def _records_from_a_directory(wheel: Path, folder: Path) -> None:
    """See that an unpacked wheel records, as an init container of Kubernetes brings it: hook and all."""
    zipfile.ZipFile(wheel).extractall(folder / "recorder")
    program = "import sys; print('mwms_recorder.inside.loading' in sys.modules)"
    recorder = [sys.executable, "-m", "mwms_recorder", "run", "-o", str(folder / "run"), "--task", "worker-1"]
    done = subprocess.run(
        [*recorder, "--", sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(folder / "recorder")},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, b"True\n")
    assert Recording(folder / "run" / "worker-1").last("end")["exit_code"] == 0


@pytest.mark.parametrize("path", sorted((RECORDER / "tests" / "recordings").glob("*/*")), ids=str)
def test_the_examples_follow_the_schema(path: Path) -> None:
    """Each line is one of the schema's events."""
    Recording(path).check()
