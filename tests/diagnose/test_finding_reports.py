"""Evidence as a report shows it."""

from __future__ import annotations

import pytest

from analyzer.diagnose.finding_reports import _quoted_words
from analyzer.model.findings import Evidence


@pytest.mark.parametrize(
    ("says", "excerpt", "marked"),
    [
        ("worker:1 raised KeyError: 'label_17'", "E: KeyError: 'label_17' in map", ["'label_17'"]),
        ("could not write: a.tmp; No space left", "failed: a.tmp; No space left", ["a.tmp; No space left"]),
        ("could not write: part-0.tmp; a peer lost it", "failed: part-0.tmp", ["part-0.tmp"]),
        ("could not read: checksum of a very …", "DataLoss: checksum of a very long", ["checksum of a very"]),
        ("worker:1 lost worker:0", "Connection reset by peer: worker:0", []),
        ("exit code: 1", "worker-1 1", []),
    ],
)
def test_the_words_that_a_sentence_quotes_are_marked_in_its_line(
    says: str, excerpt: str, marked: list[str]
) -> None:
    """Where no rule marked any, so that a clipped excerpt shows what proves the sentence."""
    place = Evidence(says, "line", "worker:1", "worker-1.log", 3, excerpt)
    assert [excerpt[start:end] for start, end in _quoted_words(place)] == marked
