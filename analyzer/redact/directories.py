"""Finds the directories that users named, in paths of any system and in file stores."""

import re
from collections.abc import Iterator

_PATH = re.compile(
    r"(?:(?<![\w./:>~-])|(?<=[\w)\]]:)|\b(?:gs|s3[an]?|hdfs|viewfs|abfss?|wasbs?|file|dbfs|nfs):/)"
    r"/(?!tensorflow\.|grpc\.|(?:job|replica|task|device|[cgt]pu):)(?P<path>[\w.+@%=~-]++(?:/[\w.+@%=~-]++)+)/?"
)
"""Regex for an absolute path or one in a file store, but not for a device, a gRPC method or a web page."""
_WINDOWS = re.compile(r"(?<![\w])[A-Za-z]:\\{1,2}(?P<path>[\w.+@%=~-]+(?:\\{1,2}[\w.+@%=~-]+)+)\\?")
_QUOTED = re.compile(
    r"[\"']/(?P<path>(?=[^\"'\n]{0,200} )[\w.+@%=~ -]{1,100}(?:/[\w.+@%=~ -]{1,100})+)/?\\*[\"']"
)
"""Regex for a quoted path with spaces."""
_COMMON = re.compile(
    r"usr|lib(?:32|64)?|local|s?bin|share|etc|proc|sys|dev|shm|tmp|var|run|logs?|opt|mnt|media|home|users|srv|data"
    r"|root|workspace|workdir|work|export|\.?venv|envs?|conda|self|fd|cgroup|fs|spool|cache|src|app|c:"
    r"|checkpoints?|ckpt|tb|tensorboard|secrets|kubernetes\.io|serviceaccount|train|validation|eval|plugins|profile|path|to|pid|python\d?|(?:mini|ana)conda\d?",
    re.IGNORECASE,
)
"""Regex for names of directories that are common on every system, and so identify nobody."""
_LIBRARY = re.compile(r"(?:site|dist)-packages|python\d(?:\.\d+)?")
"""Regex for directories of libraries: their subdirectories identify nobody."""


def find_directories(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of directory names chosen by users, not of file or checkpoint names."""
    for pattern in (_PATH, _WINDOWS, _QUOTED):
        for match in pattern.finditer(text):
            yield from _folders(match)


def _folders(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the uncommon directory names in a path, up to a library's directory."""
    names = list(re.finditer(r"[^/\\]+", match["path"]))
    is_file = re.search(r"[\d.]", names[-1][0]) and not match[0].endswith(("/", "\\"))
    for name in names[:-1] if is_file else names:
        if _LIBRARY.fullmatch(name[0]):
            return
        if not _COMMON.fullmatch(name[0]) and len(name[0]) > 1 and re.search(r"[A-Za-z]", name[0]):
            yield match.start("path") + name.start(), match.start("path") + name.end()
