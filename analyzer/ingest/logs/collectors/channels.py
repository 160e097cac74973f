"""Separates standard output and standard error where a tool prints all of the one before all of the other.

Read as one log, the end of the job would come before its start. YARN, pssh and others mark where the second
one begins. Ansible does not: TensorFlow's C++ logger writes to standard error, so its first line shows that
standard output has ended.
"""

import re
from collections.abc import Iterator

from analyzer.ingest.logs.collectors.headings import is_of_ansible
from analyzer.ingest.logs.prefixes.heads import head

Numbered = list[tuple[int, str]]

_MARK = re.compile(
    r"(?i)\s*(?:LogType: ?(?P<of_yarn>std(?:out|err))|\[?(?P<titled>std(?:out|err))[\]:](?: \|[-+]?)?)\s*$"
)
_OF_PSSH = "Stderr: "
"""What `pssh -i` prints before the first line of standard error."""
_OF_ABSL = "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR"


def by_channel(key: str, lines: Numbered) -> Iterator[tuple[str, Numbered]]:
    """Yield name and lines of each channel of a stream; the stream itself unless it shows two of them.

    Lines above the first mark, as the heading of the stream, go with standard output.
    """
    found: dict[str, Numbered] = {"stdout": [], "stderr": []}
    telling: set[str] = set()
    now, is_unmarked = "", False
    for at, (number, line) in enumerate(lines):
        begun, text, is_unmarked = _begun(line, is_unmarked=is_unmarked, is_output=now == "stdout")
        if line.startswith(_OF_PSSH) and at > 1:
            telling.add("stdout")
        now = begun or now
        found[now or "stdout"].append((number, text))
        if now and text.strip() and not (begun and text == line and not _is_error(line)):
            telling.add(now)
    if len(telling) == len(found):
        yield from ((f"{key}/{channel}", own) for channel, own in found.items())
    else:
        yield key, lines


def _begun(line: str, *, is_unmarked: bool, is_output: bool) -> tuple[str, str, bool]:
    """Return the channel that begins with a line, its text, and whether the next one begins without mark."""
    if is_of_ansible(line):
        return "stdout", line, True
    if mark := _MARK.match(line):
        return (mark["of_yarn"] or mark["titled"]).lower(), line, False
    if line.startswith(_OF_PSSH):
        return "stderr", line.removeprefix(_OF_PSSH), False
    return "stderr" if is_unmarked and is_output and _is_error(line) else "", line, is_unmarked


def may_begin_channel(line: str) -> bool:
    """Return True if a line may be the first of a channel."""
    return bool(_MARK.match(line)) or line.startswith(_OF_PSSH) or _is_error(line)


def _is_error(line: str) -> bool:
    """Return True if TensorFlow's C++ logger wrote a line."""
    found = head(line)
    return (found is not None and found.kind == "cpp") or line.startswith(_OF_ABSL)
