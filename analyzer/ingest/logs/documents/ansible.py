"""What Ansible prints of a playbook, or of a command with `-o`: a host's result is one line."""

import re
from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.collectors.styles import ansible_output
from analyzer.ingest.logs.documents import TextLine

_ONE_LINE = re.compile(
    r"(?P<host>[\w.-]+) \| (?:CHANGED|SUCCESS|FAILED) \| rc=-?\d{1,3} \| \(stdout\) "
    r"(?P<stdout>.*?)(?: \(stderr\) (?P<stderr>.*))?$"
)
"""Regex for a host's result as the callback `oneline` prints it, with `\\n` for the end of each line."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines that commands printed on each host, one stream a channel; none without output.

    Other lines, such as the names of plays and tasks, are of no writer.
    """
    lines = [line for each in text.splitlines() for line in _lines(each)]
    return lines if any(line.stream for line in lines) else ()


def _lines(line: str) -> Iterator[TextLine]:
    if result := _ONE_LINE.match(line):
        for channel in ("stdout", "stderr"):
            printed = (result[channel] or "").replace("\\r", "\r").split("\\n")
            yield from (TextLine(f"{result['host']}/{channel}", each) for each in printed)
        return
    found = ansible_output(line)
    if found is None:
        yield TextLine("", line)
        return
    host, printed = found
    for channel, output in printed.items():
        yield from (TextLine(f"{host}/{channel}", each) for each in output.splitlines())
