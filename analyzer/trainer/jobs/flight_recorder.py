"""Runs workers under mwms-recorder, whose recordings are then all that is handed over."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from analyzer.model.errors import UserError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

DISTRIBUTION = Path(__file__).parents[3] / "recorder"
PROGRAM = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("mwms_recorder", run_name="__main__")
"""
"""Runs the recorder without PYTHONPATH, which the worker would inherit."""
CHECKS = ("--fingerprint-data", "--check-weights", "10", "--check-finite")
OPTIONS = ("--stall", "15", *CHECKS)
WITHOUT_GPUS = ("--off", "gpus")
START_SECONDS = 60.0


def recorder_command(command: Sequence[str], out: Path, without: Sequence[str] = WITHOUT_GPUS) -> list[str]:
    """Return the arguments that start the recorder with a command to record; it writes below `out`.

    `without` are the recorder's options for what it leaves out.

    Raises:
        UserError: the recorder, which is a package of its own, is neither in a checkout nor installed.
    """
    run = [sys.executable, "-c", PROGRAM, str(_distribution()), "run", "-o", str(out), *OPTIONS, *without]
    return [*run, "--", *command]


def _distribution() -> Path:
    """Return the directory of the recorder's package: that of the checkout, else where it is installed."""
    installed = find_spec("mwms_recorder")
    if DISTRIBUTION.is_dir():
        return DISTRIBUTION
    if installed and installed.origin:
        return Path(installed.origin).parents[1]
    raise UserError("mwms-recorder is not installed; in a checkout: pip install ./recorder")


@dataclass(frozen=True)
class RecordedProcess:
    """A worker that runs under mwms-recorder; process id, signals and exit code are the worker's own."""

    recorder: subprocess.Popen[bytes]
    pid: int

    @classmethod
    def of(cls, recorder: subprocess.Popen[bytes]) -> RecordedProcess:
        """Wait until the recorder has noted which process runs its command, and return that process."""
        arguments = [*map(str, cast("list[str]", recorder.args))]
        out = Path(arguments[arguments.index("-o") + 1])
        ends = time.monotonic() + START_SECONDS
        while time.monotonic() < ends and recorder.poll() is None:
            for first in _first_rows(out):
                if first.get("recorder_pid") == recorder.pid:
                    return cls(recorder, int(first["pid"]))
            time.sleep(0.01)
        raise UserError(f"the recorder started no command in {START_SECONDS:.0f} s")

    def poll(self) -> int | None:
        """Return the command's exit code, negative for a signal; None while it runs."""
        return self.recorder.poll()

    def wait(self) -> int:
        """Wait for the end, and return the command's exit code."""
        return self.recorder.wait()

    def send_signal(self, number: int) -> None:
        """Send a signal to the command alone."""
        os.kill(self.pid, signal.Signals(number))


def _first_rows(out: Path) -> Iterator[dict[str, Any]]:
    """Yield the first row of each recording below a directory, as far as it is written."""
    for path in out.glob("*/recording.jsonl"):
        with path.open() as lines, suppress(json.JSONDecodeError):
            yield json.loads(lines.readline())


def recordings(out: Path) -> dict[str, bytes]:
    """Return the files of all recordings below `out`, by their path there."""
    files = sorted(path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}
