"""Runs read-only commands of other tools, stores what they print, and reports each of them."""

import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

from analyzer.collect.masking import masked
from analyzer.model.source_kinds import Kind, kind_by_name
from analyzer.model.task_names import is_kernel_log
from analyzer.redact import redact
from analyzer.render.sanitize import one_line

_MAX_ERROR = 300
_ERROR_START = re.compile(r"(?!warning|notice|note|info)[\w.@-]+: ", re.IGNORECASE)
"""Start of an error message: `ERROR: `, or the name of the tool that reports it, as in `ssh: `."""
_NOT_FOUND = 127
_ABSENT = "{} is not in PATH"
_SHOWN = ("email",)
"""Kinds of secrets that are shown on the user's own terminal: administrators ask for the account."""
NOT_COLLECTED = "not_collected.txt"
"""The file of a run that lists logs that could not be stored, a line each: name, tab, error message."""
COLLECTED_AT = "collected_at.txt"
"""The file of a run that states when the collection began and ended, by the clock of this machine."""
COLLECTED_FROM = "collected_from.txt"
"""The file of a run that names where it is from, for places whose other files do not tell it."""
_WITH_LOGS = (Kind.LOG, Kind.OTHER)


class Outcome(NamedTuple):
    """A command, the file that it filled, the file's size in bytes, and its error message if it failed.

    The message is for the user's own terminal: addresses, such as that of the account, are not masked in it.
    `size` is None if nothing was stored: a query, a dry run, or a failure. What a dry run leaves out is
    `planned`.
    """

    arguments: tuple[str, ...]
    file: str = ""
    size: int | None = None
    error: str = ""
    planned: bool = False

    @property
    def shell(self) -> str:
        """Return the command for a shell; a comment for a file made from another command's output."""
        if not self.arguments:
            return f"# {self.file}, from the answer above"
        line = shlex.join(self.arguments)
        return f"{line} > {shlex.quote(self.file)}" if self.file else line


Listener = Callable[[Outcome], None]


