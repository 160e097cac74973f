"""JSON with whole logs: an object from names to lines or a text, or a list of either."""

import re
from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.documents import TextLine, parsed_json
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of
from analyzer.model.tracebacks.lines import starts_traceback

_NAME_KEYS = ("worker", "pod", "rank", "host_name", "host", "node", "task", "name", "file")
_OUTPUT_KEYS = frozenset({"stdout", "stderr", "log", "logs", "output", "text", "content", "body", "message"})
"""Keys of what a task printed. Its name is in the same object, or in one around it."""
_TASK = re.compile(r"(?:[\w.]{1,40}[-_.])?(?:worker|chief|master|ps|evaluator|rank|task)[-_:#]?\d{1,4}:?$")
_CHECKED_LINES = 400
_MAX_DEPTH = 5
"""Objects and lists around the one that holds the logs, as in the events of AWX."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of the logs in a JSON text; none if nothing in it is like a log.

    Raises:
        BrokenError: the text breaks off.
    """
    return lines_of(parsed_json(text))


def lines_of(value: object) -> Sequence[TextLine]:
    """Return the lines of the logs in a parsed value; none if no line looks like one of a log.

    Below a task's name, a line of several words is enough; TF_CONFIG has only addresses there.
    """
    found = list(_lines(value, _MAX_DEPTH))
    named = any(worker_of(stream, Kind.OTHER) for stream in {line.stream for line in found})
    checked = found[:_CHECKED_LINES]
    is_log = any(map(_is_of_log, checked)) or (named and any(" " in line.text.strip() for line in checked))
    return found if is_log else ()


def _lines(value: object, depth: int, around: str = "") -> Iterator[TextLine]:
    """Yield the lines of the logs in a value; `around` is the name of an object that holds it."""
    if texts := _texts(value):
        yield from (TextLine(around, text) for text in texts)
        return
    parts = [*_named(value)]
    logs = [(name, texts) for name, part in parts if (texts := _texts(part))]
    around = _name_of(value) or around
    if around and (whole := [(name, texts) for name, texts in logs if name in _OUTPUT_KEYS]):
        logs = [(around if len(whole) == 1 else f"{around}/{name}", texts) for name, texts in whole]
    for stream, texts in logs:
        writer = stream or _title_of(texts)
        yield from (TextLine(writer, text) for text in texts)
    if not logs and depth:
        for name, part in parts:
            yield from _lines(part, depth - 1, name if isinstance(value, list) else around)


def _title_of(texts: Sequence[str]) -> str:
    """Return the task whose name is the first line of a text, as of a comment with a log; else no text."""
    first = next((text.strip() for text in texts if text.strip()), "")
    return first.rstrip(":") if _TASK.match(first) else ""


def _named(value: object) -> Iterator[tuple[str, object]]:
    """Yield name and value of each member of an object, or of each object in a list."""
    if isinstance(value, dict):
        yield from ((str(name), part) for name, part in value.items())
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict):
            longest = max(each.values(), key=lambda part: len(_texts(part)), default=None)
            yield _name_of(each), longest if _texts(longest) else each


def _name_of(value: object) -> str:
    """Return what an object is named for, if possible a task, such as its pod; else no text.

    A number is named like `rank-1`.
    """
    if not isinstance(value, dict):
        return ""
    found = {key: value[key] for key in _NAME_KEYS if isinstance(value.get(key), str | int)}
    names = [f"{key}-{name}" if isinstance(name, int) else str(name) for key, name in found.items()]
    return next((name for name in names if worker_of(name, Kind.OTHER)), names[0] if names else "")


def _texts(value: object) -> Sequence[str]:
    """Return the lines of a multi-line string or of a list of strings; empty for any other JSON value."""
    if isinstance(value, str):
        return value.splitlines() if "\n" in value else ()
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return [line for text in value for line in text.splitlines() or [""]]
    return ()


def _is_of_log(line: TextLine) -> bool:
    return head(line.text) is not None or starts_traceback(line.text)
