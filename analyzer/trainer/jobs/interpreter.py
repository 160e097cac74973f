"""Finds the versions and paths of the Python that runs the workers, and whether it imports TensorFlow."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError, missing_extra

if TYPE_CHECKING:
    from pathlib import Path

# Python 3.8 has to run this too.
QUESTION = """
import json, sys, sysconfig
from importlib.metadata import distributions
versions = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in distributions()}
found = [versions[name] for name in ("tensorflow", "tensorflow-cpu", "tf-nightly") if name in versions]
paths = sysconfig.get_paths()
# `.pth` files add further directories of packages to `sys.path`
added = [path for path in sys.path if path and not path.startswith(sys.base_prefix)]
print(json.dumps({
    "python": "%d.%d.%d" % sys.version_info[:3],
    "tensorflow": found[0] if found else None,
    "packages": sorted(versions),
    "site_packages": [paths["purelib"], paths["platlib"]] + added,
    "stdlib": paths["stdlib"],
    "prefixes": [sys.prefix, sys.base_prefix],
}))
"""


class InterpreterError(UserError):
    """The given Python does not start, or lacks a package that the workers need."""


@dataclass(frozen=True)
class Interpreter:
    """A Python installation with TensorFlow."""

    path: Path
    python: str
    tensorflow: str
    packages: tuple[str, ...]
    """Names of the installed distributions, in lower case and with hyphens."""
    site_packages: tuple[str, ...]
    stdlib: str
    prefixes: tuple[str, ...]

    @property
    def minor(self) -> str:
        """Return Python's version without the patch level: `3.11`."""
        return ".".join(self.python.split(".")[:2])

    @property
    def needs_legacy_keras(self) -> bool:
        """True from TensorFlow 2.16 on: Keras 3 does not support `fit` with MultiWorkerMirroredStrategy."""
        major, minor = (int(part) for part in self.tensorflow.split(".")[:2])
        return (major, minor) >= (2, 16)

    def require(self, *packages: str) -> None:
        """Raise InterpreterError for the first package that is not installed."""
        for package in packages:
            if package not in self.packages:
                raise InterpreterError(
                    f"{self.path}: no {package} there, which the program needs; `pip install {package}`"
                )

    def require_import(self) -> None:
        """Import TensorFlow once, which takes seconds; raise InterpreterError if that fails.

        If a library is missing, every job fails before its fault, and would be stored with a wrong cause.
        """
        command = [str(self.path), "-c", "import tensorflow"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - as in `ask`
        if done.returncode:
            last = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
            raise InterpreterError(f"{self.path}: TensorFlow cannot be imported: {last}")


def ask(path: Path) -> Interpreter:
    """Return the versions and paths of a Python installation; raise InterpreterError if it is unusable."""
    try:
        answer = subprocess.run(  # noqa: S603 - the user names the Python to run
            [path, "-c", QUESTION], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise InterpreterError(f"{path}: this Python does not run: {error}") from error
    versions = json.loads(answer.stdout)
    if not versions["tensorflow"]:
        raise InterpreterError(f"{path}: {missing_extra('TensorFlow', 'trainer')}")
    lists = {name: tuple(value) for name, value in versions.items() if isinstance(value, list)}
    interpreter = Interpreter(path=path, **(versions | lists))
    interpreter.require("tensorboard", *["tf-keras"] * interpreter.needs_legacy_keras)
    return interpreter
