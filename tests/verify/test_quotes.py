"""Quotes of a diagnosis against the lines of its files, as a pure function."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.verify import Mismatch, Quote, lines_to_read, mismatches, quotes


def document(**evidence: Any) -> dict[str, Any]:
    """The parts of a diagnosis that quote."""
    place = {"source": "worker-0.log", "line": 7, "excerpt": "KeyError: 'a'", "context": [[6, "step 3"]]}
    return {"findings": [{"evidence": [place | evidence]}], "last_words": []}


def test_context_and_excerpt_are_quotes() -> None:
    """Evidence without a line, such as an absence, quotes nothing; equal quotes count once."""
    found = quotes(document())
    assert found == [Quote("worker-0.log", 6, "step 3"), Quote("worker-0.log", 7, "KeyError: 'a'")]
    assert quotes(document(line=None)) == []
    twice = document()
    assert quotes(twice | {"findings": twice["findings"] * 2}) == found
    assert lines_to_read(found) == {"worker-0.log": {6, 7}}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ({7: ["E: KeyError: 'a' at step 3"]}, None),
        ({7: ["the long line of a KeyError: 'a'", "KeyError: 'a' …"]}, None),
        ({7: ["12/60 [==>", "KeyError: 'a'"]}, None),
        ({7: ["KeyError: 'b'"]}, "KeyError: 'b'"),
        ({7: [" "]}, "(an empty line)"),
        ({8: ["KeyError: 'a'"]}, "(no such line)"),
        ("no such file", "(no such file)"),
    ],
)
def test_a_quote_must_be_part_of_its_line(lines: dict[int, list[str]] | str, found: str | None) -> None:
    """Of any of its texts, where a bar was redrawn."""
    quote = Quote("worker-0.log", 7, "KeyError: 'a'")
    assert mismatches([quote], {"worker-0.log": lines}) == ([] if found is None else [Mismatch(quote, found)])


def test_what_was_left_out_of_a_quote_may_be_anything() -> None:
    """A masked secret, and the middle of a very long line; the rest must follow in order."""
    quote = Quote("a.log", 1, "token [secret:github:1f3a] refused … 4000 characters cut … by the server")
    assert mismatches([quote], {"a.log": {1: ["token ghp_x refused, after much ado, by the server"]}}) == []
    assert mismatches([quote], {"a.log": {1: ["by the server: token ghp_x refused"]}})


def test_another_document_is_refused() -> None:
    """The command turns that into a message."""
    with pytest.raises(KeyError):
        quotes({})


def test_the_time_of_an_entry_may_stand_before_a_quote() -> None:
    """It is put before the first line of a record, which the lines above decide; a quote may be of a blank line."""
    quote = Quote("a.json", 3, "2026-11-21T02:17:57.003000Z KeyError: 'a'")
    assert mismatches([quote], {"a.json": {3: ["KeyError: 'a'"]}}) == []
    assert mismatches([quote], {"a.json": {3: ["KeyError: 'b'"]}})
    assert mismatches([Quote("a.json", 4, " ")], {"a.json": {}}) == []
