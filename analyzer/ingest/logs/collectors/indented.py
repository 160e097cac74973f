"""Files in which the output of each host is indented below its name, as Salt and Puppet Bolt print it."""

import re
from collections import Counter
from collections.abc import Sequence

from analyzer.ingest.logs.collectors.learned import begins_own_line
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style

_HOST = re.compile(r"(?:(?:Finished|Failed|Output) (?:on|of|from) )?(?P<host>[A-Za-z0-9][\w.@-]*):\s*$")
_MIN_SHARE = 0.75
"""Share of the lines that must be indented; the others are names of hosts, and what the tool itself says."""


def indented_blocks(lines: Sequence[str]) -> tuple[Style, Style] | None:
    """Return a parser of the names of hosts and one of the lines below them; None for any other file.

    Programs do not indent what TensorFlow's runtime logs: its lines show how deep the output is indented.
    """
    texts = [line for line in lines if line.strip()]
    indents = Counter(
        len(line) - len(text) for line in texts if begins_own_line(text := line.lstrip(" ")) and line != text
    )
    hosts = {found["host"] for line in texts if (found := _HOST.match(line))}
    inside = sum(line.startswith(" ") for line in texts)
    if not indents or len(hosts) < 2 or inside < _MIN_SHARE * len(texts):
        return None
    if any(begins_own_line(line) and not line.startswith(" ") for line in texts):
        return None
    depth = indents.most_common(1)[0][0]

    def below(line: str) -> CollectedLine | None:
        if line.strip() and not line.startswith(" "):
            return None
        return CollectedLine(None, line[depth:] if line[:depth].isspace() else line.strip())

    return _name_of_host, below


def _name_of_host(line: str) -> CollectedLine | None:
    """Parse a line that is not indented: a host's name, or what the tool itself says, which is nobody's."""
    if not line.strip() or line.startswith(" "):
        return None
    found = _HOST.match(line)
    return CollectedLine(found and found["host"], line)
