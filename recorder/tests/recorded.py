"""Runs commands under the recorder, and reads what it leaves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Callable, Dict, Sequence

import jsonschema

Event = Dict[str, Any]
RECORDER = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((RECORDER / "recording.schema.json").read_text())


def rows(path: Path) -> list[Event]:
    """Return the events of a file of JSON lines; a last line that was cut is left out."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


@lru_cache(None)
def validator(event: str) -> jsonschema.Draft202012Validator:
    """Return what checks the events of a name; `jsonschema.validate` would check the schema for each."""
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/events/{event}", "$defs": SCHEMA["$defs"]})


def output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    """Return the reading end of a process's output."""
    assert process.stdout
    return process.stdout


class Recording:
    """One task's directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def events(self, name: str) -> list[Event]:
        """Return all events of a name, of all files."""
        files = [file for file in sorted(self.path.glob("*.jsonl")) if not file.name.endswith(".index.jsonl")]
        return [row for file in files for row in rows(file) if row["event"] == name]

    def check(self) -> None:
        """Hold each line against the schema."""
        for path in self.path.glob("*.jsonl"):
            for row in [] if path.name.endswith(".index.jsonl") else rows(path):
                validator(row["event"]).validate(row)

    def last(self, name: str) -> Event:
        """Return the latest event of a name, whichever process wrote it."""
        return max(self.events(name), key=lambda row: row["monotonic"])


class Recorder:
    """Runs commands under the recorder."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def command(self, *command: str, options: Sequence[str] = ()) -> list[str]:
        """Return the command line that runs a command under the recorder."""
        return [sys.executable, "-m", "mwms_recorder", "run", "-o", str(self.out), *options, "--", *command]

    def environment(self, **variables: str) -> dict[str, str]:
        """Return an environment in which the recorder is found, without the launcher's variables."""
        kept = {name: value for name, value in os.environ.items() if name not in ("TF_CONFIG", "PYTHONPATH")}
        return {**kept, "PYTHONPATH": str(RECORDER), "TF_CPP_MIN_LOG_LEVEL": "3", **variables}

    def run(
        self,
        *command: str,
        options: Sequence[str] = (),
        seconds: float = 120,
        typed: bytes | None = None,
        **variables: str,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command under the recorder and wait for its end; `typed` is its standard input.

        Raises:
            TimeoutExpired: it has not ended after `seconds`.
        """
        given, variables = self.command(*command, options=options), self.environment(**variables)
        return subprocess.run(
            given, capture_output=True, env=variables, timeout=seconds, check=False, input=typed
        )

    def start(self, *command: str, options: Sequence[str] = (), **variables: str) -> subprocess.Popen[bytes]:
        """Start a command under the recorder, as the leader of a process group."""
        given = self.command(*command, options=options)
        pipe, variables = subprocess.PIPE, self.environment(**variables)
        return subprocess.Popen(given, env=variables, start_new_session=True, stdout=pipe, stderr=pipe)

    def recording(self, task: str | None = None) -> Recording:
        """Return the only recording, or that of a task."""
        found = sorted(path for path in self.out.iterdir() if task in (None, path.name))
        assert len(found) == 1, found
        return Recording(found[0])

    def until(self, event: str, wanted: Callable[[Event], bool], count: int, seconds: float) -> list[Event]:
        """Wait until the only recording has so many events of a name that are wanted, and return them."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            begun = self.out.exists() and any(self.out.iterdir())
            found = list(filter(wanted, self.recording().events(event))) if begun else []
            if len(found) >= count:
                return found
            time.sleep(0.2)
        raise AssertionError(f"no {count} events {event!r} in {seconds} s")


@lru_cache(maxsize=None)
def interpreters() -> list[str]:
    """Return this interpreter and those of the oldest and newest supported version, where they are there."""
    named = [shutil.which(name) for name in ("python3.8", "python3.13")]
    by_pyenv = [str(path) for path in Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python3.*")]
    tried = [path for path in [*named, *by_pyenv] if path and path.endswith(("/python3.8", "/python3.13"))]
    works = {
        path.rpartition("/")[2]: path
        for path in tried
        if not subprocess.run([path, "-c", ""], capture_output=True).returncode
    }
    return [sys.executable, *works.values()]
