"""Logs that are indented, as Salt and Puppet Bolt print the output of hosts, and people quote text.

Programs do not indent what TensorFlow's runtime logs: its lines show how deep the log is indented.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line

_HOST = re.compile(
    r"(?:[A-Za-z]+ ){0,2}(?P<host>[A-Za-z0-9][\w.@-]*):?\s*$"
    r"|(?:ok|changed|fatal|failed): \[(?P<managed>[\w.-]+)(?: -> [^\]]+)?\](?:: [A-Z]+!)? =>"
)
"""Regex for a name, perhaps behind one or two words, and for the result of a task of Ansible as YAML."""
_MIN_SHARE = 0.75
"""Share of the lines that must be indented; the others are names of hosts, and what a tool says itself."""


def indented_style(lines: Sequence[str]) -> Style | None:
    """Return a parser of lines that are indented, not of those above them; None if TensorFlow's are not."""
    texts = [line for line in lines if line.strip()]
    begun = [(len(line) - len(text), text) for line in texts if begins_own_line(text := line.lstrip(" "))]
    depths = Counter(depth for depth, text in begun if not text.startswith("File "))
    inside = sum(line.startswith(" ") for line in texts)
    if not depths or 0 in depths or inside < _MIN_SHARE * len(texts):
        return None
    depth = depths.most_common(1)[0][0]

    def read(line: str) -> CollectedLine | None:
        if line.strip() and not line.startswith(" "):
            return None
        return CollectedLine(None, line[depth:] if line[:depth].isspace() else line.strip())

    return read


def hosts_above(lines: Sequence[str]) -> Style | None:
    """Return a parser of the lines above indented ones, if these name several hosts; else None."""
    texts = [line for line in lines if line.strip()]
    names = {
        line: found["host"] or found["managed"]
        for line, below in pairwise(texts)
        if below.startswith(" ") and (found := _HOST.match(line))
    }
    if len({*names.values()}) < 2:
        return None

    def read(line: str) -> CollectedLine | None:
        """Parse a line that is not indented; what the tool itself says is nobody's."""
        is_inside = not line.strip() or line.startswith(" ")
        return None if is_inside else CollectedLine(names.get(line), line)

    return read
