"""Patches that add logs to a repository, as `git diff` and `git format-patch` write them: a log a file."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from analyzer.ingest.logs.documents import TextLine
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line

_MAX_CHARS = 4 << 20
_CHECKED = 2_000
"""Lines of a file among which one of TensorFlow is looked for."""
_FILE = re.compile(r"\+\+\+ (?:b/)?(?P<path>[^\t\n]+)")
_HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of the files as the patch leaves them; none of files without a line of TensorFlow."""
    if len(text) > _MAX_CHARS:
        return ()
    found: dict[str, list[TextLine]] = {}
    path, old, new = "", 0, 0
    for number, line in enumerate(text.split("\n"), 1):
        if old <= 0 and new <= 0:
            if file := _FILE.match(line):
                path = file["path"].strip()
            elif hunk := _HUNK.match(line):
                old, new = (int(hunk[side] or 1) for side in ("old", "new"))
            continue
        if line.startswith("\\ "):
            continue  # "No newline at end of file"
        old -= line[:1] != "+"
        new -= line[:1] != "-"
        if line[:1] in {"+", " ", ""}:
            found.setdefault(path, []).append(TextLine(_stream(path), line[1:], number))
    logs = [lines for lines in found.values() if any(begins_own_line(line.text) for line in lines[:_CHECKED])]
    return [line for lines in logs for line in lines]


def _stream(path: str) -> str:
    """Return folder and name, without suffix, of a file."""
    own = PurePosixPath(path)
    return f"{own.parent.name}/{own.stem}".lstrip("/")