class Commands:
    """Runs commands and stores their output below `folder`; a failed command is reported, never raised."""

    def __init__(self, folder: Path, listener: Listener, *, timeout: float) -> None:
        self.folder = folder
        self.saved: list[str] = []
        self.lost: dict[str, str] = {}
        """Logs that could not be stored (a file, `HOST:PATH`, or `logs`) → the masked error message."""
        self._key = secrets.token_bytes(16)
        self._began = datetime.now(UTC)
        self._answers: list[bool] = []
        self._absent: set[str] = set()
        self._listener = listener
        self._timeout = timeout

    def query(self, *arguments: str) -> str | None:
        """Return what a command prints to standard output; None if it fails."""
        status, out, err = self._run(arguments, subprocess.PIPE, subprocess.PIPE)
        self._answers.append(not status)
        self._tell(Outcome(arguments, error=_error(status, err)))
        return None if status else out.decode("utf-8", "replace")

    def query_json(self, *arguments: str) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON that a command prints; None if it fails or prints something else."""
        text = self.query(*arguments)
        with suppress(ValueError, RecursionError):
            return None if text is None else json.loads(text)
        self._tell(Outcome(arguments, error="printed no JSON"))
        return None

    def save(self, file: str, *arguments: str) -> None:
        """Store what a command prints to standard output; what came before a failure is kept."""
        with self._open(file) as target:
            status, _, err = self._run(arguments, target, subprocess.PIPE)
        self._keep(file, arguments, _error(status, err))

    def save_both(self, file: str, *arguments: str) -> None:
        """Store the standard output and standard error of a command in one file, interleaved as printed."""
        with self._open(file) as target:
            status, _, _ = self._run(arguments, target, subprocess.STDOUT)
        last = (self.folder / file).read_bytes()[-2000:].strip().rpartition(b"\n")[2] if status else b""
        self._keep(file, arguments, _error(status, last))

    def save_tree(self, folder: str, *arguments: str) -> None:
        """Run a command that copies files; its target, `folder` of the run, is added as the last argument."""
        target = self.folder / folder
        target.mkdir(parents=True, exist_ok=True)
        command = (*arguments, f"{target}/")
        status, _, err = self._run(command, subprocess.DEVNULL, subprocess.PIPE)
        files = {each.relative_to(self.folder).as_posix() for each in target.rglob("*") if each.is_file()}
        copied = sorted(files.difference(self.saved))
        self.saved += copied
        error = _error(status, err) or ("" if copied else f"{arguments[-1]}: no files there")
        self._report(arguments[-1], Outcome(command, error=error))

    def write(self, file: str, text: str) -> None:
        """Store a text made from a command's output, such as the masked description of a pod."""
        with self._open(file) as target:
            size = target.write(text.encode("utf-8", "surrogateescape"))
        self.saved.append(file)
        self._listener(Outcome((), file, size))

    def write_json(self, file: str, value: object) -> None:
        """Store a value as indented JSON, as `kubectl` prints it, without its secrets.

        Equal secrets have equal tokens in all files that are stored so.
        """
        self.write(file, json.dumps(masked(value, self._key), indent=4, ensure_ascii=False) + "\n")

    @property
    def unanswered(self) -> bool:
        """Whether every query failed; False if none was made."""
        return bool(self._answers) and not any(self._answers)

    def report_missing(self, error: str, wanted: str = "logs") -> None:
        """Report that nothing `wanted` was found, unless every query failed: then nothing is known."""
        if not self.unanswered:
            self._report(wanted, Outcome((), error=error))

    def write_time(self) -> None:
        """Store when the collection began and ended, to tell how long workers that still ran were silent."""
        times = (each.isoformat(timespec="seconds") for each in (self._began, datetime.now(UTC)))
        (self.folder / COLLECTED_AT).write_text("/".join(times) + "\n", encoding="utf-8")

    def list_lost(self) -> Path | None:
        """Store the list of lost logs and return its path; None if there are none."""
        if not self.lost:
            return None
        path = self.folder / NOT_COLLECTED
        path.write_text("".join(f"{name}\t{error}\n" for name, error in self.lost.items()), encoding="utf-8")
        return path

    def state_platform(self, name: str, hosts: Mapping[str, str] = MappingProxyType({})) -> None:
        """Store where the run is from, such as `ssh`, and directory → host, unless nothing was stored."""
        if self.saved:
            lines = [f"{name}\n", *(f"{folder}\t{host}\n" for folder, host in hosts.items())]
            (self.folder / COLLECTED_FROM).write_text("".join(lines), encoding="utf-8")

    def _report(self, wanted: str, outcome: Outcome) -> None:
        """Report a command's outcome; put its error in `lost` if it failed to store a file of logs."""
        if outcome.error and kind_by_name(wanted.lower()) in _WITH_LOGS and not is_kernel_log(wanted):
            self.lost[wanted] = str(masked(outcome.error, self._key))
        self._tell(outcome)

    def _tell(self, outcome: Outcome) -> None:
        """Report an outcome; of a tool that is not in PATH, that of its first command only."""
        tool = next(iter(outcome.arguments), "")
        if tool not in self._absent:
            self._listener(outcome)
        if tool and outcome.error == _ABSENT.format(tool):
            self._absent.add(tool)

    def _open(self, file: str) -> IO[bytes]:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")

    def _keep(self, file: str, arguments: tuple[str, ...], error: str) -> None:
        path = self.folder / file
        size = path.stat().st_size
        if error and not size:
            path.unlink()
            self._report(file, Outcome(arguments, error=error))
        else:
            self.saved.append(file)
            self._report(file, Outcome(arguments, file, size, error))

    def _run(self, arguments: Sequence[str], out: int | IO[bytes], err: int) -> tuple[int, bytes, bytes]:
        """Run a command without standard input; return exit status, output and errors.

        The status is 124 after the time limit, as of `timeout`, and 127 without the tool, as of a shell.
        """
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own tools, without a shell
                arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        except OSError as error:
            missing = shutil.which(arguments[0]) is None
            told = _ABSENT.format(arguments[0]) if missing else f"{arguments[0]}: {error.strerror}"
            return _NOT_FOUND, b"", told.encode()
        with process:
            try:
                printed, errors = process.communicate(timeout=self._timeout)
            except BaseException as error:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                return 124, b"", f"no answer within {self._timeout:g} s".encode()
        return process.returncode, printed or b"", errors or b""


class DryRun(Commands):
    """Runs only the queries, which list what there is, and reports what would be stored; writes nothing."""

    def save(self, file: str, *arguments: str) -> None:
        """Report that the output of a command would be stored in `file`, without running it."""
        self.saved.append(file)
        self._listener(Outcome(arguments, file, planned=True))

    save_both = save

    def save_tree(self, folder: str, *arguments: str) -> None:
        """Report that a command would copy files to `folder`, without running it."""
        self.saved.append(folder)
        self._listener(Outcome((*arguments, f"{self.folder / folder}/"), planned=True))

    def write_time(self) -> None:
        """Do nothing: nothing is stored."""

    def list_lost(self) -> None:
        """Return None: no log is stored, so none can be lost."""

    def state_platform(self, name: str, hosts: Mapping[str, str] = MappingProxyType({})) -> None:
        """Do nothing: nothing is stored."""

    def write(self, file: str, text: str) -> None:
        """Report that `file` would be written."""
        del text
        self.save(file)


def _error(status: int, errors: bytes) -> str:
    """Return the first error message that a failed command printed; empty if it succeeded.

    Secrets in it are masked, but e-mail addresses are not.

    A message ends where the next one starts; if no line starts one, it is the last line. Lines of `rsync`
    about the end of its remote shell are used only if there are no others.
    """
    if not status:
        return ""
    lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("rsync")] or lines
    starts = [number for number, line in enumerate(lines) if _ERROR_START.match(line)]
    first, end = [*starts, len(lines)][:2] if starts else (-1, None)
    message = " ".join(lines[first:end]) or f"exit status {status}"
    return one_line(redact({"text": message}, shown=_SHOWN)["text"], _MAX_ERROR)
