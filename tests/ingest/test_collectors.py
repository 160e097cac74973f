"""What collectors put before lines is taken off, and what they cut is put together again."""

from __future__ import annotations

import json

from analyzer.ingest.collectors import streams, style_of

CRI = "2026-11-21T01:35:58.252546967Z {} {} {}"


def texts(file: str) -> list[tuple[int, str]]:
    """The lines of a file that is one stream, without the empty one behind its end."""
    lines = file.split("\n")
    (stream,) = streams(list(enumerate(lines, 1)), style_of(lines))
    return [(number, line) for number, line in stream.lines if line]


def entries(*logs: dict[str, str]) -> str:
    """A file of JSON objects."""
    return "".join(json.dumps(log) + "\n" for log in logs)


def test_entries_without_line_breaks_are_lines() -> None:
    """Fluent Bit takes the break off each."""
    assert texts(entries({"log": "a"}, {"log": "b"}, {"log": "c"})) == [(1, "a"), (2, "b"), (3, "c")]


def test_entries_that_are_marked_partial_go_on() -> None:
    """Fluent Bit keeps the mark of the container runtime."""
    marked = entries({"log": "a", "_p": "P"}, {"log": "b", "_p": "F"}, {"log": "c", "logtag": "F"})
    assert texts(marked) == [(1, "ab"), (3, "c")]


def test_docker_cuts_long_lines() -> None:
    """Where entries end with a break, one without goes on, in its own stream."""
    log = entries(
        {"log": "a", "stream": "stdout"},
        {"log": "x\n", "stream": "stderr"},
        {"log": "b\n", "stream": "stdout"},
    )
    assert texts(log) == [(1, "ab"), (2, "x")]


def test_the_streams_of_a_container_are_put_together_apart() -> None:
    """A long line of one may be cut while the other prints."""
    parts = [("stdout", "P", "a"), ("stderr", "F", "x"), ("stdout", "F", "b"), ("stderr", "F", "y")]
    assert texts("".join(CRI.format(*part) + "\n" for part in parts)) == [(1, "ab"), (2, "x"), (4, "y")]


def test_a_message_of_several_lines_is_several() -> None:
    """They share the number of the line of the file."""
    assert texts(entries({"message": "a\nb\n"}, {"message": "c"})) == [(1, "a"), (1, "b"), (2, "c")]
