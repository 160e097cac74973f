"""How logs lie in files: prefixes that hide lines, logs joined into one file, and logs of one process."""

import re
from pathlib import PurePosixPath
from string import ascii_lowercase

from analyzer.model.task_names import log_of, without_attempt

UNREAD_LAYOUT = (
    "something that is not known stands before most of TensorFlow's lines, so they are hardly read"
)
"""Damage of a log; a prefix hides what lines say, and whose they are."""

_PART = "part-"
_OUTPUT_OF_JOB = re.compile(r"\.[oe](?=\d+(?:[.-]\d+)*$)")
"""Regex for what PBS and Grid Engine put before the number of a job in a file's name, `bert.o73110`."""
_STREAM = re.compile(r"(?:^|[._-])(?:(?:std)?(?:out|err)(?:---supervisor-\w+)?|output)$")
"""Regex for a stream at the end of a stem; supervisord appends a word: `web-stderr---supervisor-k2x`."""
_STREAM_DIRECTORIES = frozenset({"out", "err", "stdout", "stderr"})
"""Directories of one stream, with a file a host; `out` alone also holds what a program writes."""


def part_key(number: int) -> str:
    """Return the key of the stream with the log of a process, counted from 0: `part-a`, `part-b`."""
    rest, last = divmod(number, len(ascii_lowercase))
    return (part_key(rest - 1) if rest else _PART) + ascii_lowercase[last]


def is_part(key: str | None) -> bool:
    """Return True for a key as `part_key` returns it."""
    return bool(key) and str(key).startswith(_PART)


def joined_file(source: str) -> str | None:
    """Return the file that a log was joined into with others, as `all.log` of `all.log#part-b`; else None."""
    file, _, key = source.rpartition("#")
    return file if is_part(key) else None


def process_of(name: str) -> str:
    """Return a key that is equal for all logs of one process: its stdout, its stderr and rotated parts.

    The key is the path without the name of the stream: `job` for `job.out.log` and `job.err.log`, `run/w1`
    for `run/w1/stderr`. All attempts of a worker have one key. Where the directory names the stream, as
    `out/node7` and `err/node7` of parallel-ssh, the key is without it.
    """
    path = PurePosixPath(_OUTPUT_OF_JOB.sub("-", log_of(without_attempt(name))))
    if "#" in path.name and not _STREAM.fullmatch(path.stem):
        return path.as_posix()
    parent = path.parent.parent if path.parent.name.lower() in _STREAM_DIRECTORIES else path.parent
    return (parent / _STREAM.sub("", path.stem)).as_posix()
