"""Collects a job of Slurm with `sacct` and `scontrol`, and the logs that they name."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzer.collect.commands import Commands
from analyzer.model.errors import UsageError

_COLUMNS = (
    "JobID", "JobName", "State", "ExitCode", "DerivedExitCode", "Submit", "Start", "End", "Elapsed",
    "Timelimit", "NTasks", "ReqMem", "MaxRSS", "MaxRSSNode", "MaxRSSTask", "NodeList",
)  # fmt: skip
_FILES = re.compile(r"^\s*Std(?:Out|Err)=(?P<path>/.+?)\s*$", re.MULTILINE)
_FOLDER = re.compile(r"^\s*WorkDir=(?P<path>/.+?)\s*$", re.MULTILINE)
_JOB = re.compile(r"\d+(?:_\d+)?(?:\+\d+)?")


def collect(commands: Commands, job: str, logs: Sequence[str] = ()) -> None:
    """Save accounting, description, nodes and logs of a job; `logs` are patterns of further log files.

    Raises:
        UsageError: `job` is no job id.

    """
    if not _JOB.fullmatch(job):
        raise UsageError(f"{job} is not a Slurm job ID such as 48213 or 48213_4")
    columns = f"--format={','.join(_COLUMNS)}"
    commands.save("sacct.txt", "sacct", f"--jobs={job}", "--duplicates", "--parsable2", columns)
    described = commands.query("scontrol", "show", "job", "--oneliner", "--details", job) or ""
    described = "\n".join(re.split(r" (?=[A-Z]\w*=)", described))
    if described.strip():
        commands.write("scontrol.job", described)
    _save_nodes(commands, job)
    found = dict.fromkeys(_named_logs(described, _work_folder(commands, job, described), job, logs))
    for path, name in _stored_names(list(found)).items():
        commands.save(name, "cat", "--", str(path))
    for pattern in logs:
        if not any(path.is_file() for path in _matching(pattern)):
            commands.report_missing(f"--logs {pattern}: no file there", pattern)
    if not found:
        advice = f"name it with --logs, as in --logs 'logs/*{job}*'"
        commands.report_missing(f"no log of job {job} found: {advice}")


def _save_nodes(commands: Commands, job: str) -> None:
    """Save the state of the job's nodes, with the reason of those that are down."""
    words = _allocated(commands, job, "NodeList").split()
    nodes = next((word for word in words if re.match(r"[A-Za-z0-9]", word) and word != "None"), "")
    if nodes:
        commands.save("scontrol.nodes", "scontrol", "show", "node", nodes)


def _allocated(commands: Commands, job: str, column: str) -> str:
    """Return what `sacct` has in a column for the job's allocations, one a line; empty if it fails."""
    options = ("--allocations", "--noheader", "--parsable2", f"--format={column}")
    return commands.query("sacct", f"--jobs={job}", *options) or ""


def _work_folder(commands: Commands, job: str, described: str) -> Path | None:
    """Return the job's working directory; from `sacct` if `scontrol` no longer knows the job."""
    if stated := _FOLDER.search(described):
        return Path(stated["path"])
    path = _allocated(commands, job, "WorkDir").strip().partition("\n")[0]
    return Path(path) if path.startswith("/") else None


def _named_logs(described: str, folder: Path | None, job: str, patterns: Sequence[str]) -> Iterator[Path]:
    """Yield the files that Slurm names, files beside them with the job's id, and matches of `patterns`."""
    stated = [Path(match["path"]) for match in _FILES.finditer(described)]
    yield from (path for path in stated if path.is_file())
    for place in dict.fromkeys([*([folder] if folder else []), *(path.parent for path in stated)]):
        yield from sorted(path for path in place.glob(f"*{job}*") if path.is_file())
    for pattern in patterns:
        yield from sorted(path.absolute() for path in _matching(pattern) if path.is_file())


def _stored_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return path → name in the run: the file name, or the path below their common folder if names clash."""
    if len({path.name for path in paths}) == len(paths):
        return {path: path.name for path in paths}
    top = os.path.commonpath([path.parent for path in paths])
    return {path: path.relative_to(top).as_posix() for path in paths}


def _matching(pattern: str) -> Iterator[Path]:
    path = Path(pattern).expanduser().absolute()
    return Path(path.anchor).glob(str(path.relative_to(path.anchor)))
