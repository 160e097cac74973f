"""Logs in a value that Python printed, as Kubeflow's SDK returns them: a text under the name of each pod."""

import ast
from collections.abc import Sequence

from analyzer.ingest.logs.documents import TextLine
from analyzer.ingest.logs.documents.named_json import lines_of

_MAX_CHARS = 1 << 20
"""Python's parser takes about 100 bytes for each character of such a text."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of the logs in a dict or list of texts; none if it is no such value."""
    if len(text) > _MAX_CHARS:
        return ()
    try:
        return lines_of(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ()
