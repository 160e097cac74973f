"""The text that is quoted for a line of a log."""

from __future__ import annotations

import pytest

from analyzer.diagnose.log_lines.lines import LineTexts
from analyzer.tables.builders import frame

HEADING = "Traceback (most recent call last):"
FRAMES = '  File "train.py", line 3, in <module>\n    x()'


def quoted(text: str, last_line: int, line: int = 7) -> str:
    """Return what is quoted for a line of a record that begins at line 7."""
    record = {"source": "a.log", "line": 7, "last_line": last_line, "text": text, "kind": "traceback"}
    return LineTexts({"records": frame("records", [record]), "facts": frame("facts", [])}, ["a.log"]).at(
        "a.log", line
    )


@pytest.mark.parametrize(
    ("raised", "stated"),
    [
        ("acme.store.LeaseLost: lease 7 gone", "acme.store.LeaseLost: lease 7 gone"),
        (
            "UnavailableError: Graph execution error:\n\nDetected at node A defined at (most recent call last):\n"
            "Socket closed",
            "UnavailableError: Graph execution error:\nSocket closed",
        ),
        (
            "InternalError: Graph execution error:\n\nDetected at node A defined at (most recent call last):\n"
            "<stack traces unavailable>\nunhandled system error",
            "InternalError: Graph execution error:\nunhandled system error",
        ),
    ],
)
def test_the_heading_of_a_traceback_is_quoted_with_its_exception(raised: str, stated: str) -> None:
    """Where lines of other workers stand between, the numbers of the lines below it are not known."""
    text = f"{HEADING}\n{FRAMES}\n{raised}"
    assert quoted(text, last_line=40) == f"{HEADING}\n{stated}"


def test_a_line_whose_number_is_known_is_quoted_alone() -> None:
    """As the heading is where the evidence is meant to begin."""
    text = f"{HEADING}\n{FRAMES}\nKeyError: 'label'"
    assert quoted(text, last_line=10) == HEADING
    assert quoted(text, last_line=10, line=10) == "KeyError: 'label'"


def test_a_line_that_states_something_of_each_pod_is_not_quoted() -> None:
    """All of a JSON file may be one line; what one pod's states stand for is no quote of another's."""
    rows = [
        {"source": "pods.json", "line": line, "worker": f"worker:{at}", "key": "exit_code", "excerpt": said}
        for line, said, at in [
            (1, '"exitCode": 137', 0),
            (1, '"exitCode": 1', 1),
            (2, "same", 0),
            (2, "same", 1),
        ]
    ]
    texts = LineTexts({"records": frame("records", []), "facts": frame("facts", rows)}, ["pods.json"])
    assert [texts.at("pods.json", line) for line in (1, 2)] == ["", "same"]
