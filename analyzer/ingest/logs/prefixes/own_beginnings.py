"""How TensorFlow and Python begin lines that no program can put a prefix before."""

import re

OWN_BEGINNING = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: [IWEF] "
    r"|[IWEF]\d{4} \d\d:\d\d:(?:\d\d|\d{9,})\.\d{6} +\d+ [\w./-]+:\d+\]"
    r"|(?:INFO|WARNING|ERROR):(?:tensorflow|absl):|Traceback \(most recent call last\):"
    r"|  File \"[^\"]{1,200}\", line \d|To enable (?:the following|them in) "
    r"|The error could be from a previous op"
)
"""Regex for how TensorFlow and Python begin lines that no program can put a prefix before."""


def begins_own_line(text: str) -> bool:
    """Return True if a text is a line that TensorFlow or Python began."""
    return OWN_BEGINNING.match(text) is not None
