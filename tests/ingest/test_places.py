"""A match stands exactly where its words are, not where the same words stand first."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.ingest.logs import log_reader
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import Row
from analyzer.model.run import Pattern, Source
from analyzer.model.source_kinds import Kind

FRAMES = "".join(f'  File "/workspace/train.py", line {number}, in call\n' for number in range(2_000))
TRACEBACK = f"""\
Traceback (most recent call last):
  File "/workspace/code=5.py", line 1, in call, code=5 code=5
{FRAMES}  File "/workspace/code=5.py", line 1, in call
RuntimeError: code=5 and code=5
"""


def found(text: str, folder: Path, regex: str, literal: str = "code") -> Row:
    """The one match of a pattern in a log."""
    path = folder / "worker-0.log"
    path.write_text(text, encoding="utf-8")
    (reading,) = log_reader.read(
        Source(path.name, path, Kind.LOG), Matcher([Pattern("a/b", (literal,), regex)])
    )
    (row,) = reading.rows["matches"]
    return row


@pytest.mark.parametrize("text", [TRACEBACK.replace(FRAMES, ""), TRACEBACK], ids=["small", "large"])
@pytest.mark.parametrize(
    ("regex", "at"),
    [
        (r"(?<=RuntimeError: )code=5", "RuntimeError: "),
        (r"(?<=and )code=5", "RuntimeError: code=5 and "),
        (r"\nRuntimeError", ""),
    ],
)
def test_line_and_marks_are_those_of_the_match(text: str, regex: str, at: str, tmp_path: Path) -> None:
    """The same words stand above it, and before it in its own line."""
    row = found(text, tmp_path, regex)
    words = "RuntimeError" if not at else "code=5"
    assert row["line"] == text.count("\n")
    assert row["excerpt"] == "RuntimeError: code=5 and code=5"
    assert (row["start"], row["end"]) == (len(at), len(at) + len(words))


def test_a_match_in_the_head_of_a_huge_record(tmp_path: Path) -> None:
    """What is cut behind it moves nothing."""
    row = found(TRACEBACK, tmp_path, r"(?<=call, code=5 )code=5")
    assert (row["line"], row["excerpt"][row["start"] : row["end"]]) == (2, "code=5")
    assert row["start"] == row["excerpt"].rindex("code=5")
