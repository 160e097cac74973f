"""Styles of files that were put together from several, with a heading above the lines of each."""

from collections.abc import Sequence

from analyzer.ingest.logs.collectors.channels import may_begin_channel
from analyzer.ingest.logs.collectors.headings import (
    LIST_OF_PODS,
    name_several_streams,
    names_between_rules,
    stream_below,
    task_below,
    task_of_output,
)
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line
from analyzer.ingest.logs.progress.layouts import is_progress


def below_headings(line: str) -> CollectedLine | None:
    """Return a heading with the stream of the lines below it as `key`; None for any other line."""
    named = stream_below(line)
    return None if named is None else CollectedLine(named or None, line)


class Sections:
    """A style of files with headings, between which lines may have a prefix that names no writer."""

    def __init__(self, heading: Style, inner: Style | None) -> None:
        """Take a parser of headings, and one of the lines below them."""
        self._heading, self._inner = heading, inner

    def __call__(self, line: str) -> CollectedLine | None:
        """Parse one line; lines below a heading belong to the stream that it names."""
        if found := self._heading(line):
            return found
        below = self._inner(line) if self._inner else None
        return below and below._replace(follows=True)


def has_headings(style: Style | None) -> bool:
    """Return True if lines of this style may belong to the stream of a heading far above."""
    return style is below_headings or isinstance(style, Sections)


def is_heading(style: Style | None, line: str) -> bool:
    """Return True if a line may be the first of a stream or of one of its channels.

    The style must be one for which `has_headings` is True.
    """
    found = style(line) if style else None
    return (found is not None and not found.follows) or may_begin_channel(line)


def stream_of(key: str | None, line: str, style: Style | None) -> str | None:
    """Return the stream of a line below the heading of `key`.

    A log line below a command's output belongs to the task that the command names.
    """
    follows = key is not None and has_headings(style) and begins_own_line(line)
    return task_of_output(key) if key is not None and follows else key


def continues_output(key: str | None, named: str | None) -> bool:
    """Return True for the first row of a list of pods below the command that printed it: `kubectl get pods`.

    Without the command, the same row is a heading.
    """
    return named == LIST_OF_PODS and key is not None and key.startswith(LIST_OF_PODS)


def heading_style(lines: Sequence[str], sample: Sequence[str]) -> Style | None:
    """Return a parser of headings if they name several streams, or one stands above the first log line."""
    if name_several_streams(sample):
        return below_headings
    if announced := _announced(lines):
        return lambda line: (
            CollectedLine(task, line) if (task := announced.get(line.strip())) else below_headings(line)
        )
    names = names_between_rules(lines)
    return (lambda line: CollectedLine(line, "") if line in names else None) if names else None


def _announced(lines: Sequence[str]) -> dict[str, str]:
    """Return line → the task whose log it announces; empty if no such line is right above the first log line.

    Who pastes the log of one worker only may write there whose it is; what follows may be another's.
    """
    texts = [text for line in lines if (text := line.strip())]
    first = next((at for at, line in enumerate(texts) if begins_own_line(line) or is_progress(line)), 0)
    above = texts[first - 1] if first else ""
    if not task_below(above):
        return {}
    others = (line for line in texts[first:] if line.endswith(":") and not begins_own_line(line))
    return {line: task for line in (above, *others) if (task := task_below(line))}
