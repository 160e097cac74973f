"""Starts a recording from inside the program, instead of `mwms-recorder run` before the command."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from mwms_recorder import __version__
from mwms_recorder.inside.loading import load
from mwms_recorder.journal import Journal, masked_command
from mwms_recorder.outside.task import SCHEMA, make_directory, make_pages, task_name
from mwms_recorder.settings import VARIABLE, Settings


def start(out: str, **options: Any) -> bool:
    """Start to record this process into `out`, and return True if it is recorded.

    Options are those of the command line. Unlike with `mwms-recorder run`, the output is not copied and the
    exit status stays unknown. In a process that `mwms-recorder run` started, this only returns True.
    """
    if VARIABLE in os.environ:
        return True
    if "ipykernel" in sys.modules:
        return _refuse("a notebook's kernel outlives the jobs that it runs; record a script")
    try:
        _start(Settings(out=out, **options))
    except OSError as error:
        return _refuse(str(error))
    return True


def _start(settings: Settings) -> None:
    named_task = task_name(os.environ, settings.task)
    settings = settings.at(os.path.abspath(make_directory(settings.out, named_task["task"])), make_pages())
    Journal(os.path.join(settings.directory, "recording.jsonl")).append(
        "recording",
        schema=SCHEMA,
        version=__version__,
        **named_task,
        command=masked_command([sys.executable, *sys.argv]),
        pid=os.getpid(),
        host=os.uname().nodename,
        directory=os.getcwd(),
        streams={},
        options=settings.changed(),
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    watcher = [sys.executable, "-m", "mwms_recorder.outside.observer", settings.encoded(), str(os.getpid())]
    variables = {**os.environ, "PYTHONPATH": root}
    subprocess.run(watcher, env=variables, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    load(settings)


def _refuse(reason: str) -> bool:
    sys.stderr.write(f"mwms-recorder: not recording: {reason}\n")
    return False
