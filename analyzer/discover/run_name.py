"""Names a run after its directory, its job, or its archive."""

import re
from pathlib import Path

from analyzer.model.task_names import ARCHIVE_SUFFIX, printable

_GENERIC_NAMES = frozenset(
    {"run", "run_dir", "logs", "log", "output", "outputs", "out", "artifacts", "results"}
)
_JOB = re.compile(r"get-[a-z]+-(?P<name>[a-z0-9][a-z0-9.-]*)\.json")
"""Regex for the file in which `mwms-collect` stores the description of a job of Kubernetes."""


def run_name(path: Path) -> str:
    """Return the run's name: the directory's or, if that is generic, as `run`, the job's or the parent's."""
    if path.is_dir() and path.name.lower() in _GENERIC_NAMES:
        if job := _job_in(path):
            return job
        path = path.parent if path.parent.name else path
    return printable(ARCHIVE_SUFFIX.sub("", path.name)) or "run"


def _job_in(folder: Path) -> str:
    """Return the name of the only job that is described in a directory; empty if there is none."""
    try:
        names = [found["name"] for each in folder.iterdir() if (found := _JOB.fullmatch(each.name))]
    except OSError:  # the walk reports it
        return ""
    return names[0] if len(names) == 1 else ""
