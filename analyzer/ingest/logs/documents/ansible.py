"""What Ansible prints of a playbook: the result of a task on a host is one line, with all its output."""

from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.collectors.styles import ansible_output
from analyzer.ingest.logs.documents import TextLine


def read(text: str) -> Sequence[TextLine]:
    """Return the lines that commands printed on each host, one stream a channel; none without output.

    Other lines, such as the names of plays and tasks, are of no writer.
    """
    lines = [line for each in text.splitlines() for line in _lines(each)]
    return lines if any(line.stream for line in lines) else ()


def _lines(line: str) -> Iterator[TextLine]:
    found = ansible_output(line)
    if found is None:
        yield TextLine("", line)
        return
    host, printed = found
    for channel, output in printed.items():
        yield from (TextLine(f"{host}/{channel}", each) for each in output.splitlines())
