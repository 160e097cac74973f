"""Long texts are cut between words."""

from __future__ import annotations

import pytest

from analyzer.model.placeholders import shorten, skip_to_word


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("all workers wait", 16, "all workers wait"),
        ("all workers wait for one", 15, "all workers …"),
        ("all workers wait for one", 13, "all workers …"),
        ("/mnt/data/part-00017.tfrecord", 10, "/mnt/data…"),
        ("a /mnt/data/part-00017.tfrecord", 10, "a /mnt/da…"),
        ("abc", 0, "…"),
    ],
)
def test_a_text_is_cut_after_a_word(text: str, limit: int, shown: str) -> None:
    """In the last word, if that is long."""
    assert shorten(text, limit) == shown


def test_marked_words_stay() -> None:
    """However long the text may be otherwise."""
    assert shorten("expected shape [9,1,96] but got [9,1,64] here", 30, kept=40) == (
        "expected shape [9,1,96] but got [9,1,64]…"
    )


def test_an_excerpt_begins_with_a_word() -> None:
    """At or behind the place where it would begin."""
    text = "lost the heartbeat of worker"
    assert text[skip_to_word(text, 6, 20) :] == "heartbeat of worker"
    assert text[skip_to_word(text, 9, 20) :] == "heartbeat of worker"
    assert skip_to_word(text, 10, 17) == 10
