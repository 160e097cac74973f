"""What a shipper adds to each line that it captured is no part of the line."""

from __future__ import annotations

import json

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams

LINES = (
    "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on.",
    "step 5 loss 0.4",
    "Traceback (most recent call last):",
    '  File "/app/t.py", line 3, in <module>',
    "X: no",
)


def split(entries: list[dict[str, object]]) -> list[str]:
    """The lines of the only stream of such entries."""
    marked = [json.dumps(entry) for entry in entries]
    (stream,) = split_streams(list(enumerate(marked, 1)), detect_style(marked))
    return [line for _, line in stream.lines]


def test_fields_beside_the_lines_of_tensorflow_are_the_shippers() -> None:
    """Its level, too: TensorFlow states none that it could read."""
    added = {"level": "INFO", "filePath": "/var/log/train.log", "seq": {"shard": 3}}
    assert split([{"message": line, **added} for line in LINES * 3]) == [*LINES * 3]


def test_fields_that_only_the_programs_own_entries_have_are_its() -> None:
    """A shipper merges the object that the program printed into its own."""
    added = {"level": "INFO", "offset": 7}
    own = {"message": "trained", "step": 6, "loss": 0.3}
    found = split([*({"message": line, **added} for line in LINES * 3), {**own, **added}])
    assert found[-1] == "trained step=6 loss=0.3"


def test_a_program_that_logs_objects_alone_keeps_its_fields() -> None:
    """No line of TensorFlow tells what a shipper would add."""
    found = split([{"message": "trained", "step": step, "loss": 0.3, "rate": 0.1} for step in range(9)])
    assert found[0] == "trained step=0 loss=0.3 rate=0.1"
