"""The Python that runs the workers, and its versions, queried without importing TensorFlow."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

# Python 3.8 has to run this too.
QUESTION = """
import json, sys, sysconfig
from importlib.metadata import distributions
versions = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in distributions()}
found = [versions[name] for name in ("tensorflow", "tensorflow-cpu", "tf-nightly") if name in versions]
paths = sysconfig.get_paths()
print(json.dumps({
    "python": "%d.%d.%d" % sys.version_info[:3],
    "tensorflow": found[0] if found else None,
    "tf_keras": "tf-keras" in versions,
    "site_packages": [paths["purelib"], paths["platlib"]],
    "stdlib": paths["stdlib"],
    "prefixes": [sys.prefix, sys.base_prefix],
}))
"""


class InterpreterError(UserError):
    """The given Python cannot run the workers."""


@dataclass(frozen=True)
class Interpreter:
    """A Python installation with TensorFlow."""

    path: Path
    python: str
    tensorflow: str
    tf_keras: bool
    site_packages: tuple[str, ...]
    stdlib: str
    prefixes: tuple[str, ...]

    @property
    def minor(self) -> str:
        """Python's version as in `python3.11`."""
        return ".".join(self.python.split(".")[:2])

    @property
    def needs_legacy_keras(self) -> bool:
        """True from TensorFlow 2.16 on, whose Keras 3 cannot `fit` under MultiWorkerMirroredStrategy."""
        major, minor = (int(part) for part in self.tensorflow.split(".")[:2])
        return (major, minor) >= (2, 16)


def ask(path: Path) -> Interpreter:
    """Return the versions and paths of a Python installation."""
    try:
        answer = subprocess.run(  # noqa: S603 - the user names the Python to run
            [path, "-c", QUESTION], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise InterpreterError(f"{path}: this Python does not run: {error}") from error
    said = json.loads(answer.stdout)
    if not said["tensorflow"]:
        raise InterpreterError(
            f"{path}: no TensorFlow there; `pip install 'mwms-analyze[trainer]'` brings it"
        )
    said["site_packages"], said["prefixes"] = tuple(said["site_packages"]), tuple(said["prefixes"])
    interpreter = Interpreter(path=path, **said)
    if interpreter.needs_legacy_keras and not interpreter.tf_keras:
        raise InterpreterError(f"{path}: TensorFlow {interpreter.tensorflow} needs the package tf_keras here")
    return interpreter
